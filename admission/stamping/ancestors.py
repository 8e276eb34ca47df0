"""Whose job a job is: the topmost managed owner that names a queue holds the quota, everything below it is let through.

Owners are followed by their controlling reference and believed only if the UID matches, so that a stale or forged
reference manages nothing. The walk stops at the first kind that is no job of ours; such owners are never read.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from admission.api.documents import view
from admission.jobs.registry import JobKinds
from admission.model.names import QUEUE_NAME

DEEPEST = 10  # hops; Kueue gives up beyond this many, and no framework nests nearly as deep

# (apiVersion, kind, name) in the job's own namespace -> manifest or its metadata; None: it can't be found or read.
FindOwner = Callable[[str, str, str], Mapping[str, Any] | None]


class NestedTooDeeply(Exception):
    """The chain of owners is longer than any framework's, or goes in a circle."""


class OwnerReference(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class OwnedMetadata(msgspec.Struct, rename="camel"):
    uid: str = ""
    labels: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class _Owned(msgspec.Struct):
    metadata: OwnedMetadata = msgspec.field(default_factory=OwnedMetadata)


def managed_ancestor(
    references: list[OwnerReference] | None, kinds: JobKinds, find: FindOwner, manage_without_queue_name: bool
) -> OwnerReference | None:
    """The topmost managed owner, or None. Raises NestedTooDeeply."""
    topmost = None
    for _ in range(DEEPEST + 1):
        reference = managed_owner(references, kinds)
        if reference is None:
            return topmost
        manifest = find(reference.api_version, reference.kind, reference.name)
        if manifest is None:
            return topmost
        owner = view(manifest, _Owned).metadata
        if owner.uid != reference.uid:
            return topmost
        if manage_without_queue_name or (owner.labels or {}).get(QUEUE_NAME):
            topmost = reference
        references = owner.owner_references
    raise NestedTooDeeply(f"metadata.ownerReferences: the chain of owners is longer than {DEEPEST}, or a circle")


def managed_owner(references: list[OwnerReference] | None, kinds: JobKinds) -> OwnerReference | None:
    """The controlling owner, if its kind is one of `kinds`."""
    for reference in references or ():
        if reference.controller:
            group = reference.api_version.rpartition("/")[0]
            return reference if kinds.named(group, reference.kind) is not None else None
    return None
