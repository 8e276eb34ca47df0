"""Defaults and validation that come with a kind: Kubernetes' own for its kinds, our CRDs' schemas for ours."""

from admission.api.defaults import prune, with_defaults
from admission.api.violations import violations
from admission.model.kinds import KINDS, KUEUE, LOCKGATE
from admission.world import batch
from admission.world.objects import Frozen, Object

_OURS = frozenset(key for key, kind in KINDS.items() if kind.group in (KUEUE, LOCKGATE))
_ROOT = ("apiVersion", "kind", "metadata")


def defaulted(kind: str, new: Object, old: Frozen | None) -> Object:
    """`new` with the API server's defaults filled in and unknown fields taken away."""
    if kind == "Job":
        return batch.defaulted(new)
    if kind not in _OURS:
        return new
    # Only what this write changes: the rest went through here before, and most writes touch the status alone.
    before = old or {}
    parts = {key: value for key, value in new.items() if key not in _ROOT and value is not before.get(key)}
    if not parts and old is not None:
        return new
    rest = {key: value for key, value in new.items() if key not in parts}
    return {**rest, **with_defaults(kind, prune(kind, parts))}


def errors_of(kind: str, new: Frozen, old: Frozen | None, subresource: str | None) -> list[str]:
    """What the API server itself refuses about `new`."""
    if kind == "Job":
        return batch.errors_of(new, old, subresource)
    if kind not in _OURS:
        return []
    return [str(error) for error in violations(kind, new, old)]
