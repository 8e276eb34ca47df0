"""Defaults and validation that come with a kind: Kubernetes' own for its kinds, our CRDs' schemas for ours."""

from admission.world import batch
from admission.world.objects import Frozen, Object


def defaulted(kind: str, new: Object, old: Frozen | None) -> Object:
    """`new` with the API server's defaults filled in."""
    if kind == "Job":
        return batch.defaulted(new)
    return new


def errors_of(kind: str, new: Frozen, old: Frozen | None, subresource: str | None) -> list[str]:
    """What the API server itself refuses about `new`."""
    if kind == "Job":
        return batch.errors_of(new, old, subresource)
    return []
