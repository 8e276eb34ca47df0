"""How a workload that had to leave gets back into its queue: after its back-off, or once what stopped it is over."""

from dataclasses import replace

from admission.model import names
from admission.model.workload import Workload
from admission.reconcile import checks, transitions
from admission.reconcile.view import View
from admission.reconcile.wishes import Wishes


def reconcile_requeueing(view: View, workload: Workload, now: float) -> Wishes | None:
    """The next step of a workload without a reservation; None when it waits like any other."""
    again = checks.late_retry(workload, now)
    if again is not None:
        return Wishes(again)
    if workload.requeue_at is not None and workload.requeue_at > now:
        return Wishes(wake_at=workload.requeue_at)
    after = workload if workload.requeue_at is None else replace(workload, requeue_at=None)
    after = _requeued(view, after, now)
    return Wishes(after) if after is not workload else None


def _requeued(view: View, workload: Workload, now: float) -> Workload:
    """Requeued=False turns True once what it waited for is over."""
    requeued = workload.conditions.get(names.REQUEUED)
    if requeued is None or requeued.true:
        return workload
    reason = _over(view, workload, requeued.reason)
    if not reason:
        return workload
    return transitions.with_condition(workload, names.REQUEUED, True, reason, _WORDS[reason], now)


_WORDS = {
    "Reactivated": "The workload was reactivated",
    "BackoffFinished": "The workload backoff was finished",
    "LocalQueueRestarted": "The LocalQueue was restarted after being stopped",
    "ClusterQueueRestarted": "The ClusterQueue was restarted after being stopped",
}


def _over(view: View, workload: Workload, reason: str) -> str:
    """The reason of Requeued=True, or "" while it still holds."""
    if reason.startswith("Deactivated"):
        return "Reactivated"
    if reason in ("PodsReadyTimeout", "AdmissionCheck"):
        return "BackoffFinished"
    local = view.local_queue(workload.namespace, workload.queue_name)
    if local is None or local.stop_policy != "None":
        return ""
    if reason == "LocalQueueStopped":
        return "LocalQueueRestarted"
    queue = view.cluster_queue(local.cluster_queue)
    if reason == "ClusterQueueStopped" and queue is not None and queue.stop_policy == "None":
        return "ClusterQueueRestarted"
    return ""
