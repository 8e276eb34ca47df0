"""A scenario in memory: our core on the virtual clock. Quick, and the same every time."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple, cast

from admission.model.configuration import Configuration
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.rules.queue import Waiting
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


class Waking(NamedTuple):
    """Moments at which whoever is set aside is woken otherwise than by ours: at once (`crowded`), as in a Kueue whose
    cycles take longer than a second; or once more after everything has come to rest (`stirred`)."""

    crowded: frozenset[int] = frozenset()
    stirred: frozenset[int] = frozenset()


AS_USUAL = Waking()


class MemoryStage:
    """`play.Stage` on a World."""

    def __init__(self, configuration: Configuration, waking: Waking = AS_USUAL) -> None:
        self.world = World(configuration)
        self._waking = waking
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
        moment, self._rests = self._rests, self._rests + 1
        try:
            with _waking_first() if moment in self._waking.crowded else nullcontext():
                self.world.settle()
            if moment in self._waking.stirred:
                self._wake_all()
            self.world.advance(self.world.now + BETWEEN)
        except NeverAtRest:
            return False
        return True

    @property
    def circling(self) -> list[str]:
        waiting = [one for queue in self._state.scheduler.queues.values() for one in queue.everyone]
        return [one.key for one in waiting if one.scanned is not None or _goes_round(one)]

    @property
    def stirs(self) -> str:
        return "something, always"

    def objects(self, kind: str) -> Iterable[Mapping[str, Any]]:
        return self.world.api.scan(kind)

    @property
    def now(self) -> str:
        return stamp(self.world.now)

    def _wake_all(self) -> None:
        product = self.world.product
        assert product is not None
        scheduler = self._state.scheduler
        for queue in list(scheduler.queues):
            scheduler.flush(queue)
        product._think = True
        self.world.settle()

    @property
    def _state(self) -> State:
        state = self.world.state
        assert isinstance(state, State)
        return state

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


def _goes_round(waiting: Waiting) -> bool:
    """In one and the same state its flavors were tried from several places, or from one and then with victims."""
    if waiting.looks is None:
        return False
    state, starts = waiting.looks
    return len(starts) > 1 or (waiting.preempts and waiting.memo is not None and waiting.memo.stamp == state)


def play_in_memory(scenario: Scenario, waking: Waking = AS_USUAL) -> Outcome:
    """What our core makes of it."""
    playing = play(scenario, MemoryStage(core(scenario.settings), waking))
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
            self._waking.wake()
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
