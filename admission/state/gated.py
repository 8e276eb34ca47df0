"""What feature gates hide: where one is off, nobody here sees what it guards, so nobody has to ask for it."""

from dataclasses import replace
from typing import TypeVar

from admission.model.gates import Gates
from admission.model.job import Job
from admission.model.workload import Workload

T = TypeVar("T", Workload, Job)


def gated(value: T | None, gates: Gates) -> T | None:
    """The workload or job without numbers of pods that would do, without pods that are needed no more, and without
    gates of admission."""
    if value is None:
        return None
    if not gates["PartialAdmission"] and any(one.min_count is not None for one in value.pod_sets):
        value = replace(value, pod_sets=tuple(replace(one, min_count=None) for one in value.pod_sets))
    if not gates["ReclaimablePods"] and value.reclaimable:
        value = replace(value, reclaimable={})
    if not gates["AdmissionGatedBy"] and value.gated_by:
        value = replace(value, gated_by="")
    return value
