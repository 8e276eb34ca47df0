"""Jobs below a job that is queued: held while that is not admitted, and let go again when it has come back.

Many controllers hold and release what they make themselves; others (Argo's, for what its templates create) leave it
alone. So what was held here is marked, and let go once the former have had their time.
"""

from admission.model import names
from admission.model.effects import Delete, Effect, EmitEvent, Patch
from admission.model.job import Job
from admission.model.workload import Workload
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes

# Their controllers hold and release what they make, and put into it what an admission brings: who let their jobs go
# before they do would start pods without that.
THEY_RELEASE = ("JobSet", "MPIJob", "RayJob")
# Seconds after an ancestor's admission: other controllers that release what they made have done so by then.
PATIENCE = 5.0


def follow(view: View, job: Job, ancestor: Job, now: float) -> Wishes:
    """The next step of a job without a Workload of its own: it runs while that of its ancestor is admitted."""
    if job.end is not None or ancestor.skipped or view.job_kinds[job.ref.kind].stop == "Never":
        return NOTHING
    unfinished = [workload for workload in view.workloads_of(ancestor.uid) if not workload.finished]
    newest = max(unfinished, key=lambda workload: workload.created, default=None)
    if newest is not None and newest.admitted:
        return _let_go(view, job, ancestor, newest, now) if job.held_with == ancestor.uid else NOTHING
    return NOTHING if job.suspended else _hold(view, job, ancestor)


def _hold(view: View, job: Job, ancestor: Job) -> Wishes:
    kind = view.job_kinds[job.ref.kind]
    message = f"Kueue managed child job suspended: {ancestor.ref} is not admitted"
    event = EmitEvent(job.ref, job.uid, "Normal", "Suspended", message)
    held: Effect
    if kind.stop == "Delete":
        held = Delete(job.ref, job.uid)
    elif job.owner is not None and job.owner.kind in THEY_RELEASE:
        held = Patch(job.ref, kind.suspend(), resource_version=job.resource_version)
    else:
        held = Patch(job.ref, _marked(kind.suspend(), ancestor.uid), resource_version=job.resource_version)
    return Wishes(effects=(held,), events=(event,))


def _let_go(view: View, job: Job, ancestor: Job, workload: Workload, now: float) -> Wishes:
    if not job.suspended:  # somebody else did: whoever holds it from now on has reasons of their own
        return Wishes(effects=(Patch(job.ref, _marked({}, None), resource_version=job.resource_version),))
    if workload.evicted or ancestor.suspended:
        return NOTHING
    ready = workload.conditions[names.ADMITTED].since + PATIENCE
    if now < ready:
        return Wishes(wake_at=ready)
    released = _marked(view.job_kinds[job.ref.kind].hold.patch(held=False), None)
    event = EmitEvent(job.ref, job.uid, "Normal", "Resumed", f"Child job resumed: {ancestor.ref} is admitted")
    return Wishes(effects=(Patch(job.ref, released, resource_version=job.resource_version),), events=(event,))


def _marked(patch: dict[str, object], ancestor_uid: str | None) -> dict[str, object]:
    """The patch, and a mark beside it; None takes the mark away."""
    metadata = patch.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    annotations = {**metadata.get("annotations", {}), names.HELD_WITH: ancestor_uid}
    return {**patch, "metadata": {**metadata, "annotations": annotations}}
