"""RuntimeClass JSON -> RuntimeClass."""

from collections.abc import Mapping
from typing import Any

from admission.model.pods import RuntimeClass
from admission.readers.metadata import read_metadata
from admission.readers.narrow import mapping
from admission.readers.pod_resources import read_quantities


def read_runtime_class(wire: Mapping[str, Any]) -> RuntimeClass:
    """Total: any JSON object gives a RuntimeClass."""
    meta = read_metadata(wire)
    overhead = read_quantities(mapping(wire.get("overhead")).get("podFixed"))
    return RuntimeClass(meta.name, overhead, meta.resource_version)
