"""Fair sharing in any small cluster: order, victims and reasons are those of the slow reference."""

from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from admission.model.configuration import FINAL_SHARE, INITIAL_SHARE, Configuration, FairSharing
from admission.model.gates import Gates
from admission.model.names import WorkloadKey
from admission.model.queues import ClusterQueue, FlavorResource, Preemption, Quota
from admission.model.workload import Workload
from admission.rules.estate import Estate
from admission.rules.fair_preemption import Fairness
from admission.rules.flavors import Assignment
from admission.rules.holders import Holder, Holders
from admission.rules.nomination import Nomination
from admission.rules.preemption import find_victims
from admission.rules.queue import Queue, Waiting
from admission.rules.tournament import by_share
from admission.tree import Tree
from admission.tree.shares import borrows, share
from tests.core.reference_shares import Found, Head, Hunt, Shares, slow_order
from tests.core.reference_tree import CPU, GPU, Reference, Spot, there

SPOT: FlavorResource = ("spot", "cpu")
NOW = 1000.0
QUEUES = ("q0", "q1", "q2", "q3", "q4")
STRATEGIES = ((FINAL_SHARE,), (INITIAL_SHARE,), (FINAL_SHARE, INITIAL_SHARE), (FINAL_SHARE, INITIAL_SHARE))

limits = st.sampled_from((None, None, None, None, None, 0, 1, 3))
quotas = st.builds(Quota, nominal=st.sampled_from((0, 0, 1, 2, 3, 5)), borrowing_limit=limits, lending_limit=limits)
weights = st.sampled_from((Fraction(1), Fraction(1), Fraction(1), Fraction(0), Fraction(2), Fraction(1, 3)))
priorities = st.integers(-2, 2)
policies = st.builds(
    Preemption,
    within_cluster_queue=st.sampled_from(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
    reclaim_within_cohort=st.sampled_from(("Any", "LowerPriority", "Any", "Any", "Never")),
    borrow_within_cohort=st.sampled_from(("Never", "LowerPriority")),
)


class Cluster:
    """A tree of up to three levels of cohorts with weights, and who holds what in it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.books = Reference()
        self.weights: dict[Spot, Fraction] = {}
        offered = draw(st.sampled_from(((CPU,), (CPU, SPOT), (CPU, SPOT, GPU), (CPU, GPU))))
        for name, parent in (("top", ""), ("left", "top"), ("right", draw(st.sampled_from(("top", "top", "")))),
                             ("deep", "left")):  # fmt: skip
            own = {fr: draw(quotas) for fr in offered} if draw(st.booleans()) else {}
            self.books.cohorts[name] = (parent, own)
            self.weights["cohort", name] = draw(weights)
        self.queues: dict[str, ClusterQueue] = {}
        for name in QUEUES:
            cohort = draw(st.sampled_from(("left", "left", "deep", "deep", "right", "top", "top")))
            self.books.queues[name] = (cohort, {fr: draw(quotas) for fr in offered})
            self.books.used[name] = {}
            self.weights["queue", name] = draw(weights)
            if name == "q0" or draw(st.integers(0, 9)):
                self.queues[name] = ClusterQueue(name, preemption=draw(policies))
        self.queues["q0"] = ClusterQueue("q0", preemption=draw(st.just(Preemption("LowerPriority", "Any")) | policies))
        self.usages = st.fixed_dictionaries({fr: st.sampled_from((0, 1, 1, 2, 3)) for fr in offered})
        self.holders: list[Holder] = []
        for number in range(draw(st.integers(4, 14))):
            self.hold(number)

    def hold(self, number: int) -> None:
        draw = self.draw
        usage, queue = draw(self.usages), draw(st.sampled_from((*QUEUES, *QUEUES[1:])))
        since, created = draw(st.none() | st.sampled_from((10.0, 20.0))), draw(st.sampled_from((1.0, 2.0, 3.0)))
        evicted = draw(st.integers(0, 4)) == 0
        uid = f"uid-{(number * 7) % 11}"
        self.holders.append(
            Holder(WorkloadKey(f"w{number}"), queue, usage, draw(priorities), uid, created, since, evicted)
        )
        self.books.add(queue, usage)

    @property
    def shares(self) -> Shares:
        return Shares(self.books, self.weights)

    def tree(self) -> Tree:
        return self.weigh(self.books.tree())

    def weigh(self, tree: Tree) -> Tree:
        for spot, weight in self.weights.items():
            there(tree, spot).weight = weight
        return tree


class Contest(Cluster):
    """One head in some of its queues."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.heads = [
            Head(f"lab/h{number}", queue, draw(self.usages), draw(priorities), draw(st.sampled_from((1.0, 2.0))))
            for number, queue in enumerate(QUEUES)
            if draw(st.integers(0, 5))
        ]
        self.spare_first, self.priority_first = draw(st.integers(0, 3)) > 0, draw(st.integers(0, 3)) > 0

    def order(self) -> list[str]:
        gates = {
            "FairSharingPrioritizeNonBorrowing": self.spare_first,
            "PrioritySortingWithinCohort": self.priority_first,
        }
        estate = Estate(Configuration(fair_sharing=FairSharing(), gates=Gates(gates)))
        estate.tree = self.tree()
        nominations = [_nomination(estate, head) for head in self.heads]
        order: list[str] = []
        for nomination in by_share(estate, nominations, {}):
            order.append(nomination.waiting.key)
            node = estate.tree.queue(nomination.queue.name)
            assert node is not None
            estate.tree.add(node, nomination.assignment.usage)
        return order


def _nomination(estate: Estate, head: Head) -> Nomination:
    namespace, name = head.name.split("/")
    workload = Workload(namespace, name, head.name, 1, head.since, "lq", (), priority=head.priority)
    waiting = Waiting(workload, head.queue, estate.ordering.rank(workload))
    return Nomination(waiting, Queue(head.queue), (0, 0), Assignment(usage=dict(head.usage)))


class Question(Cluster):
    """Somebody waits at q0."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.new = Holder(WorkloadKey("new"), "q0", {}, draw(st.integers(-1, 3)), "new", 2.0, None)
        self.requests = draw(self.usages)
        self.requests[CPU] = max(1, self.requests[CPU])
        free = {fr: max(0, self.books.available(("queue", "q0"), fr)) for fr in self.requests}
        self.needs = tuple(fr for fr, units in self.requests.items() if units > free[fr]) or (CPU,)
        self.fairness = Fairness(draw(st.sampled_from(STRATEGIES)), draw(st.integers(0, 3)) > 0)

    def find(self) -> Found:
        known = Holders()
        for holder in self.holders:
            known.add(holder)
        victims = find_victims(self.tree(), self.queues, known, self.new, self.requests, self.needs, NOW, self.fairness)
        by_key = {holder.key: holder for holder in self.holders}
        return [(by_key[key], reason) for key, reason in victims]

    def expected(self) -> Found:
        if any(units > self.books.potential(("queue", "q0"), fr) for fr, units in self.requests.items() if units):
            return []
        fairness = self.fairness
        return Hunt(
            self.shares, self.queues, self.holders, self.new, self.requests, self.needs, NOW,
            fairness.strategies, fairness.owner_first,
        ).victims()  # fmt: skip


clusters, contests, questions = st.composite(Cluster)(), st.composite(Contest)(), st.composite(Question)()


def same_shares(cluster: Cluster) -> None:
    tree = cluster.tree()
    for spot in cluster.books.spots():
        node, slow = there(tree, spot), cluster.shares.drs(spot)
        quick = share(node)
        assert (quick.infinite, borrows(node)) == (slow.endless, slow.borrowing)
        assert quick.value * 1000 == (slow.ratio if slow.endless else slow.share)


def same_order(contest: Contest) -> None:
    slow = slow_order(
        contest.shares, contest.heads, spare_first=contest.spare_first, priority_first=contest.priority_first
    )
    quick = contest.order()
    roots = {head.name: contest.books.path(("queue", head.queue))[-1] for head in contest.heads}
    for root in dict.fromkeys(roots.values()):  # between trees nothing is compared
        assert [name for name in quick if roots[name] == root] == [name for name in slow if roots[name] == root]


def same_victims(question: Question) -> None:
    found = question.find()
    event(", ".join(sorted({reason for _, reason in found})) or "nobody")
    assert found == question.expected()


@settings(max_examples=20)
@given(clusters)
def test_every_share_is_what_its_formula_says(cluster: Cluster) -> None:
    same_shares(cluster)


@settings(max_examples=25)
@given(contests)
def test_heads_come_in_the_order_that_a_whole_tournament_before_each_gives(contest: Contest) -> None:
    same_order(contest)


@settings(max_examples=30)
@given(questions)
def test_the_search_finds_what_its_rules_say(question: Question) -> None:
    same_victims(question)


@pytest.mark.long
@settings(max_examples=1_000)
@given(contests)
def test_heads_come_in_that_order_in_many_clusters(contest: Contest) -> None:
    same_shares(contest)
    same_order(contest)


@pytest.mark.long
@settings(max_examples=3_000)
@given(questions)
def test_the_search_finds_what_its_rules_say_in_many_clusters(question: Question) -> None:
    same_victims(question)
