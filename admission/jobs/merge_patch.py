"""JSON merge patches (RFC 7386) computed from what is and what should be, so that nothing else is touched."""

from collections.abc import Mapping
from typing import Any


def difference(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest merge patch that turns `current` into `wanted`. Neither may hold nulls, as nothing stored does."""
    patch: dict[str, Any] = {key: None for key in current if key not in wanted}
    for key, value in wanted.items():
        if key not in current:
            patch[key] = value
        elif current[key] != value:
            both_maps = isinstance(value, Mapping) and isinstance(current[key], Mapping)
            patch[key] = difference(current[key], value) if both_maps else value
    return patch


def joined(patch: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """One merge patch that does what both do; where they name the same field, `other` has the last word."""
    result = dict(patch)
    for key, value in other.items():
        mine = result.get(key)
        both_maps = isinstance(value, Mapping) and isinstance(mine, Mapping)
        result[key] = joined(mine, value) if both_maps and mine is not None else value
    return result
