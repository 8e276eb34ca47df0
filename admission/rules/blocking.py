"""What is kept for somebody though it is free: for heads of StrictFIFO queues that block only what they wait for, and
for preemptors while their victims leave. Both only where a QueuePolicy says so.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.rules.order import Rank
from admission.tree import Node


@dataclass(slots=True)
class Promise:
    """To one who waits for its victims. `until`: None while they are leaving, then for so many seconds."""

    node: Node
    usage: Mapping[FlavorResource, int]
    victims: tuple[WorkloadKey, ...]
    seconds: float
    until: float | None = None
    kept_from: dict[str, None] = field(default_factory=dict)  # queues where somebody would have taken it


class Blocking:
    def __init__(self) -> None:
        self._heads: dict[str, dict[WorkloadKey, tuple[Rank, frozenset[FlavorResource]]]] = {}
        self._promises: dict[WorkloadKey, Promise] = {}

    def block(self, queue: str, key: WorkloadKey, rank: Rank, needs: Iterable[FlavorResource]) -> None:
        """It waits for `needs`: nobody behind it may take of them."""
        self._heads.setdefault(queue, {})[key] = rank, frozenset(needs)

    def ahead(self, queue: str, rank: Rank, usage: Mapping[FlavorResource, int]) -> tuple[WorkloadKey, str] | None:
        """Who waits ahead for something of this, and for what: resource of flavor."""
        for key, (other, needs) in self._heads.get(queue, {}).items():
            for fr in sorted(usage):
                if other < rank and usage[fr] and fr in needs:
                    return key, f"{fr[1]} of flavor {fr[0]}"
        return None

    def woken(self, queue: str) -> None:
        """Everybody in it gets another look, the first first."""
        self._heads.pop(queue, None)

    def left(self, queue: str, key: WorkloadKey) -> list[str]:
        """It waits no more; queues where others may go on because of that."""
        promise = self._promises.pop(key, None)
        freed = list(promise.kept_from) if promise is not None else []
        if self._heads.get(queue, {}).pop(key, None) is not None:
            freed.append(queue)
        return freed

    def promise(self, key: WorkloadKey, promise: Promise) -> None:
        self._promises[key] = promise

    def expire(self, holds: Callable[[WorkloadKey], bool], now: float) -> list[str]:
        """The time of those whose victims have left begins to run, or is over: queues where others may go on."""
        freed: list[str] = []
        for key, promise in list(self._promises.items()):
            if promise.until is None and not any(holds(victim) for victim in promise.victims):
                promise.until = now + promise.seconds
            if promise.until is not None and promise.until <= now:
                freed += promise.kept_from
                del self._promises[key]
        return freed

    def to_others(self, key: WorkloadKey, root: Node) -> list[tuple[WorkloadKey, Promise]]:
        """Promises in the tree to others than this one."""
        return [(other, one) for other, one in self._promises.items() if other != key and one.node.root is root]

    @property
    def next(self) -> float | None:
        """When the first promise that somebody else waits for runs out."""
        times = [one.until for one in self._promises.values() if one.until is not None and one.kept_from]
        return min(times, default=None)
