"""Any object that a structural schema allows, as a hypothesis strategy: what no hand-written list of fields forgets."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "a-1", "node-10", "node-2")  # match every pattern of our schemas
QUANTITIES = (0, 3, "500m", "1Gi")
TIME = "2026-01-02T03:04:05Z"


def objects(schema: Mapping[str, Any], special: Mapping[str, st.SearchStrategy[Any]], path: str = "") -> Any:
    """`special`: strategies for what the schema alone can't say, by path (`spec.podSets[].count`)."""
    if path in special:
        return special[path]
    if "x-kubernetes-int-or-string" in schema:
        return st.sampled_from(QUANTITIES)
    match schema.get("type"):
        case "string":
            return _strings(schema)
        case "integer":
            low = max(schema.get("minimum", -9), -9)
            return st.integers(low, max(low, 9))
        case "boolean":
            return st.booleans()
        case "array":
            return _lists(schema, special, path)
        case "object":
            return _maps(schema, special, path)
    raise AssertionError(f"{path}: {schema}")


def _strings(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return st.just(TIME) if schema.get("format") == "date-time" else st.sampled_from(NAMES)


def _lists(schema: Mapping[str, Any], special: Mapping[str, Any], path: str) -> st.SearchStrategy[list[Any]]:
    unique: Callable[[Any], Any] | None = None
    if keys := schema.get("x-kubernetes-list-map-keys"):
        unique = lambda entry: tuple(entry.get(key) for key in keys)  # noqa: E731
    elif schema.get("x-kubernetes-list-type") == "set":
        unique = str
    entries = objects(schema["items"], special, f"{path}[]")
    return st.lists(entries, min_size=schema.get("minItems", 0), max_size=2, unique_by=unique)


def _maps(schema: Mapping[str, Any], special: Mapping[str, Any], path: str) -> st.SearchStrategy[dict[str, Any]]:
    if isinstance(schema.get("additionalProperties"), Mapping):
        return st.dictionaries(
            st.sampled_from(NAMES), objects(schema["additionalProperties"], special, f"{path}{{}}"), max_size=2
        )
    fields = {
        name: objects(field, special, f"{path}.{name}" if path else name)
        for name, field in schema.get("properties", {}).items()
    }
    required = {name: fields.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=fields)
