"""What searches for victims have shown, kept as long as the tree and its holders stay as they are.

Many wait in one queue and differ only in how much they ask for. Whom each of them might preempt, in which order, is
the same for all of the same priority that stand alike (`footing`); and where the candidates did not make room enough
for one, they do not for another that asks for as much or more.
"""

from collections.abc import Mapping

from admission.model.queues import ClusterQueue, FlavorResource
from admission.rules.holders import Holders
from admission.rules.order import Rank
from admission.rules.preemption_candidates import Candidates, Search, find_candidates, footing
from admission.rules.yielding import Yielding

Needs = tuple[FlavorResource, ...]
_NOBODY = Yielding()
# Candidates remembered of one queue, in all lines together: some 5 MB. Where each that waits has a priority of its own
# it has a line of its own, too.
MOST_CANDIDATES = 50_000
_MOST_VAIN = 4  # requests remembered for one line of candidates: the smallest matter, and there are few that differ


class Prospect:
    """A line of candidates, and what was asked of it in vain."""

    __slots__ = ("_vain", "candidates")

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self._vain: list[Mapping[FlavorResource, int]] = []

    def hopeless(self, requests: Mapping[FlavorResource, int]) -> bool:
        """Even all candidates together would not make room enough."""
        if not self.candidates.ordered:
            return True
        return any(all(requests[fr] >= units for fr, units in less.items()) for less in self._vain)

    def was_vain(self, requests: Mapping[FlavorResource, int]) -> None:
        kept = [other for other in self._vain if any(other[fr] < units for fr, units in requests.items())]
        self._vain = [requests, *kept[: _MOST_VAIN - 1]]


class Prospects:
    """Of one queue; kept between looks. `yielding`: who has left for whom."""

    __slots__ = ("_foremost", "_known", "_rearmost", "_stamp", "remembered", "yielding")

    def __init__(self) -> None:
        self.yielding = _NOBODY
        self._stamp: object = None
        self._foremost: dict[Needs, Rank] = {}  # the first in line of those who found nobody
        self._rearmost: dict[Needs, int] = {}  # the lowest priority at which somebody was found, whoever is younger
        self._known: dict[object, Prospect] = {}
        self.remembered = 0  # candidates, in all lines together

    def at(self, stamp: object, yielding: Yielding) -> "Prospects":
        """What is known in this state; nothing, when it is a new one."""
        self.yielding = yielding
        if stamp != self._stamp:
            self._stamp = stamp
            self._foremost.clear()
            self._rearmost.clear()
            self._known.clear()
            self.remembered = 0
        return self

    def of(self, search: Search, queues: Mapping[str, ClusterQueue], holders: Holders) -> Prospect:
        """The candidates of a search. It is for the caller to say when they were asked in vain."""
        key = (search.needs, tuple(search.requests), footing(search, holders))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Prospect(find_candidates(search, queues, holders))
            self.remembered += len(found.candidates.ordered)
            while self.remembered > MOST_CANDIDATES and len(self._known) > 1:
                self.remembered -= len(self._known.pop(next(iter(self._known))).candidates.ordered)
        return found

    def fruitless(self, needs: Needs, rank: Rank) -> bool:
        """Whether somebody at this place in line, or ahead of it, found nobody: a workload further back (less
        important, or as important and younger) may preempt nobody whom one ahead of it may not."""
        foremost = self._foremost.get(needs)
        return foremost is not None and foremost <= rank

    def found_nobody(self, needs: Needs, rank: Rank) -> None:
        self._foremost[needs] = rank

    def fruitful(self, needs: Needs, priority: int) -> bool:
        """Whether somebody no more important found candidates without being older than they: so does this one."""
        lowest = self._rearmost.get(needs)
        return lowest is not None and lowest <= priority

    def found_somebody(self, needs: Needs, priority: int) -> None:
        self._rearmost[needs] = priority
