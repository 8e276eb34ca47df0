"""What the controller of Workloads does with one of them, in Kueue's order (Kueue 0.19).

Two-phase checks, back-off and PodsReady time-outs are not here yet; queues that name AdmissionChecks are inactive.
"""

from dataclasses import replace

from admission.model import names
from admission.model.effects import EmitEvent, Patch
from admission.model.workload import Workload
from admission.reconcile import transitions
from admission.reconcile.queues import inactivity
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes


def reconcile_workload(view: View, workload: Workload, now: float) -> Wishes:
    """The next step for this workload; at most one write."""
    if _orphan(view, workload):
        return _bury(workload, now)
    if workload.finished or workload.deleting:
        return NOTHING
    if not workload.active:
        return _deactivated(workload, now)
    target = workload.conditions.get(names.DEACTIVATION_TARGET)
    if target is not None and target.true:
        return Wishes(effects=(Patch(workload.ref, {"spec": {"active": False}}),))
    if workload.requeue_at is not None and not workload.reserved:
        if workload.requeue_at > now:
            return Wishes(wake_at=workload.requeue_at)
        return Wishes(replace(workload, requeue_at=None))
    requeued = _requeued_again(view, workload, now)
    if requeued is not None:
        return Wishes(requeued)
    moved = _follow_priority_class(view, workload)
    if moved is not None:
        return moved
    return _held(view, workload, now) if workload.reserved else NOTHING


def _orphan(view: View, workload: Workload) -> bool:
    """Nobody will remove its finalizer or finish it but us."""
    if not workload.owned:
        return workload.deleting or bool(workload.job_uid)
    if workload.owner is None:
        return False
    if not workload.deleting:
        return view.departed(workload.owner_uid)
    owner = view.job(workload.owner)
    return owner is None or owner.uid != workload.owner_uid or owner.deleting


def _bury(workload: Workload, now: float) -> Wishes:
    if not workload.deleting and not workload.finished:
        return Wishes(transitions.finish_because(workload, "OwnerNotFound", "The owner of the workload is gone", now))
    return Wishes(effects=drop_finalizer(workload))


def drop_finalizer(workload: Workload) -> tuple[Patch, ...]:
    """The patch that lets a Workload go, if it is still held."""
    if names.IN_USE not in workload.finalizers:
        return ()
    kept = [finalizer for finalizer in workload.finalizers if finalizer != names.IN_USE]
    return (Patch(workload.ref, {"metadata": {"finalizers": kept}}, resource_version=workload.resource_version),)


def _deactivated(workload: Workload, now: float) -> Wishes:
    if workload.evicted:
        if workload.requeue_at is None and not workload.requeue_count:
            return NOTHING
        return Wishes(replace(workload, requeue_at=None, requeue_count=0))
    target = workload.conditions.get(names.DEACTIVATION_TARGET)
    cause, why = (target.reason, f" due to {target.message}") if target is not None and target.true else ("", "")
    message = f"The workload is deactivated{why}"
    after = transitions.evict(workload, "Deactivated", message, now, cause=cause)
    kept = {word: one for word, one in after.conditions.items() if word != names.DEACTIVATION_TARGET}
    return Wishes(
        replace(after, conditions=kept, requeue_at=None, requeue_count=0),
        events=(evicted_event(workload, "Deactivated", message, cause),),
    )


def _requeued_again(view: View, workload: Workload, now: float) -> Workload | None:
    """Requeued=False turns True once what it waited for is over."""
    requeued = workload.conditions.get(names.REQUEUED)
    if requeued is None or requeued.true:
        return None
    queue = view.local_queue(workload.namespace, workload.queue_name)
    reason = ""
    if requeued.reason.startswith("Deactivated"):
        reason = "Reactivated"
    elif requeued.reason in ("PodsReadyTimeout", "AdmissionCheck"):
        reason = "BackoffFinished"
    elif requeued.reason == "LocalQueueStopped" and queue is not None and queue.stop_policy == "None":
        reason = "LocalQueueRestarted"
    elif requeued.reason == "ClusterQueueStopped" and queue is not None:
        cluster_queue = view.cluster_queue(queue.cluster_queue)
        if cluster_queue is not None and cluster_queue.stop_policy == "None":
            reason = "ClusterQueueRestarted"
    if not reason:
        return None
    return transitions.with_condition(workload, names.REQUEUED, True, reason, f"Requeued: {reason}", now)


def _follow_priority_class(view: View, workload: Workload) -> Wishes | None:
    """A WorkloadPriorityClass whose value was edited takes all its Workloads along, admitted ones too."""
    ref = workload.priority_class
    if ref is None or ref.kind != "WorkloadPriorityClass":
        return None
    found = view.workload_priority_class(ref.name)
    if found is None or found.value == workload.priority:
        return None
    return Wishes(effects=(Patch(workload.ref, {"spec": {"priority": found.value}}),))


def _held(view: View, workload: Workload, now: float) -> Wishes:
    """stopPolicy and the execution limit of a workload that holds quota (Kueue 0.19)."""
    if workload.evicted or workload.admission is None:
        return NOTHING
    local = view.local_queue(workload.namespace, workload.queue_name)
    cluster_queue = view.cluster_queue(workload.admission.cluster_queue)
    stopped = ""
    if local is not None and local.stop_policy == "HoldAndDrain":
        stopped, message = "LocalQueueStopped", f"The LocalQueue {local.name} is stopped"
    elif cluster_queue is not None and cluster_queue.stop_policy == "HoldAndDrain":
        stopped, message = "ClusterQueueStopped", f"The ClusterQueue {cluster_queue.name} is stopped"
    if workload.admitted:
        if stopped:
            return Wishes(
                transitions.evict(workload, stopped, message, now),
                events=(evicted_event(workload, stopped, message),),
            )
        return _execution_limit(workload, now)
    if local is None or cluster_queue is None or local.stop_policy != "None" or cluster_queue.stop_policy != "None":
        return Wishes(transitions.unreserve(workload, names.INADMISSIBLE, waiting_for_queue(view, workload), now))
    return NOTHING


def _execution_limit(workload: Workload, now: float) -> Wishes:
    limit = workload.maximum_execution_seconds
    if limit is None:
        return NOTHING
    end = workload.conditions[names.ADMITTED].since + limit - workload.accumulated_seconds
    if end > now:
        return Wishes(wake_at=end)
    after = transitions.with_condition(
        replace(workload, accumulated_seconds=0),
        names.DEACTIVATION_TARGET,
        True,
        "MaximumExecutionTimeExceeded",
        "exceeding the maximum execution time",
        now,
    )
    event = EmitEvent(
        workload.ref, workload.uid, "Warning", "MaximumExecutionTimeExceeded", "The maximum execution time is exceeded"
    )
    return Wishes(after, events=(event,))


def waiting_for_queue(view: View, workload: Workload) -> str:
    """Why its queues cannot take it up, or "" when they can (they are asked in Kueue's order)."""
    local = view.local_queue(workload.namespace, workload.queue_name)
    if local is None:
        return f"LocalQueue {workload.queue_name} doesn't exist"
    if local.stop_policy != "None" or local.deleting:
        return f"LocalQueue {workload.queue_name} is inactive"
    cluster_queue = view.cluster_queue(local.cluster_queue)
    if cluster_queue is None:
        return f"ClusterQueue {local.cluster_queue} doesn't exist"
    return f"ClusterQueue {cluster_queue.name} is inactive" if inactivity(view, cluster_queue) else ""


def evicted_event(workload: Workload, reason: str, message: str, cause: str = "") -> EmitEvent:
    suffix = f"DueTo{cause}" if cause else ""
    return EmitEvent(workload.ref, workload.uid, "Normal", f"EvictedDueTo{reason}{suffix}", message)
