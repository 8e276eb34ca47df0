"""What must not change about a Workload: its shape while it holds quota, its admission once written."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, invalid, key, required
from admission.model.amounts import BadQuantity, exact
from admission.validation.syntax import IMMUTABLE
from admission.validation.workload_shape import Workload

# Under these a text is a quantity, equal to every other spelling of the same number.
_QUANTITIES = frozenset({"requests", "limits", "overhead", "resourceUsage"})


class _Parts(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw(b"")


def part_changed(document: Document, before: Document, part: Literal["spec"]) -> bool:
    """May say yes for mere spelling; never no for a change."""
    if isinstance(document, Mapping) and isinstance(before, Mapping):
        return bool(document.get(part) != before.get(part))
    return bytes(view(document, _Parts).spec) != bytes(view(before, _Parts).spec)


def check_update(
    workload: Workload, old: Workload, document: Document, before: Document, spec_changed: bool
) -> list[FieldError]:
    """`document` and `before` are the same two in full."""
    errors: list[FieldError] = []
    if old.reserved and spec_changed:
        errors += _pod_sets(_listed(document), _listed(before))
    if old.reserved and workload.reserved:
        errors += _reclaimable(workload, old)
    errors += _admission(workload, old)
    errors += _check_states(workload, old)
    name, nominated = workload.status.cluster_name, old.status.nominated_cluster_names or ()
    if old.status.cluster_name is None and name is not None and name not in nominated:
        why = "when setting clusterName it must be one of the nominatedClusterNames"
        errors.append(invalid("status.clusterName", name, why))
    return errors


def _pod_sets(new: list[Any], old: list[Any]) -> list[FieldError]:
    if len(new) != len(old):
        return [invalid("spec.podSets", new, IMMUTABLE)]
    return [
        invalid(f"spec.podSets[{at}]", after, IMMUTABLE)
        for at, (after, before) in enumerate(zip(new, old, strict=True))
        if not same(after, before)
    ]


def _reclaimable(workload: Workload, old: Workload) -> Iterator[FieldError]:
    """Quota given back is given back: another workload may already have it."""
    counts = {pods.name: pods.count for pods in workload.status.reclaimable_pods or ()}
    for pods in old.status.reclaimable_pods or ():
        path = key("status.reclaimablePods", pods.name)
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
