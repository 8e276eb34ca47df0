"""What a ClusterQueue offers, indexed once per edit of its spec, because every look at a workload asks."""

from collections.abc import Mapping
from typing import NamedTuple

from admission.model.accelerators import DERIVED
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.queues import ClusterQueue
from admission.rules.standing import Standings


class Group(NamedTuple):
    resources: frozenset[str]
    flavors: tuple[str, ...]


class Menu:
    """Resource groups, and the fungibility and preemption policies as plain answers."""

    __slots__ = (
        "_ignores_undeclared",
        "borrow_rather_than_preempt",
        "fungible",
        "groups",
        "preempts",
        "preempts_while_borrowing",
        "standings",
        "try_next_when_borrowing",
        "try_next_when_preempting",
    )

    def __init__(self, queue: ClusterQueue, configuration: Configuration = DEFAULTS) -> None:
        gates = configuration.gates
        self.groups: Mapping[str, Group] = {
            resource: group
            for group in [
                Group(frozenset(each.resources), tuple(f.name for f in each.flavors)) for each in queue.groups
            ]
            for resource in sorted(group.resources)
        }
        self._ignores_undeclared = queue.virtual or (
            configuration.resources.ignore_undeclared and gates["QuotaCheckStrategy"]
        )
        self.fungible = gates["FlavorFungibility"]
        fungibility, preemption = queue.fungibility, queue.preemption
        self.try_next_when_borrowing = fungibility.when_can_borrow == "TryNextFlavor"
        self.try_next_when_preempting = fungibility.when_can_preempt == "TryNextFlavor"
        self.borrow_rather_than_preempt = fungibility.preference != "PreemptionOverBorrowing"
        reclaims_by_share = configuration.fair_sharing is not None and preemption.reclaim_within_cohort != "Never"
        self.preempts_while_borrowing = preemption.borrow_within_cohort != "Never" or reclaims_by_share
        self.preempts = preemption.within_cluster_queue != "Never" or preemption.reclaim_within_cohort != "Never"
        self.standings = Standings()

    def must_cover(self, resource: str) -> bool:
        """Whether nobody gets this resource who asks for it, unless there is quota for it. What we derived ourselves
        from other requests counts only where somebody wants it counted."""
        return not self._ignores_undeclared and resource not in DERIVED
