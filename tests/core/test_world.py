"""A cluster in memory: jobs are queued, started, stopped and finished, and time passes only when told."""

from typing import Any

import pytest

from admission.model.effects import CreateWorkload
from admission.model.kinds import Ref
from admission.state.creations import Creations
from admission.world.clock import EPOCH
from admission.world.objects import holds
from admission.world.operators import NotPossible
from admission.world.store import Change
from admission.world.world import World
from tests.core.storms import CLUSTER, pods


@pytest.fixture
def world() -> World:
    return with_cluster(World())


def with_cluster(world: World) -> World:
    for manifest in CLUSTER:
        assert world.api.create(manifest).ok
    world.settle()
    return world


def job(name: str, cpu: int, queue: str = "a", priority: str = "low") -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/priority-class": priority}
    meta = {"name": name, "namespace": "lab", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": pods(cpu)}}


def ref(name: str) -> Ref:
    return Ref("Job", "lab", name)


def suspended(world: World, name: str) -> bool:
    return bool((world.api.get(ref(name)).body or {})["spec"]["suspend"])


def workload(world: World) -> dict[str, Any]:
    return world.api.list("Workload")[0]


def test_a_job_is_held_started_and_finished(world: World) -> None:
    created = world.api.create(job("j", 1)).body
    assert created is not None
    assert created["spec"]["suspend"] is True
    world.settle()
    assert not suspended(world, "j")
    assert holds(workload(world), "Admitted")
    world.finish(ref("j"))
    world.settle()
    assert holds(workload(world), "Finished")


def test_a_stopped_job_keeps_its_quota_until_its_pods_are_gone(world: World) -> None:
    world.api.create(job("j", 6, "c"))
    world.settle()
    world.api.patch(Ref("ClusterQueue", "", "c"), {"spec": {"stopPolicy": "HoldAndDrain"}})
    world.settle()
    assert suspended(world, "j")
    assert holds(workload(world), "QuotaReserved")
    world.stopped(ref("j"))
    world.settle()
    assert not holds(workload(world), "QuotaReserved")


def test_pods_can_end_by_themselves_some_time_after_a_stop() -> None:
    world = with_cluster(World(pods_stop_after=5.0))
    world.api.create(job("j", 6, "c"))
    world.settle()
    world.api.patch(Ref("ClusterQueue", "", "c"), {"spec": {"stopPolicy": "HoldAndDrain"}})
    world.advance(EPOCH + 4.9)
    assert holds(workload(world), "QuotaReserved")
    world.advance(EPOCH + 5.0)
    assert not holds(workload(world), "QuotaReserved")


def test_the_dependents_of_a_deleted_job_go_with_it(world: World) -> None:
    world.api.create(job("j", 1))
    world.settle()
    world.api.delete(ref("j"))
    world.settle()
    assert world.api.list("Workload") == []


def test_time_passes_through_everything_that_is_due(world: World) -> None:
    seen: list[float] = []
    for moment in (7.0, 3.0, 3.0):
        world.at(EPOCH + moment, lambda: seen.append(world.now - EPOCH))
    world.advance(EPOCH + 5)
    assert seen == [3.0, 3.0]
    assert world.now == EPOCH + 5
    world.advance(EPOCH + 10)
    assert seen == [3.0, 3.0, 7.0]


def test_a_restarted_product_goes_on_from_what_the_api_server_has(world: World) -> None:
    world.api.create(job("j", 6, "c"))
    world.settle()
    before = world.state
    world.start_product()
    world.api.create(job("k", 22, "c"))
    world.settle()
    assert world.state is not before
    assert not suspended(world, "j")
    assert suspended(world, "k")


def test_while_paused_nothing_is_decided(world: World) -> None:
    world.pause(True)
    world.api.create(job("j", 1))
    world.settle()
    assert world.api.list("Workload") == []
    world.pause(False)
    world.settle()
    assert not suspended(world, "j")


def test_evictions_writes_and_changes_are_logged(world: World) -> None:
    changes: list[Change] = []
    world.subscribe("Job", changes.append)
    world.api.create(job("low", 18, "a"))
    world.settle()
    world.api.create(job("high", 4, "a", "high"))
    world.settle()
    assert [eviction.reason for eviction in world.evictions] == ["Preempted"]
    assert {change.ref.name for change in changes} == {"low", "high"}
    assert any(write.ref == ref("low") and write.code == 200 for write in world.writes)
    assert any(event.reason == "CreatedWorkload" for event in world.events)


def test_of_a_workload_that_is_refused_the_refusal_is_told_once_and_it_is_asked_for_ever_more_seldom(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[float] = []
    ask = Creations.ask

    def asked(creations: Creations, effect: CreateWorkload) -> bool:
        tries.append(world.now - EPOCH)
        return ask(creations, effect)

    monkeypatch.setattr(Creations, "ask", asked)
    sets = [{"name": f"r{number}", "template": {"spec": {"template": pods(1)}}} for number in range(19)]
    meta = {"name": "many", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "a"}}
    many = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta}
    assert world.api.create({**many, "spec": {"replicatedJobs": sets}}).ok
    world.advance(EPOCH + 60)
    (told,) = [event for event in world.events if event.about.name == "many"]
    assert (told.type, told.reason) == ("Warning", "ErrWorkloadCompose")
    assert "spec.podSets: Too many: 19: must have at most 18 items" in told.message
    assert tries == [0, 1, 3, 7, 15, 31, 47]
    world.api.patch(Ref("JobSet", "lab", "many"), {"spec": {"replicatedJobs": sets[:2]}})
    world.advance(EPOCH + 70)
    assert [event.reason for event in world.events if event.about.name == "many"][1:] == ["CreatedWorkload", "Started"]


def test_what_cannot_have_happened_is_said(world: World) -> None:
    with pytest.raises(NotPossible, match="Job/lab/none does not exist"):
        world.finish(ref("none"))
