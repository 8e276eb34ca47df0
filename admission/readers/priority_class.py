"""WorkloadPriorityClass and core PriorityClass JSON -> PriorityClass; both keep their value at the top level."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import PriorityClass
from admission.readers.metadata import read_metadata
from admission.readers.narrow import boolean, choice, integer


def read_priority_class(wire: Mapping[str, Any]) -> PriorityClass:
    """Total: any JSON object gives a PriorityClass."""
    meta = read_metadata(wire)
    return PriorityClass(
        name=meta.name,
        value=integer(wire.get("value")),
        resource_version=meta.resource_version,
        global_default=boolean(wire.get("globalDefault")),
        preemption_policy=choice(wire.get("preemptionPolicy"), "PreemptLowerPriority", "Never"),
    )
