"""A real cluster behind the words of a scenario: the same stage as the world in memory.

All of it runs in the case's own thread; what happens meanwhile waits in a queue until the case looks.
"""

import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, cast

from admission.model.configuration import WaitForPodsReady
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
from controller.cli.live.product import OwnProduct
from controller.cli.live.requests import Asked
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
    """`watches`: seconds of the world for which a moment of the scenario is watched before it comes. `waits`: of the
    product, for pods to be ready.

    Without a `product` of our own the one on the cluster is somebody else's to disturb, and of its requests only those
    are seen that changed something.
    """

    def __init__(
        self,
        wire: Wire,
        names: Names,
        pace: Pace,
        news: "queue.SimpleQueue[Item | Asked]",
        *,
        ours: frozenset[Ref],
        watches: Mapping[float, float],
        waits: WaitForPodsReady | None,
        product: OwnProduct | None = None,
    ) -> None:
        self.api = LiveApi(wire, ours, self._forbid)
        self.clock = Clock(EPOCH)
        # What operators make for a job is left out: only the product's part in it is of interest here.
        self.operators = Operators(cast(ApiServer, ForOperators(self.api)), self.clock, children=False)
        self.writes: list[Write] = []
        self.evictions: list[Eviction] = []
        self._wire = wire
        self._names = names
        self._pace = pace
        self._news = news
        self._watches = watches
        self._timers = Timers(waits)
        self._fence = Fence(wire, names)
        self._product = product
        self._dies_after: int | None = None  # writes of the leader
        self._rotation: Future[None] | None = None
        self._punctual = Clock(EPOCH)  # what happens at its very moment, whether or not anything is at rest
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
        """From now on, and until the last of these has happened, the scenario's time is the world's."""
        if self._punctual.next_due() is None:
            self._pace.run(self._pace.now)
        return self._punctual.at(when, action)

    def finish(self, ref: Ref) -> None:
        if ref.kind == "Job" and ref not in self.api.ours:
            self._end_pods(ref)
        else:
            self.operators.finish(ref)

    def stopped(self, ref: Ref) -> None:
        self.operators.stopped(ref)

    # disturbance

    @property
    def _own(self) -> OwnProduct:
        if self._product is None:
            raise NotPossible("the product on this cluster is not ours to disturb: add --own-product")
        return self._product

    def start_product(self) -> object:
        self._own.restart()
        self.api.wrote = True  # it is to be asked whether it is back
        return None

    def start_replicas(self, replicas: int) -> None:
        self._own.scale(replicas)

    def kill_leader(self, after_writes: int | None = None) -> None:
        if after_writes is None:
            self._own.kill_leader()
            self.api.wrote = True
        else:
            self._dies_after = after_writes

    def pause(self, paused: bool) -> None:
        self._own.pause(paused)
        self.api.wrote = True

    def _forbid(self, kinds: Sequence[str]) -> None:
        self._own.forbid(kinds)

    def rotate_certificate(self) -> None:
        self._rotation = self._own.rotate()

    def on_write(self, callback: Callable[[Write, Request], None]) -> None:
        self._on_write = callback

    def subscribe(self, kind: str, callback: Callable[[Change], None]) -> None:
        self.api.listen(lambda change: callback(change) if change.ref.kind == kind else None)

    # time

    def settle(self) -> None:
        """Until the product has answered us and nothing changes for a while. Raises NeverAtRest, Ended.

        While something must happen at its very moment nobody waits for rest."""
        began = time.monotonic()
        while True:
            self.operators.step()
            self.clock.fire(self._pace.now)
            if self._product is not None:
                self._product.check()
            if self._punctual.next_due() is not None:
                self._punctual.fire(self._pace.now)
                self._hear(0.0)
                return
            if self.api.wrote and not self._fence.up and not self._deaf:
                self.api.wrote = False
                self._last = time.monotonic()
                self._stir()
                self._fence.raise_it()
            calm = time.monotonic() - self._last
            if calm >= CALM and not self._fence.up and self._rotated():
                return
            if time.monotonic() - began > RESTLESS:
                what = "the product does not answer" if self._fence.up else "something changes again and again"
                raise NeverAtRest(f"not at rest after {RESTLESS:g} s: {what}")
            self._hear(max(0.1, CALM - calm))

    @property
    def _deaf(self) -> bool:
        """Nobody is there who could answer."""
        return self._product is not None and self._product.paused

    def _rotated(self) -> bool:
        """Whether no rotation is under way. Raises what went wrong with it."""
        if self._rotation is not None and self._rotation.done():
            rotation, self._rotation = self._rotation, None
            rotation.result()
        return self._rotation is None

    def advance(self, until: float) -> None:
        if self._be_punctual(until):
            return
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

    def _be_punctual(self, until: float) -> bool:
        """Let time run up to this moment, or until all has happened that has its moment; whether some is still due."""
        while (due := self._punctual.next_due()) is not None and self._pace.now < until:
            while (left := min(due, until) - self._pace.now) > 0:
                self._hear(left)
            self.settle()
            if self._punctual.next_due() is None:
                self._pace.stand(self._pace.now)
        return self._punctual.next_due() is not None

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

    def _take(self, item: Item | Asked) -> None:
        if isinstance(item, Asked):
            self._asked(item)
            return
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
        if self._product is None:
            self._tell(Write(self._pace.now, change.ref, verb, None, 200), change.new)
        elif self._dies_after is not None and verb != "delete":
            self._dies_after -= 1
            if self._dies_after <= 0:
                self._dies_after = None
                self._product.kill_leader()

    def _asked(self, asked: Asked) -> None:
        """The product says so itself."""
        ref = self._names.file_ref(asked.ref)
        self._last = time.monotonic()
        self._tell(Write(self._pace.of(asked.real), ref, asked.verb, asked.subresource, asked.code), asked.body)

    def _tell(self, write: Write, body: Mapping[str, Any]) -> None:
        self.writes.append(write)
        self._on_write(write, Request("patch", write.ref, body))

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
