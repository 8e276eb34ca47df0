"""Jobs whose pod templates lie in other objects: while one of those is missing, they wait and say for which."""

from admission.model import names
from admission.model.effects import EmitEvent
from admission.model.job import Job
from admission.model.job_kind import no_templates
from admission.model.workload import Workload
from admission.reconcile import transitions
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes


def is_unheard_of(view: View, job: Job) -> bool:
    """The news of such an object may be late: nobody has told yet which of them there are."""
    return _waits(job) and any(not one.found and view.serving(one.source.kind) is None for one in job.borrowed)


def lacking(view: View, job: Job) -> str:
    """What a job that has no pods lacks, as a sentence; "": nothing."""
    if not _waits(job) or all(one.found for one in job.borrowed):
        return ""
    for one in job.borrowed:
        serving = view.serving(one.source.kind)
        if not one.found and serving is not None and not serving.served:
            return no_templates(one.source.kind, allowed=not serving.forbidden).message
    return job.problem


def hold_for(job: Job, workload: Workload, lack: str, now: float) -> Wishes:
    """Its controller could not start it: it holds no quota and waits in no queue until its template is there."""
    if workload.reserved:
        after = transitions.unreserve(workload, names.ON_HOLD, lack, now)
    else:
        after = transitions.with_condition(workload, names.QUOTA_RESERVED, False, names.ON_HOLD, lack, now)
    if after is workload:
        return NOTHING
    return Wishes(after, events=(EmitEvent(job.ref, job.uid, "Warning", "PodTemplateMissing", lack),))


def _waits(job: Job) -> bool:
    """One that has pods goes on with them, whatever becomes of their template."""
    return job.suspended and not job.active and job.end is None
