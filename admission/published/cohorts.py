"""Gauges of the quota trees, one tree at a time: sums from the queues upwards, each node visited once."""

from collections.abc import Iterator

from admission.model.amounts import in_base_units
from admission.model.queues import FlavorResource
from admission.published import families as f
from admission.published.queues import Sample, weighted_share
from admission.state import State
from admission.tree import Node


class _Sum:
    def __init__(self) -> None:
        self.admitted = 0
        self.reserved: dict[FlavorResource, int] = {}

    def add(self, admitted: int, reserved: dict[FlavorResource, int]) -> None:
        self.admitted += admitted
        for fr, units in reserved.items():
            self.reserved[fr] = self.reserved.get(fr, 0) + units


def cohort_gauges(state: State, root: Node) -> Iterator[Sample]:
    """Of a root cohort and all cohorts below it. Without the gate MetricsForCohorts only their shares."""
    line = [root]
    for node in line:
        line += node.cohorts.values()
    if state.objects.configuration.fair_sharing is not None:
        for node in line:
            yield f.COHORT_SHARE, (node.name,), weighted_share(node)
    if state.objects.configuration.gates["MetricsForCohorts"]:
        yield from _subtrees(state, root, line)


def _subtrees(state: State, root: Node, line: list[Node]) -> Iterator[Sample]:
    sums = {node: _Sum() for node in line}
    for node in reversed(line):  # the lower before the higher
        total = sums[node]
        for name, queue in node.queues.items():
            total.add(state.loads.cluster_queue(name).admitted, queue.usage)
        for child in node.cohorts.values():
            total.add(sums[child].admitted, sums[child].reserved)
    for node in line:
        parent = node.parent.name if node.parent is not None else ""
        yield f.COHORT_INFO, (node.name, parent, root.name), 1
        yield f.COHORT_ADMITTED_ACTIVE, (node.name,), sums[node].admitted
        for family, amounts in ((f.COHORT_QUOTA, node.subtree), (f.COHORT_RESERVATIONS, sums[node].reserved)):
            for fr, units in amounts.items():
                if units > 0:
                    yield family, (node.name, *fr), in_base_units(fr[1], units)
