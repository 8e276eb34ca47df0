"""What must not change about a Workload: its shape while it holds quota, its admission once written."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, invalid, key, required
from admission.model.amounts import BadQuantity, exact
from admission.model.names import SLICE_REPLACEMENT_FOR
from admission.validation.syntax import IMMUTABLE
from admission.validation.workload_shape import PodSet, Workload

# Under these a text is a quantity, equal to every other spelling of the same number.
_QUANTITIES = frozenset({"requests", "limits", "overhead", "resourceUsage"})


def check_update(
    workload: Workload, old: Workload, document: Document, before: Document, spec_changed: bool
) -> list[FieldError]:
    """`document` and `before` are the same two in full."""
    errors: list[FieldError] = []
    if old.reserved and spec_changed:
        errors += _pod_sets(_listed(document), _listed(before), workload.elastic)
    if old.reserved and workload.reserved:
        errors += _reclaimable(workload, old)
    errors += _admission(workload, old)
    errors += _check_states(workload, old)
    return [*errors, *_cluster_name(workload, old)]


def _cluster_name(workload: Workload, old: Workload) -> list[FieldError]:
    """The replacement of an elastic workload runs where its predecessor ran."""
    name, nominated = workload.status.cluster_name, old.status.nominated_cluster_names or ()
    if old.status.cluster_name is not None or name is None or name in nominated:
        return []
    if workload.annotation(SLICE_REPLACEMENT_FOR) is not None:
        return []
    why = "when setting clusterName it must be one of the nominatedClusterNames"
    return [invalid("status.clusterName", name, why)]


def _pod_sets(new: list[Any], old: list[Any], elastic: bool) -> list[FieldError]:
    if len(new) != len(old):
        return [invalid("spec.podSets", new, IMMUTABLE)]
    return [
        invalid(f"spec.podSets[{at}]", after, IMMUTABLE)
        for at, (after, before) in enumerate(zip(new, old, strict=True))
        if not same(_as_large(after, before) if elastic else after, before)
    ]


def _as_large(after: Any, before: Any) -> Any:
    """An elastic workload may become smaller: its count is the old one's, as far as the comparison goes."""
    smaller, larger = view(after, PodSet).count, view(before, PodSet).count
    return {**after, "count": larger} if smaller < larger else after


def _scaled_down(workload: Workload) -> set[str]:
    """Pod sets of an elastic workload that have become smaller than what was admitted."""
    if not workload.elastic or workload.status.admission is None:
        return set()
    counts = {pod_set.name: pod_set.count for pod_set in workload.pod_sets}
    assigned = workload.status.admission.pod_set_assignments or ()
    return {part.name for part in assigned if part.count is not None and part.count > counts.get(part.name, 0)}


def _reclaimable(workload: Workload, old: Workload) -> Iterator[FieldError]:
    """Quota given back is given back: another workload may already have it."""
    counts = {pods.name: pods.count for pods in workload.status.reclaimable_pods or ()}
    smaller = _scaled_down(workload)
    for pods in old.status.reclaimable_pods or ():
        path = key("status.reclaimablePods", pods.name)
        if pods.name in smaller:
            continue
        if pods.name not in counts:
            yield required(path, "cannot be removed")
        elif counts[pods.name] < pods.count:
            yield invalid(f"{path}.count", counts[pods.name], f"cannot be less than {pods.count}")


def _admission(workload: Workload, old: Workload) -> Iterator[FieldError]:
    """It is set and unset as a whole."""
    new, before = workload.status.admission, old.status.admission
    if new is None or before is None or new == before:
        return
    after = msgspec.to_builtins(new)
    if not same(after, msgspec.to_builtins(before)):
        yield invalid("status.admission", after, IMMUTABLE)


def _check_states(workload: Workload, old: Workload) -> Iterator[FieldError]:
    states = {check.name: check for check in workload.status.admission_checks or ()}
    for at, before in enumerate(old.status.admission_checks or ()):
        now = states.get(before.name)
        if now is None or not (now.state == before.state == "Ready"):
            continue
        if not same(now.pod_set_updates, before.pod_set_updates):
            yield invalid(f"status.admissionChecks[{at}].podSetUpdates", now.pod_set_updates, IMMUTABLE)


def same(left: Any, right: Any, amounts: bool = False) -> bool:
    """Equal as Kubernetes compares: missing, null and empty are one; quantities count by value."""
    if _empty(left) and _empty(right):
        return True
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        names = [*left, *(name for name in right if name not in left)]
        return all(same(left.get(name), right.get(name), amounts or name in _QUANTITIES) for name in names)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if amounts and isinstance(left, str | int | float) and isinstance(right, str | int | float):
        try:
            return exact(str(left)) == exact(str(right))
        except BadQuantity:
            return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | Mapping) and not value)


def _listed(document: Document) -> list[Any]:
    found = view(document, _Whole).spec.get("podSets")
    return list(found) if isinstance(found, list | tuple) else []


class _Whole(msgspec.Struct):
    spec: dict[str, Any] = {}
