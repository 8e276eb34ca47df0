"""Edges: which cohort a queue or cohort names, and which of these edges count.

Every cohort names at most one parent, so cycles are rings without branches. The edges of a ring don't count: each of
its cohorts stands as a root by itself until somebody breaks the ring, and every walk upwards ends.
"""

from admission.tree.node import Node


class Forest:
    """All cohorts by name, those that are merely named included."""

    def __init__(self) -> None:
        self.cohorts: dict[str, Node] = {}

    def cohort(self, name: str) -> Node | None:
        """The cohort of this name, made up if nobody declared it; None for the empty name."""
        if not name:
            return None
        node = self.cohorts.get(name)
        if node is None:
            node = self.cohorts[name] = Node(name, is_queue=False)
        return node

    def name_parent(self, node: Node, parent: Node | None) -> None:
        """From now on `node` names `parent`. Counts for nothing before `link`."""
        if node.above is not None:
            node.above.named -= 1
        if parent is not None:
            parent.named += 1
        node.above = parent

    def link(self, node: Node) -> None:
        """The edge from `node` to the cohort that it names counts."""
        parent = node.above
        if parent is None:
            return
        node.parent = parent
        (parent.queues if node.is_queue else parent.cohorts)[node.name] = node
        _measure(parent)

    def unlink(self, node: Node) -> None:
        parent = node.parent
        if parent is None:
            return
        node.parent = None
        del (parent.queues if node.is_queue else parent.cohorts)[node.name]
        _measure(parent)

    def prune(self, node: Node | None) -> None:
        """Forget a cohort that nobody declares or names any more."""
        if node is not None and not node.declared and not node.named:
            self.cohorts.pop(node.name, None)


def ring(node: Node) -> list[Node]:
    """The cohorts of the cycle that `node` is part of, itself first; empty if it is in none."""
    if node.is_queue:  # nobody names a queue
        return []
    members = [node]
    seen = {node}
    above = node.above
    while above is not None and above not in seen:
        members.append(above)
        seen.add(above)
        above = above.above
    return members if above is node else []


def _measure(node: Node | None) -> None:
    while node is not None:
        levels = 1 if node.queues or node.cohorts else 0
        for child in node.cohorts.values():
            if child.levels >= levels:
                levels = child.levels + 1
        if levels == node.levels:
            return
        node.levels = levels
        node = node.parent
