"""Whether there is anybody to preempt at all: usually not, and then the long search need not even begin.

For a fixed state of the tree and its holders, a workload further back in its queue (less important, or as important
and younger) may preempt nobody whom one ahead of it may not. So one fruitless search answers for all who come after.
"""

from collections.abc import Iterable

from admission.model.queues import ClusterQueue, FlavorResource
from admission.rules.holders import Holders, Preemptor
from admission.rules.preemption_candidates import Search, find_candidates
from admission.tree import Node


class Prospects:
    """Of one queue; kept between looks."""

    __slots__ = ("_fruitless", "_stamp")

    def __init__(self) -> None:
        self._stamp: object = None
        # what was needed -> (-priority, queue time) of the foremost workload that found nobody
        self._fruitless: dict[tuple[FlavorResource, ...], tuple[int, float]] = {}

    def at(self, stamp: object) -> "Prospects":
        """What is known in this state; nothing, when it is a new one."""
        if stamp != self._stamp:
            self._stamp = stamp
            self._fruitless.clear()
        return self

    def none(
        self,
        spec: ClusterQueue,
        node: Node,
        preemptor: Preemptor,
        needs: Iterable[FlavorResource],
        active: dict[str, ClusterQueue],
        holders: Holders,
        now: float,
    ) -> bool:
        """True when no holder whatsoever may be preempted to make room in `needs`, however much is asked for."""
        key, place = tuple(needs), (-preemptor.priority, preemptor.queue_time)
        foremost = self._fruitless.get(key)
        if foremost is not None and foremost <= place:
            return True
        search = Search(node, spec.preemption, preemptor, dict.fromkeys(key, 1), key, now)
        if find_candidates(search, active, holders).ordered:
            return False
        self._fruitless[key] = place
        return True
