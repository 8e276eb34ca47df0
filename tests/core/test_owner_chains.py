"""Jobs that jobs make: the topmost one that is queued counts for all below it, and by its uid alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml

from admission.jobs import JOB_KINDS
from admission.model.configuration import DEFAULTS
from admission.model.effects import CreateWorkload, Delete, EmitEvent, Outcome, Patch, Plan
from admission.model.kinds import Ref
from admission.model.queues import ClusterQueue, LocalQueue, ResourceFlavor
from admission.model.selectors import EVERYTHING
from admission.readers.namespace import read_namespace
from admission.state import State
from admission.world.clock import EPOCH
from admission.world.objects import condition, holds, ref_of
from admission.world.world import World
from tests.core.lab import group
from tests.core.storms import KUEUE, cluster_queue

QUEUE = "kueue.x-k8s.io/queue-name"
ALL = replace(DEFAULTS, manage_jobs_without_queue_name=True)
BOTH = pytest.mark.parametrize("configuration", [DEFAULTS, ALL], ids=["queued ones", "all"])

Object = dict[str, Any]


def pods(cpu: str = "1") -> Object:
    container = {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


CLUSTER = {"headGroupSpec": {"template": pods()}, "workerGroupSpecs": [{"groupName": "w", "template": pods()}]}


def of_kind(
    api_version: str, kind: str, name: str, spec: Object, queue: str = "q", owner: Object | None = None
) -> Object:
    meta: Object = {"name": name, "namespace": "lab", **({"labels": {QUEUE: queue}} if queue else {})}
    if owner is not None:
        meta["ownerReferences"] = [owner]
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


def ray_job(name: str = "tune", queue: str = "q", **spec: Any) -> Object:
    told = {"shutdownAfterJobFinishes": True, "rayClusterSpec": CLUSTER, "submissionMode": "K8sJobMode"}
    told["submitterPodTemplate"] = pods("500m")
    return of_kind("ray.io/v1", "RayJob", name, {**told, **spec}, queue)


def batch_job(name: str, owner: Object | None = None, queue: str = "", **meta: Any) -> Object:
    manifest = of_kind("batch/v1", "Job", name, {"template": pods()}, queue, owner)
    return {**manifest, "metadata": {**manifest["metadata"], **meta}}


def owner(of: Object, **other: Any) -> Object:
    named = {"apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"]}
    return {**named, "uid": of["metadata"].get("uid", ""), "controller": True, **other}


def lab(cpu: int = 10, configuration: Any = DEFAULTS, **queue: Any) -> World:
    world = World(configuration, pods_stop_after=1.0)
    for manifest in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "std"}},
        cluster_queue("q", "org", cpu, **queue),
        {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "lab"},
         "spec": {"clusterQueue": "q"}},
        {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 9},
    ):  # fmt: skip
        assert world.api.create(manifest).ok
    world.settle()
    return world


def create(world: World, manifest: Object) -> Object:
    answer = world.api.create(manifest)
    assert answer.body is not None, answer.message
    world.advance(world.now + 2)  # queue statuses are written once a second
    return answer.body


def found(world: World, manifest: Object) -> Object:
    return dict(world.api.peek(ref_of(manifest)) or {})


def workloads(world: World) -> list[str]:
    """Of whom they are."""
    return sorted(one["metadata"]["ownerReferences"][0]["name"] for one in world.api.scan("Workload"))


def workload(world: World, manifest: Object) -> Object:
    uid = found(world, manifest)["metadata"]["uid"]
    return next(dict(one) for one in world.api.scan("Workload") if one["metadata"]["ownerReferences"][0]["uid"] == uid)


def reserved(world: World) -> str:
    queue = world.api.peek(Ref("ClusterQueue", "", "q")) or {}
    (flavor,) = queue["status"]["flavorsReservation"]
    return str(flavor["resources"][0]["total"])


def told(world: World, reason: str) -> list[str]:
    return [str(event.about) for event in world.events if event.reason == reason]


def held(manifest: Object) -> bool:
    return JOB_KINDS[manifest["kind"]].hold.holds(manifest)


@BOTH
def test_what_a_ray_job_makes_runs_by_its_leave_and_nothing_is_charged_twice(configuration: Any) -> None:
    world = lab(configuration=configuration)
    job = create(world, ray_job())
    (cluster,) = world.api.list("RayCluster")
    (submitter,) = world.api.list("Job")
    assert cluster["metadata"]["labels"][QUEUE] == "q"  # KubeRay copies the labels of the job
    grandchild = create(world, batch_job("grandchild", owner(cluster)))
    assert [held(one) for one in (found(world, job), cluster, submitter, grandchild)] == [False] * 4
    assert workloads(world) == ["tune"]
    assert reserved(world) == "2500m"


@BOTH
def test_the_jobs_of_a_job_set_are_held_with_it_and_start_with_what_its_flavor_adds(configuration: Any) -> None:
    world = lab(cpu=2, configuration=configuration, preemption={"withinClusterQueue": "LowerPriority"})
    replicated = [{"name": "w", "replicas": 2, "template": {"spec": {"template": pods()}}}]
    sets = of_kind("jobset.x-k8s.io/v1alpha2", "JobSet", "set", {"replicatedJobs": replicated})
    create(world, sets)
    assert [held(one) for one in world.api.list("Job")] == [False, False]
    assert all(
        "kueue.x-k8s.io/podset" in one["spec"]["template"]["metadata"]["labels"] for one in world.api.list("Job")
    )
    urgent = create(world, batch_job("urgent", labels={QUEUE: "q", "kueue.x-k8s.io/priority-class": "high"}))
    world.advance(world.now + 5)
    assert workloads(world) == ["set", "urgent"]
    parts = [one for one in world.api.list("Job") if one["metadata"]["name"] != "urgent"]
    assert [held(one) for one in parts] == [True, True]
    assert reserved(world) == "1"
    world.finish(ref_of(urgent))
    world.advance(world.now + 5)
    assert not any(held(one) for one in world.api.list("Job"))
    world.finish(ref_of(sets))
    world.advance(world.now + 5)
    assert holds(workload(world, sets), "Finished")
    assert all(holds(one, "Complete") for one in world.api.list("Job"))
    assert workloads(world) == ["set", "urgent"]


@BOTH
def test_the_launcher_of_an_mpi_job_is_part_of_it(configuration: Any) -> None:
    world = lab(configuration=configuration)
    replicas = {"Launcher": {"template": pods()}, "Worker": {"replicas": 2, "template": pods()}}
    create(world, of_kind("kubeflow.org/v2beta1", "MPIJob", "mpi", {"mpiReplicaSpecs": replicas}))
    assert [(one["metadata"]["name"], held(one)) for one in world.api.list("Job")] == [("mpi-launcher", False)]
    assert workloads(world) == ["mpi"]
    assert reserved(world) == "3"


def test_a_child_is_held_while_its_ancestor_is_not_admitted() -> None:
    world = lab(cpu=1)
    job = create(world, ray_job())
    cluster = of_kind("ray.io/v1", "RayCluster", "early", CLUSTER, queue="", owner=owner(job))
    create(world, cluster)
    child = create(world, batch_job("kid", owner(job)))
    assert held(found(world, child))
    assert held(found(world, cluster))
    assert set(told(world, "Suspended")) == {"Job/lab/kid", "RayCluster/lab/early"}
    assert workloads(world) == ["tune"]


def test_a_child_is_held_when_its_ancestor_has_to_leave() -> None:
    """Also one that is not of the ancestor's own operator, which would hold it."""
    world = lab(cpu=1, preemption={"withinClusterQueue": "LowerPriority"})
    replicas = {"Worker": {"template": pods()}}
    torch = create(world, of_kind("kubeflow.org/v1", "PyTorchJob", "torch", {"pytorchReplicaSpecs": replicas}))
    child = create(world, batch_job("kid", owner(torch)))
    assert not held(found(world, child))
    create(world, batch_job("urgent", labels={QUEUE: "q", "kueue.x-k8s.io/priority-class": "high"}))
    world.advance(world.now + 5)
    assert held(found(world, torch))
    assert held(found(world, child))


def test_an_owner_that_has_another_uid_manages_nothing() -> None:
    world = lab()
    job = create(world, ray_job())
    forged = create(world, batch_job("forged", owner(job, uid="no-such-uid"), queue="q"))
    free = create(world, batch_job("free", owner(job, uid="no-such-uid")))
    assert "forged" in workloads(world)
    assert holds(workload(world, forged), "Admitted")
    assert "free" not in workloads(world)
    assert not held(free)


def test_an_owner_in_another_namespace_manages_nothing() -> None:
    """Its uid is easily read there, and the garbage collector needs a while to take such a job away."""
    world = lab()
    job = create(world, ray_job())
    create(world, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    queue = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "other"}}
    create(world, {**queue, "spec": {"clusterQueue": "q"}})
    create(world, batch_job("abroad", owner(job), queue="q", namespace="other"))
    assert workloads(world) == ["abroad", "tune"]


def test_an_owner_that_does_not_control_manages_nothing() -> None:
    world = lab()
    job = create(world, ray_job())
    create(world, batch_job("guest", owner(job, controller=False), queue="q"))
    assert "guest" in workloads(world)


def test_with_the_owner_all_of_it_goes() -> None:
    world = lab()
    job = create(world, ray_job())
    world.api.delete(ref_of(job))
    world.advance(world.now + 5)
    assert [list(world.api.scan(kind)) for kind in ("RayCluster", "Job", "Workload")] == [[], [], []]
    assert reserved(world) == "0"


def test_a_child_whose_owner_lets_it_go_is_queued_by_itself() -> None:
    world = lab()
    job = create(world, ray_job())
    child = create(world, batch_job("kid", owner(job), queue="q"))
    assert workloads(world) == ["tune"]
    assert world.api.patch(ref_of(child), {"metadata": {"ownerReferences": None}}).ok
    world.advance(world.now + 2)
    assert workloads(world) == ["kid", "tune"]


def test_a_ray_job_that_its_operator_refuses_gives_its_quota_back() -> None:
    world = lab(cpu=3)
    job = create(world, ray_job())
    assert reserved(world) == "2500m"
    refused = {"status": {"jobDeploymentStatus": "ValidationFailed", "message": "name too long"}}
    assert world.api.patch(ref_of(job), refused, subresource="status").ok
    world.advance(world.now + 300)
    told_of = condition(workload(world, job), "QuotaReserved") or {}
    assert (told_of["status"], told_of["reason"]) == ("False", "OnHold")
    assert reserved(world) == "0"


def test_a_ray_job_that_uses_the_cluster_of_another_is_left_alone() -> None:
    world = lab()
    job = create(
        world,
        of_kind(
            "ray.io/v1",
            "RayJob",
            "guest",
            {"shutdownAfterJobFinishes": True, "clusterSelector": {"ray.io/cluster": "shared"}},
        ),
    )
    assert not held(job)
    assert workloads(world) == []


# kinds that cannot be held again


SWEEP = """
apiVersion: lockgate.dev/v1alpha1
kind: JobKind
metadata: {{name: sweep}}
spec:
  kind: Sweep.v1.experiments.example
  suspend: {{path: spec.suspend}}
  stop: {stop}
  podSets: [{{name: main, count: spec.replicas, template: spec.template}}]
  started: {{path: status.phase, in: [Running]}}
  finished:
    succeeded: {{path: status.phase, in: [Done]}}
    failed: {{path: status.phase, in: [Failed]}}
"""
SWEEPING = of_kind("experiments.example/v1", "Sweep", "s", {"replicas": 2, "template": pods()})


def with_a_sweep_and_somebody_urgent(stop: str) -> tuple[World, Object]:
    world = lab(cpu=2, preemption={"withinClusterQueue": "LowerPriority"})
    assert world.api.create(yaml.safe_load(SWEEP.format(stop=stop))).ok
    world.settle()
    create(world, SWEEPING)
    assert found(world, SWEEPING)["spec"]["suspend"] is False
    world.api.patch(ref_of(SWEEPING), {"status": {"phase": "Running"}}, subresource="status")
    labels = {QUEUE: "q", "kueue.x-k8s.io/priority-class": "high"}
    urgent = create(world, batch_job("urgent", labels=labels))
    world.advance(world.now + 60)
    return world, urgent


def test_a_kind_that_can_only_be_deleted_is_deleted_when_it_is_evicted() -> None:
    world, urgent = with_a_sweep_and_somebody_urgent("Delete")
    assert found(world, SWEEPING) == {}
    assert workloads(world) == ["urgent"]
    assert not held(found(world, urgent))


def test_a_kind_that_cannot_be_stopped_keeps_its_quota_to_its_end() -> None:
    world, urgent = with_a_sweep_and_somebody_urgent("None")
    assert told(world, "CannotBeStopped")
    assert reserved(world) == "2"
    assert held(found(world, urgent))
    world.api.patch(ref_of(SWEEPING), {"status": {"phase": "Done"}}, subresource="status")
    world.advance(world.now + 5)
    assert not held(found(world, urgent))


# late news, and chains that are none


class Desk:
    """A State that is told by hand."""

    def __init__(self, configuration: Any = DEFAULTS) -> None:
        self.state = State(configuration)
        self.now = EPOCH
        self.version = 1
        self.state.observe("Namespace", read_namespace({"metadata": {"name": "lab", "resourceVersion": "1"}}))
        self.state.observe("ResourceFlavor", ResourceFlavor("std", resource_version=1))
        groups = (group({"std": {"cpu": "10"}}),)
        self.state.observe(
            "ClusterQueue", ClusterQueue("q", resource_version=1, groups=groups, namespace_selector=EVERYTHING)
        )
        self.state.observe("LocalQueue", LocalQueue("lab", "q", "q", resource_version=1))
        self.plan()

    def tell(self, manifest: Object, *, read: bool = False) -> None:
        self.version += 1
        meta = {**manifest["metadata"], "resourceVersion": str(self.version)}
        meta.setdefault("uid", f"uid-{meta['name']}")
        kind = manifest["kind"]
        self.state.observe(kind, JOB_KINDS[kind].read({**manifest, "metadata": meta}), read=read)

    def plan(self) -> Plan:
        self.now += 1
        plan = self.state.plan(self.now)
        for planned in plan.effects:
            if isinstance(planned.effect, Patch) and planned.effect.ref.kind in ("ClusterQueue", "LocalQueue"):
                self.version += 1
                self.state.outcome(Outcome(planned.id, "ok", self.version))
        return plan


def made(plan: Plan) -> list[str]:
    return [planned.effect.job.name for planned in plan.effects if isinstance(planned.effect, CreateWorkload)]


def named(name: str) -> Object:
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": name, "uid": f"uid-{name}", "controller": True}


def suspended(manifest: Object) -> Object:
    return {**manifest, "spec": {**manifest["spec"], "suspend": True}}


@BOTH
def test_a_child_that_is_heard_of_before_its_owner_waits_for_news_of_it(configuration: Any) -> None:
    desk = Desk(configuration)
    desk.tell(suspended(batch_job("kid", named("tune"), queue="q")))
    plan = desk.plan()
    assert plan.reads == (Ref("RayJob", "lab", "tune"),)
    assert made(plan) == []
    desk.tell(suspended(ray_job("tune")), read=True)
    assert made(desk.plan()) == ["tune"]
    assert made(desk.plan()) == []


@BOTH
def test_a_child_whose_owner_is_nowhere_is_queued_by_itself(configuration: Any) -> None:
    desk = Desk(configuration)
    desk.tell(suspended(batch_job("kid", named("tune"), queue="q")))
    assert made(desk.plan()) == []
    desk.state.gone(Ref("RayJob", "lab", "tune"), read=True)
    assert made(desk.plan()) == ["kid"]


def test_a_child_whose_owner_has_a_namesake_by_now_is_queued_by_itself() -> None:
    desk = Desk()
    desk.tell(suspended(batch_job("kid", named("tune"), queue="q")))
    desk.plan()
    namesake = ray_job("tune", queue="")
    desk.tell({**namesake, "metadata": {**namesake["metadata"], "uid": "another"}}, read=True)
    assert made(desk.plan()) == ["kid"]


def chain(names: Sequence[str], *, circle: bool = False) -> list[Object]:
    """Each owned by the one before; in a circle the first by the last."""
    jobs = []
    for index, name in enumerate(names):
        above = names[index - 1] if index or circle else None
        job = suspended(ray_job(name, queue="q"))
        if above is not None:
            job["metadata"]["ownerReferences"] = [named(above)]
        jobs.append(job)
    return jobs


@pytest.mark.parametrize("jobs", [chain("abc", circle=True), chain("abcdefghijklm")], ids=["circle", "thirteen"])
def test_a_chain_that_no_framework_makes_is_told_of_and_starts_nothing(jobs: list[Object]) -> None:
    desk = Desk()
    for job in jobs:
        desk.tell(job)
    plan = desk.plan()
    events = [one.effect for one in plan.effects if isinstance(one.effect, EmitEvent)]
    lost = [event.ref.name for event in events if event.reason == "JobNestingTooDeep"]
    assert lost == (["a", "b", "c"] if len(jobs) == 3 else ["l", "m"])
    assert made(plan) == ([] if len(jobs) == 3 else ["a"])
    assert not any(isinstance(one.effect, Delete) for one in plan.effects)


def test_ten_hops_are_still_a_chain() -> None:
    desk = Desk()
    for job in chain("abcdefghijk"):
        desk.tell(job)
    plan = desk.plan()
    assert made(plan) == ["a"]
    assert not [one for one in plan.effects if isinstance(one.effect, EmitEvent) and one.effect.type == "Warning"]


@pytest.mark.parametrize("kind", ["A.b", ".", "Job.", "RayJob.v1", "\u2603"])
def test_an_owner_of_a_kind_that_cannot_be_manages_nothing(kind: str) -> None:
    world = lab()
    create(world, batch_job("alone", queue="q", ownerReferences=[odd_owner(kind)]))
    assert reserved(world) == "1"


def odd_owner(kind: str) -> Object:
    return {"apiVersion": "example.com/v1", "kind": kind, "name": "a", "uid": "u", "controller": True}
