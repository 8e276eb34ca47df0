"""Jobs of described kinds through the whole product, webhooks included: held, started, evicted, started again, done."""

from pathlib import Path
from typing import Any

import yaml

from admission.world.scenario.case import read_case
from admission.world.scenario.report import FileResult, text
from admission.world.scenario.runner import run_case
from tests.core.manifests.pods import Object
from tests.core.test_job_kinds_described import EXAMPLES, mx_job, notebook, pipeline_run, read

KUEUE = "kueue.x-k8s.io/v1beta2"
RENDER = Path(__file__).parents[2] / "examples" / "render"
PREEMPTED = {"t": 20, "op": "patch", "ref": "ClusterQueue/all", "patch": {"spec": {"stopPolicy": "HoldAndDrain"}}}
RESUMED = {"t": 40, "op": "patch", "ref": "ClusterQueue/all", "patch": {"spec": {"stopPolicy": "None"}}}


def queues() -> list[Object]:
    """One queue with plenty of everything, on labelled nodes."""
    amounts = [{"name": name, "nominalQuota": "1000Gi"} for name in ("cpu", "memory")]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "spot", "resources": amounts}]}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100},
        {
            "apiVersion": KUEUE,
            "kind": "ResourceFlavor",
            "metadata": {"name": "spot"},
            "spec": {"nodeLabels": {"pool": "spot"}},
        },
        {
            "apiVersion": KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": "all"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
        },
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"namespace": "lab", "name": "main"},
            "spec": {"clusterQueue": "all"},
        },
    ]


def submitted(job: Object, *held: str) -> Object:
    """As its author writes it, without what holds it."""
    made = {**job, "metadata": {key: job["metadata"][key] for key in ("name", "namespace", "labels")}}
    made["metadata"]["annotations"] = {**job["metadata"].get("annotations", {})}
    made.pop("status")
    where: Any = made
    for part in held[:-1]:
        where[part] = {**where[part]}
        where = where[part]
    where.pop(held[-1], None)
    return made


def status(ref: str, at: int, **fields: Any) -> Object:
    return {"t": at, "op": "patch", "ref": ref, "subresource": "status", "patch": {"status": fields}}


def holds(file: str, job: Object, held: Object, events: list[Object], expect: list[Object]) -> None:
    """A case in which the job is created at once; `held`: what the webhooks make of it then."""
    ref = f"{job['kind']}/lab/train"
    case = {
        "id": "C903",
        "source": "https://example.com/kinds",
        "area": "job-integration",
        "confidence": "high",
        "needs": [f"jobs:{job['kind']}"],
        "gist": f"A {job['kind']} from beginning to end",
        "why": "Its JobKind says how.",
        "objects": [*queues(), read(file)[0], job],
        "events": [{"t": 0, "op": "create", "ref": ref, "id": "first"}, *events],
        "expect": [{"request": "first", "allowed": True, "mutated": held}, *expect],
    }
    result = run_case(read_case(yaml.safe_dump(case)))
    assert result.outcome == "passed", "\n".join(text([FileResult(str(EXAMPLES / file), result)]))


def at(moment: int, ref: str, field: str, **expected: Any) -> Object:
    return {"at": moment, "object": ref, "field": field, **expected}


def test_an_mx_job_from_beginning_to_end() -> None:
    ref, worker = "MXJob/lab/train", "spec.mxReplicaSpecs.Worker.template.spec.nodeSelector"
    holds(
        "mxjob.yaml",
        submitted(mx_job(), "spec", "runPolicy", "suspend"),
        {"spec.runPolicy.suspend": True},
        [
            status(ref, 10, replicaStatuses={"Worker": {"active": 4}}),
            PREEMPTED,
            status(ref, 30, replicaStatuses={"Worker": {"active": 0}}),
            RESUMED,
            status(ref, 50, conditions=[{"type": "Succeeded", "status": "True", "message": "trained"}]),
            {"t": 60, "op": "tick"},
        ],
        [
            at(0, ref, "spec.runPolicy.suspend", equals=False),
            at(0, ref, f"{worker}.pool", equals="spot"),
            at(20, ref, "spec.runPolicy.suspend", equals=True),
            at(20, ref, worker, absent=True),
            {"at": 20, "workloadOf": ref, "state": "evicted"},
            {"at": 20, "workloadOf": ref, "state": "quotaReserved"},  # its pods are still there
            {"at": 30, "workloadOf": ref, "state": "pending"},
            at(40, ref, "spec.runPolicy.suspend", equals=False),
            {"at": 60, "workloadOf": ref, "state": "finished", "reason": "Succeeded", "messageContains": "trained"},
        ],
    )


def test_a_notebook_is_stopped_by_its_user_and_starts_again_when_there_is_room() -> None:
    ref = "Notebook/lab/train"
    stopped = "metadata.annotations[kubeflow-resource-stopped]"
    user = {"metadata": {"annotations": {"kubeflow-resource-stopped": "2026-01-02T03:04:05Z"}}}
    again = {"metadata": {"annotations": {"kubeflow-resource-stopped": None}}}
    holds(
        "notebook.yaml",
        submitted(notebook(None), "metadata", "annotations", "kubeflow-resource-stopped"),
        {stopped: "lockgate"},
        [
            status(ref, 10, readyReplicas=1, containerState={"running": {}}),
            {"t": 20, "op": "patch", "ref": ref, "patch": user},
            status(ref, 30, readyReplicas=0, containerState={"running": None}),
            {"t": 40, "op": "patch", "ref": ref, "patch": again, "id": "again"},
            {"t": 50, "op": "tick"},
        ],
        [
            {"request": "again", "allowed": True, "mutated": {stopped: "lockgate"}},  # however it was started before
            at(0, ref, stopped, absent=True),
            at(0, ref, "spec.template.spec.nodeSelector.pool", equals="spot"),
            at(0, ref, "spec.template.metadata", absent=True),
            at(30, ref, stopped, equals="2026-01-02T03:04:05Z"),
            {"at": 30, "workloadOf": ref, "state": "pending"},
            at(50, ref, stopped, absent=True),
            {"at": 50, "workloadOf": ref, "state": "admitted"},
        ],
    )


def test_a_pipeline_run_that_has_to_leave_is_deleted() -> None:
    ref = "PipelineRun/lab/train"
    holds(
        "pipelinerun.yaml",
        submitted(pipeline_run(), "spec", "status"),
        {"spec.status": "PipelineRunPending"},
        [status(ref, 10, startTime="2026-01-02T03:04:05Z"), PREEMPTED, {"t": 30, "op": "tick"}],
        [
            at(0, ref, "spec.status", absent=True),
            {
                "at": 0,
                "workloadOf": ref,
                "state": "admitted",
                "resourceUsage": {"tasks": {"cpu": "2", "memory": "4Gi"}},
            },
            {"at": 30, "gone": ref},
        ],
    )


def test_a_pipeline_run_ends_by_itself() -> None:
    ref = "PipelineRun/lab/train"
    failed = {"type": "Succeeded", "status": "False", "message": "task lint failed"}
    holds(
        "pipelinerun.yaml",
        submitted(pipeline_run(), "spec", "status"),
        {"spec.status": "PipelineRunPending"},
        [status(ref, 10, startTime="2026-01-02T03:04:05Z", conditions=[failed]), {"t": 20, "op": "tick"}],
        [{"at": 20, "workloadOf": ref, "state": "finished", "reason": "Failed", "messageContains": "task lint failed"}],
    )


def test_a_workload_whose_job_went_while_nobody_described_the_kind_goes_once_somebody_does() -> None:
    ref = "MXJob/lab/train"
    count = {"of": "workloads", "namespace": "lab"}
    holds(
        "mxjob.yaml",
        submitted(mx_job(), "spec", "runPolicy", "suspend"),
        {"spec.runPolicy.suspend": True},
        [
            {"t": 10, "op": "delete", "ref": "JobKind/mxjob"},
            {"t": 20, "op": "delete", "ref": ref},
            {"t": 30, "op": "tick"},
            {"t": 40, "op": "create", "ref": "JobKind/mxjob"},
            {"t": 50, "op": "tick"},
        ],
        [{"at": 30, "count": count, "equals": 1}, {"at": 50, "count": count, "equals": 0}],
    )


def test_the_scenario_of_the_tutorial_holds() -> None:
    result = run_case(read_case((RENDER / "scenario.yaml").read_text()))
    assert result.outcome == "passed", "\n".join(text([FileResult("scenario.yaml", result)]))
