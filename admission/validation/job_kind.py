"""What a JobKind must not say, beyond its schema: whatever its reader could not use."""

from collections.abc import Mapping
from typing import Any

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, invalid
from admission.jobs.registry import JOB_KINDS
from admission.readers.job_kind import kind_errors, read_rules
from admission.readers.narrow import mapping
from admission.validation.syntax import IMMUTABLE


def check_job_kind(document: Document, before: Document | None) -> list[FieldError]:
    """All that is wrong with it, in the order of its fields. Raises Unreadable."""
    wire = view(document, dict[str, Any])
    if mapping(wire.get("metadata")).get("deletionTimestamp") is not None:
        return []
    _, errors = read_rules(wire)
    return [*kind_errors(wire, JOB_KINDS), *errors, *_moved(wire, before)]


def _moved(wire: Mapping[str, Any], before: Document | None) -> list[FieldError]:
    """Jobs that are queued would be lost from sight if the same JobKind spoke of another resource."""
    if before is None:
        return []
    new, old = mapping(wire.get("spec")), mapping(view(before, dict[str, Any]).get("spec"))
    return [
        invalid(f"spec.{name}", new.get(name), f"{IMMUTABLE}: delete this JobKind and make another")
        for name in ("kind", "plural")
        if new.get(name) != old.get(name)
    ]
