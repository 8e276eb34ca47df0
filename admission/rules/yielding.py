"""Who has left for whom, so that nobody is sent away and taken back without end.

In Kueue two workloads can have the better right by turns: one by priority, the other by whose quota it is, or by a
share that the other's leaving has changed. As long as nothing happens from outside, Lockgate lets the same pair part
twice at most; and whoever makes the same one leave again has lost the room it was made, and comes first from then on.
"""

from collections.abc import Callable
from typing import NamedTuple

from admission.model.names import WorkloadKey
from admission.tree import Node

# Once is Kueue's decision; the second time the preemptor comes first, so the room is its own. A third would go on.
MOST = 2

Moment = tuple[int, int]


def moment(node: Node) -> Moment:
    """Changes whenever something happens from outside in the node's tree: an edit, an arrival, an end."""
    root = node.root
    return root.surveyed, root.news


class _Left(NamedTuple):
    at: Moment
    times: int


class Yielding:
    """`insisting`: for whom the same victim had to leave again. They come first until they are admitted."""

    def __init__(self) -> None:
        self.insisting: dict[WorkloadKey, None] = {}
        self.repeated: dict[WorkloadKey, None] = {}  # all who ever insisted and are still there
        self._left: dict[WorkloadKey, dict[WorkloadKey, _Left]] = {}  # victim -> for whom

    def note(self, victim: WorkloadKey, by: WorkloadKey, at: Moment) -> None:
        """It has to leave for `by`."""
        to = self._left.setdefault(victim, {})
        if any(left.at != at for left in to.values()):  # of other moments, and mean nothing any more
            to = self._left[victim] = {key: left for key, left in to.items() if left.at == at}
        times = self.times(victim, by, at) + 1
        if times > 1:
            self.insisting[by] = self.repeated[by] = None
        to[by] = _Left(at, times)

    def times(self, victim: WorkloadKey, by: WorkloadKey, at: Moment) -> int:
        """How often it has left for `by` since something last happened from outside."""
        to = self._left.get(victim)
        left = to.get(by) if to is not None else None
        return left.times if left is not None and left.at == at else 0

    def forget_others(self, is_there: Callable[[WorkloadKey], bool], room: int) -> None:
        """Now and then: those who are gone mean nothing. `room`: so many are kept without looking."""
        if len(self._left) > room:
            self._left = {victim: to for victim, to in self._left.items() if is_there(victim)}
            self.repeated = {key: None for key in self.repeated if is_there(key)}

    def content(self, key: WorkloadKey) -> None:
        """It is admitted, or waits no more."""
        self.insisting.pop(key, None)
