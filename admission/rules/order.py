"""Who comes first among those who wait in one queue."""

from admission.model.workload import Workload

# Higher priority first, then earlier queue time, then uid; the key makes it total when uids are missing.
Rank = tuple[int, float, str, str]


def queue_time(workload: Workload) -> float:
    """Seconds since 1970 from which it counts as waiting.

    Creation, except that an eviction for pods that never got ready or for a check that asked to retry sends it to the
    back of its equals. A preempted workload keeps its place.
    """
    evicted = workload.conditions.get("Evicted")
    if evicted is not None and evicted.status == "True" and evicted.reason in ("PodsReadyTimeout", "AdmissionCheck"):
        return evicted.since
    return workload.created


def rank(workload: Workload) -> Rank:
    """Smaller comes first."""
    return (-workload.priority, queue_time(workload), workload.uid, workload.key)
