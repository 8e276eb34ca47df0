"""Running totals per queue, so that a status costs what changed and not what exists."""

from dataclasses import dataclass, field

from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.reconcile.queues import Load


@dataclass(frozen=True, slots=True)
class Share:
    """What one workload adds: to its LocalQueue, and to the ClusterQueue where it waits or holds quota."""

    local_queue: str
    cluster_queue: str
    pending: bool
    admitted: bool
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)  # of one that waits in an elastic quota, by resource


class Loads:
    def __init__(self) -> None:
        self._shares: dict[WorkloadKey, Share] = {}
        self.cluster_queues: dict[str, Load] = {}
        self.local_queues: dict[str, Load] = {}
        self.touched: dict[tuple[str, str], None] = {}  # (kind, name) of queues whose totals moved
        self.moved: dict[WorkloadKey, None] = {}  # who adds something else than before, until somebody clears it

    def put(self, key: WorkloadKey, share: Share | None) -> None:
        """Replaces what the workload added before; None: it adds nothing any more."""
        old = self._shares.get(key)
        if old == share:
            return
        self.moved[key] = None
        if old is not None:
            del self._shares[key]
            self._add(old, -1)
        if share is not None:
            self._shares[key] = share
            self._add(share, 1)

    def queue_of(self, key: WorkloadKey) -> str:
        """The ClusterQueue in which the workload waits or holds quota; "" for none."""
        share = self._shares.get(key)
        return share.cluster_queue if share is not None else ""

    def cluster_queue(self, name: str) -> Load:
        return self.cluster_queues.get(name) or Load()

    def local_queue(self, key: str) -> Load:
        return self.local_queues.get(key) or Load()

    def _add(self, share: Share, sign: int) -> None:
        for kind, name, table in (
            ("ClusterQueue", share.cluster_queue, self.cluster_queues),
            ("LocalQueue", share.local_queue, self.local_queues),
        ):
            if not name:
                continue
            self.touched[(kind, name)] = None
            load = table.setdefault(name, Load())
            _count(load, share, sign)
            if not load.pending and not load.reserving:  # queues come and go
                del table[name]


def _count(load: Load, share: Share, sign: int) -> None:
    if share.pending:
        load.pending += sign
        for resource, units in share.asked.items():
            load.asked[resource] = load.asked.get(resource, 0) + sign * units
        return
    load.reserving += sign
    load.admitted += sign * share.admitted
    for fr, units in share.usage.items():
        load.reserved[fr] = load.reserved.get(fr, 0) + sign * units
        if share.admitted:
            load.used[fr] = load.used.get(fr, 0) + sign * units
