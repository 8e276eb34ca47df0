"""A story of a cluster that leads through everything for which our processes need a right.

Who adds a feature that asks the API server for something new adds a chapter here: test_rights.py holds the roles
against what the story made our processes ask. Chapters are told in order; each waits until what it is about was done.
"""

import ssl
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from admission.model.job_kind import AGGREGATE_LABEL
from controller.pages.names import SECRET as CERTIFICATE
from hack.cluster import Cluster, Refused, audit
from hack.cluster.wait import until
from tests.live.controllers import JOBS, KUEUE, PATIENCE, Seen, cluster_queue, flavor, job, local_queue, priority
from tests.refusals.other_jobs import any_job

# What the controller of the story runs with: what is over goes soon, and a pod that never runs does not wait for ever.
CONFIGURATION = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 20s, requeuingStrategy: {backoffLimitCount: 0}}
fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}
objectRetentionPolicies: {workloads: {afterFinished: 1s, afterDeactivatedByKueue: 1s}}
"""
TFJOBS = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
CHECK = f"{KUEUE}/admissionchecks/second-look"
WORKLOADS = f"{KUEUE}/namespaces/default/workloads"

Object = dict[str, Any]


class Scene(Seen):
    """The cluster of the story, and what our processes have asked so far."""

    def __init__(self, cluster: Cluster, folder: Path, metrics: str) -> None:
        """`folder`: of the audit log; `metrics`: HOST:PORT of the controller's."""
        super().__init__(cluster)
        self._folder = folder
        self.metrics = metrics

    def asked(self, verb: str, resource: str) -> bool:
        return any((one.verb, one.resource) == (verb, resource) for one in audit.requests(self._folder))


def _queue(seen: Scene, name: str, cpu: str = "4", **spec: Any) -> None:
    seen.api.apply(cluster_queue(name, cpu, **spec))
    seen.api.apply(local_queue(name))


def _soon(holds: Callable[[], bool], what: str) -> None:
    until(holds, PATIENCE, what)


def _gone(seen: Scene, path: str) -> None:
    _soon(lambda: not seen.api.answers(path), f"{path} gone")


def _condition(seen: Scene, name: str, type: str, status: str = "True") -> None:
    _soon(lambda: seen.condition(name, type)[0] == status, f"{name} {type}={status}")


def pods_that_never_run_are_begun(seen: Scene) -> None:
    """First, as it takes the longest; and a job whose class does not exist, of which people are told again later."""
    seen.api.apply(flavor())
    seen.api.apply(priority("low", 1))
    seen.api.apply(priority("high", 100))
    _queue(seen, "stuck")
    seen.api.create(JOBS, job("classless", "stuck", "1", priority="none"))
    made = job("stuck", "stuck", "1")
    made["spec"]["template"]["spec"]["nodeSelector"] = {"no": "node"}
    seen.api.create(JOBS, made)
    _condition(seen, "stuck", "Admitted")


def a_job_of_another_kind_is_begun(seen: Scene) -> None:
    """Nobody makes its pods, so it, too, is deleted in the end; until then it is the owner of another."""
    made = any_job("TFJob", held=False)
    made["metadata"] |= {"name": "trains", "labels": {"kueue.x-k8s.io/queue-name": "stuck"}}

    def held() -> bool:
        """The CRD may be new to the API server's own idea of what webhooks are for."""
        return bool(seen.api.create(f"{TFJOBS}?dryRun=All", made)["spec"]["runPolicy"]["suspend"])

    _soon(held, "jobs of another kind are held")
    uid = seen.api.create(TFJOBS, made)["metadata"]["uid"]
    _soon(lambda: not seen.api.get(f"{TFJOBS}/trains")["spec"]["runPolicy"]["suspend"], "trains started")
    child = job("below-trains", "stuck", "1", runtime="1s", held=False)
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "name": "trains", "uid": uid, "controller": True}
    child["metadata"]["ownerReferences"] = [owner]
    assert seen.api.create(JOBS, child)["spec"]["suspend"] is False


def a_kind_is_described(seen: Scene) -> None:
    """It need not be served for its JobKind to be told so, but people must let us ask for it."""
    rule = {"apiGroups": ["experiments.example"], "resources": ["sweeps"], "verbs": ["list", "watch"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    seen.api.apply({**role, "metadata": {"name": "sweeps", "labels": {AGGREGATE_LABEL: "true"}}, "rules": [rule]})
    attributes = {"verb": "list", "group": "experiments.example", "resource": "sweeps"}
    asked = {
        "spec": {"user": "system:serviceaccount:kueue-system:lockgate-controller", "resourceAttributes": attributes}
    }
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    _soon(lambda: bool(seen.api.create(reviews, asked)["status"]["allowed"]), "the controller may list sweeps")
    sets = [{"name": "main", "template": "spec.template"}]
    spec = {"kind": "Sweep.v1.experiments.example", "suspend": {"path": "spec.suspend"}, "podSets": sets}
    head = {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": {"name": "sweep"}}
    seen.api.apply({**head, "spec": spec})
    path = "/apis/lockgate.dev/v1alpha1/jobkinds/sweep"
    _soon(lambda: bool(seen.api.get(path).get("status", {}).get("conditions")), "the JobKind is told how it stands")


def koordinators_kinds_are_served(seen: Scene) -> None:
    """By CRDs that take everything, as hers are not ours to bring. Our processes see that some time later."""
    for group, kind, plural, scope in (
        ("scheduling.sigs.k8s.io", "ElasticQuota", "elasticquotas", "Namespaced"),
        ("config.koordinator.sh", "ClusterColocationProfile", "clustercolocationprofiles", "Cluster"),
    ):
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version = {
            "name": "v1alpha1",
            "served": True,
            "storage": True,
            "schema": schema,
            "subresources": {"status": {}},
        }
        names = {"kind": kind, "plural": plural, "singular": kind.lower()}
        spec = {"group": group, "scope": scope, "names": names, "versions": [version]}
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        approved = {"api-approved.kubernetes.io": "unapproved, a stand-in"}  # wanted of groups below k8s.io
        seen.api.apply({**head, "metadata": {"name": f"{plural}.{group}", "annotations": approved}, "spec": spec})


def a_job_is_queued_runs_and_is_forgotten(seen: Scene) -> None:
    _queue(seen, "plain")
    seen.api.create(JOBS, job("plain", "plain", "1", runtime="1s", held=False))
    _has_workload(seen, "plain")
    workload = f"{WORKLOADS}/{seen.workload('plain')['metadata']['name']}"
    seen.is_soon("plain", "finished")
    _gone(seen, workload)


def a_profile_gives_a_queue_that_is_made(seen: Scene) -> None:
    seen.api.apply({**local_queue("plain"), "metadata": {"name": "template", "namespace": "kueue-system"}})
    head = {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobProfile", "metadata": {"name": "profiled"}}
    match = {"objectSelector": {"matchLabels": {"team": "story"}}}
    stamp = {"queue": {"name": "made", "create": {"fromTemplate": "template"}}}
    seen.api.apply({**head, "spec": {"match": match, "stamp": stamp}})
    made = job("profiled", "", "1", runtime="1s", held=False)
    made["metadata"]["labels"] = {"team": "story"}

    def stamped() -> bool:
        labels = seen.api.create(f"{JOBS}?dryRun=All", made)["metadata"]["labels"]
        return bool(labels.get("kueue.x-k8s.io/queue-name") == "made")

    _soon(stamped, "the webhooks know the profile")
    seen.api.create(JOBS, made)
    _soon(lambda: seen.api.answers(f"{KUEUE}/namespaces/default/localqueues/made"), "the queue is made")
    seen.is_soon("profiled", "finished")
    path = "/apis/lockgate.dev/v1alpha1/jobprofiles/profiled"
    _soon(lambda: bool(seen.api.get(path).get("status", {}).get("conditions")), "the JobProfile is told how it stands")


def a_policy_limits_the_users_of_a_queue(seen: Scene) -> None:
    """What it says of priorities makes the webhooks look a job's class up."""
    target, rows = {"kind": "ClusterQueue", "name": "plain"}, [{"users": ["*"], "running": 5, "maxPriority": 50}]
    head = {"apiVersion": "lockgate.dev/v1alpha1", "kind": "QueuePolicy", "metadata": {"name": "plain"}}
    seen.api.apply({**head, "spec": {"target": target, "limits": rows}})
    path = "/apis/lockgate.dev/v1alpha1/queuepolicies/plain"
    _soon(lambda: bool(seen.api.get(path).get("status", {}).get("conditions")), "the QueuePolicy is told how it stands")

    def refused() -> bool:
        try:
            seen.api.create(f"{JOBS}?dryRun=All", job("bold", "plain", "1", priority="high"))
        except Refused:
            return True
        return False

    _soon(refused, "the webhooks know the policy")
    seen.api.create(JOBS, job("policed", "plain", "1", priority="low", runtime="1s"))
    seen.is_soon("policed", "finished")


def an_elastic_quota_is_published_and_deleted(seen: Scene) -> None:
    head = {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota"}
    quota = {**head, "metadata": {"name": "eq", "namespace": "default"}}
    quotas = "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/default/elasticquotas"
    seen.api.create(quotas, {**quota, "spec": {"min": {"cpu": "1"}, "max": {"cpu": "4"}}})
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    labels = {"quota.scheduling.koordinator.sh/name": "eq"}
    pod = {
        "metadata": {"name": "counted", "namespace": "default", "labels": labels},
        "spec": {"containers": [container]},
    }
    pods = "/api/v1/namespaces/default/pods"
    seen.api.create(pods, {"apiVersion": "v1", "kind": "Pod", **pod})
    _soon(lambda: seen.api.get(f"{quotas}/eq").get("status", {}).get("used") == {"cpu": "1"}, "its pod is counted")
    runtime = "quota.scheduling.koordinator.sh/runtime"
    _soon(lambda: runtime in seen.api.get(f"{quotas}/eq")["metadata"].get("annotations", {}), "its figures are told")
    seen.api.delete(f"{pods}/counted")
    _gone(seen, f"{pods}/counted")
    seen.api.delete(f"{quotas}/eq")
    _gone(seen, f"{quotas}/eq")


def a_job_yields_to_a_better_one(seen: Scene) -> None:
    _queue(seen, "contended", "2", preemption={"withinClusterQueue": "LowerPriority"})
    seen.api.create(JOBS, job("yields", "contended", "2", priority="low"))
    seen.is_soon("yields", "running")
    seen.api.create(JOBS, job("better", "contended", "2", priority="high"))
    seen.is_soon("better", "running")
    seen.is_soon("yields", "held")


def a_class_gets_another_value(seen: Scene) -> None:
    seen.api.merge(f"{KUEUE}/workloadpriorityclasses/low", {"value": 2})
    _soon(lambda: seen.workload("yields")["spec"]["priority"] == 2, "its workloads have it")


def jobs_are_rewritten(seen: Scene) -> None:
    """The Workload of one that waits is updated, that of one that runs is replaced."""
    _queue(seen, "rewritten", "2")
    for name in ("runs", "waits"):
        made = job(name, "rewritten", "1")
        made["spec"] |= {"completions": 4, "parallelism": 2}
        seen.api.create(JOBS, made)
        _has_workload(seen, name)
    seen.is_soon("runs", "running")
    before = seen.workload("runs")["metadata"]["uid"]
    for name in ("waits", "runs"):
        seen.api.merge(f"{JOBS}/{name}", {"spec": {"parallelism": 1}})
        _counts(seen, name, 1)
    assert seen.workload("runs")["metadata"]["uid"] != before


def _has_workload(seen: Scene, job: str) -> None:
    _soon(lambda: bool(seen.workload(job)), f"a Workload of {job}")


def _counts(seen: Scene, job: str, pods: int) -> None:
    def follows() -> bool:
        sets = seen.workload(job).get("spec", {}).get("podSets", [])
        return bool(sum(one["count"] for one in sets) == pods)

    _soon(follows, f"the Workload of {job} follows")


def a_workload_is_deleted_under_a_running_job(seen: Scene) -> None:
    before = seen.workload("better")["metadata"]
    seen.api.delete(f"{WORKLOADS}/{before['name']}")
    _soon(lambda: seen.workload("better").get("metadata", before)["uid"] != before["uid"], "another Workload")


def a_check_says_yes_wait_and_no(seen: Scene) -> None:
    check = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "second-look"}}
    seen.api.apply({**check, "spec": {"controllerName": "acme.io/second-look"}})
    active = {"type": "Active", "status": "True", "reason": "Here", "message": "", "lastTransitionTime": _NOW}
    seen.api.text("PATCH", f"{CHECK}/status", {"status": {"conditions": [active]}}, "application/merge-patch+json")
    _queue(seen, "checked", admissionChecksStrategy={"admissionChecks": [{"name": "second-look"}]})
    for name, state in (("yes", "Ready"), ("wait", "Retry"), ("no", "Rejected")):
        seen.api.create(JOBS, job(name, "checked", "1"))
        _condition(seen, name, "QuotaReserved")
        _is_asked(seen, name)
        said = {"name": "second-look", "state": state, "message": "", "lastTransitionTime": _NOW}
        path = f"{WORKLOADS}/{seen.workload(name)['metadata']['name']}/status"
        seen.api.text("PATCH", path, {"status": {"admissionChecks": [said]}}, "application/merge-patch+json")
    seen.is_soon("yes", "running")
    _gone(seen, f"{JOBS}/no")  # deactivated, and then not kept


_NOW = "2026-01-01T00:00:00Z"


def _is_asked(seen: Scene, job: str) -> None:
    _soon(lambda: bool(seen.workload(job).get("status", {}).get("admissionChecks")), f"the check is asked of {job}")


def a_queue_is_drained(seen: Scene) -> None:
    _queue(seen, "drained")
    seen.api.create(JOBS, job("drained", "drained", "1"))
    seen.is_soon("drained", "running")
    seen.api.merge(f"{KUEUE}/clusterqueues/drained", {"spec": {"stopPolicy": "HoldAndDrain"}})
    seen.is_soon("drained", "held")


def a_cohort_lends_and_tells_its_share(seen: Scene) -> None:
    """Two levels: the one below borrows from the one above."""
    head = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort"}
    quota = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "4"}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    seen.api.apply({**head, "metadata": {"name": "all"}, "spec": {"resourceGroups": groups}})
    seen.api.apply({**head, "metadata": {"name": "part"}, "spec": {"parentName": "all"}})
    _queue(seen, "member", "1", cohortName="part")
    seen.api.create(JOBS, job("borrows", "member", "3"))
    seen.is_soon("borrows", "running")

    def told() -> bool:
        status = seen.api.get(f"{KUEUE}/cohorts/part").get("status", {})
        return bool(status.get("fairSharing", {}).get("weightedShare"))

    _soon(told, "the share of the cohort")


def a_job_without_a_queue_gets_the_default_one(seen: Scene) -> None:
    seen.api.apply({**local_queue("plain"), "metadata": {"name": "default", "namespace": "default"}})
    made = job("defaulted", "", "1", runtime="1s", held=False)

    def stamped() -> bool:
        del made["metadata"]["labels"]
        made["metadata"]["labels"] = {}
        found = seen.api.create(f"{JOBS}?dryRun=All", made)
        return bool(found["metadata"].get("labels", {}).get("kueue.x-k8s.io/queue-name") == "default")

    _soon(stamped, "the webhooks know the default queue")


def a_job_below_a_job_is_let_through(seen: Scene) -> None:
    parent = seen.api.get(f"{JOBS}/yes")["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "yes", "uid": parent["uid"], "controller": True}
    made = job("below", "plain", "1", runtime="1s", held=False)
    made["metadata"]["ownerReferences"] = [owner]
    assert seen.api.create(JOBS, made)["spec"]["suspend"] is False


def metrics_are_scraped_with_a_token(seen: Scene) -> None:
    """The certificate is checked against what the Secret says is to be trusted."""
    secret = seen.api.get(f"/api/v1/namespaces/kueue-system/secrets/{CERTIFICATE}")
    context = ssl.create_default_context(cadata=b64decode(secret["data"]["ca.crt"]).decode())
    asked = Request(f"https://{seen.metrics}/metrics", headers={"Authorization": f"Bearer {seen.cluster.token}"})
    with urlopen(asked, timeout=10, context=context) as answer:
        assert b"kueue_admitted_workloads_total" in answer.read()


def everything_is_taken_down(seen: Scene) -> None:
    """Finalizers go last: a queue waits for its workloads, a flavor and a check for their queues."""
    for queue in ("checked", "member"):
        seen.api.delete(f"{KUEUE}/clusterqueues/{queue}")
    seen.api.delete(CHECK)
    for cohort in ("part", "all"):
        seen.api.delete(f"{KUEUE}/cohorts/{cohort}")
    for name in ("yes", "wait", "borrows"):
        seen.api.delete(f"{JOBS}/{name}?propagationPolicy=Background")
        _gone(seen, f"{JOBS}/{name}")
    for path in ("clusterqueues/checked", "clusterqueues/member", "admissionchecks/second-look", "cohorts/all"):
        _gone(seen, f"{KUEUE}/{path}")
    seen.api.apply(flavor("unused"))
    _soon(lambda: "finalizers" in seen.api.get(f"{KUEUE}/resourceflavors/unused")["metadata"], "a finalizer")
    seen.api.delete(f"{KUEUE}/resourceflavors/unused")
    _gone(seen, f"{KUEUE}/resourceflavors/unused")


def pods_that_never_ran_are_gone(seen: Scene) -> None:
    _gone(seen, f"{JOBS}/stuck")
    _gone(seen, f"{TFJOBS}/trains")


def people_are_told_again(seen: Scene) -> None:
    """The same thing a minute later is a count on the old Event."""
    touched = 0

    def counted() -> bool:
        nonlocal touched
        touched += 1
        seen.api.merge(f"{JOBS}/classless", {"metadata": {"annotations": {"touched": str(touched)}}})
        return seen.asked("patch", "events")

    until(counted, 2 * PATIENCE, "an Event counted again")


STORY = (
    pods_that_never_run_are_begun,
    a_job_of_another_kind_is_begun,
    a_kind_is_described,
    koordinators_kinds_are_served,
    a_job_is_queued_runs_and_is_forgotten,
    a_profile_gives_a_queue_that_is_made,
    a_job_yields_to_a_better_one,
    a_class_gets_another_value,
    jobs_are_rewritten,
    a_workload_is_deleted_under_a_running_job,
    a_check_says_yes_wait_and_no,
    a_queue_is_drained,
    a_cohort_lends_and_tells_its_share,
    a_job_without_a_queue_gets_the_default_one,
    a_job_below_a_job_is_let_through,
    a_policy_limits_the_users_of_a_queue,
    an_elastic_quota_is_published_and_deleted,
    metrics_are_scraped_with_a_token,
    everything_is_taken_down,
    people_are_told_again,
    pods_that_never_ran_are_gone,
)
