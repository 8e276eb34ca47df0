"""Kubeflow's training jobs as the core sees them. Statuses are those that the operators write."""

from typing import Any

import pytest

from admission.jobs import JOB_KINDS
from admission.jobs.workload import compose, equivalent
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.readers.workload import read_workload
from tests.core.crd_cases import condition
from tests.core.manifests.pods import Object, metadata
from tests.core.test_jobs import merged

FIELDS = {
    "TFJob": "tfReplicaSpecs",
    "PyTorchJob": "pytorchReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
}
every_kind = pytest.mark.parametrize("kind", list(FIELDS))


def replicas(count: int | None = None, cpu: Any = "1", **pod: Any) -> Object:
    """Of one type, as many as said; None leaves it to the default."""
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    stated = {} if count is None else {"replicas": count}
    return {**stated, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [container], **pod}}}


def training_job(kind: str, types: Object, status: Object | None = None, **policy: Any) -> Object:
    """A job of the kind that is held."""
    spec = {"runPolicy": {"suspend": True, **policy}, FIELDS[kind]: types}
    return {"kind": kind, "metadata": metadata(), "spec": spec, "status": status or {}}


def seen(kind: str, types: Object, status: Object | None = None, **policy: Any) -> Job:
    return JOB_KINDS[kind].read(training_job(kind, types, status, **policy))


def sizes(job: Job) -> list[tuple[str, int]]:
    return [(one.name, one.count) for one in job.pod_sets]


@pytest.mark.parametrize(
    ("kind", "stated", "order"),
    [
        ("TFJob", "Evaluator Worker PS Master Chief", "chief master ps worker evaluator"),
        ("PyTorchJob", "Worker Master", "master worker"),
        ("XGBoostJob", "Worker Master", "master worker"),
        ("PaddleJob", "Worker Master", "master worker"),
        ("JAXJob", "Worker", "worker"),
        ("MPIJob", "Worker Launcher", "launcher worker"),
    ],
)
def test_pod_sets_stand_in_the_order_of_the_kind(kind: str, stated: str, order: str) -> None:
    job = seen(kind, {name: replicas(2) for name in stated.split()})
    assert sizes(job) == [(name, 2) for name in order.split()]


@every_kind
def test_replicas_that_are_not_stated_are_one(kind: str) -> None:
    assert sizes(seen(kind, {"Worker": replicas()})) == [("worker", 1)]


@every_kind
def test_the_run_policy_holds_a_job(kind: str) -> None:
    held = training_job(kind, {"Worker": replicas(2)})
    running = merged(held, JOB_KINDS[kind].start(held, [PodSetInfo("worker", 2, {}, (), {}, {})]))
    assert (JOB_KINDS[kind].read(held).suspended, JOB_KINDS[kind].read(running).suspended) == (True, False)
    assert running["spec"]["runPolicy"] == {"suspend": False}
    assert merged(running, JOB_KINDS[kind].suspend())["spec"]["runPolicy"] == {"suspend": True}
    assert not JOB_KINDS[kind].read({"spec": {}}).suspended


def test_a_job_is_active_until_its_operator_says_that_no_pod_is() -> None:
    types = {"Worker": replicas(2)}
    assert seen("TFJob", types, {"replicaStatuses": {"PS": {}, "Worker": {"active": 2}}}).active
    assert not seen("TFJob", types, {"replicaStatuses": {"PS": {}, "Worker": {"active": 0, "failed": 1}}}).active
    assert not seen("TFJob", types).active


@every_kind
def test_pods_are_ready_as_long_as_the_job_is_running(kind: str) -> None:
    types = {"Worker": replicas(2)}
    told = [condition("Created"), condition("Running")]
    assert seen(kind, types, {"conditions": told}).pods_ready
    assert not seen(kind, types, {"conditions": [*told, condition("Running", status="False")]}).pods_ready
    assert not seen(kind, types).pods_ready


@every_kind
@pytest.mark.parametrize(
    ("type", "status", "end"),
    [
        ("Succeeded", "True", JobEnd(True, "done")),
        ("Failed", "True", JobEnd(False, "done")),
        ("Failed", "False", None),
        ("Suspended", "True", None),
    ],
)
def test_a_job_ends_succeeded_or_failed(kind: str, type: str, status: str, end: JobEnd | None) -> None:
    told = [condition("Created"), condition(type, status=status, message="done")]
    assert seen(kind, {"Worker": replicas()}, {"conditions": told}).end == end


def test_a_suspended_job_with_a_time_to_live_has_not_ended() -> None:
    """Operators that fail to clean up for want of a completion time leave it Running, with its pods counted."""
    told = {"conditions": [condition("Running")], "replicaStatuses": {"Worker": {"active": 1}}}
    job = seen("TFJob", {"Worker": replicas()}, told, ttlSecondsAfterFinished=30, cleanPodPolicy="Running")
    assert (job.suspended, job.active, job.end, job.reclaimable) == (True, True, None, {})


@every_kind
def test_the_scheduling_policy_names_the_priority_class(kind: str) -> None:
    types = {"Worker": replicas(priorityClassName="low")}
    assert seen(kind, types, schedulingPolicy={"priorityClass": "high"}).pod_priority_class == "high"
    assert seen(kind, types).pod_priority_class == ""


def test_else_the_first_pod_set_that_names_one_does() -> None:
    job = seen("TFJob", {"Worker": replicas(priorityClassName="low"), "PS": replicas(priorityClassName="high")})
    assert [one.priority_class for one in job.pod_sets] == ["high", "low"]


def test_the_training_operator_takes_a_type_however_it_is_cased() -> None:
    job = seen("TFJob", {"worker": replicas(3), "ps": replicas(1), "CHIEF": replicas(1)})
    assert sizes(job) == [("chief", 1), ("ps", 1), ("worker", 3)]


def test_pods_of_a_type_that_the_training_operator_does_not_know_run_and_count() -> None:
    job = seen("TFJob", {"Eval": replicas(2, "3"), "Worker": replicas(1), "Aux": replicas(1)})
    assert [(one.name, one.count, one.requests) for one in job.pod_sets] == [
        ("worker", 1, {"cpu": 1000}),
        ("aux", 1, {"cpu": 1000}),
        ("eval", 2, {"cpu": 3000}),
    ]


def test_the_mpi_operator_looks_at_its_two_types_only() -> None:
    job = seen("MPIJob", {"Launcher": replicas(1), "Worker": replicas(2), "worker": replicas(7), "Aux": replicas(7)})
    assert sizes(job) == [("launcher", 1), ("worker", 2)]


def test_a_launcher_that_works_too_is_still_one_pod() -> None:
    manifest = training_job("MPIJob", {"Launcher": replicas(1), "Worker": replicas(2)})
    manifest["spec"]["runLauncherAsWorker"] = True
    assert sizes(JOB_KINDS["MPIJob"].read(manifest)) == [("launcher", 1), ("worker", 2)]


def test_an_elastic_job_asks_for_the_workers_that_it_has_now() -> None:
    """Its autoscaler changes the number while it runs; then its Workload says something else."""
    manifest = training_job("PyTorchJob", {"Worker": replicas(2, 4)})
    manifest["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 3, "metrics": []}
    job = JOB_KINDS["PyTorchJob"].read(manifest)
    assert [(one.name, one.count, one.min_count, one.requests) for one in job.pod_sets] == [
        ("worker", 2, None, {"cpu": 4000})
    ]
    workload = read_workload(compose("PyTorchJob", manifest, "w"))
    assert equivalent(job, workload)
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 3
    assert not equivalent(JOB_KINDS["PyTorchJob"].read(manifest), workload)


@pytest.mark.parametrize(
    ("kind", "types", "problem"),
    [
        ("TFJob", {}, "spec.tfReplicaSpecs: Required value: there must be replicas of Chief or Master or PS or"),
        ("MPIJob", {"worker": replicas()}, "spec.mpiReplicaSpecs: Required value: there must be replicas of Launcher"),
        ("JAXJob", {"Worker": {"replicas": 2}}, "spec.jaxReplicaSpecs.Worker.template.spec: Required value: pods of"),
        ("TFJob", {"Worker": replicas(), "worker": replicas()}, 'spec.tfReplicaSpecs: Duplicate value: "worker, which'),
        ("TFJob", {"my type": replicas()}, 'spec.tfReplicaSpecs: Invalid value: "my type": must consist of'),
    ],
)
def test_a_job_that_no_workload_can_stand_for_says_why(kind: str, types: Object, problem: str) -> None:
    assert seen(kind, types).problem.startswith(problem)
    assert seen(kind, {"Worker": replicas()}).problem == ""
