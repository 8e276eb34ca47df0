"""Admission fair sharing, kept in step with what happens: penalties that become consumption or fall, and the regular
look at what each LocalQueue of a usage-based ClusterQueue uses."""

from admission.model.names import WorkloadKey
from admission.model.queues import ClusterQueue, LocalQueue
from admission.model.workload import Workload
from admission.rules.consumption import Consumption, billionths
from admission.rules.scheduler import Scheduler
from admission.state.loads import Loads
from admission.state.objects import Objects
from admission.state.slots import Slot
from admission.state.timers import Timers

SAMPLE = "sample"  # the kind of its timers


class Sampling:
    """Does nothing where admission fair sharing is off."""

    def __init__(self, objects: Objects, scheduler: Scheduler, loads: Loads, timers: Timers) -> None:
        self._objects = objects
        self._scheduler = scheduler
        self._loads = loads
        self._timers = timers
        self._noted: dict[str, None] = {}  # LocalQueues to be looked at when the time is known
        self._watched: dict[str, None] = {}  # with a timer; idle ones have none

    @property
    def _ledger(self) -> Consumption | None:
        return self._scheduler.consumption

    def note(self, local_queue: str) -> None:
        """It is new or another, or something is admitted through it."""
        if self._ledger is not None:
            self._noted[local_queue] = None

    def forget(self, local_queue: str) -> None:
        """It is gone, and with it what it has used."""
        if self._ledger is not None:
            self._ledger.forget(local_queue)
            self._watched.pop(local_queue, None)

    def begin(self, now: float) -> None:
        """The time is known: facts that were told before the first plan have none."""
        noted, self._noted = self._noted, {}
        for key in noted:
            self._watch(key, now)

    def follow(
        self,
        key: WorkloadKey,
        slot: Slot[Workload] | None,
        current: Workload | None,
        holder: Workload | None,
        now: float,
    ) -> None:
        """The workload is like this now; `holder`: the form in which it holds quota."""
        ledger = self._ledger
        if ledger is None:
            return
        queue = ledger.penalised(key)
        if queue is not None:
            told = slot.observed if slot is not None else None
            if _lets_go(queue, current, holder):
                ledger.excuse(key)
                self._moved(queue)
            elif holder is not None and told is not None and told.admitted:
                ledger.settle(key, self._used(queue), now)
                self._moved(queue)
        if holder is not None:
            through = f"{holder.namespace}/{holder.queue_name}"
            if through not in self._watched:
                self._noted[through] = None

    def sample(self, local_queue: str, now: float) -> None:
        """The time of its regular look has come."""
        ledger = self._ledger
        self._watched.pop(local_queue, None)
        if ledger is None or self._usage_based(local_queue) is None:
            return
        if ledger.sample(local_queue, self._used(local_queue), now):
            self._moved(local_queue)
            self._arm(local_queue, ledger, now)

    def _watch(self, key: str, now: float) -> None:
        found, ledger = self._usage_based(key), self._ledger
        if found is None or ledger is None:
            return
        local, _ = found
        ledger.know(key, local.weight, local.status.consumed, now)
        if key not in self._watched:
            ledger.resume(key, now)
            self._arm(key, ledger, now)
        self._moved(key)

    def _arm(self, key: str, ledger: Consumption, now: float) -> None:
        self._watched[key] = None
        self._timers.at(now + ledger.interval, (SAMPLE, key))

    def _moved(self, key: str) -> None:
        """Another may be the head of the ClusterQueue, and the status says something else."""
        self._loads.touched[("LocalQueue", key)] = None
        found = self._usage_based(key)
        if found is not None:
            self._scheduler.reorder(found[1].name)

    def _usage_based(self, key: str) -> tuple[LocalQueue, ClusterQueue] | None:
        local = self._objects.local_queue(*key.split("/", 1))
        queue = self._objects.cluster_queue(local.cluster_queue) if local is not None else None
        return (local, queue) if local is not None and queue is not None and queue.usage_based else None

    def _used(self, key: str) -> dict[str, int]:
        used = self._loads.local_queue(key).used
        return billionths((resource, units) for (_, resource), units in used.items() if units)


def _lets_go(queue: str, current: Workload | None, holder: Workload | None) -> bool:
    """The penalty noted for `queue` can't become consumption any more. One that was evicted and waits to be admitted
    again keeps it."""
    if current is None or current.finished or f"{current.namespace}/{current.queue_name}" != queue:
        return True
    return holder is None and not (current.evicted and current.active)
