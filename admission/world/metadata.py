"""The rules of object metadata: legal names and labels, what a writer may not change, when the generation moves."""

import re
from collections.abc import Iterator
from typing import Any

from admission.model.kinds import JOBS, KINDS, Ref
from admission.world.objects import Frozen, Object

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_NAME, _LONGEST_LABEL = 253, 63  # Kubernetes' own limits

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


def metadata_errors(ref: Ref, manifest: Frozen) -> Iterator[str]:
    """What Kubernetes refuses of any object's metadata."""
    if not _SUBDOMAIN.fullmatch(ref.name) or len(ref.name) > _LONGEST_NAME:
        yield (
            f'metadata.name: Invalid value: "{ref.name}": a lowercase RFC 1123 subdomain must consist of lower case '
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
        )
    meta = manifest["metadata"]
    for key, value in (meta.get("labels") or {}).items():
        if not _qualified(key):
            yield f'metadata.labels: Invalid value: "{key}": name part must consist of alphanumeric characters'
        elif not valid_label_value(value):
            yield f'metadata.labels: Invalid value: "{value}": {_why_no_label(value)}'
    for key, value in (meta.get("annotations") or {}).items():
        if not isinstance(value, str):
            yield f"metadata.annotations[{key}]: Invalid value: {value!r}: must be a string"


def valid_label_value(value: Any) -> bool:
    """At most 63 characters, alphanumeric at both ends; empty is legal."""
    return isinstance(value, str) and (not value or (len(value) <= _LONGEST_LABEL and bool(_LABEL.fullmatch(value))))


def _qualified(key: str) -> bool:
    prefix, _, name = key.rpartition("/")
    return bool(_LABEL.fullmatch(name)) and len(name) <= _LONGEST_LABEL and (not prefix or _is_subdomain(prefix))


def _is_subdomain(text: str) -> bool:
    return bool(_SUBDOMAIN.fullmatch(text)) and len(text) <= _LONGEST_NAME


def _why_no_label(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a string"
    if len(value) > _LONGEST_LABEL:
        return f"must be no more than {_LONGEST_LABEL} bytes"
    return (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character"
    )
