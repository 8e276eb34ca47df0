"""What a new ElasticQuota gets: a parent, its parent's tree, and a weight for each resource of its max (Koordinator
1.7)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from admission.api.documents import Document, whole
from admission.model.elastic_quota import PARENT, ROOT, TREE, WEIGHT, Bindings
from admission.readers.elastic_quota import read_elastic_quota
from admission.readers.narrow import canonical, mapping, text
from admission.stamping.difference import difference

PatchOperation = dict[str, Any]


def stamp_elastic_quota(document: Document, others: Bindings) -> tuple[PatchOperation, ...]:
    """Raises Unreadable. A parent that does not exist is left to whoever judges."""
    wire = whole(document)
    quota = read_elastic_quota(wire)
    meta = mapping(wire.get("metadata"))
    labels, notes = dict(mapping(meta.get("labels"))), dict(mapping(meta.get("annotations")))
    if quota.parent and quota.name != ROOT:
        labels[PARENT] = quota.parent
        parent = others.by_name.get(quota.parent)
        if parent is not None and parent.tree and not quota.tree:
            labels[TREE] = parent.tree
    if not quota.problems:
        notes[WEIGHT] = canonical(_weights(wire, text(notes.get(WEIGHT))))
    after = {**wire, "metadata": {**meta, "labels": labels, "annotations": notes}}
    return difference(wire, after)


def _weights(wire: Mapping[str, Any], stated: str) -> dict[str, Any]:
    most = mapping(mapping(wire.get("spec")).get("max"))
    said = mapping(msgspec.json.decode(stated)) if stated else {}  # readable, else it were a problem
    return {resource: said.get(resource, most[resource]) for resource in sorted(most)}
