"""What is wrong with the spec of a kind of our own: first its structure, then names nobody knows, then its meaning."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from admission.api.crd import schema_of
from admission.api.field_errors import OMITTED, FieldError, invalid
from admission.api.violations import violations
from admission.readers.narrow import mapping
from admission.readers.unknown_fields import unknown_fields


def spec_errors(
    kind: str, wire: Mapping[str, Any], faults: Callable[[Mapping[str, Any]], Iterable[FieldError]]
) -> list[FieldError]:
    """All of them. `faults`: what the schema cannot say of a spec; only asked where the structure is right."""
    stated = {"spec": wire.get("spec")} if "spec" in wire else {}
    try:
        errors = violations(kind, stated)
        if errors:
            return errors
        return [*unknown_fields(schema_of(kind), stated, ""), *faults(mapping(wire.get("spec")))]
    except RecursionError:
        return [invalid("spec", OMITTED, "is nested too deeply: flatten its fields")]
