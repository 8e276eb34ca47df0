"""What a Workload that holds quota is charged for, given the pods it needs no more (Kueue 0.19)."""

from admission.model.queues import FlavorResource
from admission.model.workload import Workload


def usage_of(workload: Workload) -> dict[FlavorResource, int]:
    """(flavor, resource) -> units; {} without an admission."""
    if workload.admission is None:
        return {}
    if not workload.reclaimable:
        return workload.admission.usage()
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    total: dict[FlavorResource, int] = {}
    for assigned in workload.admission.assignments:
        left = counts.get(assigned.name, assigned.count) - workload.reclaimable.get(assigned.name, 0)
        shrunk = left < assigned.count and assigned.count > 0
        for resource, flavor in assigned.flavors.items():
            units = assigned.usage.get(resource, 0)
            if shrunk:
                units = units // assigned.count * max(0, left)
            total[(flavor, resource)] = total.get((flavor, resource), 0) + units
    return total
