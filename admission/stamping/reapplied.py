"""A manifest that is applied again asks for cpu and memory as its author wrote them, in a template whose resources were
translated when the job was created: beside what came of that, or, where a list was put back, in its place.

Such a template is translated again, under the names that it had. What then is the same amount stays as it was written
down, to the letter: the template of a Job must not change.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from admission.model.amounts import BadQuantity, amount
from admission.model.qos import PriorityBand
from admission.readers.narrow import items, mapping
from admission.readers.stamps import read_stamps
from admission.stamping.colocation import is_settled
from admission.stamping.profiles import RESOURCES
from admission.stamping.translation import note_extended_resources, translate

_NATIVE = frozenset({"cpu", "memory"})
_FIELDS = ("requests", "limits")
_Containers = dict[tuple[str, str], dict[str, Any]]


def translate_again(pod: dict[str, Any], before: Mapping[str, Any], bands: Sequence[PriorityBand]) -> None:
    """In place. `before`: the template as it is stored. Raises Unreadable for what is no quantity."""
    old, new = _containers(before), _containers(pod)
    named = _names(old)
    band = next((one for one in bands if one.cpu and named & {one.cpu, one.memory}), None)
    if band is None or named & _NATIVE or not _names(new) & _NATIVE or not _was_translated(pod):
        return
    translate(pod, band)
    if {at: _amounts(one) for at, one in old.items()} != {at: _amounts(one) for at, one in new.items()}:
        note_extended_resources(pod)
        return
    for at, container in new.items():
        if "resources" in old[at]:
            container["resources"] = deepcopy(old[at]["resources"])


def _was_translated(pod: Mapping[str, Any]) -> bool:
    stamps = read_stamps(mapping(pod.get("metadata")).get("annotations"))
    return is_settled(pod) or any(RESOURCES in one for one in stamps.values())


def _containers(pod: Mapping[str, Any]) -> _Containers:
    spec = mapping(pod.get("spec"))
    return {
        (field, str(one.get("name"))): one
        for field in ("initContainers", "containers")
        for one in items(spec.get(field))
        if isinstance(one, dict)
    }


def _names(containers: _Containers) -> set[str]:
    return {name for one in containers.values() for _, name, _ in _stated(one)}


def _stated(container: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    resources = mapping(container.get("resources"))
    for field in _FIELDS:
        for name, value in mapping(resources.get(field)).items():
            yield field, name, value


def _amounts(container: Mapping[str, Any]) -> dict[tuple[str, str], object]:
    return {(field, name): _amount(name, value) for field, name, value in _stated(container)}


def _amount(name: str, value: Any) -> object:
    try:
        return amount(name, str(value))
    except BadQuantity:
        return value
