"""What heads of one cycle do to each other."""

from fractions import Fraction

import pytest

from admission.model.configuration import Configuration, FairSharing
from admission.model.queues import Preemption
from admission.rules.scheduler import Scheduler
from tests.core.lab import LOWER, RECLAIM_ANY, Lab, admitted, held, preempted


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_many_are_admitted_per_cohort_and_cycle(lab: Lab) -> None:
    for name in ("a", "b", "c"):
        lab.queue(name, cpu="2", cohort="co")
        lab.submit(f"w-{name}", name, cpu="2")
    assert admitted(lab.run()) == ["w-a", "w-b", "w-c"]


def test_who_borrows_less_goes_first_whatever_its_priority(lab: Lab) -> None:
    lab.queue("lender", cpu="4", cohort="co")
    lab.queue("own", cpu="2", cohort="co")
    lab.queue("borrower", cpu="0", cohort="co")
    lab.submit("borrows", "borrower", cpu="5", priority=100)
    lab.submit("within", "own", cpu="2")
    run = lab.run()
    assert admitted(run) == ["within"]
    assert lab.why("borrows")[0] == "WaitingForQuota"


def test_borrowing_from_the_sibling_goes_before_borrowing_from_afar(lab: Lab) -> None:
    lab.cohort("root", "", {"std": {"cpu": "2"}})
    lab.cohort("team", "root", {"std": {"cpu": "2"}})
    lab.queue("near", cpu="0", cohort="team")
    lab.queue("far", cpu="0", cohort="root")
    lab.submit("from-root", "far", cpu="2", priority=9)
    lab.submit("from-team", "near", cpu="2")
    lab.submit("too-far", "near", cpu="3", priority=-1)
    assert admitted(lab.run()) == ["from-team", "from-root"]
    assert lab.why("too-far")[0] == "WaitingForQuota"


def test_equal_borrowers_go_by_priority_then_age_then_uid(lab: Lab) -> None:
    lab.queue("lender", cpu="3", cohort="co")
    for name in ("a", "b", "c", "d"):
        lab.queue(name, cpu="0", cohort="co")
    lab.submit("old", "c", cpu="1")
    lab.submit("young", "a", cpu="1")
    lab.submit("important", "b", cpu="1", priority=1)
    lab.submit("youngest", "d", cpu="1")
    assert admitted(lab.run()) == ["important", "old", "young"]


def test_a_head_that_no_longer_fits_is_skipped_and_tried_again_at_once(lab: Lab) -> None:
    lab.queue("lender", cpu="3", cohort="co")
    lab.queue("a", cpu="0", cohort="co")
    lab.queue("b", cpu="0", cohort="co")
    lab.run()  # so that nobody is woken for the queues' coming
    lab.submit("first", "a", cpu="2")
    lab.submit("second", "b", cpu="2")
    lab.submit("small", "b", cpu="1")
    run = lab.run()
    assert admitted(run) == ["first", "small"]
    assert held(run)["second"].message.endswith("insufficient unused quota for cpu in flavor std, 1 more needed")


def test_a_preemptor_keeps_its_room_from_those_after_it(lab: Lab) -> None:
    lab.queue("owner", cpu="4", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("taker", cpu="0", cohort="co")
    lab.queue("other", cpu="0", cohort="co")
    lab.runs("borrowed", "taker", cpu="2")
    lab.submit("claim", "owner", cpu="4")
    lab.submit("more", "other", cpu="2")
    run = lab.run()
    assert preempted(run) == [("borrowed", "InCohortReclamation")]
    assert admitted(run) == []
    assert held(run)["more"].message == "Workload no longer fits after processing another workload"
    assert lab.parked() == [], "skipped heads are tried again, they are not set aside"


def test_the_room_is_kept_for_as_long_as_the_victim_takes(lab: Lab) -> None:
    lab.queue("owner", cpu="4", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("taker", cpu="0", cohort="co")
    lab.runs("borrowed", "taker", cpu="2")
    lab.submit("claim", "owner", cpu="4")
    lab.run()
    for number in range(3):
        lab.submit(f"thief-{number}", "taker", cpu="1")
        assert admitted(lab.run()) == []
        assert preempted(lab.run()) == []
    lab.stop("borrowed")
    assert admitted(lab.run()) == ["claim"]


def test_two_preemptors_do_not_share_a_victim(lab: Lab) -> None:
    lab.queue("a", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("b", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("taker", cpu="0", cohort="co")
    lab.runs("big", "taker", cpu="4")
    lab.submit("claim-a", "a", cpu="2")
    lab.submit("claim-b", "b", cpu="2")
    run = lab.run()
    assert preempted(run) == [("big", "InCohortReclamation")]
    assert held(run)["claim-a"].reason == "WaitingForPreemptedWorkloads"
    assert held(run)["claim-a"].victims == ("lab/big",)
    assert held(run)["claim-b"].message == "Workload has overlapping preemption targets with another workload"
    lab.stop("big")
    assert admitted(lab.run()) == ["claim-a", "claim-b"]


def test_a_more_important_newcomer_finds_victims_where_others_found_none(lab: Lab) -> None:
    lab.queue("q", cpu="4", preemption=LOWER)
    lab.runs("middling", "q", cpu="4", priority=1)
    lab.submit("modest", "q", cpu="4", priority=1)
    assert preempted(lab.run()) == []
    lab.submit("important", "q", cpu="4", priority=2)
    assert preempted(lab.run()) == [("middling", "InClusterQueue")]


def test_eviction_does_not_free_quota(lab: Lab) -> None:
    lab.queue("q", cpu="4", preemption=LOWER)
    lab.runs("low", "q", cpu="4")
    lab.submit("high", "q", cpu="4", priority=1)
    assert preempted(lab.run()) == [("low", "InClusterQueue")]
    assert lab.scheduler.usage("q") == {("std", "cpu"): 4000}
    assert lab.run() == ((), False)


def test_a_victim_that_did_not_get_the_message_is_told_again(lab: Lab) -> None:
    lab.queue("q", cpu="4", preemption=LOWER)
    lab.runs("low", "q", cpu="4")
    lab.submit("high", "q", cpu="4", priority=1)
    assert preempted(lab.run()) == [("low", "InClusterQueue")]
    low = lab.workloads["low"]
    assert low.admission is not None
    lab.scheduler.charge(low, low.admission.usage())
    assert preempted(lab.run()) == [("low", "InClusterQueue")]


@pytest.mark.parametrize(
    ("quota", "policy", "lent"),
    [("4+0", "LowerPriority", ["one", "two"]), ("4", "LowerPriority", []), ("4", "Any", ["one", "two", "three"])],
)
def test_a_strict_head_without_candidates_reserves_what_it_could_ever_get(
    lab: Lab, quota: str, policy: str, lent: list[str]
) -> None:
    lab.queue("owner", cpu=quota, cohort="co", strict_fifo=True, preemption=Preemption(reclaim_within_cohort=policy))
    lab.queue("spare", cpu="2", cohort="co")
    lab.queue("other", cpu="0", cohort="co")
    lab.runs("most", "owner", cpu="3", priority=9)
    lab.submit("whole", "owner", cpu="4")
    lab.run()
    assert lab.why("whole")[0] == "WaitingForQuota"
    for name in ("one", "two", "three"):
        lab.submit(name, "other", cpu="1")
    assert admitted(lab.run()) == lent


def test_a_stopped_queue_lends_but_neither_admits_nor_gives_victims(lab: Lab) -> None:
    lab.queue("stopped", cpu="4", cohort="co")
    lab.queue("other", cpu="0", cohort="co")
    lab.queue("owner", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    lab.runs("holder", "stopped", cpu="5")
    lab.queue("stopped", cpu="4", cohort="co", active=False)
    lab.submit("waits", "stopped", cpu="1")
    lab.submit("claims", "owner", cpu="2")
    run = lab.run()
    assert preempted(run) == [], "its holder borrows, but is out of reach"
    assert list(held(run)) == ["claims"]
    lab.finish("holder")
    lab.submit("borrows", "other", cpu="4")
    assert sorted(admitted(lab.run())) == ["borrows", "claims"]
    lab.queue("stopped", cpu="4", cohort="co")
    lab.finish("borrows")
    assert admitted(lab.run()) == ["waits"]


def test_queues_below_a_cycle_of_cohorts_wait_until_it_is_broken(lab: Lab) -> None:
    lab.cohort("a", "b")
    lab.cohort("b", "a")
    lab.queue("q", cpu="4", cohort="a")
    lab.submit("w", "q", cpu="1")
    assert lab.run().decisions == ()
    lab.cohort("b", "")
    assert admitted(lab.run()) == ["w"]
    lab.cohort("b", "a")
    lab.submit("v", "q", cpu="1")
    assert lab.run().decisions == ()
    lab.scheduler.drop_cohort("b")
    assert admitted(lab.run()) == ["v"]


def test_nobody_starts_in_room_that_victims_have_not_left_yet(lab: Lab) -> None:
    """Two small ones fit beside what is held or beside the preemptor, not both before the victim is gone."""
    lab.queue("owner", cpu="5", cohort="co", preemption=RECLAIM_ANY)
    for name in ("borrower", "x", "y"):
        lab.queue(name, cpu="0", cohort="co")
    lab.runs("victim", "borrower", cpu="4")
    lab.submit("preemptor", "owner", cpu="3")
    lab.submit("small-1", "x", cpu="1")
    lab.submit("small-2", "y", cpu="1")
    run = lab.run()
    assert preempted(run) == [("victim", "InCohortReclamation")]
    assert admitted(run) == ["small-1"]
    lab.stop("victim")
    assert admitted(lab.run()) == ["preemptor", "small-2"]


def test_a_victim_does_not_take_back_the_room_that_its_leaving_made(lab: Lab) -> None:
    """`old` had to leave for `owner`, that one for `important`. In a plain order `old`, being older than `important`,
    would start again, and everybody would be evicted in turn for ever."""
    lab.cohort("root")
    lab.cohort("co", "root")
    lab.queue("lender", cpu="4", cohort="co")
    lab.queue("a", cpu="2+2", cohort="co", preemption=Preemption("LowerPriority", "Any"))
    lab.queue("b", cpu="0", cohort="co")
    lab.runs("old", "b", cpu="5")
    lab.submit("owner", "a", cpu="2", priority=-1)
    assert preempted(lab.run()) == [("old", "InCohortReclamation")]
    lab.stop("old")
    assert admitted(lab.run()) == ["owner"]
    lab.submit("important", "a", cpu="4")
    assert preempted(lab.run()) == [("owner", "InClusterQueue")]
    lab.stop("owner")
    assert admitted(lab.run()) == ["important"]
    assert preempted(lab.run()) == []


def test_preemptors_have_their_turn_before_those_who_are_woken(lab: Lab) -> None:
    """Else who was set aside takes the room that was made for somebody else, for it borrows less."""
    lab.queue("far", cpu="3", cohort="co", preemption=Preemption("LowerPriority", "Any", "LowerPriority"))
    lab.queue("near", cpu="2", cohort="co")
    lab.runs("victim", "far", cpu="5")
    lab.submit("parked", "near", cpu="2")
    assert held(lab.run())["parked"].parked
    lab.submit("preemptor", "far", cpu="5", priority=9)
    assert preempted(lab.run()) == [("victim", "InClusterQueue")]
    lab.stop("victim")
    assert admitted(lab.run()) == ["preemptor"]


def test_a_skipped_head_goes_on_with_the_next_flavor(lab: Lab) -> None:
    lab.queue("lender", {"first": {"cpu": "3"}, "second": {"cpu": "3"}}, cohort="co")
    lab.queue("a", {"first": {"cpu": "0"}, "second": {"cpu": "0"}}, cohort="co")
    lab.queue("b", {"first": {"cpu": "0"}, "second": {"cpu": "0"}}, cohort="co")
    lab.submit("winner", "a", cpu="2")
    lab.submit("skipped", "b", cpu="1", priority=-1)
    lab.submit("big", "b", cpu="3")
    assert admitted(lab.run()) == ["winner", "big", "skipped"]
    assert lab.flavor_of("big") == {"cpu": "second"}


def test_a_blocking_head_that_was_skipped_comes_back_to_its_first_flavor(lab: Lab) -> None:
    lab.queue("lender", {"one": {"cpu": "2"}, "two": {"cpu": "0"}}, cohort="co")
    lab.queue("a", {"one": {"cpu": "0"}, "two": {"cpu": "0"}}, cohort="co")
    lab.queue("b", {"one": {"cpu": "2"}, "two": {"cpu": "0"}}, cohort="co", strict_fifo=True, preemption=RECLAIM_ANY)
    lab.submit("winner", "a", cpu="3", priority=9)
    lab.submit("skipped", "b", cpu="3", priority=1)
    run = lab.run()
    assert admitted(run) == ["winner"]
    assert "flavor one" in lab.why("skipped")[1]


def test_under_fair_sharing_a_queue_is_entitled_by_what_it_uses_before_anybody_leaves() -> None:
    lab = Lab(Scheduler(Configuration(fair_sharing=FairSharing())))
    lab.queue("owner", cpu="4", cohort="co", preemption=Preemption("LowerPriority", "Any"), weight=Fraction(1, 2))
    lab.queue("other", cpu="0", cohort="co")
    lab.runs("own", "owner", cpu="2")
    lab.runs("borrower", "other", cpu="2")
    lab.submit("claim", "owner", cpu="4", priority=1)
    assert sorted(preempted(lab.run())) == [("borrower", "InCohortFairSharing"), ("own", "InClusterQueue")]


def test_a_queue_without_a_cohort_borrows_from_nobody_however_much_it_holds(lab: Lab) -> None:
    lab.queue("alone", cpu="1")
    lab.queue("with", cpu="1", cohort="co")
    for queue in ("alone", "with"):
        lab.runs(f"in-{queue}", queue, cpu="3")
    assert lab.scheduler.borrowed("alone") == {}
    assert lab.scheduler.borrowed("with") == {("std", "cpu"): 2000}
