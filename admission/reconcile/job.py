"""What the controller of jobs does with one of them, in Kueue's order (Kueue 0.19): one step a pass.

Each step is one request, so a crash between any two leaves a state from which the next pass goes on.
"""

from collections.abc import Iterable, Sequence

from admission.jobs.workload import equivalent, workload_name
from admission.model import names
from admission.model.effects import (
    CreateWorkload,
    Delete,
    Effect,
    EmitEvent,
    Patch,
    RestoreJob,
    UpdateWorkload,
)
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.workload import Workload
from admission.reconcile import transitions, unadmitted
from admission.reconcile.ancestors import NestedTooDeeply, ancestry
from admission.reconcile.borrowed import hold_for, is_unheard_of, lacking
from admission.reconcile.children import follow
from admission.reconcile.descriptions import note_description
from admission.reconcile.pods_ready import reclaimed, with_readiness
from admission.reconcile.priority import priority_of
from admission.reconcile.queue_from import with_queue
from admission.reconcile.starting import start
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes
from admission.reconcile.workload import drop_finalizer


def is_managed(view: View, job: Job) -> bool:
    """Ours to queue: in a namespace that is managed, below no job that is, with a queue name (or all are managed)."""
    if job.skipped or not _in_managed_namespace(view, job) or ancestry(view, job).topmost is not None:
        return False
    return bool(job.queue_name) or view.configuration.manage_jobs_without_queue_name


def _in_managed_namespace(view: View, job: Job) -> bool:
    namespace = view.namespace(job.ref.namespace)
    return namespace is not None and view.configuration.managed_jobs_namespace_selector.matches(namespace.labels)


def reconcile_job(view: View, job: Job, now: float) -> Wishes:
    """The next step for this job and its Workload."""
    owned = view.workloads_of(job.uid)
    if job.deleting:
        return _let_go(view, owned, now)
    if job.stopping:
        return Wishes(effects=(_finish_stopping(view, job, owned),))
    if job.skipped or not _in_managed_namespace(view, job):
        return NOTHING
    try:
        above = ancestry(view, job)
    except NestedTooDeeply as problem:
        return Wishes(events=(EmitEvent(job.ref, job.uid, "Warning", "JobNestingTooDeep", str(problem)),))
    if above.unknown is not None:
        return Wishes(seek=above.unknown)
    if above.topmost is not None:
        # Its ancestor's Workload counts for it, too: it has none of its own.
        if owned:
            return Wishes(effects=_remove(owned[0]), events=_removed(job, owned[0]))
        return follow(view, job, above.topmost, now)
    if not job.queue_name and not view.configuration.manage_jobs_without_queue_name:
        return NOTHING
    if is_unheard_of(view, job):
        return NOTHING
    if (noted := note_description(job, owned)) is not None:
        return noted
    workload, surplus = _match(job, owned)
    if workload is None and surplus:
        return _mismatch(view, job, surplus, now)
    if surplus:
        return Wishes(effects=_remove(surplus[0]), events=_removed(job, surplus[0]))
    if workload is None:
        return with_queue(view, job, _without_workload(view, job, now))
    return with_queue(view, job, _with_workload(view, job, workload, now))


def _let_go(view: View, owned: Iterable[Workload], now: float) -> Wishes:
    for workload in owned:
        if not workload.finished and not workload.deleting and view.configuration.gates["FinishOrphanedWorkloads"]:
            return Wishes(transitions.finish_because(workload, "OwnerNotFound", "The owner is being deleted", now))
        dropped = drop_finalizer(workload)
        if dropped:
            return Wishes(effects=dropped)
    return NOTHING


def _match(job: Job, owned: Iterable[Workload]) -> tuple[Workload | None, list[Workload]]:
    """The Workload that says what the job says, and those that do not."""
    found: Workload | None = None
    surplus = []
    for workload in owned:
        if found is None and equivalent(job, workload):
            found = workload
        else:
            surplus.append(workload)
    return found, surplus


def _mismatch(view: View, job: Job, owned: Sequence[Workload], now: float) -> Wishes:
    """The job was changed under its Workload: update it where that is safe, else stop the job and start over."""
    workload = owned[0]
    if workload.deleting:
        return Wishes(effects=drop_finalizer(workload))
    if workload.finished or job.end is not None:
        return NOTHING
    if not job.suspended:
        return _stop(view, job, owned, "No matching Workload")
    if lack := lacking(view, job):
        return hold_for(job, workload, lack, now)
    if not workload.reserved:
        found = priority_of(view, job)
        if isinstance(found, EmitEvent):
            return Wishes(events=(found,))
        update = UpdateWorkload(workload.ref, job.ref, job.uid, workload.resource_version, found.value, found.ref)
        return Wishes(effects=(update,), events=(_updated(job, workload),))
    return Wishes(effects=_remove(workload), events=_removed(job, workload))


def _remove(workload: Workload) -> tuple[Effect, ...]:
    """Deletes a Workload that no longer speaks for its job, its finalizer first."""
    dropped = drop_finalizer(workload)
    if dropped:
        return dropped
    return () if workload.deleting else (Delete(workload.ref, workload.uid),)


def _updated(job: Job, workload: Workload) -> EmitEvent:
    message = f"Updated not matching Workload for suspended job: {workload.key}"
    return EmitEvent(job.ref, job.uid, "Normal", "UpdatedWorkload", message)


def _removed(job: Job, workload: Workload) -> tuple[EmitEvent, ...]:
    """Told with the deletion itself, not with the finalizer that goes before it."""
    if names.IN_USE in workload.finalizers or workload.deleting:
        return ()
    message = f"Deleted not matching Workload: {workload.key}"
    return (EmitEvent(job.ref, job.uid, "Normal", "DeletedWorkload", message),)


def _without_workload(view: View, job: Job, now: float) -> Wishes:
    if job.end is not None:
        return NOTHING  # it ran without us, or its Workload was cleared away: a finished job never queues again
    if not job.suspended:
        if view.job_kinds[job.ref.kind].stop == "Delete":  # it may be older than we are: nothing of it would be left
            return _cannot_stop(job, "it runs without having been admitted")
        return _stop(view, job, (), "Missing Workload; unable to restore pod templates")
    if job.active:
        return NOTHING
    if problem := lacking(view, job) or job.problem:
        return Wishes(events=(EmitEvent(job.ref, job.uid, "Warning", "ErrWorkloadCompose", problem),))
    found = priority_of(view, job)
    if isinstance(found, EmitEvent):
        return Wishes(events=(found,))
    short = view.configuration.gates["ShortWorkloadNames"]
    name = workload_name(job.ref.kind, job.ref.name, job.uid, short=short)
    ref = Ref("Workload", job.ref.namespace, name)
    keys = (*view.configuration.label_keys_to_copy, *view.marks)
    return Wishes(effects=(CreateWorkload(ref, job.ref, job.uid, found.value, found.ref, keys),))


def _with_workload(view: View, job: Job, workload: Workload, now: float) -> Wishes:
    if workload.finished:
        return Wishes(effects=drop_finalizer(workload))
    if workload.deleting:
        if not job.suspended:
            return _stop(view, job, (workload,), "Workload is deleted")
        return Wishes(effects=drop_finalizer(workload))
    if job.on_hold:
        if not workload.reserved:
            return NOTHING
        return Wishes(transitions.unreserve(workload, names.ON_HOLD, "Job is on hold", now))
    if lack := lacking(view, job):
        return hold_for(job, workload, lack, now)
    if job.end is not None:
        message = f"Workload '{workload.key}' is declared finished"
        event = EmitEvent(job.ref, job.uid, "Normal", "FinishedWorkload", message)
        return Wishes(transitions.finish(workload, job.end.succeeded, job.end.message, now), events=(event,))
    if workload.on_hold:
        why = unadmitted.reason(view.configuration.gates, unadmitted.PENDING_EVALUATION)
        message = "Workload no longer on hold; waiting for quota reservation"
        return Wishes(transitions.with_condition(workload, names.QUOTA_RESERVED, False, why, message, now))
    relabelled = _follow_labels(view, job, workload)
    if relabelled is not None:
        return relabelled
    told = _of_its_pods(view, job, workload, now)
    if told is not workload:
        return Wishes(told)
    if workload.evicted and workload.reserved:
        return _leave(view, job, workload, now)
    if job.suspended:
        if workload.evicted and not workload.active:
            return _retain(view, job, workload, now)
        if not workload.admitted:
            return _held_back(job, workload)
        return start(view, job, workload, now) if not workload.evicted else NOTHING
    if not workload.admitted:
        return _stop(view, job, (workload,), "Not admitted by cluster queue")
    return NOTHING


def _of_its_pods(view: View, job: Job, workload: Workload, now: float) -> Workload:
    """The Workload with what the job's pods say: which are needed no more, and whether they are ready."""
    after = workload
    if view.configuration.gates["ReclaimablePods"] and not workload.asks_by_now:  # else of other pod sets
        needless = reclaimed(job, workload)
        if needless != workload.reclaimable:
            after = after.but(reclaimable=needless)
    # Until it is admitted the condition says nothing new; it comes with the writes of others.
    if view.configuration.wait_for_pods_ready is not None and workload.admitted and not workload.evicted:
        after = with_readiness(job, after, now)
    return after


def _held_back(job: Job, workload: Workload) -> Wishes:
    """It holds quota and waits for its checks: their words reach the job's author."""
    if not workload.reserved:
        return NOTHING
    words = [
        f"{check.name}: {check.message}" for check in workload.checks if check.state == "Pending" and check.message
    ]
    if not words:
        return NOTHING
    return Wishes(events=(EmitEvent(job.ref, job.uid, "Normal", "UpdatedAdmissionCheck", "; ".join(words)),))


def _retain(view: View, job: Job, workload: Workload, now: float) -> Wishes:
    """A job that we deactivated, not its author, is deleted some time after, where that is configured."""
    kept_for, evicted = view.configuration.retention.after_deactivated, workload.conditions[names.EVICTED]
    if kept_for is None or job.active or not evicted.reason.startswith("DeactivatedDueTo"):
        return NOTHING
    end = evicted.since + kept_for
    if now < end:
        return Wishes(wake_at=end)
    event = EmitEvent(job.ref, job.uid, "Normal", "Deleted", "Deleted job: deactivation retention period expired")
    return Wishes(effects=(Delete(job.ref, job.uid),), events=(event,))


def _follow_labels(view: View, job: Job, workload: Workload) -> Wishes | None:
    """Queue, gates and priority class of the job, carried over to its Workload where Kueue allows it (Kueue 0.19)."""
    if job.suspended and not workload.reserved and job.queue_name != workload.queue_name:
        return Wishes(effects=(Patch(workload.ref, {"spec": {"queueName": job.queue_name or None}}),))
    if _gates(job.gated_by) < _gates(workload.gated_by):  # they can only be removed
        fewer = {"metadata": {"annotations": {names.ADMISSION_GATED_BY: job.gated_by or None}}}
        message = f'Updated workload AdmissionGatedBy to "{job.gated_by}"'
        event = EmitEvent(job.ref, job.uid, "Normal", "UpdatedWorkload", message)
        return Wishes(effects=(Patch(workload.ref, fewer),), events=(event,))
    ref = workload.priority_class
    if not job.priority_class or (ref is not None and ref.kind != "WorkloadPriorityClass"):
        return None
    if (ref is None and workload.reserved) or (ref is not None and ref.name == job.priority_class):
        return None
    found = priority_of(view, job)
    if isinstance(found, EmitEvent):
        return Wishes(events=(found,))
    body = {"spec": {"priority": found.value, "priorityClassRef": found.ref_json()}}
    return Wishes(effects=(Patch(workload.ref, body),))


def _gates(annotation: str) -> set[str]:
    return {gate.strip() for gate in annotation.split(",")} - {""}


def _leave(view: View, job: Job, workload: Workload, now: float) -> Wishes:
    if not job.suspended:
        return _stop(view, job, (workload,), workload.conditions[names.EVICTED].message)
    if job.active:
        return NOTHING
    reason = unadmitted.reason(view.configuration.gates, unadmitted.PENDING_EVALUATION)
    return Wishes(transitions.requeue_after_stop(workload, now, reason))


def _stop(view: View, job: Job, owned: Sequence[Workload], message: str) -> Wishes:
    """Holds a job that runs, in as many writes as its kind needs. Of `owned` one may have the original templates."""
    kind = view.job_kinds[job.ref.kind]
    effect: Effect
    match kind.stop:
        case "Suspend":
            effect = RestoreJob(job.ref, _originals(job, owned), job.resource_version)
        case "InSteps":
            effect = Patch(job.ref, kind.suspend(), resource_version=job.resource_version)
        case "Delete":
            effect = Delete(job.ref, job.uid)
        case "Never":
            return _cannot_stop(job, message)
    return Wishes(effects=(effect,), events=(EmitEvent(job.ref, job.uid, "Normal", "Stopped", message),))


def _cannot_stop(job: Job, why: str) -> Wishes:
    message = f"It should stop ({why}), but its kind has no way to hold it again: delete it, or let it run to its end"
    return Wishes(events=(EmitEvent(job.ref, job.uid, "Warning", "CannotBeStopped", message),))


def _finish_stopping(view: View, job: Job, owned: Sequence[Workload]) -> Effect:
    forget = view.job_kinds[job.ref.kind].forget_start() if job.started else None
    if forget is not None:
        return Patch(job.ref, forget, "status", job.resource_version)
    return RestoreJob(job.ref, _originals(job, owned), job.resource_version)


def _originals(job: Job, owned: Iterable[Workload]) -> Ref | None:
    """The Workload with the templates as they were; None where several could be meant, or none."""
    found = [workload for workload in owned if len(workload.pod_sets) == len(job.pod_sets)]
    return found[0].ref if len(found) == 1 else None
