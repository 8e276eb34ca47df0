"""What the API server is told about the webhooks: who is asked about what, and what happens when nobody answers."""

from dataclasses import replace
from typing import Any

import pytest

from admission.answers import HOOKS, by_service, by_url, hooks_for, webhook_configurations
from admission.jobs.registry import JOB_KINDS
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.gates import Gates


def _webhooks(configuration: Configuration = DEFAULTS) -> dict[str, dict[str, Any]]:
    made = webhook_configurations(by_service("kueue-system", "Q0E="), configuration)
    return {webhook["name"]: webhook for manifest in made for webhook in manifest["webhooks"]}


def test_queue_kinds_and_job_kinds_are_told_apart() -> None:
    made = webhook_configurations(by_url("https://127.0.0.1:9443/"), DEFAULTS)
    assert [(each["kind"], each["metadata"]["name"]) for each in made] == [
        ("ValidatingWebhookConfiguration", "lockgate-queue-kinds"),
        ("MutatingWebhookConfiguration", "lockgate-queue-kinds"),
        ("ValidatingWebhookConfiguration", "lockgate-job-kinds"),
        ("MutatingWebhookConfiguration", "lockgate-job-kinds"),
    ]
    job = next(each for each in made[2]["webhooks"] if each["name"] == "vjob.kb.io")
    assert job["clientConfig"] == {"url": "https://127.0.0.1:9443/validate-batch-v1-job"}


def test_paths_and_names_are_kueues() -> None:
    assert {hook.path: hook.name for hook in HOOKS} == {
        "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue": "mclusterqueue.kb.io",
        "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor": "mresourceflavor.kb.io",
        "/mutate-kueue-x-k8s-io-v1beta2-workload": "mworkload.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-clusterqueue": "vclusterqueue.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-cohort": "vcohort.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor": "vresourceflavor.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-workload": "vworkload.kb.io",
        "/mutate-scheduling-sigs-k8s-io-v1alpha1-elasticquota": "melasticquota.lockgate.dev",
        "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota": "velasticquota.lockgate.dev",
        "/validate-lockgate-dev-v1alpha1-jobkind": "vjobkind.lockgate.dev",
        "/validate-lockgate-dev-v1alpha1-jobprofile": "vjobprofile.lockgate.dev",
        "/validate-lockgate-dev-v1alpha1-queuepolicy": "vqueuepolicy.lockgate.dev",
        "/mutate--v1-pod": "mpod.kb.io",
        "/validate--v1-pod": "vpod.kb.io",
    } | {f"/{verb}-{rest}": f"{verb[0]}{rest.rpartition('-')[2]}.kb.io" for verb in ("mutate", "validate") for rest in (
        "argoproj-io-v1alpha1-workflow",  # by the same rule: Kueue has no such kind
        "batch-v1-job",
        "jobset-x-k8s-io-v1alpha2-jobset",
        "kubeflow-org-v1-jaxjob",
        "kubeflow-org-v1-paddlejob",
        "kubeflow-org-v1-pytorchjob",
        "kubeflow-org-v1-tfjob",
        "kubeflow-org-v1-xgboostjob",
        "kubeflow-org-v2beta1-mpijob",
        "ray-io-v1-raycluster",
        "ray-io-v1-rayjob",
        "sparkoperator-k8s-io-v1beta2-sparkapplication",
    )}  # fmt: skip


def test_no_webhook_may_hang_a_write_or_have_side_effects() -> None:
    for webhook in _webhooks().values():
        assert webhook["timeoutSeconds"] <= 5
        assert webhook["sideEffects"] == "None"


def test_only_jobs_that_name_a_queue_are_stopped_by_our_absence() -> None:
    lenient = {name for name, webhook in _webhooks().items() if webhook["failurePolicy"] == "Ignore"}
    assert lenient == {f"unqueued.m{kind.lower()}.kb.io" for kind in JOB_KINDS}
    every = _webhooks(replace(DEFAULTS, manage_jobs_without_queue_name=True))
    assert {webhook["failurePolicy"] for webhook in every.values()} == {"Fail"}


@pytest.mark.parametrize("name", ["mjob.kb.io", "vjob.kb.io", "unqueued.mjob.kb.io"])
def test_jobs_of_system_namespaces_and_our_own_never_leave_the_api_server(name: str) -> None:
    webhook = _webhooks(replace(DEFAULTS, namespace="lockgate"))[name]
    outside = webhook["namespaceSelector"]["matchExpressions"][0]
    assert outside["values"] == ["kube-node-lease", "kube-public", "kube-system", "lockgate"]
    assert outside["operator"] == "NotIn"


def test_names_are_unique_and_trust_the_given_authority() -> None:
    made = webhook_configurations(by_service("kueue-system", "Q0E="), DEFAULTS)
    names = [webhook["name"] for manifest in made for webhook in manifest["webhooks"]]
    assert len(names) == len(set(names)) == 11 + 3 * len(JOB_KINDS)
    assert {webhook["clientConfig"]["caBundle"] for webhook in _webhooks().values()} == {"Q0E="}


def test_new_workloads_only_pass_a_mutating_webhook_that_has_something_to_do() -> None:
    assert "mworkload.kb.io" not in _webhooks()
    whole = replace(DEFAULTS, gates=Gates({"PartialAdmission": False}))
    assert _webhooks(whole)["mworkload.kb.io"]["rules"][0]["operations"] == ["CREATE"]


def test_which_webhooks_a_write_passes() -> None:
    assert [hook.name for hook in hooks_for("Job", "CREATE")] == ["mjob.kb.io", "vjob.kb.io"]
    assert [hook.name for hook in hooks_for("Job", "UPDATE", "status")] == []
    assert [hook.name for hook in hooks_for("Workload", "UPDATE", "status")] == ["vworkload.kb.io"]
    assert [hook.name for hook in hooks_for("ClusterQueue", "DELETE")] == []
    assert [hook.name for hook in hooks_for("Pod", "CREATE")] == ["mpod.kb.io", "vpod.kb.io"]
    assert [hook.name for hook in hooks_for("Pod", "UPDATE")] == ["vpod.kb.io"]


def test_kinds_that_are_not_listed_are_not_asked_about() -> None:
    made = webhook_configurations(by_service("kueue-system"), replace(DEFAULTS, frameworks=("TFJob",)))
    jobs = [
        each
        for manifest in made
        if manifest["metadata"]["name"] == "lockgate-job-kinds"
        for each in manifest["webhooks"]
    ]
    assert {each["name"] for each in jobs} == {"mtfjob.kb.io", "unqueued.mtfjob.kb.io", "vtfjob.kb.io"}


def test_a_job_without_a_queue_is_judged_only_where_all_jobs_are_managed() -> None:
    def asked(configuration: Configuration) -> list[str]:
        return [each["name"] for each in _webhooks(configuration)["vjob.kb.io"]["matchConditions"]]

    assert "names-or-named-a-queue" in asked(DEFAULTS)
    assert "names-or-named-a-queue" not in asked(replace(DEFAULTS, manage_jobs_without_queue_name=True))
