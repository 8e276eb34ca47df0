"""JobProfile JSON -> JobProfile, and all that is wrong with one: the webhooks refuse what this reader cannot use."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from admission.api.field_errors import FieldError, forbidden, invalid, key, required, unsupported
from admission.api.shapes import QUALIFIED
from admission.model.job_profile import FIELDS, OVERWRITES, TARGETS, Glob, JobProfile, Match, Overwrite, Stamp
from admission.model.kinds import JOBS, KINDS
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME
from admission.model.qos import QOS_CLASS, SUB_PRIORITY
from admission.model.selectors import Selector
from admission.readers.metadata import read_conditions, read_metadata
from admission.readers.narrow import integer, items, mapping, maybe_integer, moment, strings, text, words
from admission.readers.own_spec import spec_errors
from admission.readers.selector import read_label_selector

_KIND = re.compile(r"[A-Z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")  # of a label
_LONGEST_NAME = 63  # of a label's key behind the prefix, and of what a label says
# Said by fields of their own, so that `overwrite` and the report speak of them by one name.
_OWN_FIELDS = {
    QUEUE_NAME: "queue",
    PRIORITY_CLASS: "workloadPriorityClass",
    QOS_CLASS: "qosClass",
    SUB_PRIORITY: "koordinatorPriority",
}
_RESERVED = ("kueue.x-k8s.io/", "lockgate.dev/")


def read_job_profile(wire: Mapping[str, Any]) -> JobProfile:
    """Total: any JSON object gives a JobProfile; one that cannot be used says why."""
    meta = read_metadata(wire)
    spec, status = mapping(wire.get("spec")), mapping(wire.get("status"))
    percent = spec.get("percent")
    return JobProfile(
        name=meta.name,
        order=integer(spec.get("order")),
        match=_match(mapping(spec.get("match"))),
        percent=percent if type(percent) is int else 100,
        stamp=_stamp(mapping(spec.get("stamp"))),
        overwrite=_overwrite(spec.get("overwrite")),
        targets=tuple(one for one in TARGETS if one in words(spec.get("targets"))) or TARGETS,
        foreign_hints=words(spec.get("foreignHints")),
        problem="; ".join(str(error) for error in profile_errors(wire)),
        uid=meta.uid,
        resource_version=meta.resource_version,
        generation=meta.generation,
        deleting=meta.deleting,
        conditions=read_conditions(status.get("conditions")),
        matched=integer(status.get("matched")),
        last_matched=moment(status.get("lastMatched")) or 0.0,
    )


def profile_errors(wire: Mapping[str, Any]) -> list[FieldError]:
    """All that is wrong with its spec, in the order of its fields."""
    return spec_errors("JobProfile", wire, _faults)


def _match(stated: Mapping[str, Any]) -> Match:
    return Match(
        kinds=words(stated.get("kinds")),
        namespaces=_selector(stated.get("namespaceSelector")),
        objects=_selector(stated.get("objectSelector")),
        users=tuple(Glob(one) for one in words(stated.get("users"))),
        groups=tuple(Glob(one) for one in words(stated.get("groups"))),
    )


def _selector(stated: object) -> Selector | None:
    return None if stated is None else read_label_selector(stated)


def _stamp(stated: Mapping[str, Any]) -> Stamp:
    queue = mapping(stated.get("queue"))
    return Stamp(
        queue=text(queue.get("name")),
        queue_template=text(mapping(queue.get("create")).get("fromTemplate")),
        workload_priority_class=text(stated.get("workloadPriorityClass")),
        priority_class_name=text(stated.get("priorityClassName")),
        qos_class=text(stated.get("qosClass")),
        koordinator_priority=maybe_integer(stated.get("koordinatorPriority")),
        scheduler_name=text(stated.get("schedulerName")),
        labels=strings(stated.get("labels")),
        annotations=strings(stated.get("annotations")),
        translate=stated.get("resources") == "TranslateToClass",
    )


def _overwrite(stated: object) -> dict[str, Overwrite]:
    words_by_field = {"default": stated} if isinstance(stated, str) else mapping(stated)
    return {name: word for name, word in words_by_field.items() if word in OVERWRITES}


def _faults(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Of a spec whose structure is right."""
    match = mapping(spec.get("match"))
    for at, kind in enumerate(items(match.get("kinds"))):
        yield from _wrong_kind(f"spec.match.kinds[{at}]", kind)
    for name in ("namespaceSelector", "objectSelector"):
        yield from _wrong_selector(f"spec.match.{name}", mapping(match.get(name)))
    stamp = mapping(spec.get("stamp"))
    if not stamp and not spec.get("foreignHints"):
        yield required("spec.stamp", f"say what jobs get: {', '.join((*FIELDS, 'resources'))}")
    named = {
        "queue.name": mapping(stamp.get("queue")).get("name"),
        "workloadPriorityClass": stamp.get("workloadPriorityClass"),
    }
    for name, value in named.items():
        if len(text(value)) > _LONGEST_NAME:
            yield invalid(f"spec.stamp.{name}", value, f"jobs name it in a label: at most {_LONGEST_NAME} characters")
    for name in ("labels", "annotations"):
        yield from _wrong_entries(f"spec.stamp.{name}", mapping(stamp.get(name)), name == "labels")
    yield from _wrong_overwrite(spec.get("overwrite"))


def _wrong_kind(path: str, stated: str) -> Iterator[FieldError]:
    known = {_called(name): name for name in (*JOBS, "Pod")}
    if stated in known:
        return
    bare = next((one for one, name in known.items() if name == stated or one.lower() == stated.lower()), "")
    if bare:
        yield invalid(path, stated, f"must be Kind.group: write {bare}")
    elif not _KIND.fullmatch(stated) or "." not in stated:
        near = [*get_close_matches(stated, known, n=1), "SparkApplication.sparkoperator.k8s.io"]
        yield invalid(path, stated, f"must be Kind.group, like {near[0]}")
    elif re.fullmatch(r"v[0-9]+((alpha|beta)[0-9]+)?", stated.split(".")[1]):
        kind, _, *group = stated.split(".")
        yield invalid(path, stated, f"must be Kind.group, whatever the version: write {'.'.join((kind, *group))}")


def _called(kind: str) -> str:
    return f"{kind}.{KINDS[kind].group}" if KINDS[kind].group else kind


def _wrong_selector(path: str, stated: Mapping[str, Any]) -> Iterator[FieldError]:
    for name, value in mapping(stated.get("matchLabels")).items():
        yield from _wrong_key(f"{path}.matchLabels", name)
        yield from _wrong_value(key(f"{path}.matchLabels", name), value)
    for at, rule in enumerate(items(stated.get("matchExpressions"))):
        where = f"{path}.matchExpressions[{at}]"
        yield from _wrong_key(f"{where}.key", rule["key"])
        if rule["operator"] in ("In", "NotIn") and not rule.get("values"):
            yield required(f"{where}.values", f"{rule['operator']} compares with values: give one at least")
        if rule["operator"] in ("Exists", "DoesNotExist") and rule.get("values"):
            yield forbidden(f"{where}.values", f"{rule['operator']} compares with nothing: take them away, or write In")
        for index, value in enumerate(items(rule.get("values"))):
            yield from _wrong_value(f"{where}.values[{index}]", value)


def _wrong_entries(path: str, stated: Mapping[str, Any], of_labels: bool) -> Iterator[FieldError]:
    for name, value in stated.items():
        if name in _OWN_FIELDS:
            yield forbidden(key(path, name), f"has a field of its own: say it by spec.stamp.{_OWN_FIELDS[name]}")
        elif name.startswith(_RESERVED):
            yield forbidden(key(path, name), "has a meaning of its own, which no profile can give: choose another name")
        else:
            yield from _wrong_key(path, name)
        if of_labels:
            yield from _wrong_value(key(path, name), value)


def _wrong_key(path: str, name: str) -> Iterator[FieldError]:
    prefix, slash, rest = name.rpartition("/")
    if not re.fullmatch(QUALIFIED, name) or len(rest) > _LONGEST_NAME or (slash and len(prefix) > 253):
        yield invalid(path, name, "must be a name, like tier or example.com/tier, with at most 63 characters behind /")


def _wrong_value(path: str, value: str) -> Iterator[FieldError]:
    if not _VALUE.fullmatch(value):
        why = "must be at most 63 letters, digits, -, _ and ., with a letter or digit at both ends: so labels are"
        yield invalid(path, value, why)


def _wrong_overwrite(stated: object) -> Iterator[FieldError]:
    if stated is None:
        return
    if isinstance(stated, str):
        if stated not in OVERWRITES:
            yield unsupported("spec.overwrite", stated, OVERWRITES)
        return
    if not isinstance(stated, Mapping):
        yield invalid("spec.overwrite", stated, f"must be one of {', '.join(OVERWRITES)}, or a map of these by field")
        return
    for name, word in stated.items():
        where = f"spec.overwrite.{name}"
        if name not in ("default", *FIELDS):
            near = get_close_matches(name, FIELDS, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known there are {', '.join(('default', *FIELDS))}"
            yield forbidden(where, f"unknown field: {remedy}")
        elif word not in OVERWRITES:
            yield unsupported(where, word, OVERWRITES)
