"""LimitRange JSON -> LimitRange, with the defaults that the API server gives it."""

from collections.abc import Mapping
from typing import Any

from admission.model.pods import LimitRange, LimitRangeItem, kept_first
from admission.readers.metadata import read_metadata
from admission.readers.narrow import mapping, tuple_of, word
from admission.readers.pod_resources import read_quantities


def read_limit_range(wire: Mapping[str, Any]) -> LimitRange:
    """Total: any JSON object gives a LimitRange."""
    meta = read_metadata(wire)
    items = tuple_of(_item, mapping(wire.get("spec")).get("limits"))
    return LimitRange(meta.namespace, meta.name, items, meta.resource_version)


def _item(wire: Mapping[str, Any]) -> LimitRangeItem:
    kind = word(wire.get("type"))
    default, requested, least, most = (
        read_quantities(wire.get(field)) for field in ("default", "defaultRequest", "min", "max")
    )
    if kind == "Container":
        # Repeated here, where it changes nothing, for files that no API server has seen.
        default = kept_first(default, most)
        requested = kept_first(kept_first(requested, default), least)
    return LimitRangeItem(kind, default, requested, least, most)
