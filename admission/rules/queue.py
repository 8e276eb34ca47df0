"""One ClusterQueue's line: who waits, in which order, who is set aside, who is the head.

Ready workloads become head in turn. Parked ones are set aside until something changes that could help them; so are,
without being looked at, workloads that ask for the same as one that just failed (`blocked`).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from admission.model.decisions import Hold
from admission.model.names import EVICTED, REQUEUED, WorkloadKey
from admission.model.queues import ClusterQueue
from admission.model.workload import Workload
from admission.rules.asks import Asks, Kin, asks_of
from admission.rules.flavors import Progress
from admission.rules.menu import Menu
from admission.rules.order import Rank, rank
from admission.rules.prospects import Prospects

_RANK = attrgetter("rank")


@dataclass(frozen=True, slots=True)
class Scanned:
    """How far the flavors of a workload were tried, and in which circumstances."""

    progress: Progress
    asks: Asks
    cycle: int  # of the queue
    generation: int  # of the queue's quota


class Waiting:
    """A workload in line."""

    __slots__ = ("asks_seen", "hold", "key", "kin_seen", "memo", "parked", "queue", "rank", "scanned", "workload")

    def __init__(self, workload: Workload, queue: str) -> None:
        self.workload = workload
        self.key = workload.key
        self.queue = queue
        self.rank: Rank = rank(workload)
        self.parked = False
        self.hold: Hold | None = None  # the last answer
        self.scanned: Scanned | None = None  # untried flavors are left
        self.memo: Any = None  # of the nomination: its last result and what it rested on
        self.asks_seen: Asks | None = None
        self.kin_seen: Kin | None = None

    @property
    def priority(self) -> int:
        return -self.rank[0]

    @property
    def queue_time(self) -> float:
        return self.rank[1]

    @property
    def uid(self) -> str:
        return self.rank[2]

    @property
    def asks(self) -> Asks:
        """Kept only while somebody looks: most of those who wait are not looked at."""
        if self.asks_seen is None:
            self.asks_seen = asks_of(self.workload)
        return self.asks_seen

    @property
    def kin(self) -> Kin:
        if self.kin_seen is None:
            self.kin_seen = (-self.rank[0], tuple([tuple(ask) for ask in self.asks]))
        return self.kin_seen

    def forget(self) -> None:
        """Nothing worked out about it is kept."""
        self.asks_seen = self.kin_seen = self.memo = None


class Queue:
    """`spec` is None while nobody declares the ClusterQueue; its line exists all the same."""

    __slots__ = (
        "active",
        "blocked",
        "cycles",
        "everyone",
        "had_turn",
        "menu",
        "name",
        "prospects",
        "ready",
        "spec",
        "sticky",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ClusterQueue | None = None
        self.active = False  # the caller's word
        self.menu: Menu | None = None
        self.prospects = Prospects()
        self.everyone: list[Waiting] = []  # by rank
        self.ready: list[Waiting] = []  # by rank
        self.sticky: Waiting | None = None  # waits for its victims: ahead of all others until it leaves
        self.blocked: dict[Kin, Hold] = {}
        self.cycles = 0
        self.had_turn = False  # its head was admitted in the cycle that a budget cut short

    @property
    def strict(self) -> bool:
        return self.spec is not None and self.spec.strict_fifo

    def configure(self, spec: ClusterQueue | None, active: bool) -> None:
        self.spec, self.active = spec, active and spec is not None
        self.menu = Menu(spec) if spec is not None else None
        if self.strict:
            self.sticky = None  # the order of arrival is all that counts

    def join(self, waiting: Waiting) -> None:
        insort(self.everyone, waiting, key=_RANK)
        insort(self.ready, waiting, key=_RANK)

    def leave(self, waiting: Waiting) -> None:
        _take_out(self.everyone, waiting)
        if not waiting.parked:
            _take_out(self.ready, waiting)
        if self.sticky is waiting:
            self.sticky = None

    def update(self, waiting: Waiting, workload: Workload) -> bool:
        """The object moved on; says whether in a way that may change its fate. Then it is ready again."""
        before, waiting.workload = waiting.workload, workload
        if not _matters(before, workload):
            return False
        sticky = self.sticky is waiting
        self.leave(waiting)
        waiting.rank, waiting.parked = rank(workload), False
        waiting.forget()
        self.join(waiting)
        if sticky:
            self.sticky = waiting
        return True

    def head(self) -> Waiting | None:
        """Who is looked at next. Kin of those who failed step aside on the way."""
        while self.ready:
            sticky = self.sticky
            first = sticky if sticky is not None and not sticky.parked else self.ready[0]
            if not self.blocked or first.kin not in self.blocked:
                return first
            self.park(first)
        return None

    def park(self, waiting: Waiting) -> None:
        if not waiting.parked:
            _take_out(self.ready, waiting)
            waiting.parked = True
        waiting.forget()

    def wake(self, may: Callable[[str], bool]) -> None:
        """Everybody parked whose namespace `may` is ready again; nobody is blocked by kin."""
        self.blocked.clear()
        if len(self.ready) == len(self.everyone):
            return
        allowed: dict[str, bool] = {}
        for waiting in self.everyone:
            if waiting.parked:
                namespace = waiting.workload.namespace
                if namespace not in allowed:
                    allowed[namespace] = may(namespace)
                waiting.parked = not allowed[namespace]
        self.ready = [waiting for waiting in self.everyone if not waiting.parked]

    def is_parked(self, waiting: Waiting) -> bool:
        return waiting.parked or bool(self.blocked and waiting.kin in self.blocked)

    def last_answer(self, waiting: Waiting) -> Hold | None:
        """Its own, or that of the kin that failed in its stead."""
        if waiting.hold is not None or not self.blocked:
            return waiting.hold
        kin = self.blocked.get(waiting.kin)
        return kin and Hold(waiting.key, kin.reason, kin.message, parked=True)

    def position(self, waiting: Waiting) -> int:
        """0 is the head; ready and parked alike."""
        if self.sticky is waiting:
            return 0
        ahead = bisect_left(self.everyone, waiting.rank, key=_RANK)
        return ahead + (self.sticky is not None and waiting.rank < self.sticky.rank)

    def in_order(self) -> list[WorkloadKey]:
        keys = [waiting.key for waiting in self.everyone]
        if self.sticky is not None:
            keys.insert(0, keys.pop(bisect_left(self.everyone, self.sticky.rank, key=_RANK)))
        return keys


def _take_out(line: list[Waiting], waiting: Waiting) -> None:
    at = bisect_left(line, waiting.rank, key=_RANK)
    if line[at] is not waiting:
        raise LookupError(f"{waiting.key} is not at its place in the line of {waiting.queue}")
    del line[at]


def _matters(before: Workload, after: Workload) -> bool:
    """Kueue's rule for when a parked workload is worth another look."""
    if before.generation != after.generation or before.priority != after.priority:
        return True
    if before.reclaimable != after.reclaimable or before.pod_sets != after.pod_sets:
        return True
    if rank(before) != rank(after):
        return True
    return _changed(before.conditions, after.conditions, EVICTED) or _changed(
        before.conditions, after.conditions, REQUEUED
    )


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], condition: str) -> bool:
    return before.get(condition) != after.get(condition)
