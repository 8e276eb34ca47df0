"""RayJobs and RayClusters in a world: queued once with all that they make, stopped whole, themselves again after it."""

from typing import Any

import pytest

from admission.explain import explain
from admission.model.kinds import Ref
from admission.model.names import workload_key
from admission.state import State
from tests.core.clusters import Cluster, Plan, QueuePlan
from tests.core.test_ray_jobs import Object, cluster, group, job

JOB, CLUSTER = Ref("RayJob", "lab", "train"), Ref("RayCluster", "lab", "train")
QUEUE = {"kueue.x-k8s.io/queue-name": "q0"}


def room(cpu: int = 6) -> Cluster:
    """A queue with so many cores, and memory for whatever KubeRay adds."""
    made = Cluster(Plan((QueuePlan("", cpu, None, None, False, "LowerPriority", "Never", "Never"),), 0))
    queue = made.get(Ref("ClusterQueue", "", "q0"))
    (found,) = queue["spec"]["resourceGroups"]
    found["coveredResources"].append("memory")
    found["flavors"][0]["resources"].append({"name": "memory", "nominalQuota": "64Gi"})
    answer = made.world.api.patch(Ref("ClusterQueue", "", "q0"), {"spec": {"resourceGroups": [found]}})
    assert answer.ok, answer.message
    return made


def submitted(made: Cluster, manifest: Object, **metadata: Any) -> Object:
    """As the API server has it, held."""
    spec = {name: value for name, value in manifest["spec"].items() if name != "suspend"}
    meta = {"name": "train", "namespace": "lab", "labels": QUEUE, **metadata}
    made.create({**manifest, "metadata": meta, "spec": spec})
    return made.get(Ref(manifest["kind"], "lab", "train"))


def whole(*workers: Object, **fields: Any) -> Object:
    return job(*workers, shutdownAfterJobFinishes=True, **fields)


def patched(made: Cluster, ref: Ref, patch: Object, subresource: str | None = None) -> None:
    answer = made.world.api.patch(ref, patch, subresource=subresource)
    assert answer.ok, answer.message
    made.pass_time(100)


def workload_of(made: Cluster) -> Object:
    (found,) = made.workloads()
    return found


def reason(found: Object) -> str:
    return next(str(one["reason"]) for one in found["status"]["conditions"] if one["type"] == "QuotaReserved")


def named(made: Cluster, kind: str) -> list[str]:
    return [one["metadata"]["name"] for one in made.world.api.list(kind, "lab")]


@pytest.mark.parametrize("mode", ["K8sJobMode", "SidecarMode", "HTTPMode"])
def test_a_job_is_queued_once_with_all_that_it_makes_and_is_itself_again_when_stopped(mode: str) -> None:
    made = room()
    held = submitted(made, whole(group(replicas=2), mode=mode))
    made.pass_time(5)
    workload = workload_of(made)
    assert reason(workload) == "QuotaReserved"
    (first,) = named(made, "RayCluster")
    assert named(made, "Job") == (["train"] if mode == "K8sJobMode" else [])
    assert made.get(Ref("RayCluster", "lab", first))["status"]["state"] == "ready"

    ref = Ref("Workload", "lab", workload["metadata"]["name"])
    patched(made, ref, {"spec": {"active": False}})
    stopped = made.get(JOB)
    assert (stopped["spec"], stopped["status"]["jobDeploymentStatus"]) == (held["spec"], "Suspended")
    assert named(made, "RayCluster") == named(made, "Job") == []

    patched(made, ref, {"spec": {"active": True}})
    assert first not in named(made, "RayCluster") != []
    made.world.operators.finish(JOB)
    made.pass_time(5)
    assert [one["reason"] for one in workload_of(made)["status"]["conditions"] if one["type"] == "Finished"] == [
        "Succeeded"
    ]
    assert named(made, "RayCluster") == []


def test_a_cluster_holds_quota_until_it_is_deleted() -> None:
    made = room()
    held = submitted(made, cluster(group(replicas=2)))
    made.pass_time(5)
    assert made.get(CLUSTER)["status"]["state"] == "ready"
    ref = Ref("Workload", "lab", workload_of(made)["metadata"]["name"])
    patched(made, ref, {"spec": {"active": False}})
    assert made.get(CLUSTER)["status"]["state"] == "suspended"
    assert made.get(CLUSTER)["spec"] == held["spec"]
    patched(made, ref, {"spec": {"active": True}})
    assert reason(workload_of(made)) == "QuotaReserved"
    made.world.api.delete(CLUSTER)
    made.pass_time(5)
    assert made.workloads() == []


def test_a_job_that_kuberay_refuses_keeps_no_quota_and_stands_in_no_queue_until_it_is_let_go_on() -> None:
    made = room(cpu=4)
    submitted(made, whole(group(replicas=2), mode="HTTPMode"))
    made.pass_time(5)
    assert reason(workload_of(made)) == "QuotaReserved"
    patched(made, JOB, {"status": {"jobDeploymentStatus": "ValidationFailed", "message": "no"}}, "status")
    assert reason(workload_of(made)) == "OnHold"
    state, workload = made.world.state, workload_of(made)["metadata"]["name"]
    assert isinstance(state, State)
    told = explain(state, workload_key("lab", workload), made.world.now)
    assert (told.reason, told.position, told.never) == ("OnHold", None, True)
    waiting = made.submit(0, 4, 0)
    made.pass_time(5)
    assert reason(made.get(waiting)) == "QuotaReserved"

    made.world.api.delete(waiting)
    patched(made, JOB, {"status": {"jobDeploymentStatus": "Suspended", "message": None}}, "status")
    assert reason(workload_of(made)) == "QuotaReserved"


def test_a_replica_count_that_nobody_filled_in_is_told_and_queues_nothing() -> None:
    made = room()
    submitted(made, whole(group(replicas="$REPLICAS")))
    made.pass_time(5)
    assert made.workloads() == []
    told = [one.message for one in made.world.events if one.reason == "ErrWorkloadCompose"]
    assert told[0].startswith('spec.rayClusterSpec.workerGroupSpecs[0].replicas: Invalid value: "$REPLICAS"')
