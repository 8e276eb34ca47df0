"""What a JobProfile must not say, beyond its schema: whatever its reader could not use."""

from typing import Any

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError
from admission.readers.job_profile import profile_errors
from admission.readers.narrow import mapping


def check_job_profile(document: Document) -> list[FieldError]:
    """All that is wrong with it, in the order of its fields. Raises Unreadable."""
    wire = view(document, dict[str, Any])
    if mapping(wire.get("metadata")).get("deletionTimestamp") is not None:
        return []
    return profile_errors(wire)
