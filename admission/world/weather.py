"""What lies between the product and the API server; in fair weather nothing: calls are answered, changes are heard.

`faults.Storm` is the weather that tests are for.
"""

from collections.abc import Callable, Iterable

from admission.model.kinds import Ref
from admission.world.answers import Answer
from admission.world.store import Change, Watch

Call = Callable[[], Answer]
# Seconds, as the live controller has them (Kubernetes' defaults): a lease lapses without renewal, and no request is
# carried out later than its time-out. A new leader waits for both, or a request of the old one could still land.
LEASE, REQUEST_TIMEOUT = 15.0, 10.0


class Crash(Exception):
    """The process ends here, between two effects or with a request on its way."""


class Deposed(Exception):
    """A leader found that its lease has lapsed: it sends nothing any more and ends."""


class FairWeather:
    """Everything works. `ref` is the object that a request is about."""

    def send(self, ref: Ref, call: Call) -> Answer | None:
        """The answer to a write request; None: none came, and nobody knows whether it was carried out."""
        return call()

    def heard(self, watch: Watch) -> Iterable[Change]:
        """The changes that reach the watcher now. Sets `watch.broken` when the stream ends instead."""
        return watch.drain()

    def between_effects(self) -> None:
        """Called before each effect. May raise Crash."""
