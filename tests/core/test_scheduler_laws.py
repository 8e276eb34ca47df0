"""Laws of the scheduler that hold for any history of submissions, ends and evictions."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.model.decisions import Admit, Decision
from admission.model.queues import Fungibility, Preemption
from admission.rules.hunt import Hunt
from tests.core.lab import NEXT, Lab

QUEUES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Step:
    what: str
    queue: str = ""
    cpu: int = 1
    priority: int = 0
    pick: int = 0


steps = st.lists(
    st.one_of(
        st.builds(
            Step,
            st.just("submit"),
            st.sampled_from(QUEUES),
            st.integers(1, 6),
            st.integers(0, 2),
        ),
        st.builds(Step, st.sampled_from(["finish", "stop", "flush", "run"]), pick=st.integers(0, 50)),
    ),
    max_size=40,
)
policies = st.builds(
    Preemption,
    st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
    st.sampled_from(["Never", "LowerPriority", "Any"]),
)
worlds = st.tuples(*[st.tuples(policies, st.booleans(), st.sampled_from([Fungibility(), NEXT])) for _ in QUEUES])


def build(world: tuple[tuple[Preemption, bool, Fungibility], ...]) -> Lab:
    lab = Lab()
    lab.cohort("root", "", {"one": {"cpu": "2"}, "two": {"cpu": "1"}})
    lab.cohort("team", "root")
    for name, (preemption, strict, fungibility) in zip(QUEUES, world, strict=True):
        lab.queue(
            name,
            {"one": {"cpu": "3-2"}, "two": {"cpu": "1+2"}},
            cohort="team" if name in "ab" else "root",
            preemption=preemption,
            strict_fifo=strict,
            fungibility=fungibility,
        )
    return lab


def play(lab: Lab, history: list[Step], budget: int = 1000) -> list[Decision]:
    """Runs to rest after every step; victims stop when a later step says so, or at the end."""
    decisions: list[Decision] = []
    for step in history:
        holding = lab.holding()
        if step.what == "submit":
            lab.submit(f"w{len(lab.workloads)}", step.queue, step.priority, cpu=str(step.cpu))
        elif step.what == "flush":
            lab.scheduler.flush(QUEUES[step.pick % len(QUEUES)])
        elif holding and step.what in ("finish", "stop"):
            evicted = [name for name in holding if is_evicted(lab, name)]
            pool = evicted if step.what == "stop" else holding
            if pool:
                getattr(lab, step.what)(pool[step.pick % len(pool)])
        decisions += rest(lab, budget)
    return decisions


def rest(lab: Lab, budget: int = 1000) -> list[Decision]:
    decisions: list[Decision] = []
    for _ in range(1000):
        run = lab.run(budget)
        decisions += run.decisions
        if not run.more:
            return decisions
    raise AssertionError("no rest after 1000 runs")


def is_evicted(lab: Lab, name: str) -> bool:
    holder = lab.scheduler.holders.get(lab.key(name))
    return holder is not None and holder.evicted


def settle(lab: Lab) -> None:
    """All victims stop, again and again, until nobody is evicted."""
    for _ in range(100):
        evicted = [name for name in lab.holding() if is_evicted(lab, name)]
        if not evicted:
            return
        for name in evicted:
            lab.stop(name)
        rest(lab)
    raise AssertionError(f"preemption goes round in circles: {evicted}")


@settings(max_examples=60, deadline=None)
@given(worlds, steps)
def test_quota_is_never_exceeded_and_preemption_ends(world: Any, history: list[Step]) -> None:
    lab = build(world)
    play(lab, history)
    settle(lab)
    tree = lab.scheduler.tree
    for name in QUEUES:
        node = tree.queue(name)
        assert node is not None
        for flavor in ("one", "two"):
            assert tree.available(node, (flavor, "cpu")) >= 0
        used: dict[tuple[str, str], int] = {}
        for holder in lab.scheduler.holders.of(name):
            for fr, units in holder.usage.items():
                used[fr] = used.get(fr, 0) + units
        assert lab.scheduler.usage(name) == used


@settings(max_examples=60, deadline=None)
@given(worlds, steps)
def test_at_rest_nobody_waits_who_fits(world: Any, history: list[Step]) -> None:
    """Except behind a StrictFIFO head or a preemptor, where such a one keeps room, or before its queue was woken."""
    lab = build(world)
    play(lab, history)
    settle(lab)
    lab.scheduler.flush("a")
    rest(lab)
    reserving = any(queue.strict and queue.head() is not None for queue in lab.scheduler.queues.values())
    waiting_for_victims = any(is_evicted(lab, name) for name in lab.holding())
    if reserving or waiting_for_victims:
        return
    for name in QUEUES:
        for key in lab.scheduler.pending(name):
            assert not isinstance(lab.scheduler.inspect(key, lab.now), Admit), f"{key} fits and waits"


@settings(max_examples=40, deadline=None)
@given(worlds, steps, st.integers(1, 3))
def test_a_small_budget_changes_when_but_not_what_a_cycle_decides(world: Any, history: list[Step], budget: int) -> None:
    whole, cut = build(world), build(world)
    play(whole, history)
    play(cut, history, budget)
    assert whole.holding() == cut.holding()
    assert [whole.scheduler.pending(name) for name in QUEUES] == [cut.scheduler.pending(name) for name in QUEUES]


@settings(max_examples=40, deadline=None)
@given(worlds, steps)
def test_looking_changes_nothing(world: Any, history: list[Step]) -> None:
    watched, alone = build(world), build(world)
    heard = []
    for step in history:
        heard += play(watched, [step])
        for name in QUEUES:
            for key in watched.scheduler.pending(name):
                watched.scheduler.inspect(key, watched.now)
                watched.scheduler.position(key)
                watched.scheduler.parked(key)
                watched.scheduler.last(key)
    told = []
    for step in history:
        told += play(alone, [step])
    assert heard == told


@settings(max_examples=40, deadline=None)
@given(worlds, steps)
def test_giving_up_a_hopeless_search_early_changes_nothing(world: Any, history: list[Step]) -> None:
    short = play(build(world), history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hunt, "_hopeless", lambda *_: False)
        assert play(build(world), history) == short
