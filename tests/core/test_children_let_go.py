"""Jobs below a job that had to leave: held for its sake, and let go once it has come back."""

import pytest

from admission.world.objects import ref_of
from admission.world.world import World
from tests.core.test_owner_chains import QUEUE, Object, batch_job, create, found, held, lab, of_kind, owner, pods, told


def urgent_for(world: World, seconds: int) -> Object:
    """It makes everybody else leave, and ends."""
    urgent = create(world, batch_job("urgent", labels={QUEUE: "q", "kueue.x-k8s.io/priority-class": "high"}))
    world.advance(world.now + seconds)
    return urgent


def workflow() -> Object:
    steps = {"name": "main", "container": {"image": "i:1", "resources": {"requests": {"cpu": "1"}}}}
    return of_kind("argoproj.io/v1alpha1", "Workflow", "flow", {"entrypoint": "main", "templates": [steps]})


@pytest.mark.parametrize("above", ["Workflow", "PyTorchJob"])
def test_a_child_that_was_held_for_its_ancestor_goes_on_when_that_comes_back(above: str) -> None:
    world = lab(cpu=1, preemption={"withinClusterQueue": "LowerPriority"})
    replicas = {"pytorchReplicaSpecs": {"Worker": {"template": pods()}}}
    torch = of_kind("kubeflow.org/v1", "PyTorchJob", "torch", replicas)
    flow = create(world, workflow() if above == "Workflow" else torch)
    child = create(world, batch_job("kid", owner(flow)))
    paused = create(world, {**batch_job("paused", owner(flow)), "spec": {"template": pods(), "suspend": True}})
    urgent = urgent_for(world, 5)
    assert [held(found(world, one)) for one in (flow, child, paused)] == [True] * 3
    world.finish(ref_of(urgent))
    world.advance(world.now + 30)
    assert [held(found(world, one)) for one in (flow, child, paused)] == [False, False, True]
    assert found(world, child)["metadata"].get("annotations", {}) == {}
    assert told(world, "Resumed") == ["Job/lab/kid"]
    assert world.api.patch(ref_of(child), {"spec": {"suspend": True}}).ok  # now it is its author's wish
    world.advance(world.now + 30)
    assert held(found(world, child))


def test_a_child_that_came_before_its_ancestor_was_admitted_starts_with_it() -> None:
    world = lab(cpu=1)
    blocker = create(world, batch_job("blocker", queue="q"))
    flow = create(world, workflow())
    child = create(world, batch_job("kid", owner(flow)))
    assert held(found(world, child))
    world.finish(ref_of(blocker))
    world.advance(world.now + 30)
    assert [held(found(world, one)) for one in (flow, child)] == [False, False]


def test_what_an_operator_holds_and_lets_go_itself_is_left_to_it() -> None:
    """Who lets the jobs of a JobSet go before that put node selectors into them would start them anywhere."""
    world = lab(cpu=1, preemption={"withinClusterQueue": "LowerPriority"})
    replicated = [{"name": "w", "replicas": 1, "template": {"spec": {"template": pods()}}}]
    sets = create(world, of_kind("jobset.x-k8s.io/v1alpha2", "JobSet", "set", {"replicatedJobs": replicated}))
    mine = create(world, batch_job("mine", owner(sets)))
    urgent = urgent_for(world, 5)
    world.finish(ref_of(urgent))
    world.advance(world.now + 30)
    (part,) = [one for one in world.api.list("Job") if one["metadata"]["name"].startswith("set-")]
    assert not held(part)
    assert held(found(world, mine))
    assert not told(world, "Resumed")
