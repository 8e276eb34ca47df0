"""What every object carries: metadata, owner references, conditions."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from admission.model.kinds import KINDS, Ref
from admission.model.workload import Condition
from admission.readers.narrow import entries, integer, mapping, moment, strings, text, word, words


class Metadata(NamedTuple):
    name: str
    namespace: str
    uid: str
    resource_version: int  # 0 when the object has none
    generation: int
    created: float  # seconds since 1970; 0 when the object has none
    deleting: bool
    finalizers: tuple[str, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class Owner(NamedTuple):
    """The controlling owner."""

    ref: Ref  # its kind is a key of KINDS where it is one of ours, else spelled out, or bare for want of a group
    uid: str
    known: bool


def read_metadata(wire: Mapping[str, Any]) -> Metadata:
    found = mapping(wire.get("metadata"))
    return Metadata(
        name=text(found.get("name")),
        namespace=word(found.get("namespace")),
        uid=text(found.get("uid")),
        resource_version=_version(found.get("resourceVersion")),
        generation=integer(found.get("generation"), 1),
        created=moment(found.get("creationTimestamp")) or 0.0,
        deleting=moment(found.get("deletionTimestamp")) is not None,
        finalizers=words(found.get("finalizers")),
        labels=strings(found.get("labels")),
        annotations=strings(found.get("annotations")),
    )


def read_owner(wire: Mapping[str, Any]) -> Owner | None:
    """The owner reference with `controller: true`, or None."""
    found = mapping(wire.get("metadata"))
    for entry in entries(found.get("ownerReferences")):
        if entry.get("controller") is True:
            kind = word(entry.get("kind"))
            version = text(entry.get("apiVersion"))
            ours = _ours(kind, version)
            namespaced = KINDS[ours].namespaced if ours else True
            namespace = word(found.get("namespace")) if namespaced else ""
            ref = Ref(ours or _spelled_out(kind, version), namespace, text(entry.get("name")))
            return Owner(ref, text(entry.get("uid")), bool(ours))
    return None


@lru_cache(256)
def _spelled_out(kind: str, api_version: str) -> str:
    group, _, version = api_version.rpartition("/")
    return word(f"{kind}.{version}.{group}") if group and kind and "." not in kind else kind


@lru_cache(256)
def _ours(kind: str, api_version: str) -> str:
    """The key of KINDS, or "" for a kind that is not there."""
    group = api_version.rpartition("/")[0]
    return next((key for key in (kind, f"{kind}.{group}") if key in KINDS and KINDS[key].group == group), "")


def read_conditions(value: object) -> dict[str, Condition]:
    """Conditions by type; of two with the same type the later one stays."""
    found = {}
    for entry in entries(value):
        kind = word(entry.get("type"))
        found[kind] = Condition(
            type=kind,
            status=word(entry.get("status")),
            reason=word(entry.get("reason")),
            message=word(entry.get("message")),
            since=moment(entry.get("lastTransitionTime")) or 0.0,
            generation=integer(entry.get("observedGeneration")),
        )
    return found


def _version(value: object) -> int:
    # Opaque by contract, but every API server so far counts, and only a number can be compared.
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else 0
