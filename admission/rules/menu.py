"""What a ClusterQueue offers, indexed once per edit of its spec, because every look at a workload asks."""

from collections.abc import Mapping
from typing import NamedTuple

from admission.model.queues import ClusterQueue, FlavorResource
from admission.tree import Node
from admission.tree.quota import potential


class Group(NamedTuple):
    resources: frozenset[str]
    flavors: tuple[str, ...]


class Menu:
    """Resource groups, and the fungibility and preemption policies as plain answers."""

    __slots__ = (
        "_ceilings",
        "_surveyed",
        "borrow_rather_than_preempt",
        "groups",
        "preempts",
        "preempts_while_borrowing",
        "try_next_when_borrowing",
        "try_next_when_preempting",
    )

    def __init__(self, queue: ClusterQueue) -> None:
        self.groups: Mapping[str, Group] = {
            resource: group
            for group in [
                Group(frozenset(each.resources), tuple(f.name for f in each.flavors)) for each in queue.groups
            ]
            for resource in sorted(group.resources)
        }
        fungibility, preemption = queue.fungibility, queue.preemption
        self.try_next_when_borrowing = fungibility.when_can_borrow == "TryNextFlavor"
        self.try_next_when_preempting = fungibility.when_can_preempt == "TryNextFlavor"
        self.borrow_rather_than_preempt = fungibility.preference != "PreemptionOverBorrowing"
        self.preempts_while_borrowing = preemption.borrow_within_cohort != "Never"
        self.preempts = preemption.within_cluster_queue != "Never" or preemption.reclaim_within_cohort != "Never"
        self._surveyed = -1
        self._ceilings: dict[FlavorResource, int] = {}

    def ceilings(self, node: Node, surveyed: int) -> dict[FlavorResource, int]:
        """The most that the queue could ever have. `surveyed`: the tree's last change of quota, from when on a number
        once worked out stays true."""
        if surveyed != self._surveyed:
            self._surveyed = surveyed
            frs = [(flavor, resource) for resource, group in self.groups.items() for flavor in group.flavors]
            self._ceilings = {fr: potential(node, fr) for fr in frs}
        return self._ceilings
