"""The quota tree put together: edits by people, usage by workloads, and changes that are taken back.

Edits of quotas and edges pass differences to the ancestors, so their cost is the depth, not the number of queues.
What-if and one cycle's reservations run between `mark` and `undo`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from admission.model.queues import FlavorResource, Quota
from admission.tree import quota
from admission.tree.forest import Forest, ring
from admission.tree.node import UNWEIGHTED, Node

Usage = Mapping[FlavorResource, int]
_VERSION, _RELEASED = ("", "version"), ("", "released")  # in the log, in the place of a (flavor, resource)


class Tree:
    """All quota trees of the cluster. A queue without cohort is a tree of its own."""

    available = staticmethod(quota.available)
    queue_available = staticmethod(quota.queue_available)
    potential = staticmethod(quota.potential)
    find_height = staticmethod(quota.find_height)
    borrowing_with = staticmethod(quota.borrowing_with)

    def __init__(self) -> None:
        self._queues: dict[str, Node] = {}
        self._forest = Forest()
        self._count = 0  # never runs backwards, not even on undo: one number, one state
        self._log: list[tuple[Node, FlavorResource, int]] = []
        self._marks: list[int] = []

    # -- edits ---------------------------------------------------------------------------------------------------

    def put_queue(
        self, name: str, cohort: str, quotas: Mapping[FlavorResource, Quota], weight: Fraction = UNWEIGHTED
    ) -> None:
        """Add, edit or move a queue. Its usage stays, also of what no quota lists any more."""
        node = self._queues.get(name)
        if node is None:
            node = self._queues[name] = Node(name, is_queue=True)
        elif quotas == node.quotas and cohort == _name(node.above) and weight == node.weight:
            return
        self._replace(node, cohort, quotas, weight)

    def drop_queue(self, name: str) -> None:
        """The queue and its usage leave. Nothing happens if there is no such queue."""
        node = self._queues.pop(name, None)
        if node is not None:
            self._replace(node, "", {})

    def put_cohort(
        self, name: str, parent: str, quotas: Mapping[FlavorResource, Quota], weight: Fraction = UNWEIGHTED
    ) -> None:
        """Add, edit or move a cohort with all below it. Naming a parent that nobody declared makes one without
        quota; closing a cycle is legal and disables what is on it or below."""
        node = self._forest.cohort(name)
        if node is None:
            raise ValueError("a cohort must have a name")
        same = quotas == node.quotas and parent == _name(node.above) and weight == node.weight
        if node.declared and same:
            return
        node.declared = True
        self._replace(node, parent, quotas, weight)

    def drop_cohort(self, name: str) -> None:
        """Its quota and parent leave; as long as others name it, it stays to hold them together."""
        node = self._forest.cohorts.get(name)
        if node is not None and node.declared:
            node.declared = False
            self._replace(node, "", {})
            self._forest.prune(node)

    def _replace(
        self, node: Node, parent: str, quotas: Mapping[FlavorResource, Quota], weight: Fraction = UNWEIGHTED
    ) -> None:
        if self._marks:
            raise RuntimeError(f"{node} was edited between mark and undo: undo first, then edit")
        former = node.above
        moving = dict.fromkeys((node, *ring(node)))  # a ring that this breaks
        self._forest.name_parent(node, self._forest.cohort(parent))
        circle = ring(node)  # a ring that this closes
        moving.update(dict.fromkeys(circle))
        for each in moving:
            self._survey(each)
            quota.take(each)
            self._forest.unlink(each)
        quota.set_quotas(node, quotas)
        node.weight = weight
        for each in moving:
            if each not in circle:
                self._forest.link(each)
                quota.give(each)
        for each in moving:
            self._survey(each)
        self._forest.prune(former)

    def _survey(self, node: Node) -> None:
        self._count += 1
        root = node.root
        root.surveyed = root.version = self._count

    # -- looking -------------------------------------------------------------------------------------------------

    def queue(self, name: str) -> Node | None:
        return self._queues.get(name)

    def cohort(self, name: str) -> Node | None:
        """A cohort, declared or merely named by others."""
        return self._forest.cohorts.get(name)

    def roots(self) -> list[Node]:
        """Every cohort without a parent that counts."""
        return [node for node in self._forest.cohorts.values() if node.parent is None]

    def queues_below(self, root: Node) -> list[str]:
        """Names of all queues in the subtree, sorted."""
        if root.is_queue:
            return [root.name]
        names: list[str] = []
        waiting = [root]
        while waiting:
            node = waiting.pop()
            names += node.queues
            waiting += node.cohorts.values()
        return sorted(names)

    def cyclic(self, name: str) -> bool:
        """Whether the queue's chain of cohorts leads into a cycle. False for an unknown queue."""
        node = self._queues.get(name)
        return node is not None and node.root.above is not None

    def generation(self, node: Node) -> int:
        """Grows whenever a quota or edge of the node's tree changes, and whenever usage leaves the node."""
        surveyed = node.root.surveyed
        return surveyed if surveyed > node.released else node.released

    def version(self, node: Node) -> int:
        """One number for the state of the node's whole tree, quota and usage. Undo brings the former number back,
        and no number ever stands for two states."""
        return node.root.version

    # -- usage ---------------------------------------------------------------------------------------------------

    def add(self, node: Node, usage: Usage) -> None:
        """A workload in the queue `node` holds these units from now on."""
        self._charge(node, usage, 1)

    def remove(self, node: Node, usage: Usage) -> None:
        """A workload in the queue `node` gave these units back."""
        self._charge(node, usage, -1)
        if self._marks:
            self._log.append((node, _RELEASED, node.released))
        node.released = self._count

    def _charge(self, node: Node, usage: Usage, sign: int) -> None:
        log = self._log if self._marks else None
        for fr, units in usage.items():
            if units:
                quota.charge(node, fr, sign * units, log)
        root = node.root
        if log is not None:
            log.append((root, _VERSION, root.version))
        self._count += 1
        root.version = self._count

    # -- taking back ---------------------------------------------------------------------------------------------

    def mark(self) -> int:
        """Changes of usage from here on can be undone. Marks nest; while one is open, quotas and edges are fixed."""
        self._marks.append(len(self._log))
        return len(self._marks) - 1

    def undo(self, mark: int) -> None:
        """Everything is as it was at the mark, which closes with all marks inside it."""
        if not 0 <= mark < len(self._marks):
            raise ValueError(f"mark {mark} is not open: each mark is undone once, outer ones include the inner")
        log, start = self._log, self._marks[mark]
        while len(log) > start:
            node, what, former = log.pop()
            if what is _VERSION:
                node.version = former
            elif what is _RELEASED:
                node.released = former
            else:
                quota.set_usage(node, what, former)
        del self._marks[mark:]

    @contextmanager
    def trial(
        self, removed: Iterable[tuple[Node, Usage]] = (), added: Iterable[tuple[Node, Usage]] = ()
    ) -> Iterator[None]:
        """Inside the block some usage is gone and some is there; afterwards all is as before, exceptions included."""
        mark = self.mark()
        try:
            for node, usage in removed:
                self.remove(node, usage)
            for node, usage in added:
                self.add(node, usage)
            yield
        finally:
            self.undo(mark)


def _name(cohort: Node | None) -> str:
    return cohort.name if cohort is not None else ""
