"""A cluster in memory: API server, virtual clock, the product, and the parts that others play on a real one.

    world = World()
    world.api.create(manifest)
    world.settle()              # until everybody is at rest at the present moment
    world.advance(EPOCH + 60)   # through everything that falls due

Equal inputs give equal runs, byte for byte.
"""

from collections.abc import Callable
from typing import NamedTuple

from admission.jobs.described import described
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.kinds import Ref
from admission.model.names import EVICTED
from admission.readers.job_kind import read_job_kind
from admission.reconcile.requests import Request
from admission.state import State
from admission.world.clock import EPOCH, Clock, Timer
from admission.world.faults import BLOWS, Faults, Storm
from admission.world.garbage import GarbageCollector
from admission.world.objects import condition
from admission.world.operators import Operators
from admission.world.product import Machine, Product, Sent, Write
from admission.world.replicas import Replicas
from admission.world.server import ApiServer
from admission.world.store import Change
from admission.world.weather import FairWeather
from admission.world.webhooks import StoredView, Webhooks

# Rounds without the clock moving after which a world is taken to run in circles, beside one for every object: a legal
# round trip (job, workload, reservation, start, queue statuses) takes under ten, a plan carries out some 256 effects.
_IDLE_ROUNDS = 2_000


class NeverAtRest(RuntimeError):
    """The product keeps writing although nothing happens; the message shows its last writes."""


class Eviction(NamedTuple):
    """Evicted turned True."""

    at: float
    workload: Ref
    reason: str


class World:
    """`pods_stop_after`: seconds until the pods of a stopped job are gone; None: only `stopped` says so.
    `autostart`: start the product at once; else `start_product` does. `faults`: what goes wrong on the way.
    `machine`: makes the product's state."""

    def __init__(
        self,
        configuration: Configuration = DEFAULTS,
        *,
        start: float = EPOCH,
        pods_stop_after: float | None = None,
        autostart: bool = True,
        faults: Faults | None = None,
        machine: Callable[[Configuration], Machine] = State,
    ) -> None:
        self.configuration = configuration
        self.clock = Clock(start)
        self.writes: list[Write] = []
        self.evictions: list[Eviction] = []
        self.events: list[Sent] = []
        self.product: Product | None = None
        self._replicas: Replicas | None = None
        self.storm = Storm(faults, self) if faults is not None else None
        self._write_listeners: list[Callable[[Write, Request], None]] = []
        self._machine = machine
        self.api = ApiServer(lambda: self.clock.now)
        self._seen_by_webhooks = StoredView(configuration, self.api.peek, self.api.scan)
        self.api.use(Webhooks(self._seen_by_webhooks))
        self.garbage = GarbageCollector(self.api)
        self.operators = Operators(self.api, self.clock, pods_stop_after)
        self.api.listen(self._note)
        for name in ("default", "kube-system"):
            self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        if autostart:
            self.start_product()

    @property
    def now(self) -> float:
        """Seconds since 1970, virtual."""
        return self.clock.now

    @property
    def state(self) -> Machine:
        """The state machine of the product that leads."""
        if self.product is None:
            raise LookupError("the product has not been started")
        return self.product.machine

    def start_product(self) -> Product:
        """Start it, or start it anew with nothing but what the API server knows."""
        if self.product is not None:
            self.product.stop()
        self.product = self._make_product()
        return self.product

    def start_replicas(self, replicas: int) -> None:
        """So many in all, the product that is there among them; it leads."""
        if self.product is None:
            self.start_product()
        self._replicas = Replicas(self, self._make_product, replicas - 1)

    def kill_leader(self, after_writes: int | None = None) -> None:
        """At once, or right after its so many'th write request from now."""
        if self._replicas is None:
            raise LookupError("no replicas have been started")
        self._replicas.kill_leader(after_writes)

    def _make_product(self) -> Product:
        weather = self.storm or FairWeather()
        product = Product(self._machine(self.configuration), self.api, self.configuration, lambda: self.now, weather)
        product.on_write = self._log_write
        product.on_event = self.events.append
        return product

    def pause(self, paused: bool) -> None:
        """While paused the product hears but decides nothing."""
        if self.product is not None:
            self.product.paused = paused

    def rotate_certificate(self) -> None:
        raise LookupError("webhooks in memory serve without a certificate")

    def on_write(self, callback: Callable[[Write, Request], None]) -> None:
        """Call back with every write request of the product, once it is answered."""
        self._write_listeners.append(callback)

    def _log_write(self, write: Write, request: Request) -> None:
        self.writes.append(write)
        for listener in self._write_listeners:
            listener(write, request)
        if self._replicas is not None:
            self._replicas.wrote()

    def subscribe(self, kind: str, callback: Callable[[Change], None]) -> None:
        """Call back with every committed change of this kind, at its moment. The manifests are shared: read only."""
        self.api.listen(lambda change: callback(change) if change.ref.kind == kind else None)

    def at(self, when: float, action: Callable[[], None]) -> Timer:
        """Do `action` at the moment `when` (seconds since 1970)."""
        return self.clock.at(when, action)

    def finish(self, ref: Ref) -> None:
        """This job completed with success."""
        self.operators.finish(ref)

    def stopped(self, ref: Ref) -> None:
        """The pods of this stopped job are gone (a bare Workload: its owner gave the quota back)."""
        self.operators.stopped(ref)

    def settle(self) -> None:
        """Run product and controllers until nobody has anything to do at the present moment. Raises NeverAtRest."""
        for _ in range(_IDLE_ROUNDS + self.api.store.size):
            self.clock.fire(self.clock.now)
            if not self._round():
                return
        raise NeverAtRest(self._why_restless())

    def advance(self, until: float) -> None:
        """Move the clock to `until` through every moment at which something is due, settling at each."""
        self.settle()
        while (due := self.next_due()) is not None and due <= until:
            self.clock.fire(due)
            self.settle()
        self.clock.fire(until)
        self.settle()

    def next_due(self) -> float | None:
        """The next moment at which something happens by itself; None: nothing ever will."""
        wake = self.product.wake_at if self.product is not None and not self.product.paused else None
        timer = self.clock.next_due()
        if wake is None or timer is None:
            return wake if timer is None else timer
        return min(wake, timer)

    def _round(self) -> bool:
        busy = self.garbage.step()
        busy = self.operators.step() or busy
        if self.product is not None:
            busy = self._run_product(self.product) or busy
        if self._replicas is not None:
            busy = self._replicas.hear() or busy
        return busy

    def _run_product(self, product: Product) -> bool:
        """Until it has heard the news, thought, and carried out its plan."""
        busy = False
        try:
            while product.step():
                busy = True
                if not product.busy:
                    break
        except BLOWS as blow:
            if self.storm is not None:
                self.storm.struck(product, blow)
            elif self._replicas is not None:
                self._replicas.struck()
            else:
                raise
            busy = True
        return busy

    def _note(self, change: Change) -> None:
        if change.ref.kind == "JobKind":
            self._describe(change)
        if change.ref.kind != "Workload" or change.type == "DELETED":
            return
        now = condition(change.new, EVICTED)
        if now is None or now["status"] != "True":
            return
        before = condition(change.old, EVICTED)
        if before is None or before["status"] != "True":
            self.evictions.append(Eviction(self.clock.now, change.ref, now["reason"]))

    def _describe(self, change: Change) -> None:
        """Webhooks know a kind from the moment when it is described."""
        kinds, value = self._seen_by_webhooks.job_kinds, read_job_kind(change.new)
        if change.type == "DELETED" or value.rules is None:
            kinds.forget(value.name)
        else:
            kinds.describe(value.name, value.kind, described(value.kind, value.rules))

    def _why_restless(self) -> str:
        last = "\n".join(
            f"  {write.verb} {write.ref}{'/' + write.subresource if write.subresource else ''} -> {write.code}"
            for write in self.writes[-12:]
        )
        moment = self.clock.now - EPOCH
        return f"nobody comes to rest at t={moment:g}s; the last writes:\n{last}"
