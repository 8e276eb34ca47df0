"""The table of refusals: for every rule of the wire kinds one manifest that keeps it and one that breaks only it.

Read by tests/core (our models and checks), tests/live (our CRDs and webhooks on a real API server) and tests/peer
(Kueue's). Left out are the MultiKueue kinds, which are not served here, and what feature gates that are off by default
ask for: `tests/core/test_validation_*.py` have those.
"""

from tests.refusals import (
    admission_check,
    cluster_queue,
    cluster_queue_status,
    cohort,
    job,
    job_kind,
    job_profile,
    local_queue,
    other_jobs,
    priority_class,
    provisioning,
    queue_policy,
    resource_flavor,
    topology,
    workload,
    workload_admission,
    workload_kept,
    workload_status,
)
from tests.refusals.row import Object, Row, Write

ROWS: tuple[Row, ...] = (
    *cluster_queue.ROWS,
    *cluster_queue_status.ROWS,
    *cohort.ROWS,
    *local_queue.ROWS,
    *resource_flavor.ROWS,
    *topology.ROWS,
    *admission_check.ROWS,
    *provisioning.ROWS,
    *priority_class.ROWS,
    *workload.ROWS,
    *workload_admission.ROWS,
    *workload_status.ROWS,
    *workload_kept.ROWS,
    *job.ROWS,
)

# Of kinds that Kueue has not.
OWN_ROWS: tuple[Row, ...] = (*job_kind.ROWS, *job_profile.ROWS, *queue_policy.ROWS)

# Of kinds that operators bring, whose CRDs are big: for clusters that have them.
JOB_ROWS: tuple[Row, ...] = other_jobs.ROWS
OWN_JOB_ROWS: tuple[Row, ...] = other_jobs.OWN_ROWS

__all__ = ["JOB_ROWS", "OWN_JOB_ROWS", "OWN_ROWS", "ROWS", "Object", "Row", "Write"]
