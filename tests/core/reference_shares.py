"""A slow reference for fair sharing: shares, the order of a cycle and the search for victims, read from their rules.

Every number is worked out anew from the declared quotas and the usage of each queue, by the slow reference of the
tree; every what-if is a copy of the whole cluster. It knows nothing of how the product keeps its numbers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from admission.model.configuration import FINAL_SHARE
from admission.model.names import IN_CLUSTER_QUEUE, IN_COHORT_FAIR_SHARING, IN_COHORT_RECLAMATION
from admission.model.queues import ClusterQueue, FlavorResource
from admission.rules.holders import Holder
from tests.core.reference_tree import Reference, Spot

Found = list[tuple[Holder, str]]
Usage = Mapping[FlavorResource, int]


@dataclass(frozen=True)
class Drs:
    weight: Fraction
    ratio: Fraction  # in thousandths, before the weight
    borrowing: bool

    @property
    def endless(self) -> bool:
        return self.weight == 0 and self.ratio > 0

    def compare(self, other: "Drs") -> int:
        if self.endless and other.endless:
            return _sign(self.ratio - other.ratio)
        if self.endless or other.endless:
            return 1 if self.endless else -1
        return _sign(self.share - other.share)

    @property
    def share(self) -> Fraction:
        return self.ratio / self.weight if self.ratio else Fraction(0)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


@dataclass
class Shares:
    books: Reference
    weights: Mapping[Spot, Fraction]

    def with_usage(self, queue: str, usage: Usage, sign: int = 1) -> "Shares":
        books = Reference(self.books.queues, self.books.cohorts)
        books.restore(self.books.used)
        books.add(queue, usage, sign)
        return Shares(books, self.weights)

    def resources(self) -> list[FlavorResource]:
        declared = [*self.books.queues.values(), *self.books.cohorts.values()]
        return sorted({fr for _, quotas in declared for fr in quotas})

    def drs(self, spot: Spot) -> Drs:
        books, weight = self.books, self.weights.get(spot, Fraction(1))
        parent = books.parent(spot)
        if parent is None:
            return Drs(weight, Fraction(0), False)
        borrowed: dict[str, int] = {}
        lendable: dict[str, int] = {}
        for fr in self.resources():
            over = max(0, books.usage(spot, fr) - books.subtree(spot, fr))
            borrowed[fr[1]] = borrowed.get(fr[1], 0) + over
            lendable[fr[1]] = lendable.get(fr[1], 0) + books.potential(parent, fr)
        ratios = [Fraction(1000 * borrowed[r], lendable[r]) for r in borrowed if borrowed[r] and lendable[r] > 0]
        return Drs(weight, max(ratios, default=Fraction(0)), any(borrowed.values()))

    def borrows(self, spot: Spot, frs: Iterable[FlavorResource]) -> bool:
        return self.books.parent(spot) is not None and any(self.books.borrows(spot, fr, 0) for fr in frs)


# -- the order of a cycle ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    name: str
    queue: str
    usage: Usage
    priority: int
    since: float


def slow_order(
    shares: Shares, heads: list[Head], *, spare_first: bool = True, priority_first: bool = True
) -> list[str]:
    """Names in the order in which they are taken, when each takes all it asks for."""
    left, order = {head.queue: head for head in heads}, []
    while left:
        root = shares.books.path(("queue", min(left)))[-1]
        best = _tournament(shares, root, left, spare_first, priority_first)
        assert best is not None, "the root of a queue with a head has one"
        order.append(best.name)
        del left[best.queue]
        shares = shares.with_usage(best.queue, best.usage)
    return order


def _tournament(
    shares: Shares, spot: Spot, left: Mapping[str, Head], spare_first: bool, priority_first: bool
) -> Head | None:
    if spot[0] == "queue":
        return left.get(spot[1])
    winners = [
        (child, winner)
        for child in shares.books.children(spot)
        if (winner := _tournament(shares, child, left, spare_first, priority_first)) is not None
    ]
    best: tuple[Spot, Head] | None = None
    for candidate in winners:
        if best is None or _before(shares, candidate, best, spare_first, priority_first):
            best = candidate
    return best[1] if best else None


def _before(
    shares: Shares, one: tuple[Spot, Head], other: tuple[Spot, Head], spare_first: bool, priority_first: bool
) -> bool:
    (spot, head), (rival_spot, rival) = one, other
    mine, theirs = shares.with_usage(head.queue, head.usage), shares.with_usage(rival.queue, rival.usage)
    if spare_first:
        over = mine.borrows(spot, [fr for fr, units in head.usage.items() if units])
        rival_over = theirs.borrows(rival_spot, [fr for fr, units in rival.usage.items() if units])
        if over != rival_over:
            return rival_over
    compared = mine.drs(spot).compare(theirs.drs(rival_spot))
    if compared:
        return compared < 0
    if priority_first and head.priority != rival.priority:
        return head.priority > rival.priority
    return (head.since, head.name) < (rival.since, rival.name)


# -- the search for victims ----------------------------------------------------------------------------------------


@dataclass
class Hunt:
    """`new` waits at `new.queue` for `requests`, of which `needs` have to be made room for."""

    shares: Shares
    queues: Mapping[str, ClusterQueue]
    holders: list[Holder]
    new: Holder
    requests: Usage
    needs: tuple[FlavorResource, ...]
    now: float
    strategies: tuple[str, ...]
    owner_first: bool
    gone: Found = field(default_factory=list)
    retry: list[Holder] = field(default_factory=list)

    def victims(self) -> Found:
        self.requests = {fr: units for fr, units in self.requests.items() if units}
        self.needs = tuple(fr for fr in self.needs if fr in self.requests)
        if self._first(self._candidates()) or (len(self.strategies) > 1 and self._second(self.retry)):
            return self._fill_back()
        return []

    def _now(self) -> Shares:
        """With the newcomer, without those who are gone."""
        shares = self.shares.with_usage(self.new.queue, self.requests)
        for holder, _ in self.gone:
            shares = shares.with_usage(holder.queue, holder.usage, -1)
        return shares

    def _fits(self) -> bool:
        books = self._now().with_usage(self.new.queue, self.requests, -1).books
        queue = ("queue", self.new.queue)
        return all(units <= max(0, books.available(queue, fr)) for fr, units in self.requests.items())

    def _order(self, holder: Holder) -> tuple[object, ...]:
        since = self.now if holder.reserved_since is None else holder.reserved_since
        return (not holder.evicted, holder.queue == self.new.queue, holder.priority, -since, holder.uid)

    def _candidates(self) -> list[Holder]:
        policy = self.queues[self.new.queue].preemption
        found = []
        tree = self.shares.books.path(("queue", self.new.queue))[-1]
        for holder in self.holders:
            spot: Spot = ("queue", holder.queue)
            own = holder.queue == self.new.queue
            newer = holder.priority == self.new.priority and self.new.queue_time < holder.queue_time
            allowed = {
                "Never": False,
                "Any": True,
                "LowerPriority": self.new.priority > holder.priority,
                "LowerOrNewerEqualPriority": self.new.priority > holder.priority or newer,
            }[policy.within_cluster_queue if own else policy.reclaim_within_cohort]
            reachable = own or (
                holder.queue in self.queues
                and self.shares.books.path(spot)[-1] == tree
                and self.shares.borrows(spot, self.needs)
            )
            if allowed and reachable and any(holder.usage.get(fr) for fr in self.needs):
                found.append(holder)
        return sorted(found, key=self._order)

    def _next(self, lines: Mapping[str, list[Holder]]) -> str | None:
        """The queue whose turn it is."""
        root = self.shares.books.path(("queue", self.new.queue))[-1]
        if root[0] == "queue":
            return root[1] if lines.get(root[1]) else None
        pruned: set[Spot] = set()
        while root not in pruned:
            found = self._descend(root, lines, pruned)
            if found is not None:
                return found
        return None

    def _descend(self, cohort: Spot, lines: Mapping[str, list[Holder]], pruned: set[Spot]) -> str | None:
        shares, path = self._now(), self.shares.books.path(("queue", self.new.queue))
        queue: Spot | None = None
        below: Spot | None = None
        for child in shares.books.children(cohort):
            drs = shares.drs(child)
            if child[0] == "queue" and lines.get(child[1]) and (drs.borrowing or child in path):
                compared = 1 if queue is None else drs.compare(shares.drs(queue))
                head = self._order(lines[child[1]][0])
                if compared > 0 or (queue and compared == 0 and head < self._order(lines[queue[1]][0])):
                    queue = child
            reachable = child[0] == "cohort" and child not in pruned and (drs.borrowing or child in path)
            if reachable and (below is None or drs.compare(shares.drs(below)) >= 0):
                below = child
        if below is not None and (queue is None or shares.drs(below).compare(shares.drs(queue)) >= 0):
            return self._descend(below, lines, pruned)
        if queue is None:
            pruned.add(cohort)
            return None
        return queue[1]

    def _sides(self, queue: str) -> tuple[Spot, Spot]:
        """The two children of the lowest common cohort."""
        mine, theirs = (self.shares.books.path(("queue", name)) for name in (self.new.queue, queue))
        common = next(spot for spot in mine if spot in theirs)
        return mine[mine.index(common) - 1], theirs[theirs.index(common) - 1]

    def _first(self, candidates: list[Holder]) -> bool:
        lines: dict[str, list[Holder]] = {}
        for holder in candidates:
            lines.setdefault(holder.queue, []).append(holder)
        spot: Spot = ("queue", self.new.queue)
        books = self._now().books  # before anybody leaves
        owner = self.owner_first and all(books.usage(spot, fr) <= books.subtree(spot, fr) for fr in self.needs)
        while (queue := self._next(lines)) is not None:
            shares = self._now()
            if queue == self.new.queue:
                taken, reason = lines[queue].pop(0), IN_CLUSTER_QUEUE
            elif owner:
                taken, reason = lines[queue].pop(0), IN_COHORT_RECLAMATION
            else:
                mine, theirs = self._sides(queue)
                reason = IN_COHORT_FAIR_SHARING
                while lines[queue]:
                    taken = lines[queue].pop(0)
                    after = shares.with_usage(queue, taken.usage, -1).drs(theirs)
                    if self.strategies[0] == FINAL_SHARE:
                        passes = shares.drs(mine).compare(after) <= 0
                    else:
                        passes = shares.drs(mine).compare(shares.drs(theirs)) < 0
                    if passes:
                        break
                    self.retry.append(taken)
                else:
                    continue
            self.gone.append((taken, reason))
            if self._fits():
                return True
        return False

    def _second(self, candidates: list[Holder]) -> bool:
        lines: dict[str, list[Holder]] = {}
        for holder in candidates:
            lines.setdefault(holder.queue, []).append(holder)
        while (queue := self._next(lines)) is not None:
            shares = self._now()
            mine, theirs = self._sides(queue)
            head = lines.pop(queue)[0]
            if shares.drs(mine).compare(shares.drs(theirs)) < 0:
                self.gone.append((head, IN_COHORT_FAIR_SHARING))
                if self._fits():
                    return True
        return False

    def _fill_back(self) -> Found:
        for place in range(len(self.gone) - 2, -1, -1):
            every = self.gone
            self.gone = [one for at, one in enumerate(every) if at != place]
            if self._fits():
                every[place] = every[-1]
                self.gone = every[:-1]
            else:
                self.gone = every
        return self.gone
