"""Who has to leave for whom, in clusters small enough to reckon in the head. Amounts are of one resource, cpu."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from admission.model.amounts import MAX_INT64
from admission.model.decisions import Victim
from admission.model.names import (
    IN_CLUSTER_QUEUE,
    IN_COHORT_RECLAIM_WHILE_BORROWING,
    IN_COHORT_RECLAMATION,
    WorkloadKey,
)
from admission.model.queues import ClusterQueue, FlavorResource, Preemption, Quota
from admission.rules.holders import Holder, Holders
from admission.rules.preemption import ask_oracle, find_victims
from tests.core.reference_tree import CPU, GPU, Reference

LOWER = Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="LowerPriority")
RECLAIM_ANY = Preemption(reclaim_within_cohort="Any")
RECLAIM_LOWER = Preemption(reclaim_within_cohort="LowerPriority")


@dataclass
class Cluster:
    """Queues with their policies, and who runs in them."""

    books: Reference = field(default_factory=Reference)
    queues: dict[str, ClusterQueue] = field(default_factory=dict)
    holders: Holders = field(default_factory=Holders)

    def cohort(self, name: str, parent: str = "", cpu: Quota | None = None) -> "Cluster":
        self.books.cohort(name, parent, cpu=cpu)
        return self

    def queue(
        self,
        name: str,
        cohort: str = "",
        cpu: Quota | None = None,
        gpu: Quota | None = None,
        policy: Preemption | None = None,
    ) -> "Cluster":
        self.books.queue(name, cohort, cpu, gpu)
        self.queues[name] = ClusterQueue(name, preemption=policy or Preemption())
        return self

    def runs(
        self,
        name: str,
        queue: str,
        cpu: int = 0,
        gpu: int = 0,
        priority: int = 0,
        since: float | None = 100.0,
        created: float = 0.0,
        evicted: bool = False,
    ) -> "Cluster":
        usage = {fr: units for fr, units in ((CPU, cpu), (GPU, gpu)) if units}
        self.books.add(queue, usage)
        self.holders.add(Holder(WorkloadKey(name), queue, usage, priority, name, created, since, evicted))
        return self

    def victims(
        self,
        queue: str,
        cpu: int = 0,
        gpu: int | None = None,
        priority: int = 0,
        created: float = 50.0,
        needs: tuple[FlavorResource, ...] = (CPU,),
    ) -> list[tuple[str, str]]:
        requests = {CPU: cpu} if gpu is None else {CPU: cpu, GPU: gpu}
        newcomer = Holder(WorkloadKey("new"), queue, {}, priority, "new", created, None)
        found = find_victims(self.books.tree(), self.queues, self.holders, newcomer, requests, needs, now=1000.0)
        return [(str(key), reason) for key, reason in found]

    def oracle(self, queue: str, cpu: int, priority: int = 0) -> tuple[str, int]:
        newcomer = Holder(WorkloadKey("new"), queue, {}, priority, "new", 50.0, None)
        return ask_oracle(self.books.tree(), self.queues, self.holders, newcomer, CPU, cpu, now=1000.0)


def names(victims: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in victims]


# -- within one queue --------------------------------------------------------------------------------------------


def test_the_lowest_priority_leaves_first_and_no_more_than_needed() -> None:
    cluster = Cluster().queue("q", cpu=Quota(6), policy=LOWER)
    cluster.runs("low", "q", cpu=2, priority=-1).runs("mid", "q", cpu=2).runs("high", "q", cpu=2, priority=1)
    assert cluster.victims("q", cpu=1, priority=1) == [("low", IN_CLUSTER_QUEUE)]
    assert cluster.victims("q", cpu=3, priority=1) == [("low", IN_CLUSTER_QUEUE), ("mid", IN_CLUSTER_QUEUE)]


def test_equals_are_spared_unless_newer_ones_may_be_taken() -> None:
    cluster = Cluster().queue("q", cpu=Quota(4), policy=LOWER).runs("old", "q", cpu=2, created=10)
    cluster.runs("twin", "q", cpu=1, created=50).runs("young", "q", cpu=1, created=90)
    assert cluster.victims("q", cpu=1, created=50) == []
    cluster.queue("q", cpu=Quota(4), policy=Preemption(within_cluster_queue="LowerOrNewerEqualPriority"))
    assert names(cluster.victims("q", cpu=1, created=50)) == ["young"]
    assert names(cluster.victims("q", cpu=2, created=50)) == []


def test_never_means_never() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(2)).queue("r", "bay").runs("own", "q", cpu=1, priority=-9)
    cluster.runs("other", "r", cpu=1, priority=-9)
    assert cluster.victims("q", cpu=1, priority=9) == []


def test_when_not_even_all_of_them_make_room_nobody_leaves() -> None:
    cluster = Cluster().queue("q", cpu=Quota(4), policy=LOWER)
    cluster.runs("low", "q", cpu=2, priority=-1).runs("high", "q", cpu=2, priority=5)
    assert cluster.victims("q", cpu=3, priority=1) == []


@pytest.mark.parametrize("huge", [9, MAX_INT64, MAX_INT64 + 1, 10**40])
def test_nobody_leaves_for_what_could_never_fit(huge: int) -> None:
    cluster = Cluster().queue("q", cpu=Quota(8), policy=LOWER).runs("low", "q", cpu=8, priority=-1)
    assert cluster.victims("q", cpu=huge, priority=1) == []


# -- the order of candidates -------------------------------------------------------------------------------------


def test_who_is_leaving_already_is_asked_before_anybody_else() -> None:
    cluster = Cluster().queue("q", cpu=Quota(2), policy=LOWER)
    cluster.runs("low", "q", cpu=1, priority=-5).runs("leaving", "q", cpu=1, priority=-1, evicted=True)
    assert names(cluster.victims("q", cpu=1)) == ["leaving"]


def test_among_equals_the_last_to_start_leaves_first_and_who_has_no_start_yet_started_now() -> None:
    cluster = Cluster().queue("q", cpu=Quota(4), policy=LOWER)
    cluster.runs("early", "q", cpu=1, priority=-1, since=100.0).runs("late", "q", cpu=1, priority=-1, since=200.0)
    cluster.runs("b", "q", cpu=1, priority=-1, since=None).runs("a", "q", cpu=1, priority=-1, since=1000.0)
    assert [names(cluster.victims("q", cpu=units)) for units in (1, 2, 3)] == [
        ["a"],
        ["a", "b"],
        ["a", "b", "late"],
    ]


def test_borrowers_elsewhere_go_before_the_own_queue() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=LOWER).queue("r", "bay", cpu=Quota(0))
    cluster.runs("own", "q", cpu=2, priority=-9).runs("borrower", "r", cpu=2, priority=-1)
    assert cluster.victims("q", cpu=1) == [("borrower", IN_COHORT_RECLAMATION)]
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=LOWER).queue("r", "bay", cpu=Quota(0))
    cluster.runs("own", "q", cpu=2, priority=-1, evicted=True).runs("borrower", "r", cpu=2, priority=-9)
    assert names(cluster.victims("q", cpu=1)) == ["own"]


# -- reclaiming from borrowers -----------------------------------------------------------------------------------


def test_a_borrower_gives_back_what_the_owner_needs_and_not_more() -> None:
    cluster = Cluster().queue("owner", "bay", cpu=Quota(4), policy=RECLAIM_ANY).queue("taker", "bay", cpu=Quota(2))
    for name in ("t1", "t2", "t3", "t4", "t5", "t6"):
        cluster.runs(name, "taker", cpu=1, priority=9)
    assert cluster.victims("owner", cpu=2) == [("t1", IN_COHORT_RECLAMATION), ("t2", IN_COHORT_RECLAMATION)]
    assert len(cluster.victims("owner", cpu=4)) == 4
    assert cluster.victims("owner", cpu=5) == []


def test_who_stays_within_its_own_quota_is_left_alone() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=RECLAIM_ANY).queue("r", "bay", cpu=Quota(2))
    cluster.runs("mine", "q", cpu=2).runs("theirs", "r", cpu=2)
    assert cluster.victims("q", cpu=1, priority=9) == []


def test_a_borrower_is_spared_once_its_queue_is_back_within_quota() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(6), policy=RECLAIM_ANY)
    cluster.queue("r", "bay", cpu=Quota(3)).queue("s", "bay", cpu=Quota(0))
    cluster.runs("r1", "r", cpu=2, priority=-5).runs("r2", "r", cpu=2, priority=-4).runs("s1", "s", cpu=3, priority=1)
    # r1 brings r within its quota: r2 may not be taken although its priority is lower than s1's.
    assert names(cluster.victims("q", cpu=6)) == ["r1", "s1"]


def test_priority_protects_a_borrower_only_where_the_policy_says_so() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=RECLAIM_LOWER).queue("r", "bay")
    cluster.runs("peer", "r", cpu=2, priority=0)
    assert cluster.victims("q", cpu=1) == []
    assert names(cluster.victims("q", cpu=1, priority=1)) == ["peer"]


def test_workloads_of_a_stopped_queue_are_no_candidates() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=RECLAIM_ANY).queue("r", "bay").runs("w", "r", cpu=2)
    assert names(cluster.victims("q", cpu=1)) == ["w"]
    del cluster.queues["r"]
    assert cluster.victims("q", cpu=1) == []


def test_who_uses_nothing_of_what_is_needed_is_no_candidate() -> None:
    cluster = Cluster().queue("q", cpu=Quota(2), gpu=Quota(2), policy=LOWER)
    cluster.runs("other", "q", gpu=2, priority=-9).runs("cpu", "q", cpu=2, priority=-1)
    assert names(cluster.victims("q", cpu=1)) == ["cpu"]


def test_a_request_of_zero_neither_needs_nor_blocks_anything() -> None:
    cluster = Cluster().queue("red", "plant", cpu=Quota(8), gpu=Quota(4), policy=LOWER)
    cluster.queue("blue", "plant", cpu=Quota(8), gpu=Quota(4), policy=LOWER)
    cluster.runs("core", "blue", cpu=8, priority=5).runs("extra", "blue", cpu=4).runs("base", "red", cpu=4, gpu=4)
    for needs in ((CPU,), (CPU, GPU)):
        assert cluster.victims("red", cpu=4, gpu=0, priority=5, needs=needs) == [("extra", IN_COHORT_RECLAMATION)]
    assert cluster.victims("red", cpu=4, gpu=0, priority=5, needs=(GPU,)) == []


# -- borrowing while preempting ----------------------------------------------------------------------------------


def test_who_would_borrow_may_take_from_its_own_queue_only() -> None:
    """Without borrowWithinCohort, a queue at its nominal quota has nothing to reclaim."""
    cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=LOWER).queue("r", "bay", cpu=Quota(2))
    cluster.queue("s", "bay", cpu=Quota(2))
    cluster.runs("own", "q", cpu=2, priority=-1).runs("r1", "r", cpu=4, priority=-9)
    assert cluster.victims("q", cpu=2) == [("own", IN_CLUSTER_QUEUE)]
    assert cluster.victims("q", cpu=4) == []


def test_below_nominal_it_is_tried_without_borrowing_first_and_then_within_the_queue() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=LOWER).queue("r", "bay", cpu=Quota(2))
    cluster.runs("own", "q", cpu=2, priority=-1).runs("r1", "r", cpu=4, priority=-9)
    assert names(cluster.victims("q", cpu=2)) == ["r1"]
    # 5 are beyond its nominal quota: r1 can't be taken by a borrower, and "own" alone frees 2.
    assert cluster.victims("q", cpu=5) == []
    assert names(cluster.victims("q", cpu=4)) == ["r1", "own"]


def borrowing(threshold: int | None = None) -> Preemption:
    return Preemption("LowerPriority", "Any", "LowerPriority", threshold)


def test_borrow_within_cohort_lets_a_borrower_take_from_borrowers_of_lower_priority() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=borrowing()).queue("r", "bay", cpu=Quota(4))
    cluster.runs("base", "q", cpu=1, priority=9).runs("r1", "r", cpu=2, priority=-1).runs("r2", "r", cpu=3, priority=3)
    assert cluster.victims("q", cpu=2, priority=3) == [("r1", IN_COHORT_RECLAIM_WHILE_BORROWING)]
    # an equal may be reclaimed from, but not by a borrower; without borrowing 2 don't fit.
    assert cluster.victims("q", cpu=2, priority=-1) == []


def test_above_the_threshold_a_borrower_is_safe_from_borrowers() -> None:
    for threshold, expected in ((-1, ["r1"]), (-2, [])):
        cluster = Cluster().queue("q", "bay", cpu=Quota(2), policy=borrowing(threshold))
        cluster.queue("r", "bay", cpu=Quota(4)).runs("base", "q", cpu=1, priority=9)
        cluster.runs("r1", "r", cpu=2, priority=-1).runs("r2", "r", cpu=3, priority=3)
        assert names(cluster.victims("q", cpu=2, priority=3)) == expected


def test_what_a_borrower_may_not_take_an_owner_still_reclaims_in_the_second_attempt() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=borrowing()).queue("r", "bay")
    cluster.runs("equal", "r", cpu=4, priority=3)
    assert cluster.victims("q", cpu=2, priority=3) == [("equal", IN_COHORT_RECLAMATION)]


# -- more levels -------------------------------------------------------------------------------------------------


def test_a_subtree_that_owns_enough_reclaims_from_far_borrowers_even_by_borrowing_itself() -> None:
    """q has no quota of its own and borrowWithinCohort is Never, but its department owns what it asks for."""
    cluster = Cluster().cohort("dept", "top", cpu=Quota(4)).cohort("other", "top")
    cluster.queue("q", "dept", cpu=Quota(0), policy=RECLAIM_LOWER).queue("far", "other")
    cluster.runs("f", "far", cpu=4, priority=-1)
    assert cluster.victims("q", cpu=3) == [("f", IN_COHORT_RECLAMATION)]
    cluster.cohort("dept", "top", cpu=Quota(2)).cohort("top", cpu=Quota(2))
    assert cluster.victims("q", cpu=3) == []


def test_cohorts_within_their_quota_shield_the_borrowers_inside() -> None:
    cluster = Cluster().cohort("a", "top", cpu=Quota(4)).cohort("b", "top", cpu=Quota(4))
    cluster.queue("q", "a", policy=borrowing()).queue("x", "a").queue("y", "b")
    cluster.runs("x1", "x", cpu=4, priority=-1).runs("y1", "y", cpu=4, priority=-5)
    # y borrows inside b, but b as a whole does not.
    assert names(cluster.victims("q", cpu=2)) == ["x1"]
    cluster.cohort("b", "top", cpu=Quota(3)).cohort("top", cpu=Quota(1))
    assert names(cluster.victims("q", cpu=2)) == ["y1"]


def test_victims_stop_being_valid_when_a_cohort_between_is_back_within_its_quota() -> None:
    cluster = Cluster().cohort("mine", "top", cpu=Quota(6)).cohort("theirs", "top", cpu=Quota(3))
    cluster.queue("q", "mine", cpu=Quota(0), policy=borrowing()).queue("x", "theirs").queue("y", "theirs")
    cluster.queue("z", "top").runs("x1", "x", cpu=3, priority=-9).runs("y1", "y", cpu=2, priority=-8)
    cluster.runs("z1", "z", cpu=4, priority=-1)
    # x1 brings "theirs" from 5 to 2 of 3; y1 is safe from then on.
    assert names(cluster.victims("q", cpu=6)) == ["x1", "z1"]


# -- fill-back ---------------------------------------------------------------------------------------------------


def test_a_small_victim_stays_when_a_big_one_makes_room_alone() -> None:
    cluster = Cluster().queue("q", cpu=Quota(6), policy=LOWER)
    cluster.runs("small", "q", cpu=1, priority=-3).runs("big", "q", cpu=5, priority=-2)
    assert names(cluster.victims("q", cpu=4)) == ["big"]


def test_a_spared_victims_place_is_taken_by_the_last_one() -> None:
    cluster = Cluster().queue("q", cpu=Quota(10), policy=LOWER)
    cluster.runs("a", "q", cpu=1, priority=-9).runs("b", "q", cpu=2, priority=-8).runs("c", "q", cpu=3, priority=-7)
    cluster.runs("d", "q", cpu=4, priority=-6)
    # 8 need a, b, c and d but for 2: c can't stay, b can; d moves to b's place, before c.
    assert names(cluster.victims("q", cpu=8)) == ["a", "d", "c"]


def test_the_search_leaves_no_trace() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=LOWER).queue("r", "bay", cpu=Quota(2))
    cluster.runs("own", "q", cpu=2, priority=-1).runs("r1", "r", cpu=4, priority=-9)
    tree = cluster.books.tree()
    q, r = tree.queue("q"), tree.queue("r")
    assert q is not None
    assert r is not None

    def state() -> list[object]:
        return [dict(q.usage), dict(r.usage), dict(q.root.usage), tree.version(q), tree.generation(r)]

    before = state()
    newcomer = Holder(WorkloadKey("new"), "q", {}, 0, "new", 50.0, None)
    requests: Mapping[FlavorResource, int] = {CPU: 4}
    found = find_victims(tree, cluster.queues, cluster.holders, newcomer, requests, (CPU,), 0.0)
    assert found == (
        Victim(WorkloadKey("r1"), IN_COHORT_RECLAMATION),
        Victim(WorkloadKey("own"), IN_CLUSTER_QUEUE),
    )
    assert ask_oracle(tree, cluster.queues, cluster.holders, newcomer, CPU, 4, 0.0) == ("preempt", 0)
    assert state() == before


# -- the oracle of flavor assignment -----------------------------------------------------------------------------


def test_the_oracle_tells_reclaiming_from_preempting_and_from_hopeless() -> None:
    cluster = Cluster().queue("q", "bay", cpu=Quota(4), policy=LOWER).queue("r", "bay", cpu=Quota(2))
    cluster.runs("own", "q", cpu=2, priority=-1).runs("r1", "r", cpu=4, priority=-9)
    assert cluster.oracle("q", cpu=2) == ("reclaim", 0)
    assert cluster.oracle("q", cpu=4) == ("preempt", 0)
    assert cluster.oracle("q", cpu=5) == ("noCandidates", 1)


def test_the_oracle_says_how_high_it_would_borrow_once_the_victims_are_gone() -> None:
    cluster = Cluster().cohort("dept", "top", cpu=Quota(2)).queue("q", "dept", cpu=Quota(2), policy=borrowing())
    cluster.queue("near", "dept").queue("far", "top", cpu=Quota(1))
    cluster.runs("n1", "near", cpu=3, priority=-5).runs("f1", "far", cpu=2, priority=-4)
    assert cluster.oracle("q", cpu=4) == ("reclaim", 1)
    assert cluster.oracle("q", cpu=5) == ("reclaim", 2)
    assert cluster.oracle("q", cpu=6) == ("noCandidates", 2)


def test_the_oracle_needs_a_queue_that_exists() -> None:
    with pytest.raises(KeyError, match="ghost"):
        Cluster().queue("q").oracle("ghost", cpu=1)


# -- holders -----------------------------------------------------------------------------------------------------


def test_a_holder_is_known_by_key_and_by_queue_until_it_is_dropped() -> None:
    holders = Cluster().queue("q").queue("r").runs("a", "q", cpu=1).runs("b", "q", cpu=1).holders
    moved = Holder(WorkloadKey("a"), "r", {CPU: 1}, 0, "a", 0.0, None)
    holders.add(moved)
    assert ([holder.key for holder in holders.of("q")], list(holders.of("r"))) == (["b"], [moved])
    assert holders.get(WorkloadKey("a")) is moved
    assert (holders.drop(WorkloadKey("a")), holders.drop(WorkloadKey("a"))) == (moved, None)
    assert (len(holders), "a" in holders, "b" in holders, list(holders.of("r"))) == (1, False, True, [])
