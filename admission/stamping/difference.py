"""The JSON Patch between two states of one manifest: no operation for what stayed as it was, however deep it lies."""

from collections.abc import Mapping
from typing import Any

from admission.readers.narrow import is_mapping
from admission.stamping.patches import PatchOperation, pointer, remove, set_field

_Path = tuple[str, ...]


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[PatchOperation, ...]:
    """Maps are compared member by member, lists of equal length entry by entry; any other list is replaced."""
    found: list[PatchOperation] = []
    _maps((), before, after, found)
    return tuple(found)


def _maps(path: _Path, before: Mapping[str, Any], after: Mapping[str, Any], found: list[PatchOperation]) -> None:
    found += [remove((*path, name)) for name in before if name not in after]
    for name, value in after.items():
        if name not in before:
            found.append(set_field((*path, name), value))
        elif value is not before[name]:
            _values((*path, name), before[name], value, found)


def _values(path: _Path, before: Any, after: Any, found: list[PatchOperation]) -> None:
    if type(before) is type(after) and before == after:
        return  # nearly everywhere, and told without a step of Python
    if is_mapping(before) and is_mapping(after):
        _maps(path, before, after, found)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            if old is not new:
                _values((*path, str(index)), old, new, found)
    else:
        found.append({"op": "replace", "path": pointer(path), "value": after})
