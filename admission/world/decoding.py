"""Metadata as the API server's decoder reads it, before any rule is asked."""

from collections.abc import Mapping
from typing import Any

from admission.world.answers import bad_request
from admission.world.objects import Frozen, Object

# The type of each field, Go's name for it, and the same of what it holds.
_STRINGS = (Mapping, "map[string]string", str, "string")
_HELD: dict[str, tuple[Any, str, Any, str]] = {
    "labels": _STRINGS,
    "annotations": _STRINGS,
    "finalizers": (list, "[]string", str, "string"),
    "ownerReferences": (list, "[]v1.OwnerReference", Mapping, "v1.OwnerReference"),
}
_PLAIN = ("name", "generateName", "namespace")


def decoded_metadata(manifest: Frozen) -> Object:
    """Of a manifest whose kind is known. A null is no value, and in a map of strings the empty one. Raises Refused."""
    meta = manifest.get("metadata")
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise _unreadable(manifest, meta, "", "v1.ObjectMeta")
    made = dict(meta)
    for name in _PLAIN:
        if meta.get(name) is not None and not isinstance(meta[name], str):
            raise _unreadable(manifest, meta[name], f".{name}", "string")
    for name, (wanted, called, inner, inner_called) in _HELD.items():
        value: Any = meta.get(name)
        if value is None:
            continue
        if not isinstance(value, wanted):
            raise _unreadable(manifest, value, f".{name}", called)
        for entry in value.values() if isinstance(value, Mapping) else value:
            if entry is not None and not isinstance(entry, inner):
                raise _unreadable(manifest, entry, f".{name}", inner_called)
        if wanted is Mapping:
            made[name] = {key: "" if entry is None else entry for key, entry in value.items()}
    return made


def _unreadable(manifest: Frozen, value: Any, field: str, wanted: str) -> Exception:
    kind, version = manifest["kind"], manifest["apiVersion"].rpartition("/")[2]
    return bad_request(
        f'{kind} in version "{version}" cannot be handled as a {kind}: json: cannot unmarshal {_json_type(value)} into '
        f"Go struct field ObjectMeta.metadata{field} of type {wanted}"
    )


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
        case _:
            return "array"
