"""Keeps scheduler, totals and indexes in step with every Workload, and writes what is wished for them.

The quota law is kept here: usage counts from the moment a reservation is planned, and ends only when its release is
confirmed. A decision about a workload that cannot be written just now waits in its slot, and falls if a newer fact
comes first.
"""

from admission.model import names
from admission.model.amounts import plus
from admission.model.effects import CONSEQUENCE, Patch
from admission.model.kinds import Ref
from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.model.workload import Workload
from admission.reconcile import checks
from admission.reconcile.status import status_patch
from admission.reconcile.usage import usage_of
from admission.rules.asks import asks_of
from admission.rules.scheduler import Scheduler
from admission.state.flights import Flights
from admission.state.loads import Loads, Share
from admission.state.objects import Objects
from admission.state.sampling import Sampling
from admission.state.slots import Slot


class Workloads:
    def __init__(
        self, objects: Objects, scheduler: Scheduler, loads: Loads, flights: Flights, sampling: Sampling
    ) -> None:
        self._objects = objects
        self._scheduler = scheduler
        self._loads = loads
        self._flights = flights
        self._sampling = sampling

    def wish(self, key: WorkloadKey, after: Workload, lane: str = "", rank: int = CONSEQUENCE) -> bool:
        """The status that the workload should have; written now, or after the write that is under way.

        False: it has that status already.
        """
        slot = self._objects.workloads[key]
        before = slot.current
        if before is None:
            return False
        if slot.busy:
            slot.wanted, slot.wanted_rank = after, (lane, rank)
            return True
        body = status_patch(before, after)
        if body:
            patch = Patch(after.ref, body, "status", before.resource_version)
            self._flights.send(after.ref, slot, patch, after, lane, rank)
        return bool(body)

    def take_back(self, key: WorkloadKey) -> bool:
        """Drops a reservation that was planned and not sent yet; nobody has heard of it, so nobody need be evicted."""
        slot = self._objects.workloads[key]
        told = slot.assumed or slot.observed
        if slot.wanted is None or not slot.wanted.holds_quota or (told is not None and told.holds_quota):
            return False
        slot.wanted = None
        return True

    def carry_on(self, key: WorkloadKey) -> None:
        """The write under way has landed, or its echo came: send what has been wished for since."""
        slot = self._objects.workloads.get(key)
        if slot is None:
            return
        after, (lane, rank) = slot.wanted, slot.wanted_rank
        if after is not None and not slot.busy:
            slot.wanted = None
            self.wish(key, after, lane, rank)

    def sync(self, key: WorkloadKey, now: float) -> None:
        """Tells scheduler, totals and indexes what the workload is now."""
        slot = self._objects.workloads.get(key)
        current = slot.current if slot is not None else None
        self._objects.index(key, current)
        if slot is None or current is None:
            self._scheduler.remove(key)
            self._release(key, now)
            self._loads.put(key, None)
            self._sampling.follow(key, slot, None, None, now)
            return
        holder = holder_of(slot)
        if holder is not None:
            self._scheduler.remove(key)
            self._scheduler.charge(holder, charged(slot))
        else:
            self._release(key, now)
            queue = self._queue_to_wait_in(slot, current, now)
            if queue:
                self._scheduler.push(self._objects.requests.effective(current), queue, now)
            else:
                self._scheduler.remove(key)
        self._loads.put(key, self._share(slot, current, holder))
        self._sampling.follow(key, slot, current, holder, now)

    def _release(self, key: WorkloadKey, now: float) -> None:
        if self._scheduler.holds(key):
            self._scheduler.release(key, now)

    def _queue_to_wait_in(self, slot: Slot[Workload], workload: Workload, now: float) -> str:
        """The ClusterQueue in whose queue it belongs, or "" while it belongs in none."""
        if not workload.admissible:
            return ""
        if workload.requeue_at is not None and workload.requeue_at > now:
            return ""
        if checks.refused(workload):
            return ""
        requeued = workload.conditions.get(names.REQUEUED)
        if requeued is not None and not requeued.true:
            return ""
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        if local is None or local.deleting or local.stop_policy != "None":
            return ""
        queue = self._objects.cluster_queue(local.cluster_queue)
        if slot.retry_at is not None and not (queue is not None and queue.strict_fifo):
            return ""  # refused a moment ago; only in a strict queue does it keep its place, and the others waiting
        return local.cluster_queue

    def _share(self, slot: Slot[Workload], workload: Workload, holder: Workload | None) -> Share | None:
        local_key = f"{workload.namespace}/{workload.queue_name}"
        if holder is not None and holder.admission is not None:
            queue = holder.admission.cluster_queue
            return Share(local_key, queue, False, holder.admitted, charged(slot))
        if not workload.admissible:
            return None
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        if local is None or local.stop_policy != "None":
            return None
        return Share(local_key, local.cluster_queue, True, False, asked=self._asked(local.cluster_queue, workload))

    def _asked(self, queue: str, workload: Workload) -> dict[str, int]:
        """What it asks for, where others may use less because of that."""
        spec = self._objects.cluster_queue(queue)
        asked: dict[str, int] = {}
        if spec is not None and spec.virtual:
            for ask in asks_of(self._objects.requests.effective(workload)):
                asked = plus(asked, dict(ask.requests))
        return asked


def holder_of(slot: Slot[Workload]) -> Workload | None:
    """The newest known form of the workload that holds quota and is not certain to have let go of it."""
    values = (slot.wanted, slot.assumed, slot.observed)
    return next((value for value in values if value is not None and value.holds_quota), None)


def charged(slot: Slot[Workload]) -> dict[FlavorResource, int]:
    """What it holds for certain, or is about to: pods that it says it needs no more count until that is confirmed."""
    usage: dict[FlavorResource, int] = {}
    for value in (slot.observed, slot.assumed, slot.wanted):
        if value is not None and value.holds_quota:
            for fr, units in usage_of(value).items():
                usage[fr] = max(units, usage.get(fr, 0))
    return usage


def workload_key(ref: Ref) -> WorkloadKey:
    return names.workload_key(ref.namespace, ref.name)
