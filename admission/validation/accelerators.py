"""What a pod must not say about accelerators, because it contradicts itself.

Names that the catalogue does not know pass. A pod that its cluster has taken before is not judged again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from admission.api.field_errors import FieldError, invalid
from admission.model.accelerators import (
    ANNOTATIONS,
    ANY,
    FRACTION,
    FRACTION_DEVICES,
    FRACTION_MEMORY,
    Accelerator,
    Catalogue,
)
from admission.model.amounts import BadQuantity, exact
from admission.readers.narrow import entries, mapping
from admission.validation.accelerator_names import near_miss

_HUNDRED = 100
_LONGEST = 64  # characters of an annotation's value that are looked at; no number of devices is longer


class Asked(NamedTuple):
    """`at`: where in the template it says so; `value`: as it was written."""

    at: str
    value: object
    units: Fraction


class _Found(NamedTuple):
    name: str
    one: Accelerator
    asked: Asked


def is_plain(template: Mapping[str, Any], catalogue: Catalogue) -> bool:
    """Nothing can be wrong: no container asks for more than whole devices of one known sort, and none for a share. So
    nearly all pods are, and a review has little time."""
    if _annotations(template):
        return False
    for _, container in _containers(template):
        sort = ""
        resources = mapping(container.get("resources"))
        for field in ("limits", "requests"):
            for name, value in mapping(resources.get(field)).items():
                if not isinstance(name, str) or "/" not in name:
                    continue
                one = catalogue.find(name)
                if one is None or not one.counts_devices or one.needs or not str(value).isdecimal():
                    return False
                if sort not in ("", name):
                    return False
                sort = name
    return True


def faults(template: Mapping[str, Any], catalogue: Catalogue) -> list[FieldError]:
    """Of a pod, or of the template of one: contradictions, with paths that start at it. Never raises."""
    annotations = _annotations(template)
    noted = _known([(name, asked) for name, asked in annotations.items() if asked.units > 0], catalogue)
    found = [*_annotation_faults(annotations), *_exclusive((), noted)]
    total: dict[str, list[_Found]] = {}
    for path, container in _containers(template):
        asked = _known(_requests(path, container), catalogue)
        found += [*_exclusive(noted, asked), *_container_faults(asked, catalogue)]
        if path.startswith("spec.containers"):
            names = {each.name for each in asked}
            for each in asked:
                if each.one.of not in names:
                    total.setdefault(each.name, []).append(each)
    return [*found, *(error for each in total.values() for error in _percent_faults(each))]


def misspelt(template: Mapping[str, Any], catalogue: Catalogue) -> list[str]:
    """Names that nobody knows and that look like one of the catalogue's, as sentences."""
    names = dict.fromkeys(name for path, one in _containers(template) for name, _ in _requests(path, one))
    return [
        f"{name} is not known as an accelerator and counts as none: did you mean {meant}?"
        for name in names
        if (meant := near_miss(name, catalogue))
    ]


# --- what is asked for


def _annotations(template: Mapping[str, Any]) -> dict[str, Asked]:
    notes = mapping(mapping(template.get("metadata")).get("annotations"))
    found = {}
    for name in ANNOTATIONS:
        if name in notes:
            found[name] = Asked(f"metadata.annotations[{name}]", notes[name], _units(notes[name]))
    return found


def _containers(template: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    spec = mapping(template.get("spec"))
    for field in ("initContainers", "containers"):
        for at, container in enumerate(entries(spec.get(field))):
            yield f"spec.{field}[{at}].resources", container


def _requests(path: str, container: Mapping[str, Any]) -> list[tuple[str, Asked]]:
    """What it asks for and is more than none; of a request and a limit the request."""
    resources, found = mapping(container.get("resources")), dict[str, Asked]()
    for field in ("limits", "requests"):
        for name, value in mapping(resources.get(field)).items():
            if isinstance(name, str) and "/" in name:
                found[name] = Asked(f"{path}.{field}[{name}]", value, _units(value))
    return [(name, asked) for name, asked in found.items() if asked.units > 0]


def _known(asked: Iterable[tuple[str, Asked]], catalogue: Catalogue) -> list[_Found]:
    return [_Found(name, one, each) for name, each in asked if (one := catalogue.find(name)) is not None]


def _units(value: object) -> Fraction:
    """0 for what is no quantity: others complain of that."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return Fraction(0)
    try:
        return exact(str(value))
    except BadQuantity:
        return Fraction(0)


# --- what is wrong with it


def _annotation_faults(asked: Mapping[str, Asked]) -> Iterator[FieldError]:
    if FRACTION in asked and not 0 < _number(asked[FRACTION].value) < 1:
        yield invalid(
            asked[FRACTION].at, asked[FRACTION].value,
            "must be a number above 0 and below 1, like 0.5; ask for whole GPUs by nvidia.com/gpu",
        )  # fmt: skip
    for name, remedy in ((FRACTION_MEMORY, "MiB of memory, like 4096"), (FRACTION_DEVICES, "devices, like 2")):
        if name in asked and not _counts(asked[name].value):
            yield invalid(asked[name].at, asked[name].value, f"must be a whole number above 0 of {remedy}")
    if FRACTION_DEVICES in asked and FRACTION not in asked and FRACTION_MEMORY not in asked:
        yield invalid(
            asked[FRACTION_DEVICES].at, asked[FRACTION_DEVICES].value,
            f"says how many devices are shared but not what of each; add {FRACTION} or {FRACTION_MEMORY}, or remove it",
        )  # fmt: skip


def _exclusive(noted: Sequence[_Found], asked: Sequence[_Found]) -> Iterator[FieldError]:
    """`noted`: by the pod, beside each of its containers."""
    for at, later in enumerate(asked):
        for earlier in (*noted, *asked[:at]):
            if _excludes(earlier.one, later.name) or _excludes(later.one, earlier.name):
                why = f"can't be asked for together with {earlier.name}; remove one of them"
                yield invalid(later.asked.at, later.asked.value, why)


def _container_faults(asked: Sequence[_Found], catalogue: Catalogue) -> Iterator[FieldError]:
    names = {each.name: each for each in asked}
    for each in asked:
        if each.asked.units.denominator != 1:
            yield invalid(each.asked.at, each.asked.value, f"must be a whole number{_part_of(each.one, catalogue)}")
        if each.one.per_device and each.one.unit in ("percent", "memory-percent") and each.asked.units > _HUNDRED:
            why = f"is a percentage of each device and must not be above 100; ask for more devices by {each.one.of}"
            yield invalid(each.asked.at, each.asked.value, why)
        if each.one.needs and not any(need in names for need in each.one.needs):
            why = f"must be asked for together with {' or '.join(each.one.needs)}; add one of them"
            yield invalid(each.asked.at, each.asked.value, why)
        devices = names.get(each.one.of)
        if devices is not None and not each.one.per_device:
            yield from _split_faults(each, devices)


def _split_faults(each: _Found, devices: _Found) -> Iterator[FieldError]:
    """What is said of so many devices together is the same whole part of each."""
    if each.one.unit not in ("percent", "memory-percent"):
        return
    of_one = each.asked.units / devices.asked.units
    if of_one.denominator != 1 or of_one > _HUNDRED:
        why = (
            f"must be a multiple of {devices.name}, {devices.asked.value}, and at most 100 for each of them: it is the "
            "percentage of all of them together"
        )
        yield invalid(each.asked.at, each.asked.value, why)


def _percent_faults(asked: list[_Found]) -> Iterator[FieldError]:
    """Of what all containers say together that do not say of how many devices: more than one is some whole ones."""
    one, total = asked[0].one, sum((each.asked.units for each in asked), Fraction(0))
    if one.per_device or one.unit not in ("percent", "memory-percent"):
        return
    if total > _HUNDRED and total % _HUNDRED:
        path, value = asked[0].asked.at, asked[0].asked.value
        together = f", {len(asked)} containers together {float(total):g}," if len(asked) > 1 else ""
        why = f"is a percentage of one device{together} and above 100 must be a multiple of 100: whole devices"
        yield invalid(path, value, why)


def _excludes(one: Accelerator, name: str) -> bool:
    return any(name == each or (each.endswith(ANY) and name.startswith(each[:-1])) for each in one.excludes)


def _part_of(one: Accelerator, catalogue: Catalogue) -> str:
    """How to ask for a part of such a device, where that is possible."""
    if one.name == "nvidia.com/gpu":
        return f'; a part of a GPU is asked for by annotation {FRACTION}: "0.5", nvidia.com/gpucores or a MIG profile'
    shares = [other.name for other in catalogue if other.of == one.name]
    return f"; a part of one is asked for by {' or '.join(shares)}" if one.counts_devices and shares else ""


def _number(value: object) -> Fraction:
    """0 for what is no plain decimal number."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.replace(".", "", 1).isdecimal():
        return Fraction(0)
    return _units(value)


def _counts(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and value.isdecimal() and _units(value) > 0
