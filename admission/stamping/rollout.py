"""Whether a job is among the share that a profile is for: drawn once, the same for all that belongs to it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from admission.api.documents import view
from admission.jobs.registry import JobKinds
from admission.model.kinds import kind_of
from admission.model.names import ROLLOUT
from admission.readers.narrow import mapping, text
from admission.stamping.ancestors import DEEPEST, FindOwner, OwnedMetadata, OwnerReference, managed_owner


def number_of(
    kind: str, namespace: str, manifest: Mapping[str, Any], uid: str, kinds: JobKinds, find: FindOwner
) -> int:
    """From 0 to 99; a profile for p of a hundred takes those below p. `uid`: of the review.

    What is part of something takes that one's number. A new job has no UID yet, so its name stands for it; without a
    name nothing does but the review, and the number is kept in an annotation.
    """
    metadata = view(mapping(manifest.get("metadata")), OwnedMetadata)
    stated = _stated(manifest)
    owner = next((one for one in metadata.owner_references or () if one.controller), None)
    if owner is not None:
        return stated if stated is not None else _of_the_topmost(owner, kinds, find)
    name, known = text(mapping(manifest.get("metadata")).get("name")), kind_of(kind)
    if name:
        return drawn("/".join((known.group, known.kind, namespace, name)))
    return stated if stated is not None else drawn(uid)


def drawn(identity: str) -> int:
    """Evenly from 0 to 99, and the same for ever."""
    digest = hashlib.sha256(identity.encode(errors="replace")).digest()
    return int.from_bytes(digest[:8], "big") % 100


def _of_the_topmost(owner: OwnerReference, kinds: JobKinds, find: FindOwner) -> int:
    """Followed through jobs alone, which are at hand; whatever owns those at the end gives its UID."""
    for _ in range(DEEPEST):
        manifest = find(owner.api_version, owner.kind, owner.name) if managed_owner([owner], kinds) else None
        if manifest is None:
            break
        metadata = view(mapping(manifest.get("metadata")), OwnedMetadata)
        if metadata.uid != owner.uid:
            break
        stated = _stated(manifest)
        if stated is not None:
            return stated
        above = next((one for one in metadata.owner_references or () if one.controller), None)
        if above is None:
            break
        owner = above
    return drawn(owner.uid)


def _stated(manifest: Mapping[str, Any]) -> int | None:
    said = text(mapping(mapping(manifest.get("metadata")).get("annotations")).get(ROLLOUT))
    return int(said) if said.isascii() and said.isdigit() and len(said) <= 2 else None
