"""Who waits where, in the form of Kueue's visibility API: `PendingWorkloadsSummary`, positions from 0.

The order is that of the whole ClusterQueue, whoever is ready or set aside; a LocalQueue's list is filtered from it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from admission.model.kinds import Kind, maybe_kind
from admission.model.names import WorkloadKey
from admission.model.times import stamp
from admission.model.workload import Workload
from admission.state import State

GROUP = "visibility.kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")  # the preferred one first; both look alike
DEFAULT_LIMIT, MOST = 1000, 100_000  # entries of one answer


def in_cluster_queue(state: State, name: str, offset: int, limit: int) -> Iterator[dict[str, Any]]:
    """The entries from `offset` on, at most `limit`. Who waits is looked up at once, each entry is made when it is
    asked for; a workload that has gone by then is left out. Raises KeyError when there is no such queue."""
    if state.objects.cluster_queue(name) is None:
        raise KeyError(name)
    line = islice(_placed(state, state.scheduler.pending(name)), offset, offset + limit)
    return (_entry(workload, position, own) for workload, position, own in line if workload is not None)


def in_local_queue(state: State, namespace: str, name: str, offset: int, limit: int) -> Iterator[dict[str, Any]]:
    """The same for a LocalQueue; `offset` and `limit` count its own workloads."""
    queue = state.objects.local_queue(namespace, name)
    if queue is None:
        raise KeyError(name)
    mine = (
        (workload, position, own)
        for workload, position, own in _placed(state, state.scheduler.pending(queue.cluster_queue))
        if workload is not None and workload.namespace == namespace and workload.queue_name == name
    )
    return (_entry(workload, position, own) for workload, position, own in islice(mine, offset, offset + limit))


def _placed(state: State, keys: list[WorkloadKey]) -> Iterator[tuple[Workload | None, int, int]]:
    """With the position in the ClusterQueue and in the own LocalQueue; None for who has gone meanwhile."""
    seen: dict[tuple[str, str], int] = {}
    for position, key in enumerate(keys):
        slot = state.objects.workloads.get(key)
        workload = slot.current if slot is not None else None
        if workload is None:
            yield None, position, 0
            continue
        at = (workload.namespace, workload.queue_name)
        own = seen.get(at, 0)
        seen[at] = own + 1
        yield workload, position, own


def _entry(workload: Workload, position: int, own: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": workload.name,
        "namespace": workload.namespace,
        "creationTimestamp": stamp(workload.created),
    }
    if workload.owner is not None:
        kind = maybe_kind(workload.owner.kind) or Kind("", "v1", workload.owner.kind, "", True)
        reference = {"apiVersion": kind.api_version, "kind": kind.kind, "name": workload.owner.name}
        metadata["ownerReferences"] = [{**reference, "uid": workload.owner_uid}]
    return {
        "metadata": metadata,
        "priority": workload.priority,
        "localQueueName": workload.queue_name,
        "positionInClusterQueue": position,
        "positionInLocalQueue": own,
    }
