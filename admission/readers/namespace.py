"""Namespace JSON -> Namespace."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import Namespace
from admission.readers.metadata import read_metadata


def read_namespace(wire: Mapping[str, Any]) -> Namespace:
    """Total: any JSON object gives a Namespace."""
    meta = read_metadata(wire)
    return Namespace(name=meta.name, labels=meta.labels, resource_version=meta.resource_version, deleting=meta.deleting)
