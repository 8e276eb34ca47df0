"""Creates the Workloads on schedule, and does what their owner would: lets go of quota when evicted, ends in time.

As Kueue's own runner does, but for one thing: that ends one Workload after another and is a brake of its own; here
many writes are under way at once. How late an end was sent is measured, so that a driver that brakes shows it.
"""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from hack.bench.mix import KUEUE, Kind, Mix, Queue, Row, workload
from hack.bench.wire import JSON, MERGE_PATCH, Condition, Seen, Wire
from hack.cluster import HackError, Refused

ALL = f"/apis/{KUEUE}/workloads"
AT_ONCE = 32  # status writes under way
# Without any news of a Workload: the longest of the mix runs for a second, the rest is for a machine out of breath.
SILENT_SECONDS = 120.0
_NAME = "workload-name-goes-here"


class Stalled(HackError):
    """Workloads are left, and nobody does anything for them."""


@dataclass(slots=True)
class Life:
    """One Workload. Times of the driver's clock in seconds; `stamped` are the API's own, in whole seconds."""

    kind: Kind
    created: float
    admitted: float | None = None
    stamped: tuple[str, str] | None = None  # creation, first admission
    finished: float | None = None
    evictions: int = 0
    late: float = 0.0  # by how much its end was sent after its time
    version: str = ""
    conditions: list[Condition] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    busy: bool = False  # a write of ours on it is under way
    news: asyncio.Future[None] | None = None  # set when the watch tells of it again

    @property
    def ended(self) -> bool:
        """The watch told so."""
        return self.finished is not None

    def told(self) -> str:
        """Where it is, for whoever asks why it does not end."""
        conditions = (f"{one.type}={one.status} {one.reason} at {one.lastTransitionTime}" for one in self.conditions)
        doing = f"busy={self.busy} timer={self.timer is not None} waiting={self.news is not None}"
        return f"{'; '.join(conditions)}; version {self.version}, {self.evictions} evictions, driver: {doing}"


class Driver:
    """One run. `run` returns when every Workload has finished; `lives` and `writes` then hold what happened."""

    def __init__(self, wire: Wire, mix: Mix) -> None:
        self._wire = wire
        self._mix = mix
        self._loop = asyncio.get_running_loop()
        self._writing = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished: asyncio.Future[None] = self._loop.create_future()  # or what went wrong
        self.lives: dict[tuple[str, str], Life] = {}
        self.writes = {"create": 0, "finish": 0, "release": 0, "conflict": 0}
        self.seen_events = 0
        self.done = 0

    async def run(self, seconds: float) -> float:
        """How long it took. Stalled, which tells who is left, after `seconds` or when nothing happens any more.

        Also whatever a request of ours was refused with.
        """
        watching = self._spawn(self._watch())
        self._spawn(self._listen())
        began = time.monotonic()
        for queue in self._mix.queues:
            for row in queue.rows:
                self._spawn(self._create(queue, row))
        try:
            async with asyncio.timeout(seconds):
                await self._finished
        except TimeoutError:
            raise Stalled(f"not done after {seconds:.0f} s; {self._left()}") from None
        finally:
            watching.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        return time.monotonic() - began

    @property
    def created(self) -> int:
        """So far."""
        return len(self.lives)

    def _spawn(self, coroutine: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self._finished.done():
            self._finished.set_exception(error)

    async def _listen(self) -> None:
        """Raises when nothing happens any more: somebody waits for what nobody does, and it is worth knowing who."""
        heard = -1
        while heard != self.seen_events:
            heard = self.seen_events
            await asyncio.sleep(SILENT_SECONDS)
        raise Stalled(f"no news of any Workload for {SILENT_SECONDS:.0f} s; {self._left()}")

    def _left(self) -> str:
        left = [f"{key[0]}/{key[1]}: {life.told()}" for key, life in self.lives.items() if not life.ended]
        return "\n  ".join([f"{self.done} of {self._mix.total} finished, the driver wrote {self.writes}", *left[:5]])

    # --- creating

    async def _create(self, queue: Queue, row: Row) -> None:
        path = f"/apis/{KUEUE}/namespaces/{queue.name}/workloads"
        bodies = [msgspec.json.encode(workload(queue.name, kind, _NAME)) for kind in row.kinds]
        for number in range(row.count):
            for place, (kind, body) in enumerate(zip(row.kinds, bodies, strict=True)):
                await asyncio.sleep(row.gap)
                name = f"{kind.name}-{row.number}-{number}-{place}"
                self.lives[queue.name, name] = Life(kind, time.monotonic())
                await self._wire.send("POST", path, body.replace(_NAME.encode(), name.encode()), JSON)
                self.writes["create"] += 1

    # --- hearing

    async def _watch(self) -> None:
        async for seen in self._wire.watch(ALL):
            self.seen_events += 1
            self._hear(seen)

    def _hear(self, seen: Seen) -> None:
        key = seen.metadata.namespace, seen.metadata.name
        life = self.lives[key]
        life.version, life.conditions = seen.metadata.resourceVersion, seen.status.conditions
        if life.news:
            life.news.set_result(None)
            life.news = None
        true = {one.type: one for one in life.conditions if one.status == "True"}
        if "Finished" in true:
            if life.finished is None:
                life.finished = time.monotonic()
                self.done += 1
                if self.done == self._mix.total and not self._finished.done():
                    self._finished.set_result(None)
            return
        if "Admitted" in true and "Evicted" not in true and life.admitted is None:
            life.admitted = time.monotonic()
            life.stamped = seen.metadata.creationTimestamp, true["Admitted"].lastTransitionTime
        self._consider(key, life)

    def _consider(self, key: tuple[str, str], life: Life) -> None:
        """What its owner has to do now. While a write is under way, its end looks again."""
        if life.busy:
            return
        if _is(life, "Evicted"):
            if life.timer:
                life.timer.cancel()
                life.timer = None
            if _is(life, "QuotaReserved"):
                life.busy = True
                self._spawn(self._release(key, life))
        elif _is(life, "Admitted") and life.timer is None:
            due = self._loop.time() + life.kind.runtime
            life.timer = self._loop.call_at(due, self._due, key, life, due)

    # --- writing

    def _due(self, key: tuple[str, str], life: Life, due: float) -> None:
        life.busy = True
        self._spawn(self._finish(key, life, due))

    async def _finish(self, key: tuple[str, str], life: Life, due: float) -> None:
        async with self._writing:
            life.late = self._loop.time() - due
            while _is(life, "Admitted") and not _is(life, "Evicted"):
                changes = (_condition("Finished", "True", "ByTest", "ended by the load driver"),)
                if await self._write(key, life, changes, {}):
                    self.writes["finish"] += 1
                    return
            life.timer = None
            await self._let_go(key, life)  # evicted while its end was on its way

    async def _release(self, key: tuple[str, str], life: Life) -> None:
        async with self._writing:
            await self._let_go(key, life)

    async def _let_go(self, key: tuple[str, str], life: Life) -> None:
        while _is(life, "QuotaReserved"):
            changes = (
                _condition("QuotaReserved", "False", "Pending", "evicted, ended by the load driver"),
                _condition("Admitted", "False", "NoReservation", "The workload has no reservation"),
            )
            if await self._write(key, life, changes, {"admission": None}):
                self.writes["release"] += 1
                life.evictions += 1
                break
        life.busy = False
        self._consider(key, life)

    async def _write(
        self, key: tuple[str, str], life: Life, changes: tuple[Condition, ...], status: dict[str, Any]
    ) -> bool:
        """Whether it was written; else somebody else wrote before, and the watch has told it since."""
        tried = life.version
        table = {one.type: one for one in life.conditions} | {one.type: one for one in changes}
        body = {"metadata": {"resourceVersion": tried}, "status": {**status, "conditions": list(table.values())}}
        path = f"/apis/{KUEUE}/namespaces/{key[0]}/workloads/{key[1]}/status?fieldManager=driver"
        try:
            await self._wire.send("PATCH", path, body, MERGE_PATCH)
        except Refused as refused:
            if refused.status != 409:
                raise
            self.writes["conflict"] += 1
            if life.version == tried:  # what we were too late for is on its way to us
                life.news = self._loop.create_future()
                await life.news
            return False
        return True


def _is(life: Life, type: str) -> bool:
    return any(one.type == type and one.status == "True" for one in life.conditions)


def _condition(type: str, status: str, reason: str, message: str) -> Condition:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Condition(type, status, reason, message, now)
