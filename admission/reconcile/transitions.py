"""How a Workload's status changes: reserve, admit, evict, give back, finish. A Workload in, the next one out.

Each is one status write in Kueue (Kueue 0.19) and one here.
"""

from collections.abc import Mapping
from dataclasses import replace

from admission.model import names
from admission.model.workload import Admission, CheckState, Condition, Workload

_MESSAGE_LIMIT = 32768  # metav1.Condition's own


def with_condition(workload: Workload, type: str, status: bool, reason: str, message: str, now: float) -> Workload:
    """The condition set; its transition time moves only when its status does."""
    conditions = set_condition(workload.conditions, type, status, reason, message, now, workload.generation)
    return workload if conditions is workload.conditions else workload.but(conditions=conditions)


def set_condition(
    conditions: Mapping[str, Condition], type: str, status: bool, reason: str, message: str, now: float, generation: int
) -> Mapping[str, Condition]:
    """The same mapping when nothing would change that a reader cares for."""
    word = "True" if status else "False"
    message = message[:_MESSAGE_LIMIT]
    old = conditions.get(type)
    if old is not None and (old.status, old.reason, old.message) == (word, reason, message):
        return conditions
    since = old.since if old is not None and old.status == word else now
    return {**conditions, type: Condition(type, word, reason, message, since, generation)}


def reserve(workload: Workload, admission: Admission, now: float, *, admit: bool) -> Workload:
    """Quota is reserved; with `admit` (no check is to be waited for) the workload is admitted in the same write."""
    conditions, generation = workload.conditions, workload.generation

    def turn(type: str, status: bool, reason: str, message: str) -> None:
        nonlocal conditions
        conditions = set_condition(conditions, type, status, reason, message, now, generation)

    turn(names.QUOTA_RESERVED, True, "QuotaReserved", f"Quota reserved in ClusterQueue {admission.cluster_queue}")
    for past in (names.EVICTED, names.PREEMPTED):
        old = conditions.get(past)
        if old is not None and old.true:
            turn(past, False, "QuotaReserved", f"Previously: {old.message}")
    if admit:
        turn(names.ADMITTED, True, "Admitted", "The workload is admitted")
    return workload.but(admission=admission, conditions=conditions, resource_requests=())


def unreserve(workload: Workload, reason: str, message: str, now: float) -> Workload:
    """Gives the quota back; the time it ran as admitted is added up."""
    after = replace(workload, admission=None)
    after = with_condition(after, names.QUOTA_RESERVED, False, reason, message, now)
    if workload.is_true(names.PODS_READY) and workload.owner is not None:
        after = not_started(after, now)
    admitted = workload.conditions.get(names.ADMITTED)
    if admitted is not None and admitted.true:
        after = replace(after, accumulated_seconds=workload.accumulated_seconds + int(max(0.0, now - admitted.since)))
        if all(check.state == "Ready" for check in workload.checks):
            reason, words = "NoReservation", "The workload has no reservation"
        else:
            reason, words = "NoReservationUnsatisfiedChecks", "The workload has no reservation and not all checks ready"
        after = with_condition(after, names.ADMITTED, False, reason, words, now)
    return after


def not_started(workload: Workload, now: float) -> Workload:
    """The pods of its job are still to come."""
    message = "Not all pods are ready or succeeded"
    return with_condition(workload, names.PODS_READY, False, "WaitForStart", message, now)


def admit(workload: Workload, now: float) -> Workload:
    """All checks have passed: its job may start."""
    return with_condition(workload, names.ADMITTED, True, "Admitted", "The workload is admitted", now)


def evict(workload: Workload, reason: str, message: str, now: float, *, cause: str = "") -> Workload:
    """Asks the job to stop. Quota stays held until it has, and checks start anew (Kueue 0.19)."""
    shown = f"{reason}DueTo{cause}" if cause and reason == "Deactivated" else reason
    after = with_condition(reset_checks(workload, now), names.EVICTED, True, shown, message, now)
    counts = {(r, c): n for r, c, n in workload.evictions}
    counts[(reason, cause)] = counts.get((reason, cause), 0) + 1
    return replace(after, evictions=tuple((r, c, n) for (r, c), n in counts.items()))


def reset_checks(workload: Workload, now: float) -> Workload:
    """Every check starts anew. `requeueAfterSeconds` stays, so that its controller sees what it asked for."""
    checks = tuple([_anew(check, now) for check in workload.checks])
    return workload if checks == workload.checks else workload.but(checks=checks)


def _anew(check: CheckState, now: float) -> CheckState:
    if check.state == "Pending":
        return check
    retries = (check.retry_count or 0) + 1 if check.state == "Retry" else None
    message = f"Reset to Pending after eviction. Previously: {check.state}"
    return CheckState(check.name, "Pending", now, message, check.requeue_after, retries)


def preempt(workload: Workload, reason: str, message: str, now: float) -> Workload:
    """Evicted to make room; `reason` says by which rule."""
    after = evict(workload, "Preempted", message, now)
    return with_condition(after, names.PREEMPTED, True, reason, message, now)


def requeue_after_stop(workload: Workload, now: float, reason: str = names.PENDING) -> Workload:
    """The job of an evicted workload has no pods left: back to waiting, or to whatever its eviction asks for. `reason`:
    why it holds no quota now."""
    evicted = workload.conditions[names.EVICTED]
    back = evicted.reason in ("Preempted", "NodeFailures")
    after = with_condition(workload, names.REQUEUED, back, evicted.reason, evicted.message, now)
    return unreserve(after, reason, evicted.message, now)


def finish(workload: Workload, succeeded: bool, message: str, now: float) -> Workload:
    return with_condition(workload, names.FINISHED, True, "Succeeded" if succeeded else "Failed", message, now)


def finish_because(workload: Workload, reason: str, message: str, now: float) -> Workload:
    """Ends without its job's word: OwnerNotFound, OutOfSync, FailedToStart."""
    return with_condition(workload, names.FINISHED, True, reason, message, now)
