"""The rules of object metadata: legal names and labels, what a writer may not change, when the generation moves."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from admission.model.kinds import JOBS, KINDS, Ref
from admission.world.objects import Frozen, Object

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_NAME, _LONGEST_LABEL, _LONGEST_ANNOTATIONS = 253, 63, 256 * 1024  # Kubernetes' own limits
_LONGEST_PREFIX = 58  # of a generated name, which has 63 characters at most, five of them random
_NOT_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character"
)

# Kinds whose status is written apart. The others keep no generation either, or are plain data.
# A Workflow's status is written with the rest of it.
WITH_STATUS = frozenset({"Namespace", "Node", "Pod", "CronJob", "Cohort", "ClusterQueue", "LocalQueue", "Workload"}) | {
    "AdmissionCheck",
    "ElasticQuota",
    "JobKind",
    "JobProfile",
    "QueuePolicy",
    *(kind for kind in JOBS if kind != "Workflow"),
}
_WITHOUT_GENERATION = frozenset({"Namespace", "Event", "Secret", "Node", "Lease"})
# Given out by the server; whatever a writer says about them is ignored.
_SERVERS_OWN = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def separate_status(kind: str) -> bool:
    """Whether status is a subresource. A kind that is not known is a job of some operator: it is."""
    return kind in WITH_STATUS or kind not in KINDS


def kept_metadata(old: Frozen, new: Object) -> Object:
    """`new` with the parts of its metadata that no writer can change taken from `old`."""
    meta, before = dict(new.get("metadata") or {}), old["metadata"]
    for key in (*_SERVERS_OWN, "name", "namespace", "resourceVersion"):
        if key in before:
            meta[key] = before[key]
        else:
            meta.pop(key, None)
    for key in ("labels", "annotations", "finalizers", "ownerReferences"):
        if key in meta and not meta[key]:
            del meta[key]  # as the API server's omitempty leaves them out
    return {**new, "metadata": meta}


def changed_generation(kind: str, old: Frozen, new: Frozen) -> bool:
    """Whether this write moves metadata.generation: anything but metadata and status."""
    if kind in _WITHOUT_GENERATION:
        return False
    keys = (old.keys() | new.keys()) - {"metadata", "status", "apiVersion", "kind"}
    if not separate_status(kind):
        keys |= {"status"} & (old.keys() | new.keys())
    return any(old.get(key) != new.get(key) for key in keys)


def generated_name(prefix: str, suffix: str) -> str:
    """What the server makes of a metadata.generateName."""
    return prefix[:_LONGEST_PREFIX] + suffix


def metadata_errors(ref: Ref, manifest: Frozen, old: Frozen | None = None) -> Iterator[str]:
    """What Kubernetes refuses of any object's metadata. `old`: what it replaces."""
    meta = manifest["metadata"]
    yield from _name_errors(ref.name, meta.get("generateName") or "")
    for key, value in (meta.get("labels") or {}).items():
        if not _qualified(key):
            yield f'metadata.labels: Invalid value: "{key}": {_NOT_QUALIFIED}'
        elif not valid_label_value(value):
            yield f'metadata.labels: Invalid value: "{value}": {why_no_label(value)}'
    annotations = meta.get("annotations") or {}
    for key in annotations:
        if not _qualified(key.lower()):
            yield f'metadata.annotations: Invalid value: "{key}": {_NOT_QUALIFIED}'
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _LONGEST_ANNOTATIONS:
        yield f"metadata.annotations: Too long: may not be more than {_LONGEST_ANNOTATIONS} bytes"
    yield from _owner_errors(meta.get("ownerReferences") or ())
    yield from _finalizer_errors(meta, old)


def _name_errors(name: str, prefix: str) -> Iterator[str]:
    if prefix and not _is_subdomain(prefix.removesuffix("-")):
        yield f'metadata.generateName: Invalid value: "{prefix}": {_why_no_name(prefix)}'
    if not name:
        yield "metadata.name: Required value: name or generateName is required"
    elif not _is_subdomain(name):
        yield f'metadata.name: Invalid value: "{name}": {_why_no_name(name)}'


def _owner_errors(owners: Sequence[Frozen]) -> Iterator[str]:
    for owner in owners:
        if not str(owner.get("apiVersion") or "").rpartition("/")[2]:
            yield 'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty'
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield f'metadata.ownerReferences.{field}: Invalid value: "": must not be empty'
    first, *others = [str(owner.get("name")) for owner in owners if owner.get("controller")] or [""]
    for other in others:
        yield (
            "metadata.ownerReferences: Invalid value: Only one reference can have Controller set to true. "
            f'Found "true" in references for {first} and {other}'
        )


def _finalizer_errors(meta: Frozen, old: Frozen | None) -> Iterator[str]:
    finalizers = meta.get("finalizers") or ()
    for one in finalizers:
        if not _qualified(one):
            yield f'metadata.finalizers: Invalid value: "{one}": {_NOT_QUALIFIED}'
    if old is not None and old["metadata"].get("deletionTimestamp"):
        before = old["metadata"].get("finalizers") or ()
        added = [json.dumps(one) for one in finalizers if one not in before]
        if added:
            yield (
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{', '.join(added)}}}"
            )


def valid_label_value(value: Any) -> bool:
    """At most 63 characters, alphanumeric at both ends; empty is legal."""
    return isinstance(value, str) and (not value or (len(value) <= _LONGEST_LABEL and bool(_LABEL.fullmatch(value))))


def _qualified(key: str) -> bool:
    prefix, _, name = key.rpartition("/")
    return bool(_LABEL.fullmatch(name)) and len(name) <= _LONGEST_LABEL and (not prefix or _is_subdomain(prefix))


def _is_subdomain(text: str) -> bool:
    return bool(_SUBDOMAIN.fullmatch(text)) and len(text) <= _LONGEST_NAME


def why_no_label(value: str) -> str:
    """Of one that is not valid."""
    if len(value) > _LONGEST_LABEL:
        return f"must be no more than {_LONGEST_LABEL} bytes"
    return (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character"
    )


def _why_no_name(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        return f"must be no more than {_LONGEST_NAME} bytes"
    return (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character"
    )
