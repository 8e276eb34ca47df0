"""What a QueuePolicy must not say, beyond its schema: whatever its reader could not use."""

from typing import Any

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError
from admission.readers.narrow import mapping
from admission.readers.queue_policy import policy_errors


def check_queue_policy(document: Document) -> list[FieldError]:
    """All that is wrong with it, in the order of its fields. Raises Unreadable."""
    wire = view(document, dict[str, Any])
    if mapping(wire.get("metadata")).get("deletionTimestamp") is not None:
        return []
    return policy_errors(wire)
