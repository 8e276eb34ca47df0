"""Koordinator's rules for quality: which QoS and priority class go together, who may ask for batch resources, and what
must stay as it was.

Judged is what a pod says itself, never what would follow from it. An update is judged by what it changes: pods that
were there before these rules can lose a finalizer, whatever is wrong with them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from admission.api.documents import Document, may_mention, whole
from admission.api.field_errors import FieldError, child, forbidden, invalid, key, required
from admission.jobs.descriptor import Descriptor
from admission.jobs.templated import shown
from admission.model.qos import (
    BAND_OVERRIDE,
    BATCH_CPU,
    BATCH_MEMORY,
    BE,
    LSE,
    LSR,
    NONE,
    QOS_CLASS,
    SUB_PRIORITY,
    Koordinator,
    PriorityBand,
    ValueOfClass,
    raw_band,
    raw_qos,
    stated_priority,
)
from admission.readers.narrow import mapping, text
from admission.readers.pod_resources import stated_by
from admission.validation.pod_templates import Grouped
from admission.validation.syntax import IMMUTABLE

Pod = Mapping[str, Any]

# What a job must mention, to be looked into: nearly every one says nothing of all this.
_WORDS = (b"koordinator.sh/", b"kubernetes.io/batch-")


class _Said(NamedTuple):
    """All that is judged of a pod. `batch`, `cpu`: what it asks for, in units as in `amounts`."""

    qos: str
    band: PriorityBand | None
    override: object
    sub_priority: object
    batch: int
    cpu: int


def check_pod_qos(
    pod: Pod, before: Pod | None, koordinator: Koordinator, value_of: ValueOfClass | None = None, path: str = ""
) -> list[FieldError]:
    """Of a Pod, or a pod template that lies at `path`. `before`: as it was; None: it is new."""
    said = _said(pod, koordinator, value_of)
    if before is None:
        return [*_combined(said, koordinator, path), *_asked(said, path)]
    was = _said(before, koordinator, value_of)
    fixed = list(_changed(said, was, stated_priority(pod, value_of), path))
    combination = () if (said.qos, said.band) == (was.qos, was.band) else _combined(said, koordinator, path)
    asked = () if (said.qos, said.batch, said.cpu) == (was.qos, was.batch, was.cpu) else _asked(said, path)
    return [*fixed, *combination, *asked]


def check_template_qos(
    descriptor: Descriptor,
    document: Document,
    before: Document | None,
    koordinator: Koordinator,
    value_of: ValueOfClass,
) -> list[FieldError]:
    """Of every pod template of a job. Raises Unreadable."""
    if not may_mention(document, *_WORDS) and not (before is not None and may_mention(before, *_WORDS)):
        return []
    found = _templates(descriptor, document)
    old = {} if before is None else _templates(descriptor, before)
    errors: list[FieldError] = []
    for name, (path, template) in found.items():
        was = old[name][1] if name in old else None
        # Before a pod says something of quality, its priority is nobody's business here.
        if _speaks(template) or (was is not None and _speaks(was)):
            errors += check_pod_qos(template, was, koordinator, value_of, path)
    return errors


def _said(pod: Pod, koordinator: Koordinator, value_of: ValueOfClass | None) -> _Said:
    labels = mapping(mapping(pod.get("metadata")).get("labels"))
    asked = stated_by(mapping(pod.get("spec"))).requests
    return _Said(
        qos=raw_qos(pod),
        band=raw_band(pod, koordinator.bands, value_of),
        override=labels.get(BAND_OVERRIDE),
        sub_priority=labels.get(SUB_PRIORITY),
        batch=asked.get(BATCH_CPU, 0) + asked.get(BATCH_MEMORY, 0),
        cpu=asked.get("cpu", 0),
    )


def _changed(said: _Said, was: _Said, priority: int | None, path: str) -> Iterator[FieldError]:
    labels = child(path, "metadata.labels")
    if said.qos != was.qos:
        yield invalid(key(labels, QOS_CLASS), said.qos, IMMUTABLE)
    if said.band != was.band:
        by_label = said.override != was.override
        where = key(labels, BAND_OVERRIDE) if by_label else child(path, "spec.priority")
        yield invalid(where, said.override if by_label else priority, IMMUTABLE)
    if said.sub_priority != was.sub_priority:
        yield invalid(key(labels, SUB_PRIORITY), said.sub_priority, IMMUTABLE)


def _combined(said: _Said, koordinator: Koordinator, path: str) -> Iterator[FieldError]:
    fitting = koordinator.matrix[said.qos]
    if (said.band.name if said.band else NONE) in fitting:
        return
    words = [each.priority_class for each in koordinator.bands if each.name in fitting]
    stated = said.band.priority_class if said.band else "none"
    told = f"qosClass={said.qos} and priorityClass={stated} cannot be used in combination"
    where = key(child(path, "metadata.labels"), QOS_CLASS)
    yield forbidden(where, f"{told}: {said.qos} goes with {' or '.join(words)}")


def _asked(said: _Said, path: str) -> Iterator[FieldError]:
    if said.batch and said.qos != BE:
        where = key(child(path, "metadata.labels"), QOS_CLASS)
        yield required(where, f"must specify koordinator QoS BE with {BATCH_CPU} and {BATCH_MEMORY}")
    if said.qos not in (LSR, LSE):
        return
    where = child(path, "spec.containers[*].resources.requests")
    if not said.cpu:
        yield required(where, f"{said.qos} pods have cores of their own: ask for cpu, in whole cores")
    elif said.cpu % 1000:
        told = f"the requested CPUs of {said.qos} pods must be integer: they have cores of their own"
        yield invalid(where, f"{said.cpu}m", told)


def _speaks(template: Pod) -> bool:
    labels = mapping(mapping(template.get("metadata")).get("labels"))
    asked = stated_by(mapping(template.get("spec"))).requests
    return any(name in labels for name in (QOS_CLASS, BAND_OVERRIDE, SUB_PRIORITY)) or any(
        name in asked for name in (BATCH_CPU, BATCH_MEMORY)
    )


def _templates(descriptor: Descriptor, document: Document) -> dict[str, tuple[str, Pod]]:
    """By the name of their pod set, with where they lie: groups of workers come and go, and change places."""
    manifest = whole(document)
    if isinstance(descriptor, Grouped):
        return {one.name: (shown(one.at), one.template) for one in descriptor.groups(manifest)}
    found = [(text(one.get("name"), "main"), mapping(one.get("template"))) for one in descriptor.pod_sets(manifest)]
    if len(found) == 1 and "template" in mapping(manifest.get("spec")):
        return {name: ("spec.template", template) for name, template in found}
    return {name: (f"pods of {name}", template) for name, template in found}
