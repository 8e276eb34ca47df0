"""Fields deep inside a manifest: found and replaced by their path, everything else shared with the original."""

from collections.abc import Mapping
from typing import Any

Path = tuple[str | int, ...]  # member names, and positions in lists


def value_at(document: object, path: Path) -> Any:
    """What lies there; None where the path leads nowhere."""
    for part in path:
        if type(document) is dict:  # nearly always, and told faster than by asking for any mapping
            document = document.get(part)
        elif isinstance(part, int):
            if not isinstance(document, list | tuple) or not -len(document) <= part < len(document):
                return None
            document = document[part]
        elif isinstance(document, Mapping):
            document = document.get(part)
        else:
            return None
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    """The document with another value there; None takes the member away. Missing mappings on the way are made; a path
    through a list must lead to an entry that exists (IndexError)."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        entries = list(document)
        entries[first] = replaced(entries[first], rest, value)
        return entries
    members = dict(document) if isinstance(document, Mapping) else {}
    inner = replaced(members.get(first), rest, value)
    if inner is None:
        members.pop(first, None)
    else:
        members[first] = inner
    return members


def nested(path: Path, value: Any) -> dict[str, Any]:
    """`value` wrapped in the members of a path without positions: a merge patch that sets it."""
    for part in reversed(path):
        value = {part: value}
    result: dict[str, Any] = value
    return result
