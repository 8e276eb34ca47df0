"""A scenario in memory: our core on the virtual clock. Quick, and the same every time."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, cast

from admission.model.configuration import Configuration
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.rules.scheduler import Run, Scheduler
from admission.state import State
from admission.world.answers import Answer
from admission.world.objects import copied
from admission.world.operators import NotPossible
from admission.world.world import NeverAtRest, World
from hack.peer.outcome import Outcome
from hack.peer.play import play
from hack.peer.scenario import Manifest, Scenario, from_json
from hack.peer.settings import core

# Between two events, in virtual seconds: longer than the product takes to say why somebody waits.
BETWEEN = 10.0


class MemoryStage:
    """`play.Stage` on a World. `crowded`: at these moments whoever is set aside is woken at once, as in a Kueue whose
    cycles take longer than a second."""

    def __init__(self, configuration: Configuration, crowded: Container[int] = ()) -> None:
        self.world = World(configuration)
        self._crowded = crowded
        self._rests = 0

    async def create(self, manifest: Manifest) -> str:
        return _refusal(self.world.api.create(manifest))

    async def patch(self, ref: str, body: Any, subresource: str = "") -> str:
        return _refusal(self.world.api.patch(ref_of(ref), copied(body), subresource=subresource or None))

    async def delete(self, ref: str) -> str:
        return _refusal(self.world.api.delete(ref_of(ref)))

    async def finish(self, ref: str) -> str:
        return self._operated(lambda: self.world.finish(ref_of(ref)))

    async def release(self, ref: str) -> str:
        return self._operated(lambda: self.world.stopped(ref_of(ref)))

    async def rest(self) -> bool:
        self._rests += 1
        try:
            with _waking_first() if self._rests - 1 in self._crowded else nullcontext():
                self.world.settle()
            self.world.advance(self.world.now + BETWEEN)
        except NeverAtRest:
            return False
        return True

    @property
    def circling(self) -> list[str]:
        state = self.world.state
        assert isinstance(state, State)
        waiting = [one for queue in state.scheduler.queues.values() for one in queue.everyone]
        return [one.key for one in waiting if one.scanned is not None or (one.looks and len(one.looks[1]) > 1)]

    @property
    def stirs(self) -> str:
        return "something, always"

    def objects(self, kind: str) -> Iterable[Mapping[str, Any]]:
        return self.world.api.scan(kind)

    @property
    def now(self) -> str:
        return stamp(self.world.now)

    def _operated(self, act: Any) -> str:
        try:
            act()
        except NotPossible as error:
            return str(error)
        return ""


@lru_cache(8)
def _once(scenario: str, said: str) -> Outcome:
    return play_in_memory(from_json(json.loads(said)))


def played(scenario: Scenario) -> Outcome:
    """The same, remembered for a while."""
    return _once(scenario.name, json.dumps(scenario.as_json()))


def play_in_memory(scenario: Scenario, crowded: Container[int] = ()) -> Outcome:
    """What our core makes of it."""
    playing = play(scenario, MemoryStage(core(scenario.settings), crowded))
    try:
        playing.send(None)  # nothing in it ever waits, so it needs no loop and can be called from within one
    except StopIteration as end:
        return cast(Outcome, end.value)
    raise RuntimeError("a stage in memory waited for something")


@contextmanager
def _waking_first() -> Iterator[None]:
    usual = Scheduler.run

    def run(self: Scheduler, now: float, budget: int, nominations: int = 2000) -> Run:
        if not self.paused:
            self._wake()
        return usual(self, now, budget, nominations)

    Scheduler.run = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        Scheduler.run = usual  # type: ignore[method-assign]


def ref_of(name: str) -> Ref:
    """Of `Kind/namespace/name` or `Kind/name`."""
    kind, _, rest = name.partition("/")
    namespace, _, bare = rest.rpartition("/")
    return Ref(kind, namespace, bare)


def _refusal(answer: Answer) -> str:
    return "" if answer.ok else f"{answer.code} {answer.message}"
