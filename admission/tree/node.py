"""One place in the quota tree: a ClusterQueue (always a leaf) or a Cohort. Data only.

The numbers are kept ready to read, because nominating reads them thousands of times between two changes. Tables hold
no zeros: a missing entry is 0, so equal states compare equal whatever their history.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from admission.model.queues import FlavorResource, Quota

UNWEIGHTED = Fraction(1)


class Node:
    """Amounts are units as in `admission.model.amounts`, by (flavor, resource)."""

    __slots__ = (
        "above",
        "borrowing",
        "cohorts",
        "declared",
        "is_queue",
        "lendable",
        "lending",
        "levels",
        "local",
        "name",
        "named",
        "news",
        "over",
        "parent",
        "queues",
        "quotas",
        "released",
        "subtree",
        "surveyed",
        "usage",
        "version",
        "weight",
    )

    def __init__(self, name: str, is_queue: bool) -> None:
        self.name = name
        self.is_queue = is_queue
        self.parent: Node | None = None  # None for a root, and for every cohort on a cycle
        self.queues: dict[str, Node] = {}
        self.cohorts: dict[str, Node] = {}
        self.levels = 0  # what height() answers

        self.above: Node | None = None  # the cohort that it names, even if that closes a cycle
        self.named = 0  # how many queues and cohorts name it
        self.declared = is_queue  # False for a cohort that exists only because others name it

        self.quotas: Mapping[FlavorResource, Quota] = {}
        self.weight = UNWEIGHTED  # fairSharing.weight
        self.borrowing: dict[FlavorResource, int] = {}  # limits that are set
        self.lending: dict[FlavorResource, int] = {}
        self.subtree: dict[FlavorResource, int] = {}  # own nominal and what the children lend
        self.local: dict[FlavorResource, int] = {}  # the part of `subtree` that the parent never sees
        self.usage: dict[FlavorResource, int] = {}
        # Children that use more than their subtree quota: where preemption looks, without asking every queue.
        self.over: dict[FlavorResource, dict[Node, None]] = {}

        # What a child of this cohort could get by resource, and the `surveyed` of the root that it was reckoned at.
        self.lendable: tuple[int, dict[str, int]] = (0, {})

        # Numbers of the tree's own counter, which never runs backwards.
        self.version = 0  # of a root: the last change of quota or usage
        self.surveyed = 0  # of a root: the last change of quota
        self.news = 0  # of a root: how often something has happened from outside, told by who knows
        self.released = 0  # of a queue: the last time that usage left it

    def height(self) -> int:
        """Levels below a cohort: 0 when it is empty, 1 when it has only queues. A queue has none."""
        return self.levels

    def children(self) -> Iterable["Node"]:
        """Queues, then cohorts, each by name."""
        for name in sorted(self.queues):
            yield self.queues[name]
        for name in sorted(self.cohorts):
            yield self.cohorts[name]

    @property
    def root(self) -> "Node":
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def __repr__(self) -> str:
        return f"<{'queue' if self.is_queue else 'cohort'} {self.name}>"
