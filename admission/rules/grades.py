"""How well one flavor serves: it fits, it would after preemption, or not; and which of several is preferred."""

from collections.abc import Callable
from typing import NamedTuple

from admission.model.queues import FlavorResource
from admission.rules.menu import Menu
from admission.rules.standing import standing
from admission.tree import Node

# Worst first. RECLAIM: all victims are in other queues.
NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT = range(5)
_VERDICTS = ("WaitingForQuota", "noCandidates", "preempt", "reclaim", "fit")

# Asks what preemption could do for so many units of one flavor's resource: mode, and borrowing height afterwards.
# None: there is nobody to preempt.
Oracle = Callable[[FlavorResource, int], tuple[int, int] | None]


class Grade(NamedTuple):
    """Of one resource, or of a whole group by its worst resource."""

    mode: int
    borrowing: int  # height of the cohort that it borrows from; 0: it does not borrow


class Shortfall(NamedTuple):
    """A `Shortage` while it is only counted with: there are several for each look at a workload."""

    pod_set: str
    resource: str
    flavor: str
    asked: int
    before: int
    available: int
    potential: int
    verdict: str
    note: str = ""


class Judge:
    """Knows a queue and what preemption could do for one workload in it. `oracle` None: it may preempt nobody.
    `frugal`: it may not borrow."""

    __slots__ = ("_frugal", "_menu", "_node", "_oracle", "_standings")

    def __init__(self, menu: Menu, node: Node, oracle: Oracle | None, frugal: bool = False) -> None:
        self._menu, self._node, self._oracle, self._frugal = menu, node, oracle, frugal
        self._standings = menu.standings.at(node.root.version)

    @property
    def fungible(self) -> bool:
        """Whether the queue has a say in which of its flavors is taken; else it is the first that fits."""
        return self._menu.fungible

    def grade(self, fr: FlavorResource, units: int) -> tuple[Grade, str, int, int]:
        """How `units` would be got: grade, verdict, what is free, the most there could be."""
        found = self._standings.get(fr)
        if found is None:
            found = self._standings[fr] = standing(self._node, fr)
        most, free = found.most, found.free
        if self._frugal:
            most, free = min(most, found.nominal), min(free, found.nominal - self._node.usage.get(fr, 0))
        if units > most:
            return Grade(NO_FIT, 0), "ExceedsMaxQuota", free, most
        height, may_reclaim = found.height(units)
        if units <= free:
            return Grade(FIT, height), "fit", free, most
        if may_reclaim or self._menu.preempts_while_borrowing or units <= found.nominal:
            asked = self._oracle(fr, units) if self._oracle is not None else None
            mode, height = asked or (NO_CANDIDATES, height)
            return Grade(mode, height), _VERDICTS[mode], free, most
        return Grade(NO_FIT, height), "WaitingForQuota", free, most

    def score(self, grade: Grade) -> tuple[int, int, int]:
        """Higher is preferred: whatever works, then what might one day, then nothing."""
        mode, borrowing = grade
        if mode == NO_FIT:
            return (0, 0, 0)
        if not self._menu.fungible:
            return (mode, 0, 0)
        viable = 1 if mode == NO_CANDIDATES else 2
        if self._menu.borrow_rather_than_preempt:
            return (viable, mode, -borrowing)
        return (viable, -borrowing, mode)

    def try_next(self, grade: Grade) -> bool:
        """Whether the queue wants to see the flavors after one of this grade, too."""
        mode, borrowing = grade
        if not self._menu.fungible:
            return mode != FIT
        if mode <= NO_CANDIDATES or (mode != FIT and self._menu.try_next_when_preempting):
            return True
        return borrowing > 0 and self._menu.try_next_when_borrowing
