"""Who gets another look: trees where something happened, and those whose parked workloads may be helped by it.

Waking is noted at once and done before the next look, so that many releases between two runs cost one.
"""

from functools import partial

from admission.rules.estate import Estate
from admission.tree import Node


class Waking:
    """Queues by name; a queue that is in no tree is in none that could help it."""

    def __init__(self, estate: Estate) -> None:
        self.stirred: dict[Node, None] = {}  # roots of trees where something happened; a run takes them
        self._estate = estate
        self._trees: dict[Node, None] = {}  # roots of trees whose parked workloads get another look
        self._queues: dict[str, None] = {}  # likewise, of trees that are no more as they were

    @property
    def noted(self) -> bool:
        """Somebody is to be looked at."""
        return bool(self.stirred or self._trees or self._queues)

    def stir(self, queue: str) -> None:
        """Something happened in the tree of `queue`."""
        node = self._estate.tree.queue(queue)
        if node is not None:
            self.stirred[node.root] = None

    def flush(self, queue: str) -> None:
        """Note the whole tree of `queue`: what is parked in it gets another look."""
        node = self._estate.tree.queue(queue)
        if node is not None:
            self._note(node.root)

    def before_reshaping(self, node: Node | None) -> None:
        """An edge or quota of the tree is about to change."""
        if node is None:
            return
        # An edit of a cohort can break or close a cycle, and then moves trees that it does not name.
        ring = [node]
        while (above := ring[-1].above) is not None and above not in ring:
            ring.append(above)
        for each in ring:
            self._note(each.root)
        self.fix()

    def reshaped(self, node: Node | None) -> None:
        """It has changed: what was noted for a root that is none any more counts for the trees it became."""
        self._estate.reshaped()
        if node is not None:
            self._note(node.root)

    def fix(self) -> None:
        """From here on it is settled who is woken: trees may change, and whoever parks now is not meant."""
        for root in self._trees:
            self._queues.update(dict.fromkeys(self._estate.tree.queues_below(root)))
        self._trees = {}

    def fix_wakeable(self) -> None:
        """The same, without queues that have nobody to wake."""
        self.fix()
        for name in [name for name in self._queues if not self._wakeable(name)]:
            del self._queues[name]

    def awaits(self, queue: str) -> bool:
        """The next run wakes it."""
        self.fix()
        return queue in self._queues

    def wake(self) -> bool:
        """Do what was noted, if anything was."""
        self.fix()
        names, self._queues = self._queues, {}
        for name in names:
            queue = self._estate.queues.get(name)
            if queue is not None:
                policing = self._estate.policing
                queue.wake(partial(self._estate.accepts, queue), policing.surplus if policing.active else None)
                policing.blocking.woken(name)
                self.stir(name)
        return bool(names)

    def _note(self, root: Node) -> None:
        self._trees[root] = self.stirred[root] = None

    def _wakeable(self, name: str) -> bool:
        queue = self._estate.queues.get(name)
        return queue is not None and queue.wakeable
