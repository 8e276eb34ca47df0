"""What the feature gates and settings of the scheduler change, each beside its default."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from admission.model.configuration import Configuration, Resources, WaitForPodsReady
from admission.model.decisions import Hold
from admission.model.gates import Gates
from admission.model.queues import Fungibility, Preemption
from admission.model.workload import Condition
from admission.rules.nomination import nominate
from admission.rules.scheduler import Scheduler
from tests.core.lab import LOWER, MUCH, NEXT, RECLAIM_ANY, Lab, admitted, preempted

STAYS = Fungibility("MayStopSearch", "MayStopSearch")


def lab(**gates: bool) -> Lab:
    return configured(gates=Gates(gates))


def configured(**settings: Any) -> Lab:
    return Lab(Scheduler(Configuration(**settings)))


# --- FlavorFungibility


def borrowing_on_the_first(**gates: bool) -> Lab:
    made = lab(**gates)
    made.queue("q", {"near": {"cpu": "2"}, "far": {"cpu": "4"}}, cohort="co", fungibility=NEXT)
    made.queue("lender", {"near": {"cpu": "2"}, "far": {"cpu": "0"}}, cohort="co")
    made.submit("new", "q", cpu="4")
    made.run()
    return made


def test_without_flavor_fungibility_the_first_flavor_that_fits_is_taken_even_if_it_borrows() -> None:
    assert borrowing_on_the_first().flavor_of("new") == {"cpu": "far"}
    assert borrowing_on_the_first(FlavorFungibility=False).flavor_of("new") == {"cpu": "near"}


def test_without_flavor_fungibility_fitting_goes_before_preempting() -> None:
    """This queue would rather preempt on its first flavor than try the next."""
    for on in (True, False):
        made = lab(FlavorFungibility=on)
        made.queue("q", {"a": {"cpu": "2"}, "b": {"cpu": "2"}}, preemption=LOWER, fungibility=STAYS)
        made.runs("low", "q", priority=-1, flavor="a", cpu="2")
        made.submit("new", "q", cpu="2")
        run = made.run()
        assert (admitted(run), [victim for victim, _ in preempted(run)]) == (([], ["low"]) if on else (["new"], []))


def test_without_flavor_fungibility_nothing_of_a_scan_is_remembered() -> None:
    made = lab(FlavorFungibility=False)
    made.queue("q", {"a": {"cpu": "2"}, "b": {"cpu": "1"}}, preemption=LOWER)
    made.runs("high", "q", priority=9, flavor="a", cpu="2")
    made.submit("new", "q", cpu="2")
    assert [type(each) for each in made.run().decisions] == [Hold]
    assert made.parked() == ["new"]


# --- FlavorFungibilityPreserveScanProgress


@pytest.mark.parametrize(("preserve", "flavor"), [(True, "two"), (False, "one")])
def test_a_scan_goes_on_although_quota_was_freed_since_the_cycle_before(preserve: bool, flavor: str) -> None:
    """It stopped on flavor one, where preemption could make room, but not for its memory. Now both holders finish."""
    made = lab(FlavorFungibilityPreserveScanProgress=preserve)
    made.queue(
        "q",
        {"one": {"cpu": "4"}, "two": {"cpu": "8"}},
        {"disk": {"memory": "4"}},
        preemption=LOWER,
        fungibility=STAYS,
    )
    made.runs("cpu-holder", "q", priority=0, flavor="one", cpu="2")
    made.runs("important", "q", priority=9, flavor="disk", memory="4")
    made.submit("both", "q", priority=5, cpu="4", memory="1")
    assert made.scheduler.run(made.now, MUCH, nominations=1).more, "one cycle only"
    made.finish("cpu-holder")
    made.finish("important")
    made.run()
    assert made.flavor_of("both") == {"cpu": flavor, "memory": "disk"}


# --- SchedulingEquivalenceHashing


@pytest.mark.parametrize("hashing", [True, False])
def test_equals_are_looked_at_one_by_one_without_scheduling_equivalence_hashing(hashing: bool) -> None:
    made = lab(SchedulingEquivalenceHashing=hashing)
    made.queue("q", cpu="1")
    for name in ("a", "b", "c"):
        made.submit(name, "q", cpu="2")
    heard = [each.partition("/")[2] for each in (hold.workload for hold in made.run().decisions)]
    assert heard == (["a"] if hashing else ["a", "b", "c"])
    assert made.parked() == ["a", "b", "c"]


# --- PrioritySortingWithinCohort


@pytest.mark.parametrize("by_priority", [True, False])
def test_heads_of_a_cohort_come_by_age_alone_without_priority_sorting(by_priority: bool) -> None:
    made = lab(PrioritySortingWithinCohort=by_priority)
    made.queue("q", cpu="0", cohort="co")
    made.queue("r", cpu="0", cohort="co")
    made.queue("lender", cpu="2", cohort="co")
    made.submit("old", "q", cpu="2")
    made.submit("urgent", "r", priority=5, cpu="2")
    assert admitted(made.run()) == (["urgent"] if by_priority else ["old"])


def test_within_a_queue_priority_counts_all_the_same() -> None:
    made = lab(PrioritySortingWithinCohort=False)
    made.queue("q", cpu="2")
    made.submit("old", "q", cpu="2")
    made.submit("urgent", "q", priority=5, cpu="2")
    assert admitted(made.run()) == ["urgent"]


@pytest.mark.parametrize(("by_priority", "first"), [(True, "reclaimed"), (False, "later")])
def test_who_lost_borrowed_quota_queues_from_then_on_where_age_alone_decides(by_priority: bool, first: str) -> None:
    made = lab(PrioritySortingWithinCohort=by_priority)
    made.queue("q", cpu="2", cohort="co")
    made.submit("reclaimed", "q", cpu="2")
    made.submit("later", "q", cpu="2")
    preempted = Condition("Preempted", "True", "InCohortReclaimWhileBorrowing", "", 100.0)
    made.edit("reclaimed", conditions={"Preempted": preempted})
    assert made.scheduler.pending("q")[0] == made.key(first)


# --- PriorityBoost


@pytest.mark.parametrize(("boost", "first"), [(False, "plain"), (True, "boosted")])
def test_a_boost_adds_to_the_priority_where_its_gate_is_on(boost: bool, first: str) -> None:
    made = lab(PriorityBoost=boost)
    made.queue("q", cpu="2")
    made.submit("boosted", "q", cpu="2")
    made.submit("plain", "q", priority=1, cpu="2")
    made.edit("boosted", boost=5)
    assert admitted(made.run()) == [first]


def test_who_was_boosted_is_not_preempted_by_less() -> None:
    made = lab(PriorityBoost=True)
    made.queue("q", cpu="2", preemption=LOWER)
    name = made.runs("boosted", "q", cpu="2")
    made.scheduler.charge(replace(made.workloads[name], boost=5), {("std", "cpu"): 2000})
    made.submit("new", "q", priority=3, cpu="2")
    assert preempted(made.run()) == []


def test_a_changed_boost_gives_a_parked_workload_another_look() -> None:
    made = lab(PriorityBoost=True)
    made.queue("q", cpu="2", preemption=LOWER)
    made.runs("there", "q", priority=2, cpu="2")
    made.submit("new", "q", cpu="2")
    made.run()
    assert made.parked() == ["new"]
    made.edit("new", boost=3)
    assert [victim for victim, _ in preempted(made.run())] == ["there"]


# --- PrioritizePreemptorWorkloads


@pytest.mark.parametrize("on", [False, True])
def test_who_waits_for_its_victims_comes_before_who_borrows_less(on: bool) -> None:
    """`hero` borrows and has preempted; `thrifty` asks for the same room and would not borrow."""
    made = lab(PrioritizePreemptorWorkloads=on)
    made.queue("q", cpu="2", cohort="co", preemption=Preemption("LowerPriority", "Any", "LowerPriority"))
    made.queue("r", cpu="2", cohort="co")
    made.runs("low", "q", priority=-1, cpu="2")
    made.submit("hero", "q", priority=9, cpu="4")
    assert [victim for victim, _ in preempted(made.run())] == ["low"]
    made.submit("thrifty", "r", cpu="2")
    assert admitted(made.run()) == ([] if on else ["thrifty"])


# --- requeuing timestamp


@pytest.mark.parametrize(
    ("timestamp", "reason", "first"),
    [
        ("Eviction", "PodsReadyTimeout", "later"),
        ("Creation", "PodsReadyTimeout", "evicted"),
        ("Eviction", "AdmissionCheck", "later"),
        ("Creation", "AdmissionCheck", "later"),
        ("Eviction", "Preempted", "evicted"),
    ],
)
def test_an_eviction_sends_to_the_back_by_its_reason_and_the_configuration(
    timestamp: str, reason: str, first: str
) -> None:
    made = configured(wait_for_pods_ready=WaitForPodsReady(requeuing_timestamp=timestamp))
    made.queue("q", cpu="2")
    made.submit("evicted", "q", cpu="2")
    made.submit("later", "q", cpu="2")
    made.edit("evicted", conditions={"Evicted": Condition("Evicted", "True", reason, "", 100.0)})
    assert admitted(made.run()) == [first]


# --- quotaCheckStrategy

IGNORE = Resources(ignore_undeclared=True)


@pytest.mark.parametrize(
    ("resources", "gate", "starts"), [(Resources(), True, False), (IGNORE, True, True), (IGNORE, False, False)]
)
def test_what_no_quota_lists_is_ignored_where_the_configuration_says_so(
    resources: Resources, gate: bool, starts: bool
) -> None:
    made = configured(resources=resources, gates=Gates({"QuotaCheckStrategy": gate}))
    made.queue("q", cpu="2")
    made.submit("new", "q", cpu="1", gpu="4")
    assert admitted(made.run()) == (["new"] if starts else [])
    if starts:
        assert made.scheduler.usage("q") == {("std", "cpu"): 1000}
        assert made.flavor_of("new") == {"cpu": "std"}
    else:
        assert "resource acme.io/gpu unavailable in ClusterQueue" in made.why("new")[1]


def test_an_ignored_resource_is_no_shortage_either() -> None:
    made = configured(resources=IGNORE)
    made.queue("q", cpu="2")
    made.submit("new", "q", cpu="3", gpu="4")
    hold = made.scheduler.inspect(made.key("new"), 0.0)
    assert isinstance(hold, Hold)
    assert [short.resource for short in hold.shortages] == ["cpu"]


# --- RecomputeAssignmentUponPreemptionTargetsOverlap

OVERLAP = "RecomputeAssignmentUponPreemptionTargetsOverlap"


def two_after_one_victim(room_for_both: bool, **gates: bool) -> Lab:
    made = lab(**gates)
    made.queue("hero", cpu="4", cohort="co", preemption=RECLAIM_ANY)
    made.queue("tiny", cpu="2", cohort="co", preemption=RECLAIM_ANY)
    made.queue("rest", cpu="0", cohort="co")
    made.runs("victim", "rest", cpu="6" if room_for_both else "4")
    if not room_for_both:
        made.runs("other", "rest", cpu="2")
    made.submit("big", "hero", priority=9, cpu="4")
    made.submit("small", "tiny", priority=1, cpu="2")
    return made


def test_two_that_want_the_same_victim_share_its_room() -> None:
    made = two_after_one_victim(True, **{OVERLAP: True})
    assert [victim for victim, _ in preempted(made.run())] == ["victim"]
    assert made.why("small")[0] == "WaitingForPreemptedWorkloads"
    hold = made.scheduler.last(made.key("small"))
    assert hold is not None
    assert hold.victims == (made.key("victim"),)
    made.stop("victim")
    assert sorted(admitted(made.run())) == ["big", "small"]


def test_without_its_gate_the_second_is_only_told_of_the_overlap() -> None:
    made = two_after_one_victim(True)
    made.run()
    assert made.why("small") == (
        "WaitingForQuota", "Workload has overlapping preemption targets with another workload",
    )  # fmt: skip


def test_who_finds_too_little_left_of_the_shared_victim_looks_for_another() -> None:
    made = two_after_one_victim(False, **{OVERLAP: True})
    made.edit("small", priority=1)
    taken = {victim for victim, _ in preempted(made.run())}
    assert taken == {"victim", "other"}
    for victim in sorted(taken):
        made.stop(victim)
    assert sorted(admitted(made.run())) == ["big", "small"]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 2)), max_size=8),
    st.lists(st.tuples(st.integers(1, 4), st.integers(-1, 1)), min_size=1, max_size=4),
)
def test_judging_overlaps_again_never_exceeds_a_quota_and_comes_to_rest(
    jobs: list[tuple[int, int, int]], holders: list[tuple[int, int]]
) -> None:
    made = lab(**{OVERLAP: True})
    for queue in ("q0", "q1", "q2"):
        made.queue(queue, cpu="3", cohort="co", preemption=Preemption("LowerPriority", "Any"))
    room = 9
    for place, (cpu, priority) in enumerate(holders):
        if cpu <= room:
            made.runs(f"h{place}", "q0", priority=priority, cpu=str(cpu))
            room -= cpu
    for place, (number, cpu, priority) in enumerate(jobs):
        made.submit(f"w{place}", f"q{number}", priority=priority, cpu=str(cpu))
    for _ in range(30):
        run = made.run()
        assert not run.more
        used = sum(made.scheduler.usage(f"q{number}").get(("std", "cpu"), 0) for number in range(3))
        assert used <= 9000
        leaving = [name for name in made.workloads if _evicted(made, name)]
        if not leaving:
            break
        event("somebody leaves")
        made.stop(leaving[0])
    else:
        raise AssertionError("evictions go on for ever")


def _evicted(made: Lab, name: str) -> bool:
    holder = made.scheduler.holders.get(made.key(name))
    return holder is not None and holder.evicted


# --- all of them at rest


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 4), st.integers(0, 2)), max_size=8),
    st.sampled_from(["FlavorFungibilityPreserveScanProgress", "SchedulingEquivalenceHashing"]),
)
def test_what_only_spares_work_changes_nobodys_fate(jobs: list[tuple[int, int, int]], gate: str) -> None:
    """One cohort, nobody may be preempted, nothing leaves: a scan that goes on or begins anew ends in the same place,
    and equals fail alike whether they are asked or not. Of one queue, that is: who need not be asked lets those behind
    it meet the heads of other queues a cycle earlier."""
    if gate == "SchedulingEquivalenceHashing":
        jobs = [(0, cpu, priority) for _, cpu, priority in jobs]

    def at_rest(on: bool) -> dict[str, Any]:
        made = lab(**{gate: on})
        for queue in ("q0", "q1"):
            made.queue(queue, {"a": {"cpu": "3"}, "b": {"cpu": "2"}}, cohort="co", fungibility=NEXT)
        for place, (number, cpu, priority) in enumerate(jobs):
            made.submit(f"w{place}", f"q{number}", priority=priority, cpu=str(cpu))
        made.run()
        return {name: made.flavor_of(name) for name in made.holding()}

    assert at_rest(True) == at_rest(False)


# --- looking


def test_a_question_between_a_release_and_the_next_run_changes_no_decision() -> None:
    """The preemptor has its turn before those who are set aside are woken, whoever asks about them."""

    def outcome(ask: bool) -> list[str]:
        made = lab()
        made.queue("q", cpu="4", preemption=LOWER)
        made.queue("r", cpu="0", cohort="co")
        made.runs("low", "q", priority=-1, cpu="4")
        made.submit("parked", "q", priority=0, cpu="5")
        made.run()
        made.submit("hero", "q", priority=5, cpu="4")
        made.run()
        assert made.parked() == ["parked"]
        made.finish("low")
        if ask:
            assert made.parked() == [], "it is as good as woken"
        return admitted(made.run())

    assert outcome(True) == outcome(False) == ["hero"]


def test_whoever_fails_at_the_first_look_is_not_looked_at_again_for_a_change_before_it() -> None:
    made = lab()
    made.queue("q", cpu="1")
    for place in range(5):
        made.submit(f"w{place}", "q", cpu=str(2 + place))
    with patch("admission.rules.rounds.nominate", wraps=nominate) as looks:
        made.run()
    assert looks.call_count == 5
