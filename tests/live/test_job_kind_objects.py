"""JobKind objects on a real API server: real kinds of examples/job-kinds live through the whole product, and what is
described comes, changes and goes while it runs.

The CRDs are our own and take anything; the kinds' operators are played by the test.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from admission.jobs.hold import Hold
from hack.cluster import Refused
from tests.live.site import NAMESPACE, QUEUE, TOLERATION, WORKLOADS, Job, Object, Site, installed, soon

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

EXAMPLES = Path(__file__).parents[2] / "examples" / "job-kinds"
AGGREGATED = "rbac.lockgate.dev/aggregate-to-controller"
POD = {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
TEMPLATE = {"metadata": {"labels": {"team": "a"}}, "spec": POD}
SPEC: Object = {"template": TEMPLATE, "count": 2}


class Real(NamedTuple):
    """A kind of the examples: one of its jobs, and what its operator says of that."""

    hold: Hold
    api_version: str
    spec: Object
    annotations: dict[str, str]
    counted: dict[str, int]
    runs: Object
    stopped: Object
    over: Object | None  # None: it never ends


def _condition(type: str, status: str) -> Object:
    return {"conditions": [{"type": type, "status": status}]}


REAL = {
    "MXJob": Real(
        Hold(("spec", "runPolicy", "suspend")),
        "kubeflow.org/v1",
        {"mxReplicaSpecs": {"Worker": {"replicas": 2, "template": TEMPLATE}, "Scheduler": {"template": TEMPLATE}}},
        {},
        {"scheduler": 1, "worker": 2},
        _condition("Running", "True") | {"replicaStatuses": {"Worker": {"active": 2}}},
        _condition("Running", "False") | {"replicaStatuses": {"Worker": {"active": 0}}},
        _condition("Succeeded", "True"),
    ),
    "Notebook": Real(
        Hold(("metadata", "annotations", "kubeflow-resource-stopped"), "lockgate", None, while_set=True),
        "kubeflow.org/v1",
        {"template": TEMPLATE},
        {},
        {"main": 1},
        {"readyReplicas": 1, "containerState": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
        {"readyReplicas": 0, "containerState": None},
        None,
    ),
    "PipelineRun": Real(
        Hold(("spec", "status"), "PipelineRunPending", None),
        "tekton.dev/v1",
        {"pipelineRef": {"name": "build"}},
        {"ci.example.com/cpu": "3", "ci.example.com/memory": "1Gi"},
        {"tasks": 1},
        {"startTime": "2026-01-01T00:00:00Z"},
        {},
        _condition("Succeeded", "True"),
    ),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with installed(tmp_path_factory.mktemp("described"), ()) as site:
        for kind, real in REAL.items():
            site.api.apply(_takes_anything(kind, real.api_version))
        site.api.apply(_takes_anything("Sweep", "labs.example/v1"))
        for name in REAL:
            for manifest in yaml.safe_load_all((EXAMPLES / f"{name.lower()}.yaml").read_text()):
                site.kubectl("apply", "-f", "-", given=manifest)
        site.queue("sweeps")
        yield site


def _takes_anything(kind: str, api_version: str) -> Object:
    group, _, version = api_version.partition("/")
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    plural = f"{kind.lower()}s"
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    versions = [{**served, "schema": {"openAPIV3Schema": schema}}]
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": f"{plural}.{group}"}, "spec": spec}


def _job(site: Site, kind: str, api_version: str, name: str, spec: Object, hold: Hold, **metadata: Any) -> Job:
    metadata = {"name": name, "namespace": NAMESPACE, **metadata}
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    site.kubectl("apply", "-f", "-", given=made)
    return Job(site, made, hold)


def _standing(site: Site, name: str) -> tuple[str, str]:
    """Reason and message of the JobKind's condition Active."""
    status = site.api.get(f"/apis/lockgate.dev/v1alpha1/jobkinds/{name}").get("status", {})
    found = [one for one in status.get("conditions", ()) if one["type"] == "Active"]
    return (found[0]["reason"], found[0]["message"]) if found else ("", "")


def _is_soon(site: Site, name: str, reason: str) -> None:
    soon(lambda: _standing(site, name)[0] == reason, f"JobKind {name} {reason}; is {_standing(site, name)}")


def _gone(site: Site, workload: Object) -> None:
    site.api.delete(f"{WORKLOADS}/{workload['metadata']['name']}")


@pytest.mark.parametrize("kind", REAL)
def test_a_job_of_a_described_kind_waits_runs_yields_runs_again_and_ends(site: Site, kind: str) -> None:
    real, queue = REAL[kind], kind.lower()
    site.queue(queue)
    _is_soon(site, queue, "Ready")
    first = site.occupy(queue)
    soon(lambda: site.reserved(queue) == 1, "the queue is full")
    metadata = {"labels": {QUEUE: queue}, "annotations": {"note": "mine", **real.annotations}}
    job = _job(site, kind, real.api_version, "life", real.spec, real.hold, **metadata)
    assert job.held
    submitted = job.as_written()
    soon(lambda: bool(job.workloads()), "the job has a Workload")
    assert {one["name"]: one["count"] for one in job.workload()["spec"]["podSets"]} == real.counted

    _gone(site, first)
    job.soon(held=False)
    started = job.as_written()
    if kind != "PipelineRun":  # it has no templates
        assert "pool" in str(started["spec"])
        assert TOLERATION["key"] in str(started["spec"])
    job.says(real.runs)
    soon(lambda: job.has("PodsReady"), "the Workload knows that its pods are ready")

    second = site.occupy(queue)
    if kind == "PipelineRun":  # nothing else stops it
        soon(lambda: not job.exists(), "the job is deleted")
        soon(lambda: not job.workloads(), "and its Workload is gone")
        _gone(site, second)
        metadata["annotations"] = real.annotations
        job = _job(site, kind, real.api_version, "another-life", real.spec, real.hold, **metadata)
        job.soon(held=False)
        job.says(real.runs)
    else:
        job.soon(held=True)
        assert job.has("QuotaReserved")  # as long as there are pods
        job.says(real.stopped)
        soon(lambda: job.has("QuotaReserved", "False"), "the job's quota is given back")
        assert job.as_written() == submitted
        _gone(site, second)
        job.soon(held=False)
        assert job.as_written() == started
        job.says(real.runs)
    if real.over is None:
        site.api.delete(job.path)
    else:
        job.says(real.over)
        soon(lambda: job.has("Finished"), "the Workload finished")
    soon(lambda: site.reserved(queue) == 0, "its quota is free")


def test_a_session_that_its_user_stops_gives_quota_back_until_that_is_taken_away(site: Site) -> None:
    real = REAL["Notebook"]
    site.queue("sessions")
    job = _job(site, "Notebook", real.api_version, "session", real.spec, real.hold, labels={QUEUE: "sessions"})
    job.soon(held=False)
    job.says(real.runs)
    mark = "kubeflow-resource-stopped"
    site.kubectl("annotate", "notebook", "session", "-n", NAMESPACE, f"{mark}=2026-01-01T00:00:00Z")
    job.says(real.stopped)
    soon(lambda: site.reserved("sessions") == 0, "the quota of the session is free")
    assert job.now()["metadata"]["annotations"][mark] == "2026-01-01T00:00:00Z"
    site.kubectl("annotate", "notebook", "session", "-n", NAMESPACE, f"{mark}-")
    soon(lambda: site.reserved("sessions") == 1, "the session has quota again")
    job.soon(held=False)
    site.api.delete(job.path)


HELD_BY_SUSPEND, HELD_BY_STATE = Hold(("spec", "suspend")), Hold(("spec", "state"), "Pending", None)


def _describe(site: Site, suspend: Object, count: str) -> None:
    pods = [{"name": "main", "template": "spec.template", "count": count}]
    spec = {"kind": "Sweep.v1.labs.example", "suspend": suspend, "podSets": pods}
    spec["active"] = spec["podsReady"] = {"path": "status.ready", "atLeast": 1}
    spec["finished"] = {"succeeded": {"path": "status.phase", "in": ["Done"]}}
    head = {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": {"name": "sweep"}}
    site.kubectl("apply", "-f", "-", given={**head, "spec": spec})


def _sweep(site: Site, name: str, hold: Hold) -> Job:
    return _job(site, "Sweep", "labs.example/v1", name, {**SPEC, "most": 3}, hold, labels={QUEUE: "sweeps"})


def _is_held_when_created(site: Site, hold: Hold) -> bool:
    probe = {"metadata": {"name": "probe", "labels": {QUEUE: "sweeps"}}, "spec": SPEC}
    made = {"apiVersion": "labs.example/v1", "kind": "Sweep", **probe}
    return hold.holds(site.api.create(f"/apis/labs.example/v1/namespaces/{NAMESPACE}/sweeps?dryRun=All", made))


def _is_free_when_created(site: Site, hold: Hold) -> bool:
    try:
        return not _is_held_when_created(site, hold)
    except Refused:  # for a moment the API server asks for what the webhooks have no answer to any more
        return False


def test_a_description_comes_changes_and_goes_while_the_product_runs(site: Site) -> None:
    _describe(site, {"path": "spec.suspend"}, "spec.count")
    _is_soon(site, "sweep", "Forbidden")
    message = _standing(site, "sweep")[1]
    assert AGGREGATED in message
    assert "Sweep.v1.labs.example" in message
    verbs = ["get", "list", "watch", "patch", "delete"]
    rules = [
        {"apiGroups": ["labs.example"], "resources": ["sweeps"], "verbs": verbs},
        {"apiGroups": ["labs.example"], "resources": ["sweeps/finalizers"], "verbs": ["update"]},
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    site.api.apply({**role, "metadata": {"name": "sweeps", "labels": {AGGREGATED: "true"}}, "rules": rules})
    _is_soon(site, "sweep", "Ready")
    soon(lambda: _is_held_when_created(site, HELD_BY_SUSPEND), "the webhooks know the kind")

    runs = _sweep(site, "runs", HELD_BY_SUSPEND)
    runs.soon(held=False)
    runs.says({"ready": 2})
    full = site.occupy("sweeps")
    runs.soon(held=True)
    runs.says({"ready": 0})
    soon(lambda: runs.has("QuotaReserved", "False"), "the job waits")
    assert [one["count"] for one in runs.workload()["spec"]["podSets"]] == [2]

    _describe(site, {"path": "spec.suspend"}, "spec.most")
    soon(lambda: [one["count"] for one in runs.workload()["spec"]["podSets"]] == [3], "the Workload follows")
    _gone(site, full)
    runs.soon(held=False)
    runs.says({"ready": 3, "phase": "Done"})
    soon(lambda: runs.has("Finished"), "the job finished")

    _describe(site, {"path": "spec.state", "held": "Pending", "released": None}, "spec.most")
    soon(lambda: _is_held_when_created(site, HELD_BY_STATE), "jobs are held in another way")
    other = _sweep(site, "other", HELD_BY_STATE)
    other.soon(held=False)
    soon(lambda: other.has("Admitted"), "the job is admitted")

    site.kubectl("delete", "jobkind", "sweep")
    soon(lambda: _is_free_when_created(site, HELD_BY_STATE), "nobody holds such jobs any more")
    free = _sweep(site, "free", HELD_BY_STATE)
    assert not free.held
    assert not free.workloads()
