"""Which priority a job's Workload gets (Kueue 0.19)."""

from typing import NamedTuple

from admission.model.effects import EmitEvent
from admission.model.job import Job
from admission.reconcile.view import View


class Priority(NamedTuple):
    """`ref`: (group, kind, name) of the class it comes from, or None."""

    value: int
    ref: tuple[str, str, str] | None

    def ref_json(self) -> dict[str, str] | None:
        return dict(zip(("group", "kind", "name"), self.ref, strict=True)) if self.ref else None


def priority_of(view: View, job: Job) -> Priority | EmitEvent:
    """From the label's WorkloadPriorityClass, else the PriorityClass that the job names, or the first pod template
    that names one, else the cluster's default, else 0. A class that does not exist is an event for the job's author."""
    if job.priority_class:
        found = view.workload_priority_class(job.priority_class)
        if found is None:
            message = f"WorkloadPriorityClass {job.priority_class} does not exist"
            return EmitEvent(job.ref, job.uid, "Warning", "WorkloadPriorityClassNotFound", message)
        return Priority(found.value, ("kueue.x-k8s.io", "WorkloadPriorityClass", found.name))
    name = job.pod_priority_class or next((one.priority_class for one in job.pod_sets if one.priority_class), "")
    pod_class = view.pod_priority_class(name)
    if pod_class is not None:
        return Priority(pod_class.value, ("scheduling.k8s.io", "PriorityClass", pod_class.name))
    if name:
        message = f"PriorityClass {name} does not exist"
        return EmitEvent(job.ref, job.uid, "Warning", "ErrWorkloadCompose", message)
    return Priority(0, None)
