"""Whose workloads a search under fair sharing tries next: those of the queue that is furthest above its share.

From the root down: of the children that borrow and have candidates left, into the one of the highest share. The order
is asked for again after each removal; what lies on the removed one's path is reckoned anew, the rest is remembered.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from admission.model.names import IN_CLUSTER_QUEUE, IN_COHORT_FAIR_SHARING
from admission.model.queues import ClusterQueue
from admission.rules.holders import Holders
from admission.rules.preemption_candidates import Candidate, Search, allowed, by_usage, order_of, uses
from admission.tree import Node
from admission.tree.shares import Share, borrows, share


def candidates_by_queue(
    search: Search, queues: Mapping[str, ClusterQueue], holders: Holders
) -> dict[Node, list[Candidate]]:
    """Everybody who might have to leave, in the order of trying within each queue.

    Its own queue by `withinClusterQueue`; by `reclaimWithinCohort` every active queue of the tree that uses more than
    its nominal quota of what is needed. borrowWithinCohort has no say.
    """
    found: dict[Node, list[Candidate]] = {}
    own, others = search.policy.within_cluster_queue, search.policy.reclaim_within_cohort
    for queue in (search.node, *(borrowers(search) if others != "Never" else ())):
        mine = queue is search.node
        policy, reason = (own, IN_CLUSTER_QUEUE) if mine else (others, IN_COHORT_FAIR_SHARING)
        if policy == "Never" or not (mine or queue.name in queues):
            continue
        line = [
            Candidate(holder, queue, None, reason, unless_borrowing=False)
            for holder in holders.in_reach(queue.name, search.node.name, search.now)
            if allowed(policy, search.preemptor, holder) and uses(holder, search.needs)
        ]
        if line:
            line.sort(key=lambda candidate: order_of(candidate.holder, search.now))
            by_usage(line, queues, holders)
            line.sort(key=lambda candidate: not candidate.holder.evicted)  # who is on the way out first
            found[queue] = line
    return found


def borrowers(search: Search) -> Iterator[Node]:
    """Queues other than its own that use more than they own of what is needed, below cohorts that borrow or that it
    shares with them; below others nobody is ever asked to leave."""
    path = set()
    node = search.node
    while node.parent is not None:
        node = node.parent
        path.add(node)
    waiting = [node] if not node.is_queue else []
    while waiting:
        cohort = waiting.pop()
        over: dict[Node, None] = {}
        for fr in search.needs:
            over.update(cohort.over.get(fr, {}))
        yield from (child for child in over if child.is_queue and child is not search.node)
        below: dict[Node, None] = {}
        for children in cohort.over.values():
            below.update(children)
        waiting += [child for child in below if not child.is_queue and child not in path]
        waiting += [child for child in cohort.cohorts.values() if child in path]


class Targets:
    """The candidates that are left, by queue."""

    def __init__(self, search: Search, candidates: Mapping[Node, Iterable[Candidate]]) -> None:
        self._search = search
        self._lines = {queue: deque(line) for queue, line in candidates.items()}
        self._queues: dict[Node, dict[Node, None]] = {}  # cohort -> its queues with candidates left
        self._cohorts: dict[Node, dict[Node, None]] = {}  # cohort -> its cohorts that may lead to some
        self._shares: dict[Node, Share] = {}
        self._path = {search.node}
        node = search.node
        while node.parent is not None:
            node = node.parent
            self._path.add(node)
        self._root = node
        for queue in self._lines:
            above = queue.parent
            if above is not None:
                self._queues.setdefault(above, {})[queue] = None
                self._lead_to(above)

    def _lead_to(self, cohort: Node) -> None:
        while cohort.parent is not None:
            self._cohorts.setdefault(cohort.parent, {})[cohort] = None
            cohort = cohort.parent

    def next(self) -> Node | None:
        """The queue whose turn it is; None: nobody is left. Pop of it or drop it before asking again."""
        if self._root.is_queue:
            return self._root if self._lines.get(self._root) else None
        while True:
            cohort, queue = self._root, None
            while queue is None:
                queue, below = self._best_queue(cohort), self._best_cohort(cohort)
                if below is not None and (queue is None or self._share(below) >= self._share(queue)):
                    cohort, queue = below, None
                elif queue is None:
                    break
            if queue is not None:
                return queue
            if cohort is self._root:
                return None
            assert cohort.parent is not None, "the root is no child of a cohort"
            del self._cohorts[cohort.parent][cohort]

    def pop(self, queue: Node) -> Candidate | None:
        """Its next candidate; None: it has none."""
        line = self._lines[queue]
        return line.popleft() if line else None

    def drop(self, queue: Node) -> None:
        """It is not to be asked again."""
        self._lines[queue].clear()

    def removed(self, queue: Node) -> None:
        """Usage has left this queue: shares up from there are others."""
        node: Node | None = queue
        while node is not None:
            self._shares.pop(node, None)
            node = node.parent

    def _best_queue(self, cohort: Node) -> Node | None:
        """Of the highest share; of equal ones, the one whose next candidate would be tried first."""
        children = self._queues.get(cohort)
        if not children:
            return None
        for queue in [queue for queue in children if not self._stands(queue)]:
            del children[queue]
        if len(children) < 2:
            return next(iter(children), None)
        most = max(self._share(queue) for queue in children)
        return min((queue for queue in children if self._share(queue) == most), key=self._head)

    def _stands(self, queue: Node) -> bool:
        return bool(self._lines[queue]) and (queue is self._search.node or borrows(queue))

    def _head(self, queue: Node) -> tuple[object, ...]:
        """Of two that are on their way out, or that are not, one of another queue comes before one of its own."""
        holder = self._lines[queue][0].holder
        return (not holder.evicted, queue is self._search.node, *order_of(holder, self._search.now))

    def _best_cohort(self, cohort: Node) -> Node | None:
        """Of the highest share; of equal ones, the last by name, so that the answer is always the same."""
        children = self._cohorts.get(cohort)
        if not children:
            return None
        for child in [child for child in children if child not in self._path and not borrows(child)]:
            del children[child]
        if len(children) < 2:
            return next(iter(children), None)
        return max(children, key=lambda child: (self._share(child), child.name))

    def _share(self, node: Node) -> Share:
        known = self._shares.get(node)
        if known is None:
            known = self._shares[node] = share(node)
        return known
