"""One object of the API server as we know it and as we expect it: assume and confirm.

    observed ── our write is under way ──► assumed ── we already want more ──► wanted

A planned write is assumed at once. `ok` pins the resourceVersion it led to: events older than that are echoes of the
past and ignored. `conflict` and `refused` drop the assumption. `unknown` keeps it until a read settles it.
A write whose result cannot be told beforehand is *opaque*: the object is left alone until its echo arrives.
"""

from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from admission.model.effects import Planned


class Versioned(Protocol):
    @property
    def resource_version(self) -> int: ...


T = TypeVar("T", bound=Versioned)


class Slot(Generic[T]):
    """Never more than one write under way (`flight`)."""

    __slots__ = (
        "assumed",
        "base",
        "doubtful",
        "failures",
        "flight",
        "observed",
        "opaque",
        "pinned",
        "retry_at",
        "stale",
        "wanted",
        "wanted_rank",
    )

    def __init__(self) -> None:
        self.observed: T | None = None
        self.assumed: T | None = None
        self.wanted: T | None = None
        self.wanted_rank: tuple[str, int] = ("", 1)  # lane and rank of the write that `wanted` will take
        self.flight: Planned | None = None
        self.opaque = False
        self.pinned = 0  # resourceVersion that our last write led to
        self.base = 0  # resourceVersion that `flight` was made from
        self.stale = 0  # resourceVersion known to be outdated: nothing is written until a newer one is seen
        self.retry_at: float | None = None  # a refused write is not tried again before
        self.failures = 0
        self.doubtful = False  # no answer came to `flight`

    @property
    def current(self) -> T | None:
        """The object once everything under way has happened."""
        return self.wanted or self.assumed or self.observed

    @property
    def busy(self) -> bool:
        """Not to be written now: a write is under way, its echo is awaited, or what we know is outdated."""
        return self.flight is not None or self.stale > 0 or self.retry_at is not None or self._awaits_echo

    @property
    def _awaits_echo(self) -> bool:
        return self.opaque and (self.observed is None or self.observed.resource_version < self.pinned)

    def observe(self, value: T) -> bool:
        """A fact from list, watch or read. False: it is older than what we know, and ignored."""
        version = value.resource_version
        if version < self.pinned or (self.observed is not None and version < self.observed.resource_version):
            return False
        self.observed = value
        if version > self.stale:
            self.stale = 0
        if self.flight is None:
            if version > self.pinned:
                self.wanted = None  # it was built on what somebody else has changed since
            self.assumed = None
            self.opaque = False
        return True

    def begin(self, planned: Planned, assumed: T | None) -> None:
        """A write goes out; `assumed` is what it makes of the object, None if that cannot be told."""
        self.flight = planned
        self.base = self.observed.resource_version if self.observed is not None else 0
        self.opaque = assumed is None
        self.assumed = assumed
        self.wanted = None

    def confirm(self, version: int | None) -> None:
        """The write succeeded and left the object at this resourceVersion."""
        self._land()
        self.failures = 0
        self.pinned = max(self.pinned, version or 0)
        if self.observed is not None and self.observed.resource_version >= self.pinned:
            if self.observed.resource_version > self.pinned:
                self.wanted = None
            self.opaque = False
        elif self.assumed is not None and not self.opaque and version is not None:
            # What is confirmed is a fact: the next write is made from it, and only it says what is still held.
            self.observed = replace(self.assumed, resource_version=version)  # type: ignore[type-var]
        self.assumed = None

    def deny(self, *, stale: bool = False, retry_at: float | None = None) -> None:
        """The write did not happen. `stale`: because the object has moved on."""
        self._land()
        self.assumed = self.wanted = None
        self.opaque = False
        self.retry_at = retry_at
        self.stale = 0
        if stale and self.observed is not None and self.observed.resource_version <= self.base:
            self.stale = self.base

    def _land(self) -> None:
        self.flight = None
        self.doubtful = False
