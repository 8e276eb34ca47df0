"""What a job's pods say of its Workload: ready or not (condition PodsReady), and which of them it needs no more."""

from collections.abc import Mapping

from admission.model import names
from admission.model.job import Job
from admission.model.workload import Workload
from admission.reconcile import transitions

NOT_READY = "Not all pods are ready or succeeded"
RECOVERING = "At least one pod has failed, waiting for recovery"
READY = "All pods reached readiness and the workload is running"


def with_readiness(job: Job, workload: Workload, now: float) -> Workload:
    """Of an admitted Workload: with the condition that the job's pods call for; the same value when it says so already
    (Kueue 0.19)."""
    before = workload.conditions.get(names.PODS_READY)
    recovering = before is not None and before.reason in ("WaitForRecovery", "Recovered")
    if job.pods_ready and not job.suspended:
        status, reason, message = True, "Recovered" if recovering else "Started", READY
    elif before is not None and (before.true or before.reason == "WaitForRecovery"):
        status, reason, message = False, "WaitForRecovery", RECOVERING
    else:
        status, reason, message = False, "WaitForStart", NOT_READY
    if before is not None and (before.true, before.reason) == (status, reason):
        return workload
    return transitions.with_condition(workload, names.PODS_READY, status, reason, message, now)


def reclaimed(job: Job, workload: Workload) -> Mapping[str, int]:
    """Pods per pod set that need no quota any more, never more than there are, and while quota is held never fewer
    than were said before: the API refuses to take them back."""
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    found = {name: min(pods, counts.get(name, 0)) for name, pods in job.reclaimable.items()}
    if workload.reserved:
        for name, pods in workload.reclaimable.items():
            found[name] = max(found.get(name, 0), pods)
    return {name: pods for name, pods in found.items() if pods > 0}
