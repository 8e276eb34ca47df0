"""Many scenarios at once on one real control plane, each with names of its own; the stage on which Kueue is played.

Rest cannot be seen, only guessed. Here a scenario is at rest when none of its objects has changed for a while *and* the
product has since then taken a workload of ours through its whole way (see `pulse`): on a machine out of breath that
takes longer, and so does the guess.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec

from admission.model.kinds import KINDS, Ref
from admission.model.times import stamp
from admission.world.answers import Answer
from admission.world.clock import Clock, Timer
from admission.world.objects import condition
from admission.world.operators import NotPossible, Operators
from admission.world.server import ApiServer
from controller.cli.live.names import Names
from controller.kit.tasks import together
from controller.kube.client import JSON, MERGE_PATCH, Client
from controller.kube.errors import ApiError
from controller.kube.reflector import Changed, Gone, Missing, Reflector, Synced
from hack.peer.memory import ref_of
from hack.peer.outcome import Outcome
from hack.peer.play import play
from hack.peer.pulse import Pulse
from hack.peer.scenario import Manifest, Scenario

WATCHED = ("Workload", "ClusterQueue", "LocalQueue", "Cohort")
JSON_PATCH = "application/json-patch+json"
# Scenarios under way. With more of them a cycle of Kueue takes so long that its order depends on it; how long, the
# pulse tells.
AT_ONCE, MOST_AT_ONCE = 20, 80
PATIENCE = 120.0  # seconds for an answer of the API server
CALM = 2.0  # seconds without a change; both write statuses of queues at most a second late
BEATS, SLOW_BEATS = 1, 2  # of the pulse, from start to end; while it is slow, writes overtake each other
# Seconds of calm while somebody waits: Lockgate says why after five; later to whom it has said nothing yet, for it says
# so to ten a second.
WAITING, UNTOLD = 6.5, 15.0
RESTLESS_BEATS = 12  # who has not come to rest meanwhile never will,
RESTLESS_SECONDS = 60.0  # nor in this time, where it is long until everybody is told


class LiveStage:
    """`play.Stage`, for one scenario. `settling`: whether who waits may be told of it some seconds later."""

    def __init__(self, client: Client, names: Names, pulse: Pulse, *, settling: bool) -> None:
        self._client = client
        self._names = names
        self._pulse = pulse
        self._settling = settling
        self._objects: dict[str, dict[Ref, Manifest]] = {kind: {} for kind in WATCHED}
        self._changed = time.monotonic()
        self._changes = Counter[str]()  # since somebody began to wait for rest
        self._owner = _Owner(self._objects)

    # hearing

    def hear(self, ref: Ref, manifest: Mapping[str, Any] | None) -> None:
        """An object of this scenario, in the names of the cluster; None: it is gone."""
        self._changed = time.monotonic()
        own = self._names.file_ref(ref)
        self._changes[str(own)] += 1
        if manifest is None:
            self._objects[ref.kind].pop(own, None)
        else:
            self._objects[ref.kind][own] = self._names.to_file(manifest)

    def objects(self, kind: str) -> Iterable[Manifest]:
        return self._objects[kind].values()

    @property
    def now(self) -> str:
        return stamp(time.time())

    async def rest(self) -> bool:
        began, since = self._pulse.beats, time.monotonic()
        least = RESTLESS_SECONDS if self._settling else 0.0
        self._changes.clear()
        while self._pulse.beats - began < RESTLESS_BEATS or time.monotonic() - since < least:
            calm = time.monotonic() - self._changed
            enough = self._enough() if self._settling else CALM
            beats = BEATS if self._pulse.quick else SLOW_BEATS
            if calm >= enough and self._pulse.beats_since(self._changed) >= beats:
                return True
            await asyncio.sleep(max(0.1, min(0.5, enough - calm)))
        return False

    @property
    def circling(self) -> list[str]:
        return []

    @property
    def stirs(self) -> str:
        """What changed most while rest was waited for."""
        return ", ".join(f"{name} ({count})" for name, count in self._changes.most_common(3))

    def _enough(self) -> float:
        waiting = [one for one in self._objects["Workload"].values() if _waits(one)]
        if any(condition(one, "QuotaReserved") is None for one in waiting):
            return UNTOLD
        return WAITING if waiting else CALM

    # acting

    async def create(self, manifest: Manifest) -> str:
        kind = str(manifest["kind"])
        body = self._names.to_cluster(manifest, kind)
        return await self._send("POST", KINDS[kind].path(body["metadata"].get("namespace", "")), body, JSON)

    async def patch(self, ref: str, body: Any, subresource: str = "") -> str:
        return await self._patch(ref_of(ref), body, subresource)

    async def _patch(self, own: Ref, body: Any, subresource: str) -> str:
        target = self._names.ref(own)
        path = KINDS[own.kind].path(target.namespace, target.name, subresource or None)
        if isinstance(body, Mapping):
            return await self._send("PATCH", path, self._names.to_cluster(body, own.kind), MERGE_PATCH)
        return await self._send("PATCH", path, self._names.to_cluster_patch(body), JSON_PATCH)

    async def delete(self, ref: str) -> str:
        target = self._names.ref(ref_of(ref))
        return await self._send("DELETE", KINDS[target.kind].path(target.namespace, target.name), None, JSON)

    async def finish(self, ref: str) -> str:
        return await self._operate(lambda operators: operators.finish(ref_of(ref)))

    async def release(self, ref: str) -> str:
        return await self._operate(lambda operators: operators.stopped(ref_of(ref)))

    async def _operate(self, act: Callable[[Operators], None]) -> str:
        try:
            asked = self._owner.asked(act)
        except NotPossible as error:
            return str(error)
        return "; ".join([answer for own, body in asked if (answer := await self._patch(own, body, "status"))])

    async def _send(self, method: str, path: str, body: Any, content: str) -> str:
        encoded = None if body is None else msgspec.json.encode(body)
        self._changed = time.monotonic()
        try:
            await self._client.call(method, path, body=encoded, content_type=content, within=PATIENCE)
        except ApiError as error:
            return str(self._names.to_file(str(error)))
        finally:
            self._changed = time.monotonic()
        return ""

    async def retire(self) -> None:
        """Let its queues cost the product no more time. Best effort: nobody looks at them again."""
        for own in list(self._objects["ClusterQueue"]):
            await self._patch(own, {"spec": {"stopPolicy": "Hold"}}, "")


class _Owner:
    """The operators of the world in memory, made to say what they would write."""

    def __init__(self, objects: Mapping[str, Mapping[Ref, Manifest]]) -> None:
        self._objects = objects
        self._asked: list[tuple[Ref, Any]] = []
        self._operators = Operators(cast(ApiServer, self), cast(Clock, self), children=False)

    def asked(self, act: Callable[[Operators], None]) -> list[tuple[Ref, Any]]:
        """Status patches. Raises NotPossible."""
        self._asked = []
        act(self._operators)
        return self._asked

    @property
    def now(self) -> float:
        return time.time()

    def at(self, when: float, action: Callable[[], None]) -> Timer:
        raise NotPossible("nothing happens by itself here")

    def peek(self, ref: Ref) -> Manifest | None:
        return self._objects.get(ref.kind, {}).get(ref)

    def patch(self, ref: Ref, body: Any, **more: Any) -> Answer:
        self._asked.append((ref, body))
        return Answer(200)

    def listen(self, listener: Callable[[Any], None]) -> None:
        return None


class Session:
    """A control plane to play on, as often as one likes. `settling`: see LiveStage."""

    def __init__(self, client: Client, *, settling: bool) -> None:
        self._client = client
        self._settling = settling
        self._pulse = Pulse(client)
        self._stages: dict[str, LiveStage] = {}
        self._synced = {kind: asyncio.Event() for kind in WATCHED}
        self._playing = 0
        self._count = 0

    async def play(self, scenarios: Iterable[Scenario], done: Callable[[Outcome], None]) -> None:
        """Each of them, `done` as they end."""
        async with asyncio.TaskGroup() as group:
            for scenario in scenarios:
                group.create_task(self._play_one(scenario, done))

    async def _play_one(self, scenario: Scenario, done: Callable[[Outcome], None]) -> None:
        while self._playing >= (MOST_AT_ONCE if self._pulse.quick else AT_ONCE):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.5)
        self._playing += 1
        try:
            self._count += 1
            names = Names(f"p{self._count:05}")
            stage = self._stages[names.token] = LiveStage(self._client, names, self._pulse, settling=self._settling)
            done(await play(scenario, stage))
            await stage.retire()
            del self._stages[names.token]
        finally:
            self._playing -= 1

    async def watch(self) -> None:
        """For ever; one watch per kind, and what changes goes to the scenario whose names it bears."""
        await together({f"news of {kind}": self._follow(kind) for kind in WATCHED})

    async def prepare(self) -> None:
        """Until everything is heard and the pulse can begin."""
        for event in self._synced.values():
            await event.wait()
        await self._pulse.prepare()

    async def beat(self) -> None:
        """For ever."""
        await self._pulse.run()

    async def _follow(self, kind: str) -> None:
        async for delta in Reflector(self._client, kind).deltas():
            match delta:
                case Changed(ref, manifest, _):
                    self._tell(ref, manifest)
                case Gone(ref, _):
                    self._tell(ref, None)
                case Synced():
                    self._synced[kind].set()
                case Missing():
                    raise RuntimeError(f"the API server does not serve {kind}")

    def _tell(self, ref: Ref, manifest: Mapping[str, Any] | None) -> None:
        token = (ref.namespace or ref.name).rpartition("-")[2]
        if token in self._stages:
            self._stages[token].hear(ref, manifest)
        else:
            self._pulse.hear(ref, manifest)


@asynccontextmanager
async def session(kubeconfig: str, *, settling: bool) -> AsyncIterator[Session]:
    """On a cluster where one of the sides runs. What ends its watches ends the block."""
    async with await Client.connect(kubeconfig) as client:
        found = Session(client, settling=settling)
        async with asyncio.TaskGroup() as group:
            background = [group.create_task(found.watch())]
            await found.prepare()
            background.append(group.create_task(found.beat()))
            yield found
            for task in background:
                task.cancel()


def _waits(workload: Manifest) -> bool:
    """Pending, and may still be told why."""
    conditions = {one["type"]: one["status"] for one in (workload.get("status") or {}).get("conditions") or ()}
    return conditions.get("QuotaReserved") != "True" and conditions.get("Finished") != "True"
