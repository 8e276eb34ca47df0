"""What the controller of Workloads does with one of them, in Kueue's order (Kueue 0.19)."""

from dataclasses import replace

from admission.model import names
from admission.model.effects import Delete, EmitEvent, Patch
from admission.model.kinds import KINDS, kind_of
from admission.model.workload import Workload
from admission.reconcile import checks, transitions, unadmitted
from admission.reconcile.events import evicted_event
from admission.reconcile.holding import reconcile_holder
from admission.reconcile.requeueing import reconcile_requeueing
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes


def reconcile_workload(view: View, workload: Workload, now: float) -> Wishes:
    """The next step for this workload; at most one write of its status."""
    wishes = _next(view, workload, now)
    if wishes.effects or not unadmitted.observed(view.configuration.gates):
        return wishes
    after = wishes.workload or workload
    spelled = unadmitted.spelled_out(after, now)
    return wishes if spelled is after else replace(wishes, workload=spelled)


def _next(view: View, workload: Workload, now: float) -> Wishes:
    if _orphan(view, workload):
        return _bury(view, workload, now)
    if workload.finished:
        return _retain(view, workload, now)
    if workload.deleting:
        return NOTHING
    moved = _follow_priority_class(view, workload)
    if moved is not None:
        return moved
    if not workload.active:
        return _deactivated(view, workload, now)
    if workload.is_true(names.DEACTIVATION_TARGET):
        return Wishes(effects=(Patch(workload.ref, {"spec": {"active": False}}),))
    if workload.reserved:
        return reconcile_holder(view, workload, now)
    requeueing = reconcile_requeueing(view, workload, now)
    if requeueing is not None:
        return requeueing
    gated = _gated(view, workload, now)
    return gated if gated is not None else _show_checks(view, workload, now)


def _gated(view: View, workload: Workload, now: float) -> Wishes | None:
    """Gates of the annotation admission-gated-by keep it out of its queue; both ends of that are told."""
    condition = workload.conditions.get(names.QUOTA_RESERVED)
    told = condition is not None and condition.reason == "AdmissionGated"
    if bool(workload.gated_by) == told:
        return None
    if workload.gated_by:
        reason, event, message = "AdmissionGated", "AdmissionGated", f"Admission is gated by: {workload.gated_by}"
    else:
        reason, event = (
            unadmitted.reason(view.configuration.gates, unadmitted.PENDING_EVALUATION),
            "AdmissionGateCleared",
        )
        message = "AdmissionGatedBy cleared, waiting for quota reservation"
    after = transitions.with_condition(workload, names.QUOTA_RESERVED, False, reason, message, now)
    return Wishes(after, events=(EmitEvent(workload.ref, workload.uid, "Normal", event, message),))


def _show_checks(view: View, workload: Workload, now: float) -> Wishes:
    """While it waits, the checks that it will have to pass whatever flavors it gets; in a stopped LocalQueue those that
    it had."""
    local = view.local_queue(workload.namespace, workload.queue_name)
    if local is None or local.stop_policy != "None":
        return NOTHING
    queue = view.cluster_queue(local.cluster_queue)
    after = checks.in_step(workload, queue, None, now) if queue is not None else workload
    if after is workload:
        return NOTHING
    shown_at = workload.created + checks.SHOWN_AFTER
    return Wishes(wake_at=shown_at) if now < shown_at else Wishes(after)


def _retain(view: View, workload: Workload, now: float) -> Wishes:
    """A finished Workload goes when nobody needs to look at it any more."""
    kept_for = view.configuration.retention.after_finished
    if kept_for is None or workload.deleting:
        return NOTHING
    end = workload.conditions[names.FINISHED].since + kept_for
    if now < end:
        return Wishes(wake_at=end)
    dropped = drop_finalizer(workload)
    if dropped:
        return Wishes(effects=dropped)
    event = EmitEvent(
        workload.ref, workload.uid, "Normal", "Deleted", "Deleted finished workload due to elapsed retention"
    )
    return Wishes(effects=(Delete(workload.ref, workload.uid),), events=(event,))


def _orphan(view: View, workload: Workload) -> bool:
    """Nobody will remove its finalizer or finish it but us."""
    if not workload.owned:
        return workload.deleting or bool(workload.job_uid)
    if workload.owner is None or not _is_of_jobs(view, workload.owner.kind):
        return False
    if not workload.deleting:
        return view.departed(workload.owner_uid)
    owner = view.job_of(workload.owner_uid)
    return owner is None or owner.deleting


def _is_of_jobs(view: View, kind: str) -> bool:
    """Whether owners of this kind are ours to speak for; others have a controller of their own that does."""
    if kind in KINDS:
        return True
    served = kind_of(kind)
    return view.job_kinds.named(served.group, served.kind) is not None


def _bury(view: View, workload: Workload, now: float) -> Wishes:
    if not workload.deleting and not workload.finished and view.configuration.gates["FinishOrphanedWorkloads"]:
        return Wishes(transitions.finish_because(workload, "OwnerNotFound", "The owner of the workload is gone", now))
    return Wishes(effects=drop_finalizer(workload))


def drop_finalizer(workload: Workload) -> tuple[Patch, ...]:
    """The patch that lets a Workload go, if it is still held."""
    if names.IN_USE not in workload.finalizers:
        return ()
    kept = [finalizer for finalizer in workload.finalizers if finalizer != names.IN_USE]
    return (Patch(workload.ref, {"metadata": {"finalizers": kept}}, resource_version=workload.resource_version),)


def _deactivated(view: View, workload: Workload, now: float) -> Wishes:
    if workload.evicted:
        after = _forgiven(workload)
        if after != workload:
            return Wishes(after)
        return NOTHING if workload.reserved else _show_checks(view, workload, now)
    target = workload.conditions.get(names.DEACTIVATION_TARGET)
    cause, why = (target.reason, f" due to {target.message}") if target is not None and target.true else ("", "")
    message = f"The workload is deactivated{why}"
    after = transitions.evict(workload, "Deactivated", message, now, cause=cause)
    return Wishes(_forgiven(after), events=(evicted_event(workload, "Deactivated", message, cause),))


def _forgiven(workload: Workload) -> Workload:
    """Whoever activates it again finds nothing left of why it was deactivated, not even where it had to leave for
    another reason meanwhile."""
    kept = {word: one for word, one in workload.conditions.items() if word != names.DEACTIVATION_TARGET}
    return replace(workload, conditions=kept, requeue_at=None, requeue_count=0)


def _follow_priority_class(view: View, workload: Workload) -> Wishes | None:
    """A WorkloadPriorityClass whose value was edited takes all its Workloads along, admitted ones too."""
    ref = workload.priority_class
    if ref is None or ref.kind != "WorkloadPriorityClass":
        return None
    found = view.workload_priority_class(ref.name)
    if found is None or found.value == workload.priority:
        return None
    return Wishes(effects=(Patch(workload.ref, {"spec": {"priority": found.value}}),))
