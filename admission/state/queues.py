"""Keeps scheduler and indexes in step with queues and flavors, and writes their statuses.

A status is written at most once a second and queue, never without a change, and after everything that decides. When
many change at once they take turns.
"""

from collections.abc import Mapping
from typing import Any

from admission.model.effects import CONSEQUENCE, REPORT, Patch
from admission.model.kinds import Ref
from admission.model.queues import AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor
from admission.reconcile.queues import (
    check_finalizer,
    cluster_queue_finalizer,
    cluster_queue_status,
    cohort_status,
    flavor_finalizer,
    inactivity,
    local_queue_status,
)
from admission.rules.scheduler import Scheduler
from admission.state.allowance import Allowance
from admission.state.flights import Flights
from admission.state.loads import Loads
from admission.state.objects import Objects
from admission.state.slots import Slot
from admission.state.timers import Timers

# Kueue refreshes a queue's status a second after workload events; more often only makes the API server busy.
STATUS_EVERY = 1.0
# Of all queues together: a tenth of the requests that Kueue's settings allow, so that in a storm of admissions numbers
# that people read cost little beside the admissions. Fifty queues that change all the time are then two seconds late.
STATUSES_A_SECOND, STATUSES_AT_ONCE = 30.0, 300


class Queues:
    def __init__(self, objects: Objects, scheduler: Scheduler, loads: Loads, flights: Flights, timers: Timers) -> None:
        self._objects = objects
        self._scheduler = scheduler
        self._loads = loads
        self._flights = flights
        self._timers = timers
        self._written: dict[tuple[str, str], float] = {}
        self._statuses = Allowance(STATUSES_A_SECOND, STATUSES_AT_ONCE)
        self._reshaped = False

    def judge(self, name: str) -> None:
        """Tells the scheduler of a ClusterQueue and whether it may admit; statuses may follow."""
        queue = self._objects.cluster_queue(name)
        if queue is None:
            self._scheduler.drop_cluster_queue(name)
        else:
            self._scheduler.put_cluster_queue(queue, inactivity(self._objects, queue) is None)
        self.reshaped()
        self.touch("ClusterQueue", name)
        for key in self._objects.local_queues_of(name):
            self.touch("LocalQueue", key)

    def touch(self, kind: str, name: str) -> None:
        """Its status is looked at when the next plan is made."""
        self._loads.touched[(kind, name)] = None

    def reshaped(self) -> None:
        """A quota, a weight or an edge of the tree may be another: so may every share."""
        self._reshaped = True

    def _touch_shares(self) -> None:
        """Whatever a queue uses counts in the shares of the cohorts above it, too."""
        if self._reshaped:
            self._reshaped = False
            for name in self._objects.cluster_queues:
                self.touch("ClusterQueue", name)
            for name in self._objects.cohorts:
                self.touch("Cohort", name)
        for kind, name in list(self._loads.touched):
            node = self._scheduler.tree.queue(name) if kind == "ClusterQueue" else None
            while node is not None and node.parent is not None:
                node = node.parent
                if node.declared:
                    self.touch("Cohort", node.name)

    def write(self, now: float, room: int) -> bool:
        """Sends statuses and finalizers that are due, at most `room`; True if some had to be left for the next plan."""
        if self._objects.configuration.fair_sharing is not None:
            self._touch_shares()
        waiting = self._loads.touched
        self._loads.touched = {}
        left = 0
        for kind, name in waiting:
            slot = self._slot(kind, name)
            if slot is None or slot.observed is None:
                self._written.pop((kind, name), None)
                continue
            if slot.busy:
                continue  # looked at again when the write under way has landed
            due = self._written.get((kind, name), now - STATUS_EVERY) + STATUS_EVERY
            if not self._statuses.allows(now):
                due = max(due, self._statuses.next)
            if due > now or room <= 0:
                self._loads.touched[(kind, name)] = None
                left += due <= now
                self._timers.wake(max(due, now))
                continue
            room -= self._write_one(kind, name, slot, now)
        return left > 0

    def _slot(self, kind: str, name: str) -> Slot[Any] | None:
        if kind == "ClusterQueue":
            return self._objects.cluster_queues.get(name)
        if kind == "Cohort":
            return self._objects.cohorts.get(name)
        if kind == "LocalQueue":
            return self._objects.local_queues.get(name)
        if kind == "AdmissionCheck":
            return self._objects.admission_checks.get(name)
        return self._objects.flavors.get(name)

    def _write_one(self, kind: str, name: str, slot: Slot[Any], now: float) -> int:
        value = slot.current
        if getattr(value, "virtual", False):
            return 0  # made of an elastic quota: there is nothing to write to
        if isinstance(value, ClusterQueue):
            finalizer = cluster_queue_finalizer(value, in_use=self._loads.cluster_queue(name).reserving > 0)
            if finalizer is not None:
                return self._send(slot, finalizer, CONSEQUENCE)
            load, borrowed = self._loads.cluster_queue(name), self._scheduler.borrowed(name)
            share = self._scheduler.share(self._scheduler.tree.queue(name))
            status, wire = cluster_queue_status(self._objects, value, load, borrowed, now, share)
        elif isinstance(value, Cohort):
            status, wire = cohort_status(value, self._scheduler.share(self._scheduler.tree.cohort(name)))
        elif isinstance(value, LocalQueue):
            status, wire = local_queue_status(
                self._objects, value, self._loads.local_queue(name), now, self._consumed(value)
            )
        elif isinstance(value, ResourceFlavor):
            in_use = any(True for _ in self._objects.queues_with_flavor(name))
            finalizer = flavor_finalizer(value, in_use=in_use)
            return self._send(slot, finalizer, CONSEQUENCE) if finalizer is not None else 0
        elif isinstance(value, AdmissionCheck):
            in_use = any(True for _ in self._objects.queues_with_check(name))
            finalizer = check_finalizer(value, in_use=in_use)
            return self._send(slot, finalizer, CONSEQUENCE) if finalizer is not None else 0
        else:
            return 0
        if status == value.status:
            return 0
        self._written[(kind, name)] = now
        self._statuses.spend()
        namespace, _, bare = name.rpartition("/")
        patch = Patch(Ref(kind, namespace, bare), {"status": wire}, "status", value.resource_version)
        return self._send(slot, patch, REPORT)

    def _consumed(self, queue: LocalQueue) -> tuple[Mapping[str, int], float] | None:
        consumption, above = self._scheduler.consumption, self._objects.cluster_queue(queue.cluster_queue)
        counts = consumption is not None and above is not None and above.usage_based
        return consumption.of(queue.key) if consumption is not None and counts else None

    def _send(self, slot: Slot[Any], patch: Patch, rank: int) -> int:
        self._flights.send(patch.ref, slot, patch, None, "", rank)
        return 1
