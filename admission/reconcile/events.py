"""Events about Workloads, worded as Kueue words them (Kueue 0.19)."""

from admission.model.effects import EmitEvent
from admission.model.workload import Workload


def evicted_event(workload: Workload, reason: str, message: str, cause: str = "") -> EmitEvent:
    suffix = f"DueTo{cause}" if cause and reason == "Deactivated" else ""
    return EmitEvent(workload.ref, workload.uid, "Normal", f"EvictedDueTo{reason}{suffix}", message)


def reserved_event(workload: Workload, cluster_queue: str, now: float) -> EmitEvent:
    wait = max(0, int(now - workload.created))
    message = f"Quota reserved in ClusterQueue {cluster_queue}, wait time since queued was {wait}s"
    return EmitEvent(workload.ref, workload.uid, "Normal", "QuotaReserved", message)


def admitted_event(workload: Workload, cluster_queue: str, reserved: float, now: float) -> EmitEvent:
    """`reserved`: when its quota was."""
    wait = max(0, int(now - reserved))
    message = f"Admitted by ClusterQueue {cluster_queue}, wait time since reservation was {wait}s"
    return EmitEvent(workload.ref, workload.uid, "Normal", "Admitted", message)
