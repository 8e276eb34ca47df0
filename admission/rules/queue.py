"""One ClusterQueue's line: who waits, in which order, who is set aside, who is the head.

Ready workloads become head in turn. Parked ones are set aside until something changes that could help them; so are,
without being looked at, workloads that ask for the same as one that just failed.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

from admission.model.configuration import DEFAULTS, Configuration
from admission.model.decisions import Hold
from admission.model.names import EVICTED, REQUEUED, WorkloadKey
from admission.model.queues import ClusterQueue
from admission.model.workload import Workload
from admission.rules.asks import Asks, asks_of
from admission.rules.consumption import Consumption, Standing
from admission.rules.flavors import Progress
from admission.rules.menu import Menu
from admission.rules.order import BY_DEFAULT, Ordering, Rank
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

    __slots__ = (
        "asks_seen", "hold", "key", "kin", "kind", "looks", "memo", "parked", "queue", "rank", "scanned", "workload",
    )  # fmt: skip

    def __init__(self, workload: Workload, queue: str, rank: Rank) -> None:
        self.workload = workload
        self.key = workload.key
        self.queue = queue
        self.rank = rank
        self.kin = 0  # its group in the queue; set when it joins
        self.kind: tuple[object, ...] = ()  # what tells it from others who ask for the same
        self.parked = False  # by itself, whatever became of its kin
        self.hold: Hold | None = None  # the last answer
        self.scanned: Scanned | None = None  # untried flavors are left
        self.memo: Any = None  # of the nomination: its last result and what it rested on
        self.looks: tuple[object, list[Progress]] | None = None  # a state, and where scans began in it
        self.asks_seen: Asks | None = None

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
    def preempts(self) -> bool:
        """Others are leaving for it."""
        return self.hold is not None and bool(self.hold.victims)

    @property
    def asks(self) -> Asks:
        """Kept only while somebody looks: most of those who wait are not looked at."""
        if self.asks_seen is None:
            self.asks_seen = asks_of(self.workload)
        return self.asks_seen

    def forget(self) -> None:
        self.asks_seen = self.memo = self.looks = None

    def saw(self, state: object, start: Progress, then: Progress) -> bool:
        """A scan from `start` would go on from `then`: whether that has not been tried yet in this state.

        Pod sets can send each other round: one stops where it fits, the other then has no flavor left.
        """
        if self.looks is None or self.looks[0] != state:
            self.looks = (state, [])
        self.looks[1].append(start)
        return then not in self.looks[1]


class Group:
    """Those of a queue who ask for the same at the same priority: they fail alike. By rank."""

    __slots__ = ("failed", "lane", "members")

    def __init__(self, lane: str) -> None:
        self.lane = lane  # their LocalQueue, where that decides who is served first; else ""
        self.members: list[Waiting] = []
        self.failed: Hold | None = None  # the answer that one of them got, for all


class Queue:
    """`spec` is None while nobody declares the ClusterQueue; its line exists all the same.

    Parking and waking touch groups, not members: a freed core wakes a queue of ten thousand equals at the cost of one.
    """

    __slots__ = (
        "_aside",
        "_consumption",
        "_failed",
        "_firsts",
        "_groups",
        "_idle",
        "_ordering",
        "active",
        "cycles",
        "everyone",
        "had_turn",
        "menu",
        "name",
        "prospects",
        "skips",
        "spec",
        "sticky",
    )

    def __init__(self, name: str, ordering: Ordering = BY_DEFAULT) -> None:
        self.name = name
        self._ordering = ordering
        self.spec: ClusterQueue | None = None
        self.active = False  # the caller's word
        self.menu: Menu | None = None
        self.prospects = Prospects()
        self.everyone: list[Waiting] = []  # by rank
        self.sticky: Waiting | None = None  # waits for its victims: ahead of all others until it leaves
        self.cycles = 0
        self.had_turn = False  # its head was admitted in the cycle that a budget cut short
        self._groups: dict[int, Group] = {}
        self._failed: dict[int, None] = {}  # groups with an answer for all
        self._aside: dict[WorkloadKey, Waiting] = {}  # parked by themselves, in no group
        self._idle = 0  # members of groups with an answer for all
        self.skips: int | None = None  # preemptions put off in its last cycle with one; None: it never put one off
        # By lane a heap of (rank of the first, group), with an entry for each group that has not failed, and outdated
        # ones.
        self._firsts: dict[str, list[tuple[Rank, int]]] = {}
        self._consumption: Consumption | None = None  # set: the lane that has used least comes first

    @property
    def strict(self) -> bool:
        return self.spec is not None and self.spec.strict_fifo

    def configure(
        self,
        spec: ClusterQueue | None,
        active: bool,
        configuration: Configuration = DEFAULTS,
        consumption: Consumption | None = None,
    ) -> None:
        """`consumption`: what LocalQueues have used, if that counts in usage-based queues."""
        self.spec, self.active = spec, active and spec is not None
        before, self._consumption = self._consumption, consumption if spec is not None and spec.usage_based else None
        if before is not self._consumption:
            self._line_up_anew()
        self.menu = Menu(spec, configuration) if spec is not None else None
        if self.strict:
            self.sticky = None  # the order of arrival is all that counts

    def join(self, waiting: Waiting) -> None:
        insort(self.everyone, waiting, key=_RANK)
        self._line_up(waiting)

    def leave(self, waiting: Waiting) -> None:
        _take_out(self.everyone, waiting)
        if waiting.parked:
            del self._aside[waiting.key]
        else:
            self._fall_out(waiting)
        if self.sticky is waiting:
            self.sticky = None

    def update(self, waiting: Waiting, workload: Workload) -> bool:
        """The object moved on; says whether in a way that may change its fate. Then it is ready again."""
        before, waiting.workload = waiting.workload, workload
        rank = self._ordering.rank(workload)
        if rank == waiting.rank and not _matters(before, workload):
            return False
        sticky = self.sticky is waiting
        self.leave(waiting)
        waiting.rank, waiting.parked = rank, False
        waiting.forget()
        self.join(waiting)
        if sticky:
            self.sticky = waiting
        return True

    def head(self) -> Waiting | None:
        """Who is looked at next. Kin of those who failed step aside."""
        sticky = self.sticky if self.sticky is not None and not self.is_parked(self.sticky) else None
        if self._consumption is None:
            return sticky or self._first("")
        ready = [sticky, *[self._first(lane) for lane in list(self._firsts)]]
        return min((each for each in ready if each is not None), key=self._turn, default=None)

    def _first(self, lane: str) -> Waiting | None:
        firsts = self._firsts.get(lane)
        while firsts:
            rank, kin = firsts[0]
            group = self._groups.get(kin)
            if group is not None and group.failed is None and group.members and group.members[0].rank == rank:
                return group.members[0]
            heappop(firsts)
        self._firsts.pop(lane, None)
        return None

    def _turn(self, waiting: Waiting) -> tuple[Standing | tuple[()], bool, Rank]:
        """Who comes first where usage counts: before priority, and before who waits for its victims."""
        standing = self._consumption.standing(self._lane(waiting)) if self._consumption is not None else ()
        return standing, waiting is not self.sticky, waiting.rank

    def _lane(self, waiting: Waiting) -> str:
        if self._consumption is None:
            return ""
        return f"{waiting.workload.namespace}/{waiting.workload.queue_name}"

    def park(self, waiting: Waiting) -> None:
        """Sets this one aside: what is wrong is wrong with it alone."""
        if not waiting.parked:
            self._fall_out(waiting)
            waiting.parked = True
            self._aside[waiting.key] = waiting
        waiting.forget()

    def fail(self, waiting: Waiting, answer: Hold) -> None:
        """Sets it aside with all its kin, newcomers included."""
        group = self._groups[waiting.kin]
        if group.failed is None:
            self._idle += len(group.members)
        group.failed = answer
        self._failed[waiting.kin] = None
        waiting.forget()

    def wake(self, may: Callable[[str], bool], stays: Callable[[Waiting], object] | None = None) -> None:
        """Every group, and everybody parked whose namespace `may`, is ready again, but those for whom `stays` knows
        why they are not."""
        for kin in self._failed:
            group = self._groups[kin]
            group.failed = None
            if group.members:
                self._offer(group, kin)
            else:
                del self._groups[kin]
        self._failed.clear()
        self._idle = 0
        allowed: dict[str, bool] = {}
        for waiting in list(self._aside.values()):
            namespace = waiting.workload.namespace
            if namespace not in allowed:
                allowed[namespace] = may(namespace)
            if allowed[namespace] and not (stays is not None and stays(waiting)):
                del self._aside[waiting.key]
                waiting.parked = False
                self._line_up(waiting)

    @property
    def wakeable(self) -> bool:
        """Somebody is set aside, or would be on arrival."""
        return bool(self._failed or self._aside)

    def is_parked(self, waiting: Waiting) -> bool:
        return waiting.parked or self._groups[waiting.kin].failed is not None

    def last_answer(self, waiting: Waiting) -> Hold | None:
        """Its own, or that of the kin that failed in its stead."""
        if waiting.hold is not None or waiting.parked:
            return waiting.hold
        failed = self._groups[waiting.kin].failed
        return failed and Hold(waiting.key, failed.reason, failed.message, parked=True)

    @property
    def aside(self) -> int:
        """How many are parked."""
        return self._idle + len(self._aside)

    def kinds(self) -> tuple[int, int]:
        """Groups of kin, and those of them with an answer for all."""
        return len(self._groups), len(self._failed)

    def by_kind(self) -> Iterator[tuple[Workload, int]]:
        """One of each kind that waits, with how many there are."""
        for group in self._groups.values():
            if group.members:
                yield group.members[0].workload, len(group.members)
        for waiting in self._aside.values():
            yield waiting.workload, 1

    def set_aside(self) -> Iterator[Waiting]:
        """Those who are parked, kin together."""
        for kin in self._failed:
            yield from self._groups[kin].members
        yield from self._aside.values()

    def position(self, waiting: Waiting) -> int:
        """0 is the head; ready and parked alike."""
        if self._consumption is not None:
            return self._by_turn(self._consumption).index(waiting)
        if self.sticky is waiting:
            return 0
        ahead = bisect_left(self.everyone, waiting.rank, key=_RANK)
        return ahead + (self.sticky is not None and waiting.rank < self.sticky.rank)

    def in_order(self) -> list[WorkloadKey]:
        if self._consumption is not None:
            return [waiting.key for waiting in self._by_turn(self._consumption)]
        keys = [waiting.key for waiting in self.everyone]
        if self.sticky is not None:
            keys.insert(0, keys.pop(bisect_left(self.everyone, self.sticky.rank, key=_RANK)))
        return keys

    def _by_turn(self, consumption: Consumption) -> list[Waiting]:
        """All, as `_turn` has it: a hundred thousand who wait, but what is dear to compare is asked of lanes only."""
        lanes: dict[str, list[Waiting]] = {}
        for waiting in self.everyone:
            lanes.setdefault(self._lane(waiting), []).append(waiting)
        alike: dict[Standing, list[Waiting]] = {}
        for lane, members in lanes.items():
            alike.setdefault(consumption.standing(lane), []).extend(members)
        out: list[Waiting] = []
        for standing in sorted(alike):
            out += sorted(alike[standing], key=lambda one: (one is not self.sticky, one.rank))
        return out

    def _line_up(self, waiting: Waiting) -> None:
        # Kueue tells kin apart by 64 bits of a hash, too. To Python -1 and -2 hash alike, so the priority is doubled;
        # so do numbers that are 2^61-1 apart, and nobody may pass for the kin of others by asking for absurdly much.
        lane, asks = self._lane(waiting), waiting.asks
        absurd = tuple([units >> 60 for ask in asks for _, units in ask.requests])
        kin = waiting.kin = hash((2 * waiting.rank[0], asks, lane, absurd, *waiting.kind))
        waiting.asks_seen = None
        group = self._groups.get(kin)
        if group is None:
            group = self._groups[kin] = Group(lane)
        insort(group.members, waiting, key=_RANK)
        if group.failed is not None:
            self._idle += 1
        elif group.members[0] is waiting:
            self._offer(group, kin)

    def line_up_anew(self, kind: Callable[[Waiting], tuple[object, ...]]) -> None:
        """Who is told from whom is another matter now; what is known of kin is forgotten."""
        for waiting in self.everyone:
            waiting.kind = kind(waiting)
        self._line_up_anew()

    def _line_up_anew(self) -> None:
        """Lanes are others now; what is known of kin is forgotten."""
        self._groups, self._failed, self._firsts, self._idle = {}, {}, {}, 0
        for waiting in self.everyone:
            if not waiting.parked:
                self._line_up(waiting)

    def _offer(self, group: Group, kin: int) -> None:
        heappush(self._firsts.setdefault(group.lane, []), (group.members[0].rank, kin))

    def _fall_out(self, waiting: Waiting) -> None:
        group = self._groups[waiting.kin]
        first = group.members[0] is waiting
        _take_out(group.members, waiting)
        if group.failed is not None:
            self._idle -= 1
            return  # newcomers of its kin have failed, too, until the next waking
        if not group.members:
            del self._groups[waiting.kin]
        elif first:
            self._offer(group, waiting.kin)


def _take_out(line: list[Waiting], waiting: Waiting) -> None:
    at = bisect_left(line, waiting.rank, key=_RANK)
    if line[at] is not waiting:
        raise LookupError(f"{waiting.key} is not at its place in the line of {waiting.queue}")
    del line[at]


def _matters(before: Workload, after: Workload) -> bool:
    """Kueue's rule for when a parked workload is worth another look."""
    if before.generation != after.generation:
        return True
    if before.reclaimable != after.reclaimable or before.pod_sets != after.pod_sets:
        return True
    return _changed(before.conditions, after.conditions, EVICTED) or _changed(
        before.conditions, after.conditions, REQUEUED
    )


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], condition: str) -> bool:
    return before.get(condition) != after.get(condition)
