"""A simulation takes the short way; a whole cluster in memory, with webhooks and reconcilers, decides the same."""

import random
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.world.clock import EPOCH
from admission.world.store import Change
from admission.world.stories import Arrival
from admission.world.world import World
from tests.core.test_simulate import Manifest, flavor, job, priority, queue, simulation


def in_a_world(objects: Iterable[Manifest], arrivals: Iterable[Arrival]) -> list[tuple[float, str, str]]:
    """The same played by API server, webhooks, reconcilers and the Job controller: (at, what, job)."""
    world = World(pods_stop_after=0)
    said: list[tuple[float, str, str]] = []

    def note(change: Change) -> None:
        before, after = _true(change.old), _true(change.new)
        owner = change.new["metadata"]["ownerReferences"][0]["name"]
        for condition, what in (("Admitted", "admitted"), ("Preempted", "preempted"), ("Finished", "finished")):
            if condition in after and condition not in before:
                said.append((world.now - EPOCH, what, owner))
                if what == "admitted":
                    plan_end(owner)

    runtimes = {one.manifest["metadata"]["name"]: one.runtime for one in arrivals}
    runs: dict[str, int] = {}

    def plan_end(name: str) -> None:
        runtime = runtimes[name]
        run_ = runs[name] = runs.get(name, 0) + 1
        if runtime is not None:
            world.at(world.now + runtime, lambda: end(name, run_))

    def end(name: str, run_: int) -> None:
        ref = Ref("Job", "lab", name)
        found = world.api.peek(ref)
        if runs[name] == run_ and found is not None and not found["spec"].get("suspend"):
            world.finish(ref)

    def create(manifest: Mapping[str, Any]) -> None:
        assert world.api.create(manifest).ok

    world.subscribe("Workload", note)
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    for one in objects:
        assert world.api.create(one).ok
    for arrival in arrivals:
        world.at(EPOCH + arrival.at, partial(create, arrival.manifest))
    world.advance(EPOCH + 10_000)
    return sorted(said)


def _true(manifest: Mapping[str, Any] | None) -> set[str]:
    status = (manifest or {}).get("status") or {}
    return {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}


def crowd(seed: int) -> tuple[list[Manifest], list[Arrival]]:
    rng = random.Random(seed)
    policies: tuple[Manifest, ...] = ({}, {"withinClusterQueue": "LowerPriority"}, {"reclaimWithinCohort": "Any"})
    objects = [flavor(), priority("high", 10)]
    for name in "pqr":
        preemption = {**rng.choice(policies), **rng.choice(policies)}
        strict = {"queueingStrategy": rng.choice(["StrictFIFO", "BestEffortFIFO"])}
        objects += queue(name, rng.randint(1, 4), rng.choice(["", "c", "c"]), preemption=preemption, **strict)
    arrivals = [
        Arrival(
            float(rng.randrange(200)),
            float(rng.randrange(1, 120)),
            job(f"j{number}", rng.choice("pqr"), rng.choice(["1", "500m", "2"]), rng.choice([1, 2]),
                rng.choice(["", "", "high"])),
        )
        for number in range(20)
    ]  # fmt: skip
    return objects, sorted(arrivals, key=lambda one: one.at)


QUICK = (0, 1, 2, 3, 91)  # in the last one somebody leaves in the moment of its admission
LONG = (pytest.param(seed, marks=pytest.mark.long) for seed in range(100) if seed not in QUICK)


@pytest.mark.parametrize("seed", [*QUICK, *LONG])
def test_the_short_way_and_a_whole_cluster_in_memory_agree(seed: int) -> None:
    objects, arrivals = crowd(seed)
    played = simulation(objects, arrivals)
    played.run(10_000)
    short = sorted(
        (one.at, one.what, played.called(one.workload).removeprefix("lab/"))
        for one in played.timeline
        if one.what not in ("created", "quotaReserved")
    )
    assert short == in_a_world(objects, arrivals)
    assert any(what == "admitted" for _, what, _ in short)
