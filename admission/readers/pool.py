"""Equal values are read once and shared: 100,000 workloads of one shape must not cost 100,000 copies of it."""

import hashlib
from collections.abc import Callable
from typing import Generic, TypeVar

from admission.readers.narrow import canonical_bytes

V = TypeVar("V")


class Pool(Generic[V]):
    """Remembers what was made of the last `bound` distinct JSON values; the oldest goes first."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._made: dict[bytes, V] = {}

    def of(self, source: object, make: Callable[[], V]) -> V:
        """What `make` gives for `source`, made at most once while it is remembered. Raises what `make` raises."""
        # A digest, so that a large source does not stay in memory as its own key.
        key = hashlib.blake2b(canonical_bytes(source), digest_size=16).digest()
        found = self._made.get(key)
        if found is None:
            found = make()
            if len(self._made) >= self._bound:
                del self._made[next(iter(self._made))]
            self._made[key] = found
        return found
