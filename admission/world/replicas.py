"""Several replicas of the product: one leads, the others hear everything and decide nothing, until the leader dies.

A replica that was killed comes back as a follower, as its Deployment would bring it back.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from admission.world.product import Product
from admission.world.weather import LEASE, REQUEST_TIMEOUT, Crash

if TYPE_CHECKING:
    from admission.world.world import World


class Replicas:
    """`make`: a product that starts with nothing but what the API server knows."""

    def __init__(self, world: "World", make: Callable[[], Product], followers: int) -> None:
        self._world = world
        self._make = make
        self._dies_after: int | None = None  # writes
        self._followers = [self._follower() for _ in range(followers)]

    def kill_leader(self, after_writes: int | None) -> None:
        """At once, or right after so many writes from now: nobody hears the answer to the last of them."""
        if after_writes is None:
            self.struck()
        else:
            self._dies_after = after_writes

    def wrote(self) -> None:
        """The leader sent a write. Raises Crash when that was its last."""
        if self._dies_after is None:
            return
        self._dies_after -= 1
        if self._dies_after <= 0:
            self._dies_after = None
            raise Crash

    def struck(self) -> None:
        """The leader is dead: its lease lapses, its last request times out, and a follower leads."""
        leader, self._world.product = self._world.product, None
        if leader is not None:
            leader.stop()
        self._followers.append(self._follower())
        self._world.at(self._world.now + LEASE + REQUEST_TIMEOUT, self._succeed)

    def hear(self) -> bool:
        """Followers keep up with the news; whether there was some."""
        busy = False
        for follower in self._followers:
            busy = follower.step() or busy
        return busy

    def _follower(self) -> Product:
        product = self._make()
        product.paused = True
        return product

    def _succeed(self) -> None:
        if self._world.product is None:
            self._world.product = self._followers.pop(0)
            self._world.product.paused = False
