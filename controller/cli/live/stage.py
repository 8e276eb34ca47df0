"""A real cluster behind the words of a scenario: the same stage as the world in memory.

All of it runs in the case's own thread; what happens meanwhile waits in a queue until the case looks.
"""

import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from admission.model.kinds import Ref
from admission.model.names import EVICTED
from admission.reconcile.requests import Request
from admission.world.clock import EPOCH, Clock, Timer
from admission.world.objects import Frozen, condition, kind_key
from admission.world.operators import NotPossible, Operators
from admission.world.product import Sent, Write
from admission.world.server import ApiServer
from admission.world.store import Change
from controller.cli.live.api import ForOperators, LiveApi
from controller.cli.live.fence import Fence
from controller.cli.live.names import Names
from controller.cli.live.news import Item
from controller.cli.live.pace import Pace
from controller.cli.live.timers import Timers
from controller.cli.live.wire import Wire

# Seconds without a change after which a case counts as at rest. Queue statuses are written at most once a second, and
# moments of a scenario must not share a second: creation times have no finer grain.
CALM = 1.3
RESTLESS = 90.0  # seconds; who has not come to rest by then never will
SLACK = 0.3  # seconds that the product may be late for a timer
PATIENCE = 15.0  # seconds for what is expected to come true on a machine that is busy
POD_SECONDS = 30.0  # for the Job controller to notice that its pods have ended


class NeverAtRest(RuntimeError):
    """The cluster keeps changing although nothing happens, or the product does not answer."""


class Eviction(NamedTuple):
    """Evicted turned True."""

    workload: Ref


class LiveStage:
    """`watches`: seconds of the world for which a moment of the scenario is watched before it comes."""

    def __init__(
        self,
        wire: Wire,
        names: Names,
        pace: Pace,
        news: "queue.SimpleQueue[Item]",
        *,
        ours: frozenset[Ref],
        watches: Mapping[float, float],
    ) -> None:
        self.api = LiveApi(wire, ours)
        self.clock = Clock(EPOCH)
        self.operators = Operators(cast(ApiServer, ForOperators(self.api)), self.clock)
        self.writes: list[Write] = []
        self.evictions: list[Eviction] = []
        self._wire = wire
        self._names = names
        self._pace = pace
        self._news = news
        self._watches = watches
        self._timers = Timers()
        self._fence = Fence(wire, names)
        self._last = time.monotonic()
        self._on_write: Callable[[Write, Request], None] = lambda write, request: None

    @property
    def now(self) -> float:
        return self._pace.now

    @property
    def events(self) -> Sequence[Sent]:
        return list(self._events())

    def _events(self) -> Iterator[Sent]:
        for event in self._wire.list("Event", ""):
            about = event.get("involvedObject") or {}
            ref = Ref(kind_key(about), about.get("namespace", ""), about.get("name", ""))
            yield Sent(0.0, ref, event.get("type", ""), event.get("reason", ""), event.get("message", ""))

    def at(self, when: float, action: Callable[[], None]) -> Timer:
        return self.clock.at(when, action)

    def finish(self, ref: Ref) -> None:
        if ref.kind == "Job" and ref not in self.api.ours:
            self._end_pods(ref)
        else:
            self.operators.finish(ref)

    def stopped(self, ref: Ref) -> None:
        self.operators.stopped(ref)

    def start_product(self) -> object:
        raise NotPossible("the running product can't be started anew from here")

    def start_replicas(self, replicas: int) -> None:
        raise NotPossible("replicas of the running product can't be started from here")

    def kill_leader(self, after_writes: int | None = None) -> None:
        raise NotPossible("the running product can't be killed from here")

    def pause(self, paused: bool) -> None:
        raise NotPossible("the running product can't be paused from here")

    def on_write(self, callback: Callable[[Write, Request], None]) -> None:
        """Of its requests only those that changed something are seen."""
        self._on_write = callback

    def subscribe(self, kind: str, callback: Callable[[Change], None]) -> None:
        self.api.listen(lambda change: callback(change) if change.ref.kind == kind else None)

    # time

    def settle(self) -> None:
        """Until the product has answered us and nothing changes for a while. Raises NeverAtRest."""
        began = time.monotonic()
        while True:
            self.operators.step()
            self.clock.fire(self._pace.now)
            if self.api.wrote and not self._fence.up:
                self.api.wrote = False
                self._last = time.monotonic()
                self._stir()
                self._fence.raise_it()
            calm = time.monotonic() - self._last
            if calm >= CALM and not self._fence.up:
                return
            if time.monotonic() - began > RESTLESS:
                what = "the product does not answer" if self._fence.up else "something changes again and again"
                raise NeverAtRest(f"not at rest after {RESTLESS:g} s: {what}")
            self._hear(max(0.1, CALM - calm))

    def advance(self, until: float) -> None:
        self.settle()
        while True:
            product, own = self._timers.next(), self.clock.next_due()
            if own is not None and own <= until and (product is None or own <= product.moment):
                self._pace.stand(own)
                self.clock.fire(own)
            elif product is not None and product.moment <= until:
                self._wait(product.moment, product.real + SLACK)
                self._timers.reached(product.real)
            else:
                break
            self.settle()
        watched = self._watches.get(until - EPOCH, 0.0)
        if watched:
            self._wait(until, self._pace.real() + watched)
        self._pace.stand(until)
        self.clock.fire(until)
        self.settle()

    def insist(self, look: Callable[[], list[Any]]) -> list[Any]:
        """What does not hold, looked at again and again for a while: being at rest can only be guessed."""
        deadline = time.monotonic() + PATIENCE
        while (found := look()) and time.monotonic() < deadline:
            self._hear(0.2)
        return found

    def _wait(self, moment: float, real: float) -> None:
        """Let time run until both have come."""
        left = real - self._pace.real()
        self._pace.run(max(self._pace.now, moment - max(0.0, left)))
        while (left := real - self._pace.real()) > 0:
            self._hear(left)
        self._pace.stand(moment)

    def _hear(self, seconds: float) -> None:
        """What has happened, waiting so long for the first of it."""
        try:
            self._take(self._news.get(timeout=max(0.001, seconds)))
            while True:
                self._take(self._news.get_nowait())
        except queue.Empty:
            return

    def _take(self, item: Item) -> None:
        if self._fence.hears(item):
            return
        self._last = time.monotonic()
        ref = self._names.file_ref(item.ref)
        old = self.api.objects.get(ref)
        if item.manifest is None:
            self.api.objects.pop(ref, None)
            change = Change("DELETED", ref, old, old or {"metadata": {}}, item.version)
        else:
            new = self._wire.in_words(item.manifest, ref.kind)
            self.api.objects[ref] = new
            change = Change("ADDED" if old is None else "MODIFIED", ref, old, new, item.version)
        if ref.kind == "Workload":
            self._note(change)
        if not self._wire.wrote(item.version):
            self._written(change)
        for listener in self.api.listeners:
            listener(change)

    def _note(self, change: Change) -> None:
        new = None if change.type == "DELETED" else change.new
        self._timers.note(change.ref, new, self._pace.now, self._pace.real())
        before, after = condition(change.old, EVICTED), condition(new, EVICTED)
        if after is not None and after["status"] == "True" and (before is None or before["status"] != "True"):
            self.evictions.append(Eviction(change.ref))
        if _true(change.old) != _true(new):
            self._stir()

    def _written(self, change: Change) -> None:
        """Neither we nor anybody that we play did it."""
        verb = {"ADDED": "create", "DELETED": "delete"}.get(change.type, "patch")
        write = Write(self._pace.now, change.ref, verb, None, 200)
        self.writes.append(write)
        self._on_write(write, Request("patch", change.ref, change.new))

    def _stir(self) -> None:
        self._timers.stir(self._pace.now, self._pace.real())

    def _end_pods(self, ref: Ref) -> None:
        """The Job controller runs it: its pods succeed until there is nothing left to do."""
        deadline = time.monotonic() + POD_SECONDS
        target = self._names.ref(ref)
        pods = f"/api/v1/namespaces/{target.namespace}/pods"
        while time.monotonic() < deadline:
            job = self._wire.read(ref)
            if job is None:
                raise NotPossible(f"{ref} does not exist at this moment")
            if any((condition(job, end) or {}).get("status") == "True" for end in ("Complete", "Failed")):
                return
            owned = {"labelSelector": f"batch.kubernetes.io/job-name={target.name}"}
            for pod in self._wire.call("GET", pods, query=owned)["items"]:
                if pod["status"].get("phase") in ("Pending", "Running"):
                    self._wire.succeed(pod)
            self._hear(0.2)
        raise NotPossible(f"{ref} did not complete in {POD_SECONDS:g} s although its pods succeeded")


def _true(workload: Frozen | None) -> set[str]:
    conditions = ((workload or {}).get("status") or {}).get("conditions") or ()
    return {one["type"] for one in conditions if one["status"] == "True"} | ({"there"} if workload else set())
