"""What the API server is told about the webhooks: who is asked about what, and what happens when nobody answers."""

from dataclasses import replace
from typing import Any

import pytest

from admission.answers import HOOKS, by_service, by_url, hooks_for, webhook_configurations
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
    job = made[2]["webhooks"][0]
    assert job["clientConfig"] == {"url": "https://127.0.0.1:9443/validate-batch-v1-job"}


def test_paths_and_names_are_kueues() -> None:
    assert {hook.path: hook.name for hook in HOOKS} == {
        "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue": "mclusterqueue.kb.io",
        "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor": "mresourceflavor.kb.io",
        "/mutate-kueue-x-k8s-io-v1beta2-workload": "mworkload.kb.io",
        "/mutate-batch-v1-job": "mjob.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-clusterqueue": "vclusterqueue.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-cohort": "vcohort.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor": "vresourceflavor.kb.io",
        "/validate-kueue-x-k8s-io-v1beta2-workload": "vworkload.kb.io",
        "/validate-batch-v1-job": "vjob.kb.io",
    }


def test_no_webhook_may_hang_a_write_or_have_side_effects() -> None:
    for webhook in _webhooks().values():
        assert webhook["timeoutSeconds"] <= 5
        assert webhook["sideEffects"] == "None"


def test_only_jobs_that_name_a_queue_are_stopped_by_our_absence() -> None:
    assert {name for name, webhook in _webhooks().items() if webhook["failurePolicy"] == "Ignore"} == {
        "unqueued.mjob.kb.io"
    }
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
    assert len(names) == len(set(names)) == 9
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
    assert [hook.name for hook in hooks_for("Pod", "CREATE")] == []
