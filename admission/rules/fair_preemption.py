"""Preemption under fair sharing: who borrows most gives way to who would then borrow less.

The newcomer counts in its queue for the whole search, so that its own share is the one it would have. Shares of others
are compared where its path to the root meets theirs: at the two children of their lowest common cohort.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from admission.model.configuration import FINAL_SHARE, INITIAL_SHARE, Configuration
from admission.model.names import IN_COHORT_RECLAMATION
from admission.model.queues import ClusterQueue
from admission.rules.fair_targets import Targets, borrowers, candidates_by_queue
from admission.rules.fill_back import spare
from admission.rules.holders import Holders
from admission.rules.preemption_candidates import Candidate, Search, allowed
from admission.rules.yielding import MOST, Yielding, moment
from admission.tree import Node, Tree
from admission.tree.quota import available, within_nominal
from admission.tree.shares import Share, Units, passed_on, share


@dataclass(frozen=True, slots=True)
class Fairness:
    """How shares decide who may be preempted. `owner_first`: who stays within its nominal quota need not compare.

    Because of shares nobody leaves twice for the same one while nothing happens from outside, and for whatever reason
    nobody leaves a third time (`yielding`). Priorities, sizes that divide badly and resources of which each queue owns
    another let two workloads have the better right by turns; they would make each other leave for ever.
    """

    strategies: tuple[str, ...] = (FINAL_SHARE, INITIAL_SHARE)
    owner_first: bool = True
    yielding: Yielding = field(default_factory=Yielding)
    _known: dict[int, dict[Node, Share]] = field(default_factory=dict)

    def shares_at(self, version: int) -> dict[Node, Share]:
        """What was read in this state of a tree; the reader adds to it. Only the last state asked for is kept."""
        known = self._known.get(version)
        if known is None:
            self._known.clear()
            known = self._known[version] = {}
        return known

    def has_yielded(self, search: Search, candidate: Candidate, often: int) -> bool:
        """So often to this preemptor, and nothing has happened since; it is back, not still on its way out."""
        if candidate.holder.evicted:
            return False
        return self.yielding.times(candidate.holder.key, search.preemptor.key, moment(search.node)) >= often


def fairness_of(configuration: Configuration, yielding: Yielding) -> Fairness | None:
    """None: fair sharing is off, and preemption classical."""
    if configuration.fair_sharing is None:
        return None
    return Fairness(
        configuration.fair_sharing.preemption_strategies,
        configuration.gates["FairSharingPreemptWithinNominal"],
        yielding,
    )


def fair_victims(
    tree: Tree, search: Search, queues: Mapping[str, ClusterQueue], holders: Holders, fairness: Fairness
) -> list[Candidate]:
    """Who has to leave, in Kueue's order; [] when nobody can help."""
    if _nobody_gives_way(search, queues, holders, fairness):
        return []
    candidates = candidates_by_queue(search, queues, holders)
    if not candidates:
        return []
    mark = tree.mark()
    try:
        tree.add(search.node, search.requests)
        hunt = _Hunt(tree, search, fairness)
        found = hunt.first(Targets(search, candidates))
        if not found and len(fairness.strategies) > 1:
            found = hunt.second(Targets(search, hunt.refused))
        return spare(tree, hunt.removed, partial(_fits, search)) if found else []
    finally:
        tree.undo(mark)


def _nobody_gives_way(search: Search, queues: Mapping[str, ClusterQueue], holders: Holders, fairness: Fairness) -> bool:
    """Whether not even a first victim can be found: shares, which are few, say so before anybody looks at holders."""
    node, policy = search.node, search.policy
    if policy.within_cluster_queue != "Never" and any(
        allowed(policy.within_cluster_queue, search.preemptor, holder) for holder in holders.of(node.name)
    ):
        return False
    if policy.reclaim_within_cohort == "Never":
        return True
    more: Units = search.requests
    if fairness.owner_first and not any(
        node.usage.get(fr, 0) + more[fr] > node.subtree.get(fr, 0) for fr in search.needs
    ):
        return False
    mine: dict[Node, Share] = {}  # by the cohort above
    while node.parent is not None:
        mine[node.parent] = share(node, more)
        more, node = passed_on(node, more), node.parent
    known = fairness.shares_at(node.version)
    for queue in borrowers(search):
        side = queue
        while side.parent is not None and side.parent not in mine:
            side = side.parent
        theirs = known.get(side)
        if theirs is None:
            theirs = known[side] = share(side)
        if side.parent is not None and queue.name in queues and mine[side.parent] <= theirs:
            return False
    return True


class _Hunt:
    """One search. `removed`: in the order of removal; `refused`: those whom the first strategy let stay."""

    def __init__(self, tree: Tree, search: Search, fairness: Fairness) -> None:
        self._tree, self._search, self._fairness = tree, search, fairness
        self._first = fairness.strategies[0]
        # Asked before anybody leaves: that victims of its own would bring it back there entitles it to nothing.
        self._owner = fairness.owner_first and within_nominal(search.node, search.needs)
        self._of_all = self._owner and within_nominal(search.node, search.requests)
        self.removed: list[Candidate] = []
        self.refused: dict[Node, list[Candidate]] = {}

    def first(self, targets: Targets) -> bool:
        """Whether it fits in the end."""
        while (queue := targets.next()) is not None:
            victim = self._pick(targets, queue)
            if victim is not None and self._remove(targets, victim):
                return True
        return False

    def second(self, targets: Targets) -> bool:
        """Of each queue one more, if the newcomer's share stays below what that side's was so far."""
        while (queue := targets.next()) is not None:
            mine, theirs = _almost_common(self._search.node, queue)
            victim = targets.pop(queue) if share(mine) < share(theirs) else None
            targets.drop(queue)
            if victim is not None and self._remove(targets, victim):
                return True
        return False

    def _pick(self, targets: Targets, queue: Node) -> Candidate | None:
        """The first candidate of the queue that has to give way; those before it are refused."""
        search = self._search
        if queue is search.node:
            return self._pick_of_own(targets)
        mine, theirs = _almost_common(search.node, queue)
        new, old = share(mine), share(theirs)
        never = not self._owner and (new > old or (self._first == INITIAL_SHARE and new == old))  # whoever leaves
        often = MOST if self._of_all else 1
        while (candidate := targets.pop(queue)) is not None:
            if self._fairness.has_yielded(search, candidate, often):
                continue
            if self._owner:
                return candidate._replace(reason=IN_COHORT_RECLAMATION)
            if not never and (self._first == INITIAL_SHARE or new <= share(theirs, _without(candidate, theirs))):
                return candidate
            self.refused.setdefault(queue, []).append(candidate)
        return None

    def _pick_of_own(self, targets: Targets) -> Candidate | None:
        while (candidate := targets.pop(self._search.node)) is not None:
            if not self._fairness.has_yielded(self._search, candidate, MOST):
                return candidate
        return None

    def _remove(self, targets: Targets, victim: Candidate) -> bool:
        """Whether that makes enough room."""
        self._tree.remove(victim.node, victim.holder.usage)
        targets.removed(victim.node)
        self.removed.append(victim)
        return _fits(self._search)


def _fits(search: Search) -> bool:
    """The requests are counted already: they fit if nothing is overdrawn."""
    return all(available(search.node, fr) >= 0 for fr in search.requests)


def _without(candidate: Candidate, side: Node) -> Units:
    """What the leaving of the candidate changes at `side`, somewhere above its queue."""
    units: Units = {fr: -used for fr, used in candidate.holder.usage.items()}
    node = candidate.node
    while node is not side and node.parent is not None:
        units = passed_on(node, units)
        node = node.parent
    return units


def _almost_common(mine: Node, theirs: Node) -> tuple[Node, Node]:
    """The two children of the lowest common cohort through which its queues are reached."""
    above: dict[Node, Node] = {}  # cohort -> the child on the way to `mine`
    node = mine
    while node.parent is not None:
        above[node.parent] = node
        node = node.parent
    node = theirs
    while node.parent is not None:
        if node.parent in above:
            return above[node.parent], node
        node = node.parent
    raise LookupError(f"{mine} and {theirs} have no cohort in common")
