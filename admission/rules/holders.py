"""Who holds quota: the candidates of every preemption, by key and by queue.

The amounts themselves are booked in the tree; here is whose they are.
"""

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import Protocol

from admission.model.names import WorkloadKey
from admission.model.queue_policy import NOBODY, Identity
from admission.model.queues import FlavorResource
from admission.rules.consumption import Consumption


class Preemptor(Protocol):
    """What a search for victims asks of the workload that needs room. A Holder is one too."""

    @property
    def key(self) -> WorkloadKey: ...
    @property
    def queue(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def queue_time(self) -> float: ...
    @property
    def uid(self) -> str: ...


@dataclass(slots=True)
class Holder:
    """A workload that counts as usage of a ClusterQueue. Times are seconds since 1970."""

    key: WorkloadKey
    queue: str
    usage: Mapping[FlavorResource, int]
    priority: int
    uid: str
    queue_time: float  # what its queue is ordered by
    reserved_since: float | None  # when QuotaReserved turned True; None: not written yet
    evicted: bool = False  # on its way out, still counting
    ready: bool = True  # all its pods, or nobody waits for that
    local_queue: str = ""  # the key of the one through which it came
    who: Identity = NOBODY
    labels: tuple[tuple[str, str], ...] = ()


_NOBODY: dict[WorkloadKey, Holder] = {}


class Guard(Protocol):
    """Who is spared, where policies say so."""

    @property
    def active(self) -> bool: ...
    def spared(self, holder: Holder, asking: str, own: bool, now: float) -> bool: ...


class Holders:
    """Iterates in the order of `add`, so equal histories give equal searches."""

    def __init__(self) -> None:
        self.consumption: Consumption | None = None  # of LocalQueues, where that decides who is preempted first
        self.guard: Guard | None = None
        self._by_key: dict[WorkloadKey, Holder] = {}
        self._by_queue: dict[str, dict[WorkloadKey, Holder]] = {}

    def add(self, holder: Holder) -> None:
        """Replaces the holder of the same key. `key` and `queue` must not change afterwards."""
        self.drop(holder.key)
        self._by_key[holder.key] = holder
        self._by_queue.setdefault(holder.queue, {})[holder.key] = holder

    def drop(self, key: WorkloadKey) -> Holder | None:
        """The holder that left, None if there was none."""
        holder = self._by_key.pop(key, None)
        if holder is not None:
            in_queue = self._by_queue[holder.queue]
            del in_queue[key]
            if not in_queue:
                del self._by_queue[holder.queue]
        return holder

    def get(self, key: WorkloadKey) -> Holder | None:
        return self._by_key.get(key)

    def of(self, queue: str) -> Collection[Holder]:
        """All holders of a queue, known or not to anybody else."""
        return self._by_queue.get(queue, _NOBODY).values()

    def in_reach(self, queue: str, asking: str, now: float) -> Collection[Holder]:
        """Those of a queue whom a workload of the queue `asking` may preempt, as far as policies go."""
        found, guard = self.of(queue), self.guard
        if guard is None or not guard.active:
            return found
        return [holder for holder in found if not guard.spared(holder, asking, queue == asking, now)]

    def everybody(self) -> Collection[Holder]:
        return self._by_key.values()

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key


class Remaining(Holders):
    """The same, as if some had left already: the others' view of who can still be asked to leave."""

    def __init__(self, everybody: Holders, gone: Container[WorkloadKey]) -> None:
        super().__init__()
        self.guard = everybody.guard
        self._everybody, self._gone = everybody, gone

    def of(self, queue: str) -> Collection[Holder]:
        return [holder for holder in self._everybody.of(queue) if holder.key not in self._gone]
