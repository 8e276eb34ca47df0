"""Fields that a schema of ours does not have: the API server keeps them, so that we can refuse them by name."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from admission.api.field_errors import FieldError, child, forbidden


def unknown_fields(schema: Mapping[str, Any], value: object, path: str) -> list[FieldError]:
    """All of them, in the order of the object, each with what may have been meant."""
    errors: list[FieldError] = []
    if isinstance(value, list):
        for at, entry in enumerate(value):
            errors += unknown_fields(schema.get("items", {}), entry, f"{path}[{at}]")
    known = schema.get("properties")
    if isinstance(value, Mapping) and known is not None:
        for name, field in value.items():
            if name in known:
                errors += unknown_fields(known[name], field, child(path, name))
            else:
                near = get_close_matches(name, known, n=1)
                remedy = f"did you mean {near[0]}?" if near else f"known there are {', '.join(known)}"
                errors.append(forbidden(child(path, name), f"unknown field: {remedy}"))
    return errors
