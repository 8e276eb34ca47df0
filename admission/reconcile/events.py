"""Events about Workloads, worded as Kueue words them (Kueue 0.19)."""

from admission.model.effects import CreateWorkload, EmitEvent
from admission.model.workload import Workload


def created_event(made: CreateWorkload) -> EmitEvent:
    message = f"Created Workload: {made.ref.namespace}/{made.ref.name}"
    return EmitEvent(made.job, made.job_uid, "Normal", "CreatedWorkload", message)


def not_created_event(asked: CreateWorkload, why: str) -> EmitEvent:
    """`why`: what the API server, or the job itself, says against it."""
    message = f"Workload {asked.ref.namespace}/{asked.ref.name} could not be created: {why}"
    return EmitEvent(asked.job, asked.job_uid, "Warning", "ErrWorkloadCompose", message)


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


def preemption_events(victim: Workload, preemptor: Workload, message: str) -> tuple[EmitEvent, EmitEvent]:
    """One for each side; both say what was compared."""
    assert victim.admission is not None
    compared = f"preemptor {_priority(preemptor)}; preemptee {_priority(victim)}"
    told = f"Preempted workload {victim.key} (UID: {victim.uid}) in ClusterQueue {victim.admission.cluster_queue}"
    return (
        EmitEvent(victim.ref, victim.uid, "Normal", "Preempted", f"{message}; {compared}"),
        EmitEvent(preemptor.ref, preemptor.uid, "Normal", "PreemptedWorkload", f"{told}; {compared}"),
    )


def _priority(workload: Workload) -> str:
    effective = workload.priority + workload.boost
    return f"effective priority: {effective} (base: {workload.priority}, boost: {workload.boost})"
