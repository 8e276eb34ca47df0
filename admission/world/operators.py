"""What others do on a cluster and nobody does here: the Job controller with its pods, the owners of bare Workloads.

Pods start at once and are ready at once. They end when told so (`finish`, `stopped`), or by themselves `stop_after`
seconds after their job was stopped.
"""

from typing import Any

from admission.model.kinds import Ref
from admission.model.names import (
    ADMITTED,
    EVICTED,
    FINISHED,
    PODS_READY,
    QUOTA_RESERVED,
    REQUEUED,
)
from admission.model.times import seconds, stamp
from admission.world.clock import Clock
from admission.world.objects import Frozen, Object, condition, holds, with_conditions
from admission.world.server import JOB_CONTROLLER, ApiServer
from admission.world.store import Change

# Eviction reasons after which a workload may be queued again at once; after others something must happen first.
_REQUEUED_AT_ONCE = ("Preempted", "NodeFailures")


class NotPossible(LookupError):
    """What was asked of an operator cannot happen to this object now."""


class Operators:
    def __init__(self, api: ApiServer, clock: Clock, stop_after: float | None = None) -> None:
        self._api = api
        self._clock = clock
        self.stop_after = stop_after  # seconds until stopped pods are gone; None: only `stopped` says so
        self._jobs: dict[Ref, None] = {}
        self._stopping: dict[Ref, None] = {}
        api.listen(self._note)

    def step(self) -> bool:
        """Look after the jobs that changed; False when there are none."""
        jobs, self._jobs = list(self._jobs), {}
        for ref in jobs:
            self._run(ref)
        return bool(jobs)

    # what a scenario or a simulation tells

    def finish(self, ref: Ref) -> None:
        """The job completed with success."""
        found = self._found(ref)
        if ref.kind == "Job":
            self._write(ref, _completed(found, stamp(self._clock.now)))
        elif ref.kind == "Workload":
            done = self._condition(FINISHED, "True", "Succeeded", "Job finished successfully")
            self._write(ref, {"conditions": with_conditions(found, done)})
        elif ref.kind == "Pod":
            self._write(ref, {"phase": "Succeeded"})
        else:
            raise NotPossible(f"no operator here can finish {ref}: only a Job, a Pod or a Workload")

    def stopped(self, ref: Ref) -> None:
        """The pods of a stopped job are gone; of a bare Workload: its owner lets go of the quota."""
        found = self._found(ref)
        if ref.kind == "Job":
            self._write(ref, {"active": 0, "ready": 0, "terminating": 0})
        elif ref.kind == "Workload":
            self._release(ref, found)
        else:
            raise NotPossible(f"no operator here can stop {ref}: only a Job or a Workload")

    def ready(self, ref: Ref) -> None:
        """The pods of a bare Workload are all ready."""
        told = self._condition(PODS_READY, "True", "Started", "All pods reached readiness and the workload is running")
        self._write(ref, {"conditions": with_conditions(self._found(ref), told)})

    # what operators do by themselves

    def _note(self, change: Change) -> None:
        if change.type == "DELETED":
            return
        if change.ref.kind == "Job":
            self._jobs[change.ref] = None
        elif change.ref.kind == "Workload" and self.stop_after is not None and _evicted_bare(change.new):
            self._stop_later(change.ref)

    def _run(self, ref: Ref) -> None:
        job = self._api.peek(ref)
        if job is None or job["metadata"].get("deletionTimestamp") or job["spec"].get("managedBy"):
            return
        if holds(job, "Complete") or holds(job, "Failed"):
            return
        status = job.get("status") or {}
        if job["spec"].get("suspend"):
            if status.get("active") and self.stop_after is not None:
                self._stop_later(ref)
        elif not status.get("active"):
            count = pods_at_once(job)
            self._write(
                ref,
                {"startTime": status.get("startTime") or stamp(self._clock.now), "active": count, "ready": count},
            )

    def _stop_later(self, ref: Ref) -> None:
        if ref in self._stopping or self.stop_after is None:
            return
        self._stopping[ref] = None
        self._clock.at(self._clock.now + self.stop_after, lambda: self._stop_now(ref))

    def _stop_now(self, ref: Ref) -> None:
        self._stopping.pop(ref, None)
        found = self._api.peek(ref)
        if found is None:
            return
        if ref.kind == "Workload":
            if _evicted_bare(found):
                self.stopped(ref)
        elif found["spec"].get("suspend") and (found.get("status") or {}).get("active"):
            self.stopped(ref)

    def _release(self, ref: Ref, workload: Frozen) -> None:
        evicted = condition(workload, EVICTED)
        if evicted is None or evicted["status"] != "True":
            raise NotPossible(f"{ref} has not been evicted, so nothing of it can have stopped")
        at_once = evicted["reason"] in _REQUEUED_AT_ONCE
        message = evicted.get("message", "")
        changes = [
            self._condition(REQUEUED, "True" if at_once else "False", evicted["reason"], message),
            self._condition(QUOTA_RESERVED, "False", "Pending", message),
        ]
        status: Object = {"admission": None}
        admitted = condition(workload, ADMITTED)
        if admitted is not None and admitted["status"] == "True":
            changes.append(self._condition(ADMITTED, "False", "NoReservation", "The workload has no reservation"))
            before = (workload.get("status") or {}).get("accumulatedPastExecutionTimeSeconds") or 0
            ran = int(self._clock.now - seconds(admitted["lastTransitionTime"]))
            status["accumulatedPastExecutionTimeSeconds"] = before + ran
        status["conditions"] = with_conditions(workload, *changes)
        self._write(ref, status)

    def _condition(self, type: str, status: str, reason: str, message: str) -> Object:
        now = stamp(self._clock.now)
        return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}

    def _found(self, ref: Ref) -> Frozen:
        found = self._api.peek(ref)
        if found is None:
            raise NotPossible(f"{ref} does not exist at this moment")
        return found

    def _write(self, ref: Ref, status: dict[str, Any]) -> None:
        answer = self._api.patch(ref, {"status": status}, subresource="status", user=JOB_CONTROLLER)
        if not answer.ok:
            raise NotPossible(f"the status of {ref} could not be written: {answer.message}")


def pods_at_once(job: Frozen) -> int:
    """How many pods a started Job runs now."""
    spec, done = job["spec"], (job.get("status") or {}).get("succeeded") or 0
    parallelism = int(spec.get("parallelism", 1))
    completions = spec.get("completions")
    return parallelism if completions is None else min(parallelism, max(int(completions) - done, 0))


def _completed(job: Frozen, now: str) -> Object:
    ends = [
        {
            "type": ending,
            "status": "True",
            "reason": "CompletionsReached",
            "message": "Reached expected number of succeeded pods",
            "lastProbeTime": now,
            "lastTransitionTime": now,
        }
        for ending in ("SuccessCriteriaMet", "Complete")
    ]
    status = job.get("status") or {}
    return {
        "active": 0,
        "ready": 0,
        "terminating": 0,
        "succeeded": job["spec"].get("completions") or job["spec"].get("parallelism") or 1,
        "startTime": status.get("startTime") or now,
        "completionTime": now,
        "conditions": with_conditions(job, *ends),
    }


def _evicted_bare(workload: Frozen) -> bool:
    owned = workload["metadata"].get("ownerReferences")
    return not owned and holds(workload, EVICTED) and holds(workload, QUOTA_RESERVED)
