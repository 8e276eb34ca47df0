"""A scenario in memory: our core on the virtual clock. Quick, and the same every time."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from admission.model.configuration import Configuration
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.world.answers import Answer
from admission.world.objects import copied
from admission.world.operators import NotPossible
from admission.world.world import NeverAtRest, World
from hack.peer.outcome import Outcome
from hack.peer.play import play
from hack.peer.scenario import Manifest, Scenario
from hack.peer.settings import core

# Between two events, in virtual seconds: longer than the product takes to say why somebody waits.
BETWEEN = 10.0


class MemoryStage:
    """`play.Stage` on a World."""

    def __init__(self, configuration: Configuration) -> None:
        self.world = World(configuration)

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
        try:
            self.world.settle()
            self.world.advance(self.world.now + BETWEEN)
        except NeverAtRest:
            return False
        return True

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


def play_in_memory(scenario: Scenario) -> Outcome:
    """What our core makes of it."""
    return asyncio.run(play(scenario, MemoryStage(core(scenario.settings))))


def ref_of(name: str) -> Ref:
    """Of `Kind/namespace/name` or `Kind/name`."""
    kind, _, rest = name.partition("/")
    namespace, _, bare = rest.rpartition("/")
    return Ref(kind, namespace, bare)


def _refusal(answer: Answer) -> str:
    return "" if answer.ok else f"{answer.code} {answer.message}"
