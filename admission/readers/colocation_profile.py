"""ClusterColocationProfile JSON -> ColocationProfile. Its own project judges it at the door; what slips through there,
or is more than can be done here, is a problem that the profile keeps."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from admission.api.field_errors import OMITTED, FieldError, forbidden, invalid, key, unsupported
from admission.model.colocation_profile import ColocationProfile
from admission.model.qos import QOS_CLASSES
from admission.model.selectors import EVERYTHING, Selector
from admission.readers.metadata import read_metadata
from admission.readers.narrow import integer, mapping, maybe_integer, strings, text
from admission.readers.selector import read_label_selector

SKIP_UPDATE_RESOURCES = "config.koordinator.sh/skip-update-resources"  # annotation: its presence counts, not its value

_MAPS = ("labels", "annotations", "labelKeysMapping", "annotationKeysMapping", "labelSuffixes")
_PERCENT = re.compile(r"([0-9]{1,9})%")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
# What a patch may change: of its metadata only what pods take over from a template, too.
_PATCHED = ("apiVersion", "kind", "metadata", "spec")
_PATCHED_METADATA = ("labels", "annotations", "finalizers")


def read_colocation_profile(wire: Mapping[str, Any]) -> ColocationProfile:
    """Total: any JSON object gives a ColocationProfile."""
    meta, spec = read_metadata(wire), mapping(wire.get("spec"))
    percent = _percent(spec.get("probability"))
    return ColocationProfile(
        name=meta.name,
        namespaces=_selector(spec.get("namespaceSelector")),
        pods=_selector(spec.get("selector")),
        percent=0 if percent is None else percent,
        qos_class=text(spec.get("qosClass")),
        priority_class=text(spec.get("priorityClassName")),
        sub_priority=maybe_integer(spec.get("koordinatorPriority")),
        scheduler_name=text(spec.get("schedulerName")),
        labels=strings(spec.get("labels")),
        annotations=strings(spec.get("annotations")),
        label_keys=strings(spec.get("labelKeysMapping")),
        annotation_keys=strings(spec.get("annotationKeysMapping")),
        label_suffixes=strings(spec.get("labelSuffixes")),
        patch=mapping(spec.get("patch")),
        skips_translation=SKIP_UPDATE_RESOURCES in meta.annotations,
        problem=_problem(spec),
        resource_version=meta.resource_version,
    )


def _problem(spec: Mapping[str, Any]) -> str:
    try:
        return "; ".join(str(error) for error in _faults(spec))
    except RecursionError:
        return str(invalid("spec.patch", OMITTED, "is nested too deeply: flatten its fields"))


def _selector(stated: object) -> Selector:
    return EVERYTHING if stated is None else read_label_selector(stated) or EVERYTHING


def _percent(stated: object) -> int | None:
    """Whole percent, from 0 to 100; None: it is no share."""
    if stated is None:
        return 100
    if isinstance(stated, str):
        found = _PERCENT.fullmatch(stated)
        return min(int(found[1]), 100) if found else None
    return min(stated, 100) if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0 else None


def _faults(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    for field in ("namespaceSelector", "selector"):
        yield from _wrong_selector(f"spec.{field}", spec.get(field))
    if _percent(spec.get("probability")) is None:
        yield invalid("spec.probability", spec["probability"], "must be a whole number, or one with %, like 25%")
    if text(spec.get("qosClass")) not in ("", *QOS_CLASSES):
        yield unsupported("spec.qosClass", spec["qosClass"], QOS_CLASSES)
    for field in _MAPS:
        stated = spec.get(field)
        if stated is not None and len(strings(stated)) != len(mapping(stated)):
            yield invalid(f"spec.{field}", OMITTED, "must be a map of texts: put numbers and booleans into quotes")
    priority = spec.get("koordinatorPriority")
    if priority is not None and (maybe_integer(priority) is None or not -(2**31) <= integer(priority) < 2**31):
        yield invalid("spec.koordinatorPriority", priority, "must be a whole number of 32 bits")
    yield from _wrong_patch(spec.get("patch"))


def _wrong_selector(path: str, stated: object) -> Iterator[FieldError]:
    if stated is None:
        return
    rules = mapping(stated).get("matchExpressions")
    wanted = mapping(stated).get("matchLabels")
    if not isinstance(stated, Mapping) or not isinstance(rules, list | None):
        yield invalid(path, OMITTED, "must be a label selector, with matchLabels and a list of matchExpressions")
        return
    if wanted is not None and len(strings(wanted)) != len(mapping(wanted)):
        yield invalid(f"{path}.matchLabels", OMITTED, "must be a map of texts: put numbers and booleans into quotes")
    for at, rule in enumerate(rules or ()):
        where, operator = f"{path}.matchExpressions[{at}]", mapping(rule).get("operator")
        values = mapping(rule).get("values")
        if operator not in _OPERATORS:
            yield unsupported(f"{where}.operator", operator, _OPERATORS)
        elif operator in ("In", "NotIn") and not values:
            yield invalid(f"{where}.values", OMITTED, f"{operator} compares with values: give one at least")
        elif operator not in ("In", "NotIn") and values:
            yield invalid(f"{where}.values", OMITTED, f"{operator} compares with nothing: take the values away")


def _wrong_patch(stated: object) -> Iterator[FieldError]:
    if stated is None:
        return
    if not isinstance(stated, Mapping):
        yield invalid("spec.patch", OMITTED, "must be an object with metadata and spec of a Pod")
        return
    for path, found, known in (
        ("spec.patch", stated, _PATCHED),
        ("spec.patch.metadata", mapping(stated.get("metadata")), _PATCHED_METADATA),
    ):
        for name in found:
            if name not in known:
                yield forbidden(key(path, str(name)), f"a patch of new pods can change {', '.join(known[-3:])} alone")
    yield from _unknown_directives("spec.patch", stated)


def _unknown_directives(path: str, stated: object) -> Iterator[FieldError]:
    """Those that say where in a list an entry goes: of objects that were made by nobody yet they mean nothing."""
    if isinstance(stated, Mapping):
        for name, value in stated.items():
            if str(name).startswith("$setElementOrder/"):
                yield forbidden(key(path, str(name)), "the order of a list can't be patched: leave the directive out")
            yield from _unknown_directives(f"{path}.{name}", value)
    elif isinstance(stated, list):
        for at, value in enumerate(stated):
            yield from _unknown_directives(f"{path}[{at}]", value)
