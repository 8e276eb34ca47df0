"""Cluster queues and flavors get the finalizer that keeps them until nothing uses them."""

import msgspec

from admission.api.documents import Document, view
from admission.model.names import IN_USE
from admission.stamping.patches import PatchOperation, append


class _Metadata(msgspec.Struct):
    finalizers: tuple[str, ...] | None = None


class _Finalized(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def stamp_finalizer(document: Document) -> tuple[PatchOperation, ...]:
    """Raises Unreadable."""
    finalizers = view(document, _Finalized).metadata.finalizers
    if IN_USE in (finalizers or ()):
        return ()
    return (append(("metadata", "finalizers"), finalizers, IN_USE),)
