"""The scheduler over several runs: budgets, news, bookkeeping, and what it says when it is asked."""

import pytest

from admission.model.decisions import Admit, Hold, Preempt
from admission.model.names import WorkloadKey
from admission.model.queues import Preemption
from tests.core.lab import LOWER, RECLAIM_ANY, Lab, admitted, held, names, preempted


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
