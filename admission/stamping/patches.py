"""JSON Patch operations (RFC 6902) on single fields: what a rule does not know, it cannot lose."""

from collections.abc import Mapping
from typing import Any

PatchOperation = dict[str, Any]


def set_field(path: tuple[str, ...], value: object) -> PatchOperation:
    """Sets a member whose parent exists, whether or not it was there before."""
    return {"op": "add", "path": pointer(path), "value": value}


def set_entry(map_path: tuple[str, ...], existing: Mapping[str, str] | None, key: str, value: str) -> PatchOperation:
    """Sets one entry of a map that may be missing altogether."""
    if existing is None:
        return set_field(map_path, {key: value})
    return set_field((*map_path, key), value)


def append(list_path: tuple[str, ...], existing: tuple[str, ...] | None, value: str) -> PatchOperation:
    """Appends to a list that may be missing altogether."""
    if existing is None:
        return set_field(list_path, [value])
    return set_field((*list_path, "-"), value)


def remove(path: tuple[str, ...]) -> PatchOperation:
    """Takes away a member or an entry that is there."""
    return {"op": "remove", "path": pointer(path)}


def pointer(path: tuple[str, ...]) -> str:
    """The JSON Pointer (RFC 6901) of a path."""
    whole = "/".join(("", *path))
    if "~" not in whole and whole.count("/") == len(path):
        return whole
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
