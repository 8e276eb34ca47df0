"""Looks into JSON without trusting it: every look gives a value of the asked type.

What the API server holds may predate our webhooks or come from a kind whose schema keeps unknown fields, so a field of
the wrong type counts as absent; a reader never raises.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

import msgspec

from admission.model.times import BadTime, seconds

T = TypeVar("T")

_NOTHING: Mapping[str, Any] = {}

# Decoded JSON is dict, list and None; asking for those first, and in place, spares calls and abstract classes, which
# took a sixth of the CPU of reading a Workload.


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return type(value) is dict or isinstance(value, Mapping)


def mapping(value: object) -> Mapping[str, Any]:
    if type(value) is dict:
        return value
    return value if value is not None and isinstance(value, Mapping) else _NOTHING


def items(value: object) -> Sequence[Any]:
    if type(value) is list:
        return value
    return value if value is not None and isinstance(value, list | tuple) else ()


def entries(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else in it is passed over."""
    return [entry for entry in items(value) if type(entry) is dict or isinstance(entry, Mapping)] if value else []


def text(value: object, otherwise: str = "") -> str:
    return value if isinstance(value, str) else otherwise


def word(value: object, otherwise: str = "") -> str:
    """A text that many objects repeat: kept once in memory."""
    return sys.intern(value) if type(value) is str else otherwise


def integer(value: object, otherwise: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def maybe_integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def boolean(value: object, otherwise: bool = False) -> bool:
    return value if isinstance(value, bool) else otherwise


def choice(value: object, *known: str) -> str:
    """One of the `known` words; the first stands for everything else."""
    return value if isinstance(value, str) and value in known else known[0]


def moment(value: object) -> float | None:
    """Seconds since 1970 of an RFC 3339 time; None when there is none."""
    if not isinstance(value, str):
        return None
    try:
        return seconds(value)
    except BadTime:
        return None


def strings(value: object) -> dict[str, str]:
    """The entries of a map whose values are texts."""
    return {word(key): word(entry) for key, entry in mapping(value).items() if isinstance(entry, str)} if value else {}


def words(value: object) -> tuple[str, ...]:
    """The texts of a list."""
    return tuple(word(entry) for entry in items(value) if isinstance(entry, str))


def canonical(value: object) -> str:
    """The same JSON for equal values, whatever the order of their keys."""
    return canonical_bytes(value).decode()


def canonical_bytes(value: object) -> bytes:
    try:
        return msgspec.json.encode(value, order="deterministic")
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can escape but UTF-8 cannot hold
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def tuple_of(read: Callable[[Mapping[str, Any]], T], value: object) -> tuple[T, ...]:
    return tuple([read(entry) for entry in entries(value)]) if value else ()
