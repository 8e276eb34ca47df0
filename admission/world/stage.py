"""What a scenario is played on: a cluster in memory (`World`) or, behind the same words, a real one.

Names and times are the scenario's own; a stage on a real cluster translates both.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from admission.model.kinds import Ref
from admission.reconcile.requests import Request
from admission.world.answers import Answer
from admission.world.clock import Clock, Timer
from admission.world.objects import Frozen
from admission.world.operators import Operators
from admission.world.product import Sent, Write
from admission.world.store import Change


class Api(Protocol):
    """The API server, as a client sees it. Users are named as in `userInfo`."""

    def peek(self, ref: Ref) -> Frozen | None: ...

    def peek_as(self, ref: Ref, version: str) -> Frozen | None: ...

    def scan(self, kind: str, namespace: str = "") -> Iterable[Frozen]: ...

    def create(self, manifest: Frozen, *, user: str = ..., dry_run: bool = False) -> Answer: ...

    def patch(
        self, ref: Ref, body: Any, *, subresource: str | None = None, user: str = ..., version: str = ...
    ) -> Answer: ...

    def delete(self, ref: Ref, *, user: str = ...) -> Answer: ...

    def review(self, manifest: Frozen, *, update: bool = False) -> Answer: ...

    def forbid(self, kinds: Sequence[str]) -> None: ...

    def listen(self, listener: Callable[[Change], None]) -> None: ...


class Eviction(Protocol):
    """Evicted turned True."""

    @property
    def workload(self) -> Ref: ...


class Stage(Protocol):
    """All of it. `settle` returns at rest; `advance` moves to a moment (seconds since 1970) through all that is due."""

    @property
    def api(self) -> Api: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def operators(self) -> Operators: ...

    @property
    def now(self) -> float: ...

    @property
    def writes(self) -> Sequence[Write]: ...

    @property
    def evictions(self) -> Sequence[Eviction]: ...

    @property
    def events(self) -> Sequence[Sent]: ...

    def at(self, when: float, action: Callable[[], None]) -> Timer: ...

    def finish(self, ref: Ref) -> None: ...

    def stopped(self, ref: Ref) -> None: ...

    def start_product(self) -> object: ...

    def pause(self, paused: bool) -> None: ...

    def on_write(self, callback: Callable[[Write, Request], None]) -> None: ...

    def subscribe(self, kind: str, callback: Callable[[Change], None]) -> None: ...

    def settle(self) -> None: ...

    def advance(self, until: float) -> None: ...
