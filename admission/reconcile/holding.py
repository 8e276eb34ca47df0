"""What may happen to a workload while it holds quota: its checks pass or fail, its queues stop, it takes too long.

The order is Kueue's (0.19): checks, LocalQueue, ClusterQueue, PodsReady, maximum execution time.
"""

from dataclasses import replace

from admission.model import names
from admission.model.configuration import WaitForPodsReady
from admission.model.effects import EmitEvent
from admission.model.queues import ClusterQueue, LocalQueue
from admission.model.workload import Workload
from admission.reconcile import checks, transitions
from admission.reconcile.events import admitted_event, evicted_event
from admission.reconcile.queues import inactivity
from admission.reconcile.unadmitted import queue_reason
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes


def reconcile_holder(view: View, workload: Workload, now: float) -> Wishes:
    """The next step for a workload that holds quota."""
    if workload.evicted or workload.admission is None:
        return NOTHING
    queue = view.cluster_queue(workload.admission.cluster_queue)
    if queue is not None:
        after = checks.in_step(workload, queue, workload.admission, now)
        if not after.admitted and checks.passed(after):
            return _admit(after, queue, now)
        if after is not workload:
            return Wishes(after)
    failed = checks.verdict(workload, now)
    if failed is not None:
        return failed
    local = view.local_queue(workload.namespace, workload.queue_name)
    if not workload.admitted:
        return _waiting_for_checks(view, workload, local, queue, now)
    stopped = _stopped(local, queue)
    if stopped is not None:
        return Wishes(transitions.evict(workload, *stopped, now), events=(evicted_event(workload, *stopped),))
    return _limits(view, workload, now)


def _admit(workload: Workload, queue: ClusterQueue, now: float) -> Wishes:
    reserved = workload.conditions[names.QUOTA_RESERVED].since
    event = admitted_event(workload, queue.name, reserved, now)
    return Wishes(transitions.admit(workload, now), events=(event,))


def _stopped(local: LocalQueue | None, queue: ClusterQueue | None) -> tuple[str, str] | None:
    """Reason and message of the eviction that a draining queue asks for."""
    if local is not None and local.stop_policy == "HoldAndDrain":
        return "LocalQueueStopped", "The LocalQueue is stopped"
    if queue is not None and queue.stop_policy == "HoldAndDrain":
        return "ClusterQueueStopped", "The ClusterQueue is stopped"
    return None


def _waiting_for_checks(
    view: View, workload: Workload, local: LocalQueue | None, queue: ClusterQueue | None, now: float
) -> Wishes:
    """It has not started, so a queue that stops or goes simply takes the reservation back."""
    open_for_it = (
        local is not None
        and not local.deleting
        and local.stop_policy == "None"
        and queue is not None
        and not queue.deleting
        and queue.stop_policy == "None"
    )
    if open_for_it:
        return NOTHING
    problem = waiting_for_queue(view, workload)
    return Wishes(transitions.unreserve(workload, queue_reason(view.configuration.gates, problem), problem, now))


def _limits(view: View, workload: Workload, now: float) -> Wishes:
    """Of time: until its pods are ready, and for its whole run."""
    wait = view.configuration.wait_for_pods_ready
    late = _pods_ready_late(workload, wait) if wait is not None else None
    if late is not None and wait is not None and late[0] <= now:
        return _pods_not_ready(workload, wait, late[1], now)
    end = _execution_end(view, workload)
    if end is not None and end <= now:
        return _executed_too_long(workload, now)
    times = [time for time in (late[0] if late is not None else None, end) if time is not None]
    return Wishes(wake_at=min(times)) if times else NOTHING


def _pods_ready_late(workload: Workload, wait: WaitForPodsReady) -> tuple[float, str] | None:
    """When its pods must be ready, and what it is waiting for; None when they are."""
    ready = workload.conditions.get(names.PODS_READY)
    if ready is not None and ready.true:
        return None
    if ready is not None and ready.reason == "WaitForRecovery":
        return None if wait.recovery_timeout is None else (ready.since + wait.recovery_timeout, "WaitForRecovery")
    return workload.conditions[names.ADMITTED].since + wait.timeout, "WaitForStart"


def _pods_not_ready(workload: Workload, wait: WaitForPodsReady, cause: str, now: float) -> Wishes:
    count = workload.requeue_count + 1
    if wait.backoff_limit_count is not None and count > wait.backoff_limit_count:
        message = "exceeding the maximum number of re-queuing retries"
        after = transitions.with_condition(
            workload, names.DEACTIVATION_TARGET, True, "RequeuingLimitExceeded", message, now
        )
        return Wishes(after) if after is not workload else NOTHING
    # Doubled in whole seconds: 2**60 bases are beyond every maximum.
    delay = min(wait.backoff_base_seconds * 2 ** min(count - 1, 60), wait.backoff_max_seconds)
    message = f"Exceeded the PodsReady timeout {workload.key}"
    after = transitions.evict(workload, "PodsReadyTimeout", message, now, cause=cause)
    after = replace(after, requeue_count=count, requeue_at=max(now + delay, workload.requeue_at or 0.0))
    return Wishes(after, events=(evicted_event(workload, "PodsReadyTimeout", message, cause),))


def _execution_end(view: View, workload: Workload) -> float | None:
    limit = view.longest_run(workload)
    if limit is None:
        return None
    return workload.conditions[names.ADMITTED].since + limit - workload.accumulated_seconds


def _executed_too_long(workload: Workload, now: float) -> Wishes:
    reason = "MaximumExecutionTimeExceeded"
    after = transitions.with_condition(
        replace(workload, accumulated_seconds=0),
        names.DEACTIVATION_TARGET,
        True,
        reason,
        "exceeding the maximum execution time",
        now,
    )
    event = EmitEvent(workload.ref, workload.uid, "Warning", reason, "The maximum execution time is exceeded")
    return Wishes(after, events=(event,))


def waiting_for_queue(view: View, workload: Workload) -> str:
    """Why its queues cannot take it up, or "" when they can (they are asked in Kueue's order)."""
    local = view.local_queue(workload.namespace, workload.queue_name)
    if local is None:
        return f"LocalQueue {workload.queue_name} doesn't exist"
    if local.stop_policy != "None" or local.deleting:
        return f"LocalQueue {workload.queue_name} is inactive"
    queue = view.cluster_queue(local.cluster_queue)
    if queue is None:
        return f"ClusterQueue {local.cluster_queue} doesn't exist"
    return f"ClusterQueue {queue.name} is inactive" if inactivity(view, queue) else ""
