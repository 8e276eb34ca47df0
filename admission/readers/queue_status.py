"""The status of a queue as we last wrote it, kept only to see whether a new one differs."""

from collections.abc import Mapping
from typing import Any

from admission.model.queues import QueueStatus
from admission.readers.metadata import read_conditions
from admission.readers.narrow import canonical, mapping


def read_queue_status(value: object) -> QueueStatus:
    """`status` of a ClusterQueue or LocalQueue."""
    status = mapping(value)
    return QueueStatus(read_conditions(status.get("conditions")), rest_of(status))


def rest_of(status: Mapping[str, Any]) -> str:
    """Canonical JSON of a status without its conditions; "" when nothing is left."""
    rest = {name: field for name, field in status.items() if name != "conditions"}
    return canonical(rest) if rest else ""
