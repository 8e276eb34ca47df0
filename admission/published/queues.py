"""Gauges of one queue, read from State when somebody asks: a page costs what there are of queues, not of workloads."""

from collections import Counter
from collections.abc import Iterator

from admission.model import names
from admission.model.amounts import in_base_units
from admission.model.queues import ClusterQueue, FlavorResource, LocalQueue
from admission.published import families as f
from admission.published.families import Family
from admission.published.tally import Labels
from admission.rules.consumption import BILLION
from admission.rules.queue import Queue
from admission.state import State
from admission.tree import Node
from admission.tree.shares import share

Sample = tuple[Family, Labels, float]
_UNLIMITED = float("inf")
_STATUSES = ("pending", "active", "terminating")


def queue_gauges(state: State, name: str, finished: int, *, resources: bool) -> Iterator[Sample]:
    """Of one ClusterQueue. `finished`: workloads of its LocalQueues that have; `resources`: amounts too.

    Nothing for a queue that does not exist."""
    queue = state.objects.cluster_queue(name)
    if queue is None:
        return
    line, load = state.scheduler.queues.get(name), state.loads.cluster_queue(name)
    active = name in state.scheduler.active
    waiting, aside = (len(line.everyone), line.aside) if line is not None else (0, 0)
    yield from _split(f.PENDING, (name,), waiting, aside if active else waiting)
    kinds, failed = line.kinds() if line is not None else (0, 0)
    yield from _split(f.PENDING_HASHES, (name,), kinds, failed if active else kinds)
    yield f.RESERVING, (name,), load.reserving
    yield f.ADMITTED_ACTIVE, (name,), load.admitted
    yield f.FINISHED, (name,), finished
    status = "terminating" if queue.deleting else "active" if active else "pending"
    for each in _STATUSES:
        yield f.QUEUE_STATUS, (name, each), float(each == status)
    if line is not None and line.skips is not None:
        yield f.PREEMPTION_SKIPS, (name,), line.skips
    node = state.scheduler.tree.queue(name)
    if node is not None and state.objects.configuration.gates["MetricsForCohorts"]:
        parent = node.parent.name if node.parent is not None else ""
        yield f.QUEUE_INFO, (name, parent, node.root.name if parent else ""), 1
    if resources and node is not None and state.objects.configuration.fair_sharing is not None:
        weighted = weighted_share(node)
        yield f.SHARE, (name, queue.cohort), float("nan") if weighted == _UNLIMITED else weighted
    if resources:
        yield from _amounts(state, queue)
        yield from _asked(queue, line)


def weighted_share(node: Node) -> float:
    """In thousandths, as Kueue shows it; infinite for a borrower of weight 0."""
    found = share(node)
    return _UNLIMITED if found.infinite else float(1000 * found.value)


def _split(family: Family, labels: Labels, everyone: int, aside: int) -> Iterator[Sample]:
    yield family, (*labels, "active"), everyone - aside
    yield family, (*labels, "inadmissible"), aside


def _amounts(state: State, queue: ClusterQueue) -> Iterator[Sample]:
    load = state.loads.cluster_queue(queue.name)
    for fr, quota in queue.quotas().items():
        labels = (queue.cohort, queue.name, *fr)
        yield f.NOMINAL, labels, _base(fr, quota.nominal)
        yield f.BORROWING, labels, _base(fr, quota.borrowing_limit)
        yield f.LENDING, labels, _base(fr, quota.lending_limit)
        yield f.RESERVATION, labels, _base(fr, load.reserved.get(fr, 0))
        yield f.USAGE, labels, _base(fr, load.used.get(fr, 0))


def _asked(queue: ClusterQueue, line: Queue | None) -> Iterator[Sample]:
    asked: Counter[str] = Counter(
        dict.fromkeys([resource for group in queue.groups for resource in group.resources], 0)
    )
    for workload, number in line.by_kind() if line is not None else ():
        for pod_set in workload.pod_sets:
            for resource, units in pod_set.requests.items():
                asked[resource] += number * pod_set.count * units
    for resource, units in asked.items():
        yield f.RESOURCE_PENDING, (queue.name, resource), in_base_units(resource, units)


def local_queue_gauges(state: State, key: str, finished: int, *, resources: bool) -> Iterator[Sample]:
    """Of one LocalQueue by "namespace/name". Nothing for a queue that does not exist."""
    queue = state.objects.local_queue(*key.split("/", 1))
    if queue is None:
        return
    labels, load = (queue.name, queue.namespace), state.loads.local_queue(key)
    yield from _split(f.LOCAL_PENDING, labels, load.pending, _aside(state, queue, load.pending))
    yield f.LOCAL_RESERVING, labels, load.reserving
    yield f.LOCAL_ADMITTED_ACTIVE, labels, load.admitted
    yield f.LOCAL_FINISHED, labels, finished
    condition = queue.status.conditions.get(names.ACTIVE)
    for each in ("True", "False", "Unknown") if condition is not None else ():
        yield f.LOCAL_STATUS, (*labels, each), float(condition is not None and each == condition.status)
    cluster_queue, ledger = state.objects.cluster_queue(queue.cluster_queue), state.scheduler.consumption
    if ledger is not None and cluster_queue is not None and cluster_queue.usage_based:
        endless, used = ledger.standing(key)
        yield f.FAIR_USAGE, (*labels, cluster_queue.name), _UNLIMITED if endless else float(used / BILLION)
    cluster_queue = cluster_queue if resources else None
    for fr in cluster_queue.quotas() if cluster_queue is not None else ():
        yield f.LOCAL_RESERVATION, (*labels, *fr), _base(fr, load.reserved.get(fr, 0))
        yield f.LOCAL_USAGE, (*labels, *fr), _base(fr, load.used.get(fr, 0))


def _aside(state: State, queue: LocalQueue, pending: int) -> int:
    """How many of a LocalQueue are set aside. Only where several share a ClusterQueue whose workloads are partly set
    aside must one look at each of those."""
    line = state.scheduler.queues.get(queue.cluster_queue)
    if line is None or not line.aside:
        return 0 if queue.cluster_queue in state.scheduler.active else pending
    if line.aside == len(line.everyone) or queue.cluster_queue not in state.scheduler.active:
        return pending
    if pending == len(line.everyone):
        return line.aside
    return sum(
        one.workload.queue_name == queue.name and one.workload.namespace == queue.namespace for one in line.set_aside()
    )


def _base(fr: FlavorResource, units: int | None) -> float:
    return _UNLIMITED if units is None else in_base_units(fr[1], units)
