"""How a queue stands with one flavor's resource: read from the tree once per state, asked by every workload in line."""

from typing import NamedTuple

from admission.model.queues import FlavorResource
from admission.tree import Node
from admission.tree.quota import local_available, potential, queue_available


class Standing(NamedTuple):
    """`steps`, from the queue up: (units up to which it holds, height of what then need not borrow, below the root)."""

    most: int  # the queue could ever have
    free: int  # for it now, borrowing included
    nominal: int
    steps: tuple[tuple[int, int, bool], ...]
    top: int  # height of the whole tree

    def height(self, units: int) -> tuple[int, bool]:
        """As `find_height`: the lowest cohort that takes so many units more without borrowing itself."""
        for limit, height, below_root in self.steps:
            if units <= limit:
                return height, below_root
        return self.top, False


def standing(node: Node, fr: FlavorResource) -> Standing:
    """Walks from the queue to the root."""
    steps: list[tuple[int, int, bool]] = []
    own, lent = node.subtree.get(fr, 0), 0  # `lent`: what the nodes below keep free for themselves
    most, free = potential(node, fr), queue_available(node, fr)
    while True:
        room = lent + node.subtree.get(fr, 0) - node.usage.get(fr, 0)
        steps.append((room, node.height(), node.parent is not None))
        if node.parent is None:
            return Standing(most, free, own, tuple(steps), node.height())
        lent += local_available(node, fr)
        node = node.parent


class Standings:
    """Of one queue, as long as nothing in its tree changes."""

    __slots__ = ("_known", "_version")

    def __init__(self) -> None:
        self._version = -1
        self._known: dict[FlavorResource, Standing] = {}

    def at(self, version: int) -> dict[FlavorResource, Standing]:
        """What was read in this state of the tree; the reader adds to it."""
        if version != self._version:
            self._version = version
            self._known = {}
        return self._known
