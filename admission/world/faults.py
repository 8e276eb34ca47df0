"""A world that misbehaves on purpose, by a seed: equal seeds, equal disasters.

What can go wrong is what goes wrong on a real cluster: somebody else writes first, watches lag or break, replies get
lost or requests arrive late, the process dies between any two effects, a leader sleeps through its lease.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from admission.model.kinds import Ref
from admission.world.answers import Answer
from admission.world.product import Product
from admission.world.store import Change, Watch
from admission.world.weather import LEASE, REQUEST_TIMEOUT, Call, Crash, Deposed, FairWeather

if TYPE_CHECKING:
    from admission.world.world import World


@dataclass(frozen=True, slots=True)
class Faults:
    """How often what happens, as a probability per occasion: a write, a watch that has news, an effect.

    `takeover_wait`: seconds a new leader waits before it lists.
    """

    seed: int
    conflict: float = 0.03  # per write: another client writes an annotation to the object first
    lost_request: float = 0.01  # per write: nothing is carried out, no answer
    lost_reply: float = 0.02  # per write: carried out, no answer
    late_request: float = 0.01  # per write: no answer, carried out within the time-out
    late_watch: float = 0.2  # per watch with news: it comes up to `longest_delay` seconds later
    broken_watch: float = 0.01  # per watch with news: the stream ends, the news is lost
    crash: float = 0.002  # per effect, before it; as often with its request on the way, which then comes late
    sleep: float = 0.001  # per effect: the leader stands still for up to twice the time until it is replaced
    longest_delay: float = 5.0
    takeover_wait: float = LEASE + REQUEST_TIMEOUT
    checks_lease: bool = True


@dataclass
class Tally:
    """How often each disaster struck: a run that saw none proves nothing."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


class Storm(FairWeather):
    """`calm()` ends it: what is under way still arrives."""

    def __init__(self, faults: Faults, world: "World") -> None:
        self.faults = faults
        self.tally = Tally()
        self._world = world
        self._random = Random(faults.seed)
        self._held: dict[Watch, float] = {}
        self._calm = False

    def calm(self) -> None:
        self._calm = True
        self._held.clear()

    def _strikes(self, name: str) -> bool:
        if self._calm or self._random.random() >= getattr(self.faults, name):
            return False
        self.tally.add(name)
        return True

    # between product and API server

    def send(self, ref: Ref, call: Call) -> Answer | None:
        if self._strikes("conflict"):
            touched = str(self.tally.counts["conflict"])
            self._world.api.patch(ref, {"metadata": {"annotations": {"acme.io/touched": touched}}})
        if self._strikes("lost_request"):
            return None
        if self._strikes("late_request"):
            self._carry_out_later(call)
            return None
        if self._strikes("crash"):
            self._carry_out_later(call)
            raise Crash
        answer = call()
        return None if self._strikes("lost_reply") else answer

    def _carry_out_later(self, call: Call) -> None:
        self._world.at(self._world.now + self._random.uniform(0.0, REQUEST_TIMEOUT), lambda: _arrive(call))

    def heard(self, watch: Watch) -> Iterable[Change]:
        if not watch.waiting or self._held.get(watch, 0.0) > self._world.now:
            return ()
        if self._strikes("broken_watch"):
            watch.broken = True
            return ()
        if self._strikes("late_watch"):
            until = self._world.now + self._random.uniform(0.001, self.faults.longest_delay)
            self._held[watch] = until
            self._world.at(until, lambda: None)
            # Some of the news still comes now, the rest later, in order.
            return [watch.waiting.popleft() for _ in range(self._random.randrange(len(watch.waiting)))]
        return watch.drain()

    def between_effects(self) -> None:
        if self._strikes("crash"):
            raise Crash
        if self._strikes("sleep"):
            raise _Sleep

    # what becomes of a leader

    def struck(self, product: Product, blow: Exception) -> None:
        """`product` crashed, fell asleep or was deposed: arrange what follows."""
        if isinstance(blow, _Sleep):
            self._sleep(product)
            return
        product.stop()
        if self._world.product is product:
            self._world.product = None
            self._succeed()

    def _succeed(self) -> None:
        def start() -> None:
            if self._world.product is None:
                self._world.start_product()

        self._world.at(self._world.now + self.faults.takeover_wait, start)

    def _sleep(self, product: Product) -> None:
        """It stands still, its lease runs out, another one takes over, and it wakes with a plan half carried out."""
        self._world.product = None
        if self.faults.checks_lease:
            product.lease_until = self._world.now + LEASE
        nap = self._random.uniform(0.0, 2 * self.faults.takeover_wait + 1.0)
        self._world.at(self._world.now + nap, lambda: self._wake(product))
        self._succeed()

    def _wake(self, product: Product) -> None:
        if self._world.product is None and self._world.now < product.lease_until:
            product.lease_until = float("inf")  # renewed in time: it leads on
            self._world.product = product
            return
        try:
            while product.busy:
                product.step()
        except (Crash, Deposed, _Sleep):
            pass
        product.stop()


class _Sleep(Exception):
    """The leader stands still here."""


BLOWS = (Crash, Deposed, _Sleep)


def _arrive(call: Call) -> None:
    """A late request is carried out, and nobody hears the answer."""
    call()
