"""The order of a cycle under fair sharing: of all heads, the one whose subtree would then borrow least comes next.

At each cohort the heads that won below compete by the share that the child they come through would have with them in
it. What one takes changes shares on its own path to the root only, so only those are reckoned again before the next.
"""

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any

from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.rules.estate import Estate
from admission.rules.nomination import Nomination
from admission.tree import Node
from admission.tree.shares import passed_on, share

# Insists; preempts already; stays within its quota; share; priority and age. Smaller comes first.
Standing = tuple[Any, ...]


def by_share(
    estate: Estate, first: list[Nomination], followers: dict[WorkloadKey, list[Nomination]]
) -> Iterator[Nomination]:
    """All of them, one at a time: book in the tree what each takes before asking for the next.

    `followers` compete only once the head whose key they are filed under has had its turn. Where nobody is left who
    may take anything, shares decide nothing any more, and the order is that of the arguments.
    """
    left = sum(each.contends for each in (*first, *(one for line in followers.values() for one in line)))
    tournament = Tournament(estate)
    tournament.enter(each for each in first if each.refusal is None)
    while left:
        for nomination in tournament:
            yield nomination
            tournament.enter(followers.pop(nomination.waiting.key, ()))
            left -= nomination.contends
            if not left:
                break
        if left:  # who ousted each other follow nobody who stands
            for line in followers.values():
                tournament.enter(line)
            followers.clear()
    yield from tournament.left()
    yield from (each for each in first if each.refusal is not None)
    for line in followers.values():
        yield from line


class _Seat:
    """A node of the tree that heads come through, and the head that it proposes."""

    __slots__ = ("above", "heap", "node", "proposed", "standing", "units")

    def __init__(self, node: Node, above: "_Seat | None") -> None:
        self.node, self.above = node, above
        self.heap: list[tuple[Standing, int, _Seat]] = []  # of the seats below, outdated entries among them
        self.proposed: Nomination | None = None
        self.standing: Standing = ()  # of its proposal among those of its siblings
        self.units: Mapping[FlavorResource, int] = {}  # what of the proposed head's usage arrives here

    def first(self) -> "_Seat | None":
        """The best of those below."""
        heap = self.heap
        while heap:
            standing, _, seat = heap[0]
            if seat.proposed is not None and seat.standing is standing:
                return seat
            heappop(heap)
        return None


class Tournament:
    """Iterating takes the heads out: each is chosen by what is booked in the tree when it is asked for."""

    def __init__(self, estate: Estate) -> None:
        self._turn, self._insisting = estate.ordering.turn, estate.yielding.insisting
        self._spare_first = estate.configuration.gates["FairSharingPrioritizeNonBorrowing"]
        self._tree = estate.tree
        self._seats: dict[Node, _Seat] = {}
        self._roots: list[_Seat] = []
        self._pushed = 0

    def enter(self, nominations: Iterable[Nomination]) -> None:
        """At most one of a queue; more may enter while it runs."""
        for nomination in nominations:
            seat = self._seat(self._node(nomination))
            seat.proposed, seat.units = nomination, nomination.assignment.usage
            self._rise(seat, booked=False)

    def __iter__(self) -> Iterator[Nomination]:
        for root in self._roots:
            while root.proposed is not None:
                winner, seat = root.proposed, self._seats[self._node(root.proposed)]
                seat.proposed = None
                yield winner
                self._rise(seat, booked=True)

    def left(self) -> Iterator[Nomination]:
        """Those that were not taken out, in no order that means anything."""
        for seat in self._seats.values():
            if seat.node.is_queue and seat.proposed is not None:
                yield seat.proposed

    def _node(self, nomination: Nomination) -> Node:
        node = self._tree.queue(nomination.queue.name)
        if node is None:
            raise LookupError(f"ClusterQueue {nomination.queue.name} is not in the quota tree")
        return node

    def _seat(self, node: Node) -> _Seat:
        seat = self._seats.get(node)
        if seat is None:
            above = self._seat(node.parent) if node.parent is not None else None
            seat = self._seats[node] = _Seat(node, above)
            if above is None:
                self._roots.append(seat)
        return seat

    def _rise(self, seat: _Seat, *, booked: bool) -> None:
        """The seat proposes another head, or nobody; so may all above it. `booked`: in the tree, too, something has
        changed on this path."""
        while seat.above is not None:
            above = seat.above
            if seat.proposed is not None:
                seat.standing = self._standing(seat, seat.proposed)
                self._pushed += 1  # in place of seats, which don't compare
                heappush(above.heap, (seat.standing, self._pushed, seat))
            best = above.first()
            if best is None:
                above.proposed = None
            elif booked or best.proposed is not above.proposed:
                above.proposed, above.units = best.proposed, passed_on(best.node, best.units)
            else:
                return
            seat = above

    def _standing(self, seat: _Seat, nomination: Nomination) -> Standing:
        late, _, *age = self._turn(nomination.waiting, 0)
        over = self._spare_first and self._borrows(seat, nomination)
        calm = nomination.waiting.key not in self._insisting
        return (calm, late, over, share(seat.node, seat.units), *age)

    def _borrows(self, seat: _Seat, nomination: Nomination) -> bool:
        """Whether with the head the subtree borrows something that the head asks for."""
        node, units = seat.node, seat.units
        return node.parent is not None and any(
            asked and node.usage.get(fr, 0) + units.get(fr, 0) > node.subtree.get(fr, 0)
            for fr, asked in nomination.assignment.usage.items()
        )
