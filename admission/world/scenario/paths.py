"""Field paths as Kubernetes prints them: `spec.containers[0].image`, `metadata.labels[kueue.x-k8s.io/queue-name]`."""

import re
from collections.abc import Mapping
from typing import Any

from admission.model.amounts import BadQuantity, exact

_STEP = re.compile(r"\[([^\]]+)\]|\.?([^.\[]+)")
# Below these, strings are quantities and compare by value.
_AMOUNTS = ("requests", "limits", "overhead")

MISSING = object()


def steps(path: str) -> tuple[str | int, ...]:
    return tuple(
        int(bracket) if bracket.isdigit() else bracket or plain
        for bracket, plain in ((m.group(1) or "", m.group(2) or "") for m in _STEP.finditer(path))
    )


def at(value: Any, path: str) -> Any:
    """What stands at the path, or MISSING."""
    for step in steps(path):
        if isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        elif isinstance(value, Mapping) and str(step) in value:
            value = value[str(step)]
        else:
            return MISSING
    return value


def absent(value: Any) -> bool:
    """Missing, null or empty."""
    return value is MISSING or value is None or value in ("", [], {})


def same_quantity(left: Any, right: Any) -> bool:
    """Whether both are the same amount, however written."""
    try:
        return exact(str(left)) == exact(str(right))
    except BadQuantity:
        return False


def equal_at(path: str, expected: Any, seen: Any) -> bool:
    """Equal as JSON; what lies below requests, limits or overhead by value."""
    parts = [str(step) for step in steps(path)]
    return _equal(expected, seen, any(part in _AMOUNTS for part in parts))


def _equal(expected: Any, seen: Any, amounts: bool) -> bool:
    if isinstance(expected, Mapping) and isinstance(seen, Mapping):
        return expected.keys() == seen.keys() and all(
            _equal(expected[key], seen[key], amounts or key in _AMOUNTS) for key in expected
        )
    if isinstance(expected, list) and isinstance(seen, list):
        return len(expected) == len(seen) and all(_equal(e, s, amounts) for e, s in zip(expected, seen, strict=True))
    if isinstance(expected, bool) != isinstance(seen, bool):
        return False
    return bool(expected == seen) or (amounts and same_quantity(expected, seen))


def contains(expected: Any, seen: Any) -> bool:
    """A list has an element with these keys and values (or this element); a string has this part."""
    if isinstance(seen, str):
        return isinstance(expected, str) and expected in seen
    if isinstance(seen, list):
        return any(_has(expected, element) for element in seen)
    return False


def _has(expected: Any, element: Any) -> bool:
    if isinstance(expected, Mapping) and isinstance(element, Mapping):
        return all(key in element and _has(value, element[key]) for key, value in expected.items())
    return bool(expected == element)
