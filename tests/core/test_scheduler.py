"""The scheduler over many runs: budgets, news, bookkeeping, and laws that hold for any history."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.model.decisions import Admit, Decision, Hold, Preempt
from admission.model.names import WorkloadKey
from admission.model.queues import Fungibility, Preemption
from admission.rules.hunt import Hunt
from tests.core.lab import LOWER, NEXT, RECLAIM_ANY, Lab, admitted, held, names, preempted


@pytest.fixture
def lab() -> Lab:
    return Lab()


class TestBudget:
    def test_a_run_stops_at_its_budget_and_says_so(self, lab: Lab) -> None:
        lab.queue("q", cpu="9")
        for number in range(5):
            lab.submit(f"w{number}", "q", cpu="1")
        first, second, third = lab.run(budget=2), lab.run(budget=2), lab.run(budget=2)
        assert [admitted(run) for run in (first, second, third)] == [["w0", "w1"], ["w2", "w3"], ["w4"]]
        assert [run.more for run in (first, second, third)] == [True, True, False]

    def test_a_run_without_budget_decides_nothing(self, lab: Lab) -> None:
        lab.queue("q", cpu="9")
        lab.submit("w", "q", cpu="1")
        assert lab.run(budget=0) == ((), True)

    def test_nominations_are_counted_between_cycles(self, lab: Lab) -> None:
        lab.queue("q", cpu="1")
        for number in range(5):
            lab.submit(f"w{number}", "q", cpu=str(number + 2))
        run = lab.scheduler.run(0.0, 100, nominations=2)
        assert names(run.decisions) == ["w0", "w1"]
        assert run.more

    def test_a_preemption_larger_than_the_budget_still_happens(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", preemption=LOWER)
        for number in range(4):
            lab.runs(f"low{number}", "q", cpu="1")
        lab.submit("high", "q", cpu="4", priority=1)
        assert len(preempted(lab.run(budget=2))) == 4

    def test_a_large_preemption_waits_for_the_next_run_when_this_one_is_spent(self, lab: Lab) -> None:
        lab.queue("a", cpu="4", cohort="co", preemption=LOWER)
        lab.queue("b", cpu="1", cohort="co")
        for number in range(4):
            lab.runs(f"low{number}", "a", cpu="1")
        lab.submit("high", "a", cpu="4", priority=1)
        lab.submit("small", "b", priority=2, cpu="1")
        run = lab.run(budget=3)
        assert (admitted(run), preempted(run), run.more) == (["small"], [], True)
        assert len(preempted(lab.run(budget=3))) == 4

    def test_newcomers_do_not_starve_those_whom_a_cut_left_over(self, lab: Lab) -> None:
        lab.queue("busy", cpu="99", cohort="co")
        lab.queue("quiet", cpu="9", cohort="co")
        for number in range(9):
            lab.submit(f"busy{number}", "busy", priority=9, cpu="1")
        lab.submit("quiet0", "quiet", cpu="1")
        order = [name for _ in range(3) for name in admitted(lab.run(budget=1))]
        assert order == ["busy0", "quiet0", "busy1"], "one head of each queue, as in a cycle that was not cut"

    def test_a_blocked_strict_head_keeps_its_reservation_across_a_cut(self, lab: Lab) -> None:
        lab.queue("strict", cpu="4", cohort="co", strict_fifo=True, preemption=Preemption())
        lab.queue("free", cpu="1", cohort="co")
        lab.queue("taker", cpu="0", cohort="co")
        lab.runs("half", "strict", cpu="2")
        lab.submit("whole", "strict", priority=1, cpu="4")
        lab.submit("behind", "strict", cpu="1")
        lab.submit("in-free", "free", cpu="1")
        lab.submit("steals", "taker", cpu="2")
        decisions: list[str] = []
        while (run := lab.run(budget=1)).more:
            decisions += admitted(run)
        assert decisions + admitted(run) == ["in-free"]

    def test_a_cut_does_not_cost_a_blocked_head_its_reservation(self, lab: Lab) -> None:
        lab.queue("owner", cpu="4+0", cohort="co", preemption=Preemption(reclaim_within_cohort="LowerPriority"))
        lab.queue("spare", cpu="2", cohort="co")
        for name in "abc":
            lab.queue(name, cpu="0", cohort="co")
        lab.runs("most", "owner", cpu="3", priority=9)
        lab.submit("blocked", "owner", priority=10, cpu="4")
        for name, queue, priority in [("a0", "a", 9), ("a1", "a", 8), ("c0", "c", 7), ("b0", "b", 5)]:
            lab.submit(name, queue, priority, cpu="1")
        assert [admitted(lab.run(budget=1)) for _ in range(4)] == [["a0"], ["c0"], ["a1"], []]

    def test_trees_take_turns(self, lab: Lab) -> None:
        for name in ("a", "b"):
            lab.queue(name, cpu="9")
            for number in range(3):
                lab.submit(f"{name}{number}", name, cpu="1")
        assert admitted(lab.run()) == ["a0", "b0", "a1", "b1", "a2", "b2"]


class TestNews:
    def test_an_answer_is_told_once(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", strict_fifo=True)
        lab.submit("toobig", "q", cpu="5")
        assert list(held(lab.run())) == ["toobig"]
        assert lab.run().decisions == ()
        lab.scheduler.flush("q")
        assert lab.run().decisions == ()

    def test_changed_numbers_are_news(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.runs("holder", "q", cpu="3")
        lab.submit("w", "q", cpu="4")
        assert "3 more needed" in held(lab.run())["w"].message
        lab.runs("holder", "q", cpu="2")
        lab.scheduler.flush("q")
        assert "2 more needed" in held(lab.run())["w"].message

    def test_only_the_last_answer_of_a_run_is_told(self, lab: Lab) -> None:
        lab.queue("lender", cpu="2", cohort="co")
        lab.queue("a", cpu="0", cohort="co")
        lab.queue("b", cpu="0", cohort="co")
        lab.submit("first", "a", cpu="2")
        lab.submit("second", "b", cpu="2")
        run = lab.run()
        assert [type(each) for each in run.decisions] == [Admit, Hold]
        assert held(run)["second"].parked, "it was skipped first, then found not to fit"

    def test_nothing_is_said_while_paused(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("w", "q", cpu="1")
        lab.scheduler.paused = True
        assert lab.run() == ((), False)
        lab.scheduler.paused = False
        assert admitted(lab.run()) == ["w"]


class TestBooks:
    def test_a_holder_counts_from_when_its_queue_appears(self, lab: Lab) -> None:
        lab.runs("early", "q", cpu="3")
        assert lab.scheduler.usage("q") == {}
        lab.queue("q", cpu="4")
        assert lab.scheduler.usage("q") == {("std", "cpu"): 3000}
        assert lab.scheduler.reserving("q") == 1
        lab.scheduler.drop_cluster_queue("q")
        assert lab.scheduler.usage("q") == {}
        lab.queue("q", cpu="4")
        assert lab.scheduler.usage("q") == {("std", "cpu"): 3000}
        lab.finish("early")
        assert lab.scheduler.usage("q") == {}

    def test_charging_again_replaces(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.queue("r", cpu="4")
        lab.runs("w", "q", cpu="3")
        lab.runs("w", "q", cpu="1")
        assert lab.scheduler.usage("q") == {("std", "cpu"): 1000}
        lab.runs("w", "r", cpu="2")
        assert (lab.scheduler.usage("q"), lab.scheduler.usage("r")) == ({}, {("std", "cpu"): 2000})

    def test_a_holder_that_shrinks_wakes_its_cohort(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.runs("w", "q", cpu="3")
        lab.submit("waits", "q", cpu="2")
        lab.run()
        lab.runs("w", "q", cpu="2")
        assert admitted(lab.run()) == ["waits"]

    def test_confirming_an_admission_changes_nothing(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("w", "q", cpu="3")
        lab.submit("waits", "q", cpu="2")
        lab.run()
        node = lab.scheduler.tree.queue("q")
        assert node is not None
        version = lab.scheduler.tree.version(node)
        lab.runs("w", "q", cpu="3")
        assert lab.scheduler.tree.version(node) == version
        assert lab.parked() == ["waits"]

    def test_a_failed_admission_is_taken_back(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("w", "q", cpu="3")
        lab.run()
        lab.stop("w")
        assert lab.scheduler.usage("q") == {}
        assert admitted(lab.run()) == ["w"]

    def test_charging_what_was_not_admitted_is_refused(self, lab: Lab) -> None:
        lab.submit("w", "q", cpu="3")
        with pytest.raises(ValueError, match="lab/w holds no quota"):
            lab.scheduler.charge(lab.workloads["w"], {})

    def test_unknown_workloads_are_ignored(self, lab: Lab) -> None:
        nobody = WorkloadKey("lab/nobody")
        lab.scheduler.release(nobody, 0.0)
        lab.scheduler.remove(nobody)
        assert lab.scheduler.last(nobody) is None
        with pytest.raises(KeyError):
            lab.scheduler.inspect(nobody, 0.0)


class TestInspect:
    def test_it_says_what_a_nomination_would(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", preemption=LOWER)
        lab.submit("fits", "q", cpu="1")
        decision = lab.scheduler.inspect(lab.key("fits"), 0.0)
        assert isinstance(decision, Admit)
        assert decision.admission.usage() == {("std", "cpu"): 1000}
        lab.run()
        lab.submit("preempts", "q", cpu="4", priority=1)
        assert isinstance(lab.scheduler.inspect(lab.key("preempts"), 0.0), Preempt)
        lab.run()
        waiting = lab.scheduler.inspect(lab.key("preempts"), 0.0)
        assert isinstance(waiting, Hold)
        assert (waiting.reason, waiting.victims) == ("WaitingForPreemptedWorkloads", ("lab/fits",))

    def test_it_knows_stopped_and_missing_queues(self, lab: Lab) -> None:
        lab.queue("stopped", cpu="4", active=False)
        lab.submit("a", "stopped", cpu="1")
        lab.submit("b", "missing", cpu="1")
        answers = [lab.scheduler.inspect(lab.key(name), 0.0) for name in "ab"]
        assert [(a.reason, a.message) for a in answers if isinstance(a, Hold)] == [
            ("Suspended", "ClusterQueue stopped is inactive"),
            ("Misconfigured", "ClusterQueue missing not found"),
        ]


# -- laws ----------------------------------------------------------------------------------------------------------

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


def test_reclaiming_ends_where_it_began_only_once(lab: Lab) -> None:
    lab.queue("a", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("b", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    lab.submit("a1", "a", cpu="4", priority=1)
    lab.run()
    lab.submit("b1", "b", cpu="2")
    lab.run()
    lab.stop("a1")
    for _ in range(3):
        lab.run()
    assert lab.holding() == ["b1"]
