"""JSON merge patch (RFC 7386) and JSON Patch (RFC 6902), as an API server applies them."""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.world.objects import copied


class BadPatch(ValueError):
    """The patch cannot be applied; the message names the operation."""


def merged(target: Any, patch: Any) -> Any:
    """The target after a merge patch; untouched parts are shared with the target."""
    if not isinstance(patch, Mapping):
        return copied(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def patched(target: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """The target after a JSON Patch, as a copy. Raises BadPatch."""
    document = copied(target)
    for index, operation in enumerate(operations):
        try:
            document = _applied(document, operation)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            name, path = operation.get("op"), operation.get("path")
            detail = error if isinstance(error, BadPatch) else f"there is nothing at that path ({error})"
            raise BadPatch(f"operation {index} ({name} {path}): {detail}") from error
    return document


def _applied(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _pointer(operation["path"])
    match operation["op"]:
        case "add":
            return _added(document, path, copied(operation["value"]))
        case "remove":
            return _removed(document, path)
        case "replace":
            _at(document, path)
            return _added(_removed(document, path) if path else None, path, copied(operation["value"]))
        case "move":
            source = _pointer(operation["from"])
            value = _at(document, source)
            return _added(_removed(document, source), path, value)
        case "copy":
            return _added(document, path, copied(_at(document, _pointer(operation["from"]))))
        case "test":
            if _at(document, path) != operation["value"]:
                raise BadPatch("the value there is another one")
            return document
        case other:
            raise BadPatch(f"{other!r} is not an operation: add, remove, replace, move, copy or test")


def _pointer(text: str) -> list[str]:
    if not text:
        return []
    if not text.startswith("/"):
        raise BadPatch(f"{text!r} is not a JSON pointer: it starts with a slash")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def _added(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _at(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        index = len(parent) if last == "-" else int(last)
        if not 0 <= index <= len(parent):
            raise BadPatch(f"index {index} is outside of the list")
        parent.insert(index, value)
    else:
        parent[last] = value
    return document


def _removed(document: Any, path: list[str]) -> Any:
    parent, last = _at(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        del parent[int(last)]
    else:
        del parent[last]
    return document
