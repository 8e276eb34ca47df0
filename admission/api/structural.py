"""Models -> structural schemas: what a CustomResourceDefinition may hold of a JSON schema.

pydantic says more than the API server allows ($ref, null, title, const); this says the same without. Anything that
has no equivalent is an error here, when a model is written, rather than there, when the CRD is applied.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_KEPT = {
    "type", "format", "description", "default", "enum", "pattern", "required", "properties", "items",
    "additionalProperties", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
    "maxProperties", "anyOf", "nullable",
}  # fmt: skip


class NotStructural(ValueError):
    """The model says something that a CRD cannot hold; the message names the field and the keyword."""


def structural(model: type[BaseModel]) -> Schema:
    """The structural schema of a root object. Raises NotStructural."""
    schema = part(model)
    for field, meaning in (("apiVersion", _API_VERSION), ("kind", _KIND)):
        schema["properties"][field] = {"type": "string", "description": meaning}
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def part(model: type[BaseModel]) -> Schema:
    """The schema of an object inside another. Raises NotStructural."""
    stated = model.model_json_schema(by_alias=True, mode="validation")
    return _plain(stated, stated.get("$defs", {}), model.__name__)


_API_VERSION = "The version of the schema that this object is written in."
_KIND = "What sort of object this is."


def _plain(stated: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Schema:
    found = dict(stated)
    found.pop("$defs", None)
    if reference := found.pop("$ref", None):
        found = {**definitions[reference.removeprefix("#/$defs/")], **found}
        return _plain(found, definitions, path)
    if "anyOf" in found:
        choices = [choice for choice in found.pop("anyOf") if choice != {"type": "null"}]
        if found.get("x-kubernetes-int-or-string"):
            return _without_noise(found, path) | {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        if len(choices) != 1:
            raise NotStructural(f"{path}: {len(choices)} alternatives: a field of a CRD has one type")
        if found.get("default", ...) is None:
            found.pop("default")
        return _plain({**choices[0], **found}, definitions, path)
    if "const" in found:
        found["enum"] = [found.pop("const")]
    schema = _without_noise(found, path)
    if "properties" in schema:
        schema["properties"] = {
            name: _plain(field, definitions, f"{path}.{name}") for name, field in schema["properties"].items()
        }
    if "items" in schema:
        schema["items"] = _plain(schema["items"], definitions, f"{path}[]")
    if isinstance(schema.get("additionalProperties"), Mapping):
        schema["additionalProperties"] = _plain(schema["additionalProperties"], definitions, f"{path}{{}}")
    elif schema.pop("additionalProperties", None) is not None:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    return schema


def _without_noise(stated: Mapping[str, Any], path: str) -> Schema:
    schema = {key: value for key, value in stated.items() if key != "title"}
    if schema.get("default", ...) is None:
        schema.pop("default")
    for key in schema:
        if key not in _KEPT and not key.startswith("x-kubernetes-"):
            raise NotStructural(f"{path}: a CRD has no {key!r}")
    return schema
