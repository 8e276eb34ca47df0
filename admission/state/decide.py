"""Decisions of the scheduler become writes: reservations, evictions, and what waiting people read."""

from collections import OrderedDict

from admission.model import names
from admission.model.decisions import Admit, Decision, Evict, Hold, Preempt
from admission.model.effects import CONSEQUENCE, DECISION, REPORT, EmitEvent
from admission.model.names import WorkloadKey
from admission.model.workload import Workload
from admission.reconcile import checks, transitions, unadmitted
from admission.reconcile.events import admitted_event, evicted_event, preemption_events, reserved_event
from admission.reconcile.holding import waiting_for_queue
from admission.rules.scheduler import Scheduler
from admission.state.allowance import Allowance
from admission.state.flights import Flights
from admission.state.objects import Objects
from admission.state.timers import Timers
from admission.state.workloads import Workloads

# A wait that is over sooner is nobody's question, and writing it would cost the API server as much as an admission.
REPORT_AFTER = 5.0
# Nor are ten thousand waits read as they happen: a small cluster's are all written at once, a storm's a few each second
# (the rate of its Events), those that have waited longest for it first.
REPORTS_A_SECOND, REPORTS_AT_ONCE = 10.0, 100

_TEXTS = {
    names.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    names.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    names.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    names.IN_COHORT_RECLAIM_WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


class Decisions:
    def __init__(
        self, objects: Objects, scheduler: Scheduler, workloads: Workloads, flights: Flights, timers: Timers
    ) -> None:
        self._objects = objects
        self._scheduler = scheduler
        self._workloads = workloads
        self._flights = flights
        self._timers = timers
        self._unreported: OrderedDict[WorkloadKey, None] = OrderedDict()
        self._reports = Allowance(REPORTS_A_SECOND, REPORTS_AT_ONCE)

    def carry_out(self, decision: Decision, now: float) -> None:
        match decision:
            case Admit():
                self._admit(decision, now)
            case Preempt():
                for victim in decision.victims:
                    self._evict(victim.workload, victim.reason, decision.workload, now)
            case Evict():
                self._evict_for_policy(decision, now)
            case Hold():
                self.report_later(decision.workload, now)

    def _admit(self, decision: Admit, now: float) -> None:
        workload = self._current(decision.workload)
        queue = self._objects.cluster_queue(decision.admission.cluster_queue)
        if workload is None or queue is None:
            return
        checked = checks.in_step(workload, queue, decision.admission, now)
        if self._objects.configuration.wait_for_pods_ready is not None and self._objects.is_of_a_job(workload):
            checked = transitions.not_started(checked, now)
        after = transitions.reserve(checked, decision.admission, now, admit=checks.passed(checked))
        lane = queue.name if queue.strict_fifo else ""
        self._workloads.wish(decision.workload, after, lane, DECISION)
        self._workloads.sync(decision.workload, now)
        self._flights.tell(reserved_event(workload, queue.name, now))
        if after.admitted:
            self._flights.tell(admitted_event(workload, queue.name, now, now))

    def _evict(self, victim: WorkloadKey, reason: str, by: WorkloadKey, now: float) -> None:
        workload, preemptor = self._current(victim), self._current(by)
        if workload is None or preemptor is None or workload.evicted or workload.admission is None:
            return
        if self._workloads.take_back(victim):
            self._workloads.sync(victim, now)
            return
        local = self._objects.local_queue(preemptor.namespace, preemptor.queue_name)
        path = self._objects.cohort_path
        message = (
            f"Preempted to accommodate a workload (UID: {preemptor.uid}, JobUID: {preemptor.job_uid or 'UNKNOWN'}) "
            f"due to {_TEXTS[reason]}; preemptor path: {path(local.cluster_queue if local else '')}; "
            f"preemptee path: {path(workload.admission.cluster_queue)}"
        )
        self._workloads.wish(victim, transitions.preempt(workload, reason, message, now), rank=CONSEQUENCE)
        self._workloads.sync(victim, now)
        self._flights.tell(evicted_event(workload, "Preempted", message))
        for event in preemption_events(workload, preemptor, message):
            self._flights.tell(event)

    def _evict_for_policy(self, decision: Evict, now: float) -> None:
        workload, key = self._current(decision.workload), decision.workload
        if workload is None or workload.evicted or workload.admission is None:
            return
        if self._workloads.take_back(key):
            self._workloads.sync(key, now)
            return
        after = transitions.preempt(workload, names.QUOTA_SHRUNK, decision.message, now)
        self._workloads.wish(key, after, rank=CONSEQUENCE)
        self._workloads.sync(key, now)
        self._flights.tell(evicted_event(workload, "Preempted", decision.message))

    def report_later(self, key: WorkloadKey, now: float) -> None:
        """What it waits for is written to its condition if it still waits in a while."""
        self._timers.at(now + REPORT_AFTER, ("report", key))

    def report(self, key: WorkloadKey, now: float) -> None:
        """Writes why the workload waits, unless it says so already, as soon as it is its turn."""
        self._unreported[key] = None
        while self._unreported and self._reports.allows(now):
            first, _ = self._unreported.popitem(last=False)
            if self._report(first, now):
                self._reports.spend()
        if self._unreported:
            self._timers.at(self._reports.next, ("report", next(iter(self._unreported))))

    def _report(self, key: WorkloadKey, now: float) -> bool:
        """Whether it took a write."""
        slot = self._objects.workloads.get(key)
        workload = slot.current if slot is not None else None
        if slot is None or workload is None or not workload.admissible:
            return False
        if slot.busy:
            self.report_later(key, now)
            return False
        told = self._waits_for(key, workload)
        if told is None:
            return False
        reason, message = told
        after = transitions.with_condition(workload, names.QUOTA_RESERVED, False, reason, message, now)
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        queue = self._objects.cluster_queue(local.cluster_queue) if local is not None else None
        asked = self._objects.requests.seen(workload, queue)
        if workload.resource_requests != asked:
            after = after.but(resource_requests=asked)
        if after is workload:
            return False
        if self._objects.configuration.wait_for_pods_ready is not None and self._objects.is_of_a_job(workload):
            after = transitions.not_started(after, now)
        self._flights.tell(EmitEvent(workload.ref, workload.uid, "Warning", reason, message))
        return self._workloads.wish(key, after, rank=REPORT)

    def _waits_for(self, key: WorkloadKey, workload: Workload) -> tuple[str, str] | None:
        """Reason and message of its condition; None while nobody has looked at it."""
        hold, gates = self._scheduler.last(key), self._objects.configuration.gates
        queue_problem = waiting_for_queue(self._objects, workload)
        if queue_problem:
            return unadmitted.queue_reason(gates, queue_problem), queue_problem
        if checks.refused(workload):
            return unadmitted.reason(gates, unadmitted.PENDING_EVALUATION), "The workload has failed admission checks"
        if hold is None:
            return None
        coarse = "Waiting" if hold.reason == "WaitingForPodsReady" else names.PENDING
        return unadmitted.reason(gates, hold.reason, coarse), hold.message

    def _current(self, key: WorkloadKey) -> Workload | None:
        slot = self._objects.workloads.get(key)
        return slot.current if slot is not None else None
