"""Steps that conversions are made of: copies of JSON objects with fields renamed, left out or changed inside.

null is no value, as for the API server.
"""

from collections.abc import Callable, Mapping
from typing import Any

Object = Mapping[str, Any]
Step = Callable[[Object], Object]


class Unconvertible(ValueError):
    """An object that cannot be said in the other version; `path` names the field."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}" if path else why)
        self.path, self.why = path, why


def an_object(value: Any, path: str) -> Object:
    """The value, which has to be an object. Raises Unconvertible."""
    if not isinstance(value, Mapping):
        raise Unconvertible(path, f"{_shown(value)} is not an object")
    return value


def a_list(value: Any, path: str) -> list[Any]:
    """The value, which has to be a list. Raises Unconvertible."""
    if not isinstance(value, list):
        raise Unconvertible(path, f"{_shown(value)} is not a list")
    return value


def a_string(value: Any, path: str) -> str:
    """The value, which has to be a string. Raises Unconvertible."""
    if not isinstance(value, str):
        raise Unconvertible(path, f"{_shown(value)} is not a string")
    return value


def without(holder: Object, *names: str) -> Object:
    """Without these fields."""
    return {name: value for name, value in holder.items() if name not in names}


def renamed(holder: Object, old: str, new: str) -> Object:
    """With a field under its new name. The version that it comes from knows no field of that name."""
    return {new if name == old else name: value for name, value in holder.items() if name != new}


def changed(holder: Object, name: str, step: Step) -> Object:
    """With the object in this field changed, where there is one. Raises Unconvertible."""
    value = holder.get(name)
    if value is None:
        return holder
    return {**holder, name: _stepped(an_object(value, name), name, step)}


def each_changed(holder: Object, name: str, step: Step) -> Object:
    """With every object of the list in this field changed, where there is one. Raises Unconvertible."""
    value = holder.get(name)
    if value is None:
        return holder
    entries = a_list(value, name)
    return {
        **holder,
        name: [
            _stepped(an_object(entry, f"{name}[{index}]"), f"{name}[{index}]", step)
            for index, entry in enumerate(entries)
        ],
    }


def _stepped(value: Object, path: str, step: Step) -> Object:
    try:
        return step(value)
    except Unconvertible as error:
        raise Unconvertible(f"{path}.{error.path}" if error.path else path, error.why) from error


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or value.bit_length() < 1000 else "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}…"
