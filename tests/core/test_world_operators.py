"""What the operators of the world in memory write is what the product understands, kind by kind."""

from typing import Any

import pytest

from admission.jobs import JOB_KINDS
from admission.model.job import Job
from admission.world.objects import condition, ref_of
from admission.world.operators import OPERATORS, NotPossible
from admission.world.patches import merged
from admission.world.world import World
from tests.core.test_owner_chains import create, found, lab, of_kind, pods, ray_job

Object = dict[str, Any]
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def training_job(kind: str, field: str, *types: str) -> Object:
    replicas = {name: {"replicas": 2 if name == "Worker" else 1, "template": pods()} for name in types}
    version = "v2beta1" if kind == "MPIJob" else "v1"
    return of_kind(f"kubeflow.org/{version}", kind, "j", {field: replicas})


SPARK = {
    "type": "Python",
    "mode": "cluster",
    "image": "i:1",
    "mainApplicationFile": "local:///a.py",
    "driver": {"cores": 1, "memory": "1g"},
    "executor": {"cores": 1, "memory": "1g", "instances": 2},
}
WORKFLOW = {"entrypoint": "a", "templates": [{"name": "a", "container": pods()["spec"]["containers"][0]}]}
CLUSTER = {"headGroupSpec": {"template": pods()}, "workerGroupSpecs": [{"groupName": "w", "template": pods()}]}
REPLICATED = {"name": "w", "replicas": 2, "template": {"spec": {"template": pods()}}}
JOBS = [
    of_kind("batch/v1", "Job", "j", {"parallelism": 2, "completions": 2, "template": pods()}),
    training_job("TFJob", "tfReplicaSpecs", "Chief", "Worker"),
    training_job("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker"),
    training_job("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker"),
    training_job("PaddleJob", "paddleReplicaSpecs", "Worker"),
    training_job("JAXJob", "jaxReplicaSpecs", "Worker"),
    training_job("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker"),
    ray_job(),
    of_kind("ray.io/v1", "RayCluster", "j", CLUSTER),
    of_kind("sparkoperator.k8s.io/v1beta2", "SparkApplication", "j", SPARK),
    of_kind("jobset.x-k8s.io/v1alpha2", "JobSet", "j", {"replicatedJobs": [REPLICATED]}),
    of_kind("argoproj.io/v1alpha1", "Workflow", "j", WORKFLOW),
]
EVERY = pytest.mark.parametrize("job", [{**job, "metadata": {**job["metadata"], "uid": "u"}} for job in JOBS],
                                ids=[job["kind"] for job in JOBS])  # fmt: skip


def after(job: Object, status: Object | None) -> Object:
    assert status is not None
    changed: Object = merged(job, {"status": status})
    return changed


def read(job: Object) -> Job:
    return JOB_KINDS[job["kind"]].read(job)


def test_every_kind_has_its_operator() -> None:
    assert {job["kind"] for job in JOBS} == set(OPERATORS) == set(JOB_KINDS)


@EVERY
def test_started_stopped_and_started_again(job: Object) -> None:
    operator = OPERATORS[job["kind"]]
    assert (read(job).active, read(job).end) == (False, None)
    runs = after(job, operator.running(job, NOW))
    assert (read(runs).active, read(runs).pods_ready, read(runs).end) == (True, True, None)
    stopped = after(runs, operator.stopped(runs, LATER))
    assert (read(stopped).active, read(stopped).end) == (False, None)
    again = after(stopped, operator.running(stopped, LATER))
    assert (read(again).active, read(again).pods_ready) == (True, True)


@EVERY
def test_ended_with_success_and_without(job: Object) -> None:
    operator = OPERATORS[job["kind"]]
    runs = after(job, operator.running(job, NOW))
    for status, success in ((operator.finished(runs, LATER), True), (operator.failed(runs, LATER, "oom"), False)):
        if job["kind"] == "RayCluster":
            assert status is None
            continue
        end = read(after(runs, status)).end
        assert end is not None
        assert end.succeeded is success
        assert success or "oom" in end.message


@EVERY
def test_what_it_makes_is_controlled_by_it(job: Object) -> None:
    operator = OPERATORS[job["kind"]]
    runs = after(job, operator.running(job, NOW))
    for child in operator.children(runs):
        (owner,) = child["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"]) == ("u", True)
        assert read(child).problem == ""


def test_a_job_that_somebody_else_runs_is_left_to_them() -> None:
    world = lab()
    job = of_kind("batch/v1", "Job", "far", {"managedBy": "kueue.x-k8s.io/multikueue", "template": pods()})
    create(world, job)
    assert "status" not in found(world, job)


def test_a_job_that_its_teller_runs_is_ended_only_when_told_so() -> None:
    world = lab()
    world.operators.leave(ref_of(ray_job()))
    job = create(world, ray_job())
    assert found(world, job).get("status") is None
    world.finish(ref_of(job))
    assert found(world, job)["status"]["jobStatus"] == "SUCCEEDED"


def test_a_job_can_fail() -> None:
    world = lab()
    job = create(world, JOBS[2])
    world.operators.fail(ref_of(job), "2 Worker replica(s) failed")
    world.advance(world.now + 2)
    (workload,) = world.api.scan("Workload")
    finished = condition(workload, "Finished") or {}
    assert (finished["reason"], "2 Worker replica(s) failed" in finished["message"]) == ("Failed", True)


def test_what_no_operator_knows_how_to_end_is_said() -> None:
    world = World()
    cluster = of_kind("ray.io/v1", "RayCluster", "c", CLUSTER, queue="")
    sweep = of_kind("experiments.example/v1", "Sweep", "s", {})
    for manifest in (cluster, sweep):
        assert world.api.create({**manifest, "metadata": {**manifest["metadata"], "namespace": "default"}}).ok
    with pytest.raises(NotPossible, match="never ends by itself: delete it"):
        world.finish(ref_of(cluster)._replace(namespace="default"))
    with pytest.raises(NotPossible, match="write its status with a patch event"):
        world.finish(ref_of(sweep)._replace(namespace="default"))
