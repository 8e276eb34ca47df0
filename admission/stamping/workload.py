"""What a new Workload loses while partial admission is off: the number of pods that would do, too."""

import msgspec

from admission.api.documents import Document, view
from admission.model.gates import Gates
from admission.stamping.patches import PatchOperation, remove


class _PodSet(msgspec.Struct, rename="camel"):
    min_count: int | None = None


class _Spec(msgspec.Struct, rename="camel"):
    pod_sets: list[_PodSet] | None = None


class _Workload(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


def stamp_workload(document: Document, gates: Gates) -> tuple[PatchOperation, ...]:
    """Raises Unreadable."""
    if gates["PartialAdmission"]:
        return ()
    pod_sets = view(document, _Workload).spec.pod_sets or ()
    return tuple(
        remove(("spec", "podSets", str(at), "minCount"))
        for at, pod_set in enumerate(pod_sets)
        if pod_set.min_count is not None
    )
