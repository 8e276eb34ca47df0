"""What the API server makes of an object of ours before it looks at it: unknown fields go, defaults come.

Works on the structural schema, as the API server does, so that both give the same object.
"""

from collections.abc import Mapping
from typing import Any

from admission.api.crd import schema_of

Schema = Mapping[str, Any]

_ROOT = ("apiVersion", "kind", "metadata")  # handled by the API server itself


def with_defaults(kind: str, wire: Mapping[str, Any], version: str = "") -> dict[str, Any]:
    """A copy with defaults filled in, and without nulls that the schema does not know. KeyError: not a kind of ours."""
    filled: dict[str, Any] = _defaulted(schema_of(kind, version), wire)
    return filled


def prune(kind: str, wire: Mapping[str, Any], version: str = "") -> dict[str, Any]:
    """A copy without the fields that the schema does not know. KeyError: not a kind of ours."""
    schema = schema_of(kind, version)
    kept: dict[str, Any] = _pruned(schema, {name: value for name, value in wire.items() if name not in _ROOT})
    return {name: wire[name] for name in _ROOT if name in wire} | kept


def _defaulted(schema: Schema, value: Any) -> Any:
    if isinstance(value, Mapping):
        if "properties" not in schema and not isinstance(schema.get("additionalProperties"), Mapping):
            return dict(value)  # opaque: nulls in a pod template are the template's business
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        given = {
            name: field
            for name, field in value.items()
            if field is not None or properties.get(name, others).get("nullable")
        }
        missing = {
            name: field["default"] for name, field in properties.items() if name not in given and "default" in field
        }
        return {name: _defaulted(properties.get(name, others), field) for name, field in (given | missing).items()}
    if isinstance(value, list):
        return [_defaulted(schema.get("items", {}), entry) for entry in value]
    return value


def _pruned(schema: Schema, value: Any) -> Any:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return value
    if isinstance(value, Mapping):
        others = schema.get("additionalProperties")
        if others is not None:
            return {name: _pruned(others, field) for name, field in value.items()}
        known = schema.get("properties", {})
        return {name: _pruned(known[name], field) for name, field in value.items() if name in known}
    if isinstance(value, list):
        return [_pruned(schema.get("items", {}), entry) for entry in value]
    return value
