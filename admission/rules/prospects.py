"""Whether there is anybody to preempt at all: usually not, and then the long search need not even begin.

For a fixed state of the tree and its holders, a workload further back in its queue (less important, or as important
and younger) may preempt nobody whom one ahead of it may not. So one fruitless search answers for all who come after.
"""

from admission.model.queues import FlavorResource
from admission.rules.order import Rank

Needs = tuple[FlavorResource, ...]


class Prospects:
    """Of one queue; kept between looks."""

    __slots__ = ("_foremost", "_stamp")

    def __init__(self) -> None:
        self._stamp: object = None
        self._foremost: dict[Needs, Rank] = {}  # the first in line of those who found nobody

    def at(self, stamp: object) -> "Prospects":
        """What is known in this state; nothing, when it is a new one."""
        if stamp != self._stamp:
            self._stamp = stamp
            self._foremost.clear()
        return self

    def fruitless(self, needs: Needs, rank: Rank) -> bool:
        """Whether somebody at this place in line, or ahead of it, found nobody."""
        foremost = self._foremost.get(needs)
        return foremost is not None and foremost <= rank

    def found_nobody(self, needs: Needs, rank: Rank) -> None:
        self._foremost[needs] = rank
