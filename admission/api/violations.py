"""What the API server refuses about an object of ours, from the same schema and in the same words.

On an update, what did not change is not complained about, however wrong it is: an object that was accepted under
older rules can still be edited elsewhere.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from admission.api import rules, v1beta1_rules, workload_rules
from admission.api.crd import schema_of
from admission.api.field_errors import (
    OMITTED,
    FieldError,
    child,
    duplicate,
    invalid,
    required,
    too_long,
    too_many,
    unsupported,
)
from admission.model.times import BadTime, seconds

Schema = Mapping[str, Any]

_NOTHING = object()  # there is no older value to compare with
_BY_TEXT = {rule.text: rule for rule in (*rules.ALL, *workload_rules.ALL, *v1beta1_rules.ALL)}


def violations(
    kind: str, wire: Mapping[str, Any], old: Mapping[str, Any] | None = None, version: str = ""
) -> list[FieldError]:
    """Of an object with its defaults. `old`: what it replaces. KeyError: not a kind of ours, or not a version of it.

    Rules are only asked of objects that have the right structure.
    """
    schema = schema_of(kind, version)
    before = _NOTHING if old is None else old
    return list(_structure(schema, wire, before, "")) or list(_rules(schema, wire, before, ""))


def _structure(schema: Schema, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    if old is not _NOTHING and value == old:
        return
    if "x-kubernetes-int-or-string" in schema:
        if _type_of(value) not in ("integer", "string"):
            yield _wrong_type(path, "integer,string", value)
        elif isinstance(value, str):
            yield from _string(schema, value, path)
        return
    wanted = schema.get("type")
    if wanted is None:
        return
    if _type_of(value) != wanted:
        yield _wrong_type(path, wanted, value)
        return
    match wanted:
        case "string":
            yield from _string(schema, value, path)
        case "integer":
            yield from _integer(schema, value, path)
        case "array":
            yield from _array(schema, value, old, path)
        case "object":
            yield from _object(schema, value, old, path)


def _string(schema: Schema, value: str, path: str) -> Iterator[FieldError]:
    if len(value) > schema.get("maxLength", len(value)):
        yield too_long(path, schema["maxLength"])
    if len(value) < schema.get("minLength", 0):
        yield invalid(path, value, f"{path} in body should be at least {schema['minLength']} chars long")
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield invalid(path, value, f"{path} in body should match '{schema['pattern']}'")
    if "enum" in schema and value not in schema["enum"]:
        yield unsupported(path, value, tuple(schema["enum"]))
    if schema.get("format") == "date-time" and not _is_time(value):
        yield invalid(path, value, f'{path} in body must be of type date-time: "{value}"')


def _integer(schema: Schema, value: int, path: str) -> Iterator[FieldError]:
    if value < schema.get("minimum", value):
        yield invalid(path, value, f"{path} in body should be greater than or equal to {schema['minimum']}")
    if value > schema.get("maximum", value):
        yield invalid(path, value, f"{path} in body should be less than or equal to {schema['maximum']}")


def _array(schema: Schema, value: list[Any], old: Any, path: str) -> Iterator[FieldError]:
    if len(value) > schema.get("maxItems", len(value)):
        yield too_many(path, len(value), schema["maxItems"])
    if len(value) < schema.get("minItems", 0):
        yield invalid(path, len(value), f"{path} in body should have at least {schema['minItems']} items")
    for position, entry in enumerate(value):
        yield from _structure(schema["items"], entry, _counterpart(schema, entry, old), f"{path}[{position}]")
    yield from _repeated(schema, value, path)


def _repeated(schema: Schema, value: list[Any], path: str) -> Iterator[FieldError]:
    seen: list[Any] = []
    for position, entry in enumerate(value):
        if schema.get("x-kubernetes-list-type") == "map":
            told_by = _keys(schema, entry)
        elif schema.get("x-kubernetes-list-type") == "set":
            told_by = entry
        else:
            return
        if told_by in seen:
            yield duplicate(f"{path}[{position}]", told_by)
        seen.append(told_by)


def _object(schema: Schema, value: Mapping[str, Any], old: Any, path: str) -> Iterator[FieldError]:
    if len(value) > schema.get("maxProperties", len(value)):
        yield too_many(path, len(value), schema["maxProperties"])
    for name in schema.get("required", ()):
        if name not in value:
            yield required(child(path, name))
    for where, field, inner, before in _fields(schema, value, old, path):
        yield from _structure(inner, field, before, where)


def _rules(schema: Schema, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    if old is not _NOTHING and value == old:
        return
    for stated in schema.get("x-kubernetes-validations", ()):
        rule = _BY_TEXT[stated["rule"]]
        if rule.transition and old is _NOTHING:
            continue
        if not rule.holds(value, old):
            yield invalid(path, OMITTED if isinstance(value, Mapping | list) else value, rule.message)
    if isinstance(value, Mapping):
        for where, field, inner, before in _fields(schema, value, old, path):
            yield from _rules(inner, field, before, where)
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from _rules(schema.get("items", {}), entry, _counterpart(schema, entry, old), f"{path}[{position}]")


def _fields(schema: Schema, value: Mapping[str, Any], old: Any, path: str) -> Iterator[tuple[str, Any, Schema, Any]]:
    """Path, value, schema and older value of every field that the schema knows."""
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    before = old if isinstance(old, Mapping) else {}
    for name, field in value.items():
        if name in known:
            yield child(path, name), field, known[name], before.get(name, _NOTHING)
        elif others is not None:
            yield child(path, name), field, others, before.get(name, _NOTHING)


def _counterpart(schema: Schema, entry: Any, old: Any) -> Any:
    """The older value of a list's entry, where entries can be told apart."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return _NOTHING
    wanted = _keys(schema, entry)
    return next((before for before in old if _keys(schema, before) == wanted), _NOTHING)


def _keys(schema: Schema, entry: Any) -> Any:
    keys = schema["x-kubernetes-list-map-keys"]
    return {name: entry[name] for name in keys if name in entry} if isinstance(entry, Mapping) else {}


def _wrong_type(path: str, wanted: str, value: Any) -> FieldError:
    found = _type_of(value)
    return invalid(path, found, f'{path} in body must be of type {wanted}: "{found}"')


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer" if -(2**63) <= value < 2**63 else "number"  # beyond int64 it is decoded as a float
        case float():
            return "integer" if value.is_integer() else "number"  # 3.0 is a JSON integer
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def _is_time(value: str) -> bool:
    try:
        seconds(value)
    except BadTime:
        return False
    return True
