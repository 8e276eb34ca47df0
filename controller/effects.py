"""What a plan asks for, done: in the order that matters, as much at once as is safe.

Effects of a lane go one after another, and a failure aborts the rest of the lane; so do effects on one object, so that
two writes of ours never race. Everything else is free, decisions before reports. Every effect gets exactly one
outcome, also when the office is lost: what was not sent is aborted, what was under way is unknown. A fault in a task
of ours ends the work: whoever waits for an outcome that cannot come would wait for ever.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from admission.jobs import JOB_KINDS
from admission.jobs.descriptor import Descriptor
from admission.model.effects import EmitEvent, Outcome, Plan, Planned
from admission.model.kinds import Ref
from admission.reconcile.requests import Impossible, Moved, needs, render
from controller.kit import metrics
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kube.client import CALL_SECONDS, Client
from controller.kube.errors import ApiError, NotFound
from controller.kube.events import Recorder
from controller.kube.writer import Answer, Writer, judge

AT_ONCE = 48  # requests under way; 32 to 64 keep an API server busy without filling its queues
READ_AGAIN_SECONDS = 1.0

log = Log("effects")

K = TypeVar("K")


class _Item:
    """An effect in line. `rank` is that of the most urgent effect that waits behind it."""

    __slots__ = ("planned", "rank", "started")

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        self.rank = planned.rank
        self.started = False

    def __lt__(self, other: "_Item") -> bool:
        return self.planned.id < other.planned.id


class Effects:
    """`report` is told every outcome, `look` settles a doubt by reading (it may raise ApiError)."""

    def __init__(
        self,
        client: Client,
        writer: Writer,
        recorder: Recorder,
        *,
        kinds: Mapping[str, Descriptor] = JOB_KINDS,
        report: Callable[[Outcome], None],
        look: Callable[[Ref], Coroutine[Any, Any, None]],
        may_send: Callable[[], bool] = lambda: True,
        clock: Clock = SYSTEM,
    ) -> None:
        self._client = client
        self._writer = writer
        self._recorder = recorder
        self._kinds = kinds
        self._report = report
        self._look = look
        self._may_send = may_send
        self._clock = clock
        self._lanes: dict[str, deque[_Item]] = {}
        self._objects: dict[Ref, deque[_Item]] = {}
        self._ready: list[tuple[int, _Item]] = []
        self._running: dict[asyncio.Task[None], _Item] = {}
        self._doubts: dict[Ref, None] = {}  # State waits for a read of each, whoever is in office meanwhile
        self._reading: dict[Ref, asyncio.Task[None]] = {}
        self._waiting = 0  # taken, not answered
        self._answered = asyncio.Event()
        self._open = False
        self._broken: asyncio.Future[None]  # since run(); never a result, but what a task of ours died of
        self.settled = True  # every request sent was answered

    def take(self, plan: Plan) -> None:
        """Line up the effects of a plan and start what may start."""
        assert self._open, "run() comes first"
        for planned in plan.effects:
            item = _Item(planned)
            self._waiting += 1
            for line in self._lines(item):
                line.append(item)
                for earlier in line:
                    if not earlier.started and earlier.rank > item.rank:
                        earlier.rank = item.rank
                        self._offer(earlier)
            self._offer(item)
        self._doubts |= dict.fromkeys(plan.reads)
        self._read()
        self._pump()

    async def room(self, limit: int) -> None:
        """Return when fewer than `limit` effects are waiting for their outcome."""
        while self._waiting >= limit:
            self._answered.clear()
            await self._answered.wait()

    async def run(self) -> None:
        """Perform what is taken until cancelled; then see to it that everything gets its outcome.

        Raises what `report` raised, and whatever else a task of ours died of.
        """
        self._open, self.settled = True, True
        self._broken = asyncio.get_running_loop().create_future()
        self._read()
        try:
            await self._broken
        finally:
            await self._close()

    async def _close(self) -> None:
        """Nothing new is sent. Answers under way are awaited while we are still in office, else given up."""
        self._open = False
        for item in [item for line in self._objects.values() for item in line if not item.started]:
            self._answer(item, Answer("aborted", message="not the leader any more"))
        self._lanes.clear()
        self._objects.clear()
        self._ready.clear()
        for task in self._reading.values():
            task.cancel()
        self._reading.clear()
        if self._running and self._may_send():
            await asyncio.wait(self._running, timeout=CALL_SECONDS)
        if self._running:
            running = list(self._running)
            for task in running:
                task.cancel()
            await asyncio.wait(running)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) and not self._broken.done():
            self._broken.set_exception(error)

    # --- lines

    def _lines(self, item: _Item) -> tuple[deque[_Item], ...]:
        by_object = self._objects.setdefault(item.planned.effect.ref, deque())
        if not item.planned.lane:
            return (by_object,)
        return by_object, self._lanes.setdefault(item.planned.lane, deque())

    def _offer(self, item: _Item) -> None:
        """Make it ready if nothing is before it; being offered twice does no harm."""
        if not item.started and all(line[0] is item for line in self._lines(item)):
            heapq.heappush(self._ready, (item.rank, item))

    def _leave(self, item: _Item) -> None:
        """Take it out of its lines and offer those behind it."""
        for behind in (
            _take_out(self._objects, item.planned.effect.ref, item),
            _take_out(self._lanes, item.planned.lane, item),
        ):
            if behind is not None:
                self._offer(behind)

    # --- performing

    def _pump(self) -> None:
        while self._open and self._ready and len(self._running) < AT_ONCE:
            _, item = heapq.heappop(self._ready)
            if item.started:
                continue
            item.started = True
            if isinstance(item.planned.effect, EmitEvent):
                self._recorder.emit(item.planned.effect)
                self._finish(item, Answer("ok"))
                continue
            task = self._spawn(self._perform(item), name=f"effect {item.planned.id}")
            self._running[task] = item
        metrics.UNDER_WAY.set(self._waiting)

    async def _perform(self, item: _Item) -> None:
        answer = Answer("unknown", message="given up")
        try:
            answer = await self._send(item.planned)
        finally:  # also when cancelled: then nobody knows whether it was written
            task = asyncio.current_task()
            assert task is not None
            self._running.pop(task, None)
            self._finish(item, answer)
            self._pump()

    async def _send(self, planned: Planned) -> Answer:
        try:
            manifests = await self._fetch(needs(planned.effect))
        except ApiError as error:
            answer = judge(error)  # nothing was sent yet, so nothing is unknown; refused writes are tried again later
            return answer._replace(result="refused") if answer.result == "unknown" else answer
        try:
            request = render(planned.effect, manifests, self._kinds)
        except Moved as moved:
            return Answer("conflict", message=str(moved))
        except Impossible as problem:
            return Answer("impossible", message=str(problem))
        except Exception as error:  # a fault of ours must not become a request a millisecond
            log.exception("an effect cannot be rendered", object=str(planned.effect.ref))
            return Answer("refused", message=f"{type(error).__name__}: {error}")
        return await self._writer.write(request)

    async def _fetch(self, refs: tuple[Ref, ...]) -> Mapping[Ref, dict[str, Any]]:
        manifests = {}
        for ref in refs:
            metrics.READS.labels(ref.kind).inc()
            try:
                manifests[ref] = await self._client.get(ref)
            except NotFound:
                continue
        return manifests

    def _finish(self, item: _Item, answer: Answer) -> None:
        lane = self._lanes.get(item.planned.lane) if item.planned.lane else None
        self._leave(item)
        self._answer(item, answer)
        if lane and answer.result != "ok":
            for later in list(lane):
                self._leave(later)
                later.started = True
                self._answer(later, Answer("aborted", message=f"an earlier write of {item.planned.lane} failed"))

    def _answer(self, item: _Item, answer: Answer) -> None:
        planned = item.planned
        self._waiting -= 1
        self._answered.set()
        if answer.result == "unknown":
            self.settled = False
        if not isinstance(planned.effect, EmitEvent):
            metrics.WRITES.labels(type(planned.effect).__name__, planned.effect.ref.kind, answer.result).inc()
        if answer.result in ("refused", "unknown", "impossible"):
            log.warning(
                "a write did not succeed",
                object=str(planned.effect.ref),
                effect=type(planned.effect).__name__,
                result=answer.result,
                why=answer.message,
            )
        self._report(Outcome(planned.id, answer.result, answer.resource_version, answer.message))

    # --- doubts

    def _read(self) -> None:
        for ref in self._doubts:
            if ref not in self._reading:
                self._reading[ref] = self._spawn(self._settle(ref), name=f"read {ref}")

    async def _settle(self, ref: Ref) -> None:
        """Read until an answer comes: State trusts nothing about the object before."""
        try:
            while True:
                try:
                    await self._look(ref)
                    self._doubts.pop(ref, None)
                    return
                except ApiError as error:
                    log.warning("cannot read an object that is in doubt", object=str(ref), why=str(error))
                    await self._clock.sleep(READ_AGAIN_SECONDS)
        finally:
            self._reading.pop(ref, None)


def _take_out(table: dict[K, deque[_Item]], key: K, item: _Item) -> _Item | None:
    """Take the item out of its line; whoever is first in it then."""
    line = table.get(key)
    if line is None:
        return None
    line.remove(item)
    if line:
        return line[0]
    del table[key]
    return None
