"""Manifests as the in-memory API server keeps them: never changed in place, so that they can be shared freely.

A write builds a new object that shares every untouched part with the old one; that makes no-op writes cheap to see
and copies rare.
"""

from collections.abc import Mapping
from typing import Any

from admission.model.kinds import KINDS, Ref, kind_of, plural_of

Object = dict[str, Any]  # a caller's own
Frozen = Mapping[str, Any]  # one that others hold too: read it, never write to it


def copied(value: Any) -> Any:
    """A JSON value of the caller's own. Mappings become dicts and tuples lists, as JSON would have them."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value  # most of what a manifest holds; asking for these first makes copies three times as fast
    if kind is dict or isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def kind_key(manifest: Frozen) -> str:
    """What this product calls the kind: a key of KINDS, or `Kind.version.group` for one that it does not know."""
    kind = str(manifest.get("kind", ""))
    group, _, version = str(manifest.get("apiVersion", "")).rpartition("/")
    for key in (kind, f"{kind}.{group}"):
        if key in KINDS and KINDS[key].group == group:
            return key
    return f"{kind}.{version}.{group}" if group else kind


def ref_of(manifest: Frozen) -> Ref:
    """The reference to this object. A kind that is not known lives in a namespace if the manifest names one."""
    key, meta = kind_key(manifest), manifest.get("metadata") or {}
    namespaced = KINDS[key].namespaced if key in KINDS else bool(meta.get("namespace"))
    return Ref(key, str(meta.get("namespace") or "default") if namespaced else "", str(meta.get("name") or ""))


def resource_of(ref: Ref) -> str:
    """The plural resource with its group, as Kubernetes' messages name it: `jobs.batch`."""
    if ref.kind not in KINDS and "." not in ref.kind:
        return plural_of(ref.kind)
    kind = kind_of(ref.kind)
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def condition(manifest: Frozen | None, type: str) -> Frozen | None:
    """The condition of this type in the status, if there is one."""
    if manifest is None:
        return None
    for entry in (manifest.get("status") or {}).get("conditions") or ():
        if entry.get("type") == type:
            return entry  # type: ignore[no-any-return]
    return None


def holds(manifest: Frozen | None, type: str) -> bool:
    """Whether the condition of this type is True."""
    found = condition(manifest, type)
    return found is not None and found.get("status") == "True"


def with_conditions(manifest: Frozen, *changes: Frozen) -> list[Object]:
    """The status conditions with these set: replaced where the type is there, else appended."""
    result = [copied(entry) for entry in (manifest.get("status") or {}).get("conditions") or ()]
    for change in changes:
        for index, entry in enumerate(result):
            if entry.get("type") == change["type"]:
                if entry.get("status") == change["status"]:
                    change = {**change, "lastTransitionTime": entry.get("lastTransitionTime")}
                result[index] = copied(change)
                break
        else:
            result.append(copied(change))
    return result
