"""Counts what happens to Workloads, each thing once: told of every certain change of one, old value and new.

A change is certain when the API server has confirmed or told it; what is merely planned is not counted. Only a leader
counts happenings. How many finished Workloads exist is known to every replica.
"""

import re
from collections.abc import Callable
from functools import partial

from admission.model import names
from admission.model.workload import Workload
from admission.published import families as f
from admission.published.families import Family
from admission.published.tally import Labels, Tally
from admission.published.unadmitted import Unadmitted
from admission.state import State

# The message of Preempted names the preemptor's place in the tree of cohorts, its queue last.
_PREEMPTOR = re.compile(r"preemptor path: [^;]*/([^/;]+);")


class Recorder:
    """`shown` says of a LocalQueue ("namespace/name") whether it has series of its own."""

    def __init__(self, state: State, shown: Callable[[str], bool] = lambda key: True) -> None:
        self.counting = False
        self.tally = Tally()
        self.finished: dict[str, int] = {}  # existing finished workloads by LocalQueue
        self.unadmitted = Unadmitted(state.objects.configuration.gates)
        self._state = state
        self._shown = shown
        self._attempts = state.scheduler.attempts

    def told(self, before: Workload | None, after: Workload | None) -> None:
        """`before`: as it was when last told, None: unknown until now. `after`: None when it is gone."""
        self._count_finished(before, -1)
        self._count_finished(after, 1)
        self.unadmitted.told(before, after)
        if not self.counting or after is None:
            return
        if before is None:
            self._created(after)
        elif before.conditions is not after.conditions or before.evictions != after.evictions:
            self._moved(before, after)

    def planned(self, seconds: float) -> None:
        """A plan took so long: counts the scheduling cycles since the last one."""
        before, self._attempts = self._attempts, self._state.scheduler.attempts
        cycles = [now - then for now, then in zip(self._attempts, before, strict=True)]
        for result, number in zip(("inadmissible", "success"), cycles, strict=True):
            if number and self.counting:
                self.tally.count(f.ATTEMPTS, (result,), number)
                self.tally.observe(f.ATTEMPT_SECONDS, (result,), seconds / sum(cycles), number)

    def _count_finished(self, workload: Workload | None, by: int) -> None:
        if workload is not None and workload.finished:
            key = _local(workload)
            left = self.finished.get(key, 0) + by
            if left:
                self.finished[key] = left
            else:
                del self.finished[key]

    def _created(self, workload: Workload) -> None:
        job = self._state.objects.job_of(workload.owner_uid) if workload.owner is not None else None
        if job is None or job.uid != workload.owner_uid or job.generation > 1:
            return  # after an edit of the job, its Workload may have been made anew at any time
        if self._state.objects.configuration.gates["MetricForWorkloadCreationLatency"]:
            self.tally.observe(f.CREATION_LATENCY, (job.ref.kind,), workload.created - job.created)

    def _moved(self, before: Workload, after: Workload) -> None:
        note = partial(self._note, after)
        if after.reserved and not before.reserved:
            since = after.conditions[names.QUOTA_RESERVED].since
            note(f.RESERVED, f.LOCAL_RESERVED)
            note(f.RESERVED_WAIT, f.LOCAL_RESERVED_WAIT, seconds=since - queued_at(after))
        if after.admitted and not before.admitted:
            self._admitted(after)
        ready, was_ready = (one.conditions.get(names.PODS_READY) for one in (after, before))
        if ready is not None and ready.true and ready.reason == "Started" and not (was_ready and was_ready.true):
            note(f.READY_WAIT, f.LOCAL_READY_WAIT, seconds=ready.since - queued_at(after))
            if after.admitted:
                waited = ready.since - after.conditions[names.ADMITTED].since
                note(f.ADMITTED_UNTIL_READY, f.LOCAL_ADMITTED_UNTIL_READY, seconds=waited)
        if after.evictions != before.evictions:
            self._evicted(before, after)
        if after.is_true(names.PREEMPTED) and not before.is_true(names.PREEMPTED):
            self._preempted(after)
        if before.reserved and not after.reserved:
            self._released(before, after)
        if after.finished and not before.finished:
            self._ended(after)

    def _admitted(self, workload: Workload) -> None:
        since = workload.conditions[names.ADMITTED].since
        self._note(workload, f.ADMITTED, f.LOCAL_ADMITTED)
        self._note(workload, f.ADMITTED_WAIT, f.LOCAL_ADMITTED_WAIT, seconds=since - queued_at(workload))
        reserved = workload.conditions.get(names.QUOTA_RESERVED)
        if workload.checks and reserved is not None:
            self._note(workload, f.CHECKS_WAIT, f.LOCAL_CHECKS_WAIT, seconds=since - reserved.since)
        node = self._state.scheduler.tree.queue(_queue(workload))
        while node is not None and node.parent is not None:
            node = node.parent
            self.tally.count(f.COHORT_ADMITTED, (node.name, _class(workload)))

    def _evicted(self, before: Workload, after: Workload) -> None:
        if not _queue(after):
            return
        old = {(reason, cause): count for reason, cause, count in before.evictions}
        for reason, cause, count in after.evictions:
            new = count - old.get((reason, cause), 0)
            if new <= 0:
                continue
            by = (reason, cause, _class(after))
            self.tally.count(f.EVICTED, (_queue(after), *by), new)
            if self._shown(_local(after)):
                self.tally.count(f.LOCAL_EVICTED, (after.queue_name, after.namespace, *by), new)
            if (reason, cause) not in old:
                self.tally.count(f.EVICTED_ONCE, (_queue(after), *by))
            ready, evicted = after.conditions.get(names.PODS_READY), after.conditions.get(names.EVICTED)
            if ready is not None and ready.true and evicted is not None:
                lasted = evicted.since - ready.since
                self.tally.observe(f.READY_TO_EVICTED, (_queue(after), reason, cause), lasted)

    def _preempted(self, workload: Workload) -> None:
        preempted = workload.conditions[names.PREEMPTED]
        by = _PREEMPTOR.search(preempted.message)
        self.tally.count(f.PREEMPTED, (by.group(1) if by else "", preempted.reason))

    def _released(self, before: Workload, after: Workload) -> None:
        evicted, reserved = after.conditions.get(names.EVICTED), after.conditions.get(names.QUOTA_RESERVED)
        if evicted is not None and evicted.true and reserved is not None and _queue(before):
            labels = (_queue(before), evicted.reason)
            self.tally.observe(f.EVICTION_LATENCY, labels, reserved.since - evicted.since)

    def _ended(self, workload: Workload) -> None:
        self._note(workload, f.FINISHED_TOTAL, f.LOCAL_FINISHED_TOTAL)
        if workload.admitted:
            lasted = workload.conditions[names.FINISHED].since - workload.conditions[names.ADMITTED].since
            self._note(workload, f.EXECUTION, f.LOCAL_EXECUTION, seconds=lasted)

    def _note(self, workload: Workload, family: Family, twin: Family, *, seconds: float | None = None) -> None:
        """For the ClusterQueue, and for the LocalQueue where it has series."""
        by = _class(workload)
        pairs: list[tuple[Family, Labels]] = [(family, (_queue(workload), by))]
        if self._shown(_local(workload)):
            pairs.append((twin, (workload.queue_name, workload.namespace, by)))
        for each, labels in pairs:
            if seconds is None:
                self.tally.count(each, labels)
            else:
                self.tally.observe(each, labels, seconds)


def queued_at(workload: Workload) -> float:
    """From when its wait counts: it was made, or sent back to its queue."""
    requeued = workload.conditions.get(names.REQUEUED)
    return requeued.since if requeued is not None else workload.created


def _queue(workload: Workload) -> str:
    return workload.admission.cluster_queue if workload.admission is not None else ""


def _local(workload: Workload) -> str:
    return f"{workload.namespace}/{workload.queue_name}"


def _class(workload: Workload) -> str:
    return workload.priority_class.name if workload.priority_class is not None else ""
