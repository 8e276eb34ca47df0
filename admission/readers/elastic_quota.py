"""ElasticQuota, Pod and Node JSON -> what elastic quotas are reckoned from."""

from collections.abc import Mapping
from typing import Any

import msgspec

from admission.model import elastic_quota as words_of
from admission.model.amounts import BadQuantity, amount
from admission.model.elastic_quota import ElasticQuota, NodeCapacity, QuotaPod, Units
from admission.model.names import WORKLOAD_ANNOTATION
from admission.readers.metadata import read_metadata
from admission.readers.narrow import is_mapping, items, mapping, text, word, words
from admission.readers.pod_resources import stated_by

_PUBLISHED = (words_of.RUNTIME, words_of.REQUEST, words_of.CHILD_REQUEST)


def read_elastic_quota(wire: Mapping[str, Any]) -> ElasticQuota:
    """Total: any JSON object gives an ElasticQuota; what of it is not readable counts as missing, and is told."""
    meta = read_metadata(wire)
    labels, notes, spec = meta.labels, meta.annotations, mapping(wire.get("spec"))
    problems: list[str] = []
    most = read_units(spec.get("max"), "spec.max", problems)
    least = read_units(spec.get("min"), "spec.min", problems)
    weight = _noted_units(notes, words_of.WEIGHT, problems) or {}
    is_root = labels.get(words_of.IS_ROOT) == "true"
    return ElasticQuota(
        meta.namespace, meta.name, meta.uid, meta.resource_version, meta.created, meta.deleting,
        parent="" if is_root else labels.get(words_of.PARENT) or words_of.ROOT,
        is_parent=labels.get(words_of.IS_PARENT) == "true",
        is_root=is_root,
        tree=labels.get(words_of.TREE, ""),
        lends=labels.get(words_of.LENDS) != "false",
        forced=labels.get(words_of.FORCED) == "true",
        ignores_default=labels.get(words_of.IGNORES_DEFAULT) == "true",
        min={resource: units for resource, units in least.items() if resource in most},
        max=most,
        weight={resource: weight.get(resource, units) for resource, units in most.items()},
        namespaces=_noted_names(notes, words_of.NAMESPACES, problems),
        total=_noted_units(notes, words_of.TOTAL, problems),
        used={word(name): str(said) for name, said in mapping(mapping(wire.get("status")).get("used")).items()},
        published={name: notes[name] for name in _PUBLISHED if name in notes},
        problems=tuple(problems),
    )  # fmt: skip


def read_quota_pod(wire: Mapping[str, Any]) -> QuotaPod:
    """Total: any JSON object gives a pod."""
    found, spec = mapping(wire.get("metadata")), mapping(wire.get("spec"))
    meta = read_metadata({"metadata": {**found, "managedFields": None}})
    phase = mapping(wire.get("status")).get("phase")
    return QuotaPod(
        meta.namespace,
        meta.name,
        meta.resource_version,
        meta.labels.get(words_of.QUOTA_NAME, ""),
        meta.annotations.get(WORKLOAD_ANNOTATION, ""),
        stated_by(spec).requests,
        placed=bool(text(spec.get("nodeName"))),
        over=phase in ("Succeeded", "Failed"),
    )


def read_node_capacity(wire: Mapping[str, Any]) -> NodeCapacity:
    """Total: any JSON object gives a node."""
    meta = read_metadata(wire)
    return NodeCapacity(
        meta.name, meta.resource_version, read_units(mapping(wire.get("status")).get("allocatable"), "", [])
    )


def read_units(value: object, path: str, problems: list[str]) -> Units:
    """At least 0 each; what is no quantity is left out, and told to `problems`."""
    found = {}
    for name, stated in sorted(mapping(value).items()):
        resource = word(name)
        try:
            if isinstance(stated, bool) or not isinstance(stated, str | int | float):
                raise BadQuantity(f"{stated!r} is not a quantity")
            found[resource] = max(0, amount(resource, stated))
        except BadQuantity as error:
            problems.append(f"{path}[{resource}]: {error}")
    return found


def _noted_units(notes: Mapping[str, str], name: str, problems: list[str]) -> Units | None:
    value = _noted(notes, name, problems)
    if value is None:
        return None
    if not is_mapping(value):
        problems.append(f'metadata.annotations[{name}]: must be a JSON object of quantities, like {{"cpu":"10"}}')
        return None
    return read_units(value, f"metadata.annotations[{name}]", problems)


def _noted_names(notes: Mapping[str, str], name: str, problems: list[str]) -> tuple[str, ...]:
    value = _noted(notes, name, problems)
    if value is not None and (not isinstance(value, list) or len(words(value)) != len(items(value))):
        problems.append(f'metadata.annotations[{name}]: must be a JSON list of namespaces, like ["team-a"]')
    return words(value)


def _noted(notes: Mapping[str, str], name: str, problems: list[str]) -> object:
    stated = notes.get(name)
    if not stated:
        return None
    try:
        return msgspec.json.decode(stated)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        problems.append(f"metadata.annotations[{name}]: {stated[:80]!r} is not JSON")
        return None
