"""The JSON Patch between two states of one manifest: no operation for what stayed as it was, however deep it lies."""

from collections.abc import Iterator, Mapping
from typing import Any

from admission.stamping.patches import PatchOperation, pointer, remove, set_field

_Path = tuple[str, ...]


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[PatchOperation, ...]:
    """Maps are compared member by member, lists of equal length entry by entry; any other list is replaced."""
    return tuple(_of_maps((), before, after))


def _of_maps(path: _Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[PatchOperation]:
    for name in before:
        if name not in after:
            yield remove((*path, name))
    for name, value in after.items():
        if name not in before:
            yield set_field((*path, name), value)
        else:
            yield from _of_values((*path, name), before[name], value)


def _of_values(path: _Path, before: Any, after: Any) -> Iterator[PatchOperation]:
    if before is after or (type(before) is type(after) and before == after):
        return  # nearly everywhere, and told without a step of Python
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_maps(path, before, after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _of_values((*path, str(index)), old, new)
    else:
        yield {"op": "replace", "path": pointer(path), "value": after}
