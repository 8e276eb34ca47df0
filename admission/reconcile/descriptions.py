"""Jobs that run while their JobKind is edited: what they were admitted with counts on, until they are edited or end.

Whether it was the job or its description that changed can't be told from the two alone, so a Workload says by which
description its job was read last. By another one the job may ask for something else without having been touched: that
is noted as what it asks for by now, and only from then on a difference is an edit.
"""

from collections.abc import Sequence

from admission.jobs.workload import asked_digest, equivalent
from admission.model.effects import Patch
from admission.model.job import Job
from admission.model.job_kind import ASKS_BY_NOW, DESCRIBED_BY
from admission.model.workload import Workload
from admission.reconcile.wishes import Wishes


def note_description(job: Job, owned: Sequence[Workload]) -> Wishes | None:
    """None: nothing is to be noted."""
    if not job.described_by or job.suspended or len(owned) != 1:
        return None
    (workload,) = owned
    if workload.described_by == job.described_by or not workload.admitted or workload.finished or workload.deleting:
        return None
    asks = None if equivalent(job, workload) else asked_digest(job)
    notes = {DESCRIBED_BY: job.described_by, ASKS_BY_NOW: asks}
    body = {"metadata": {"annotations": notes}}
    return Wishes(effects=(Patch(workload.ref, body, resource_version=workload.resource_version),))
