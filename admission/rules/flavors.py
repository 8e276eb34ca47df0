"""Which flavor each resource of a workload gets, and how well that works: it fits, it would after preemption, or not.

Flavors of a resource group are tried in the queue's order; the queue's fungibility says when to stop and which of
several is best. All resources of a group get the same flavor.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from admission.model.decisions import Shortage
from admission.model.queues import ClusterQueue, FlavorResource, ResourceFlavor
from admission.model.workload import Admission, PodSetAssignment
from admission.rules.asks import Ask, Asks
from admission.rules.matching import mismatch
from admission.tree import Node
from admission.tree.quota import find_height, potential, queue_available

# How one flavor serves, worst first. RECLAIM: all victims are in other queues.
NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT = range(5)
_VERDICTS = ("WaitingForQuota", "noCandidates", "preempt", "reclaim", "fit")

# Asks what preemption could do for so many units of one flavor's resource: mode and borrowing height afterwards.
Oracle = Callable[[FlavorResource, int], tuple[int, int]]
# (index of the pod set, resource) -> index of the flavor tried last; only where untried ones are left.
Progress = Mapping[tuple[int, str], int]

NOTHING_TRIED: Progress = {}


class Group(NamedTuple):
    resources: frozenset[str]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Menu:
    """A queue's offer, indexed once per edit of its spec."""

    groups: Mapping[str, Group]  # by resource
    try_next_when_borrowing: bool
    try_next_when_preempting: bool
    borrow_rather_than_preempt: bool
    preempts_while_borrowing: bool
    preempts: bool

    @classmethod
    def of(cls, queue: ClusterQueue) -> "Menu":
        groups = {}
        for each in queue.groups:
            group = Group(frozenset(each.resources), tuple(flavor.name for flavor in each.flavors))
            groups.update(dict.fromkeys(each.resources, group))
        return cls(
            groups,
            queue.fungibility.when_can_borrow == "TryNextFlavor",
            queue.fungibility.when_can_preempt == "TryNextFlavor",
            queue.fungibility.preference != "PreemptionOverBorrowing",
            queue.preemption.borrow_within_cohort != "Never",
            queue.preemption.within_cluster_queue != "Never" or queue.preemption.reclaim_within_cohort != "Never",
        )


class Grade(NamedTuple):
    """How well one flavor serves one resource, or a whole group by its worst resource."""

    mode: int
    borrowing: int


_PERFECT = Grade(FIT, 0)


@dataclass(slots=True)
class Assignment:
    """`usage` is what it would take; `needs` what of it must be preempted for. `failures`: per pod set that does not
    fit, every attempt that fell short."""

    mode: int = FIT  # NO_FIT, PREEMPT or FIT
    borrowing: int = 0
    pod_sets: list[PodSetAssignment] = field(default_factory=list)
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    needs: list[FlavorResource] = field(default_factory=list)
    failures: list[list[Shortage]] = field(default_factory=list)
    tried: dict[tuple[int, str], int] = field(default_factory=dict)

    def admission(self, queue: str) -> Admission:
        return Admission(queue, tuple(self.pod_sets))


def assign(
    asks: Asks,
    menu: Menu,
    node: Node,
    flavors: Mapping[str, ResourceFlavor],
    oracle: Oracle,
    tried: Progress = NOTHING_TRIED,
) -> Assignment:
    """The whole workload, pod set after pod set; what earlier ones take counts for later ones.

    Stops at the first pod set that cannot be served at all.
    """
    whole = Assignment()
    for index, ask in enumerate(asks):
        chosen: dict[str, str] = {}
        failures: list[Shortage] = []
        served = True
        for resource, units in wanted(ask, menu):
            if resource in chosen:
                continue
            group = menu.groups.get(resource)
            if group is None:
                if units == 0:
                    continue
                failures = [unavailable(ask, resource, units)]
                served = False
                break
            scan = _Scan(ask, menu, node, flavors, oracle, whole.usage)
            scan.run(group, tried.get((index, resource), -1) + 1)
            if not scan.grades:
                failures = scan.attempts
                served = False
                break
            if scan.best.mode != FIT:
                failures += scan.attempts
            _note(whole, index, scan)
            chosen.update(dict.fromkeys(scan.grades, scan.flavor))
        if failures:
            whole.failures.append(failures)
        if not served:
            whole.mode = NO_FIT
            # What this pod set got so far is void, and so is how far its flavors were scanned.
            whole.tried = {key: at for key, at in whole.tried.items() if key[0] != index}
            return whole
        _take(whole, ask, menu, chosen)
    return whole


def wanted(ask: Ask, menu: Menu) -> tuple[tuple[str, int], ...]:
    """The requests of a pod set; where quota counts pods, they are one of them."""
    if "pods" in menu.groups:
        return (*[item for item in ask.requests if item[0] != "pods"], ("pods", ask.pods))
    return ask.requests


def judge(node: Node, menu: Menu, fr: FlavorResource, units: int, oracle: Oracle) -> tuple[Grade, str, int, int]:
    """How `units` of one flavor's resource would be got: grade, verdict, what is free, the most there could be."""
    most = potential(node, fr)
    free = queue_available(node, fr)
    if units > most:
        return Grade(NO_FIT, 0), "ExceedsMaxQuota", free, most
    height, may_reclaim = find_height(node, fr, units)
    if units <= free:
        return Grade(FIT, height), "fit", free, most
    if may_reclaim or menu.preempts_while_borrowing or units <= node.subtree.get(fr, 0):
        mode, height = oracle(fr, units)
        return Grade(mode, height), _VERDICTS[mode], free, most
    return Grade(NO_FIT, height), "WaitingForQuota", free, most


class _Scan:
    """One walk over the flavors of a resource group for one pod set."""

    __slots__ = ("ask", "assumed", "attempts", "best", "flavor", "flavors", "grades", "menu", "node", "oracle", "tried")

    def __init__(
        self,
        ask: Ask,
        menu: Menu,
        node: Node,
        flavors: Mapping[str, ResourceFlavor],
        oracle: Oracle,
        assumed: Mapping[FlavorResource, int],
    ) -> None:
        self.ask, self.menu, self.node, self.flavors, self.oracle, self.assumed = (
            ask, menu, node, flavors, oracle, assumed,
        )  # fmt: skip
        self.attempts: list[Shortage] = []
        self.best = Grade(NO_FIT, 0)
        self.flavor = ""
        self.grades: dict[str, Grade] = {}  # of the best flavor, by resource; empty: none will do
        self.tried = -1

    def run(self, group: Group, start: int) -> None:
        menu = self.menu
        requests = [item for item in wanted(self.ask, menu) if item[0] in group.resources]
        last = -1
        for last in range(start, len(group.flavors)):
            name = group.flavors[last]
            note = mismatch(name, self.flavors.get(name), self.ask)
            if note:
                self.attempts.append(unmatched(self.ask, requests[0], name, note))
                continue
            grades = self._grades(name, requests)
            worst = _PERFECT
            for grade in grades.values():
                if _score(worst, menu) > _score(grade, menu):
                    worst = grade
            stop = not _try_next(worst, menu)
            if stop or _score(worst, menu) > _score(self.best, menu):
                self.best, self.flavor, self.grades = worst, name, grades
            if stop:
                break
        self.tried = -1 if last == len(group.flavors) - 1 else last

    def _grades(self, flavor: str, requests: list[tuple[str, int]]) -> dict[str, Grade]:
        grades = {}
        for resource, units in requests:
            fr = (flavor, resource)
            before = self.assumed.get(fr, 0)
            grade, verdict, free, most = judge(self.node, self.menu, fr, before + units, self.oracle)
            grades[resource] = grade
            if grade.mode != FIT:
                self.attempts.append(
                    Shortage(self.ask.name, resource, flavor, before + units, before, free, most, verdict)
                )
        return grades


def unmatched(ask: Ask, request: tuple[str, int], flavor: str, note: str) -> Shortage:
    resource, units = request
    return Shortage(ask.name, resource, flavor, units, 0, 0, 0, "NoMatchingFlavor", note)


def shortage(
    ask: Ask,
    resource: str,
    units: int,
    flavor: str,
    menu: Menu,
    node: Node,
    flavors: Mapping[str, ResourceFlavor],
    oracle: Oracle,
    assumed: Mapping[FlavorResource, int],
) -> Shortage:
    """One resource in one flavor, after what earlier pod sets take (`assumed`); also when it fits."""
    note = mismatch(flavor, flavors.get(flavor), ask)
    if note:
        return unmatched(ask, (resource, units), flavor, note)
    before = assumed.get((flavor, resource), 0)
    _, verdict, free, most = judge(node, menu, (flavor, resource), before + units, oracle)
    return Shortage(ask.name, resource, flavor, before + units, before, free, most, verdict)


def unavailable(ask: Ask, resource: str, units: int) -> Shortage:
    return unmatched(ask, (resource, units), "", f"resource {resource} unavailable in ClusterQueue")


def _score(grade: Grade, menu: Menu) -> tuple[int, int, int]:
    """Higher is preferred: whatever works, then what might one day, then nothing."""
    mode, borrowing = grade
    if mode == NO_FIT:
        return (0, 0, 0)
    viable = 1 if mode == NO_CANDIDATES else 2
    return (viable, mode, -borrowing) if menu.borrow_rather_than_preempt else (viable, -borrowing, mode)


def _try_next(grade: Grade, menu: Menu) -> bool:
    mode, borrowing = grade
    if mode <= NO_CANDIDATES or (mode != FIT and menu.try_next_when_preempting):
        return True
    return borrowing > 0 and menu.try_next_when_borrowing


def _note(whole: Assignment, index: int, scan: _Scan) -> None:
    for resource, grade in scan.grades.items():
        whole.borrowing = max(whole.borrowing, grade.borrowing)
        if grade.mode != FIT:
            whole.mode = PREEMPT
            whole.needs.append((scan.flavor, resource))
        if scan.tried >= 0:
            whole.tried[index, resource] = scan.tried


def _take(whole: Assignment, ask: Ask, menu: Menu, chosen: dict[str, str]) -> None:
    usage = {resource: units for resource, units in wanted(ask, menu) if resource in chosen}
    whole.pod_sets.append(PodSetAssignment(ask.name, chosen, usage, ask.pods))
    for resource, units in usage.items():
        fr = (chosen[resource], resource)
        whole.usage[fr] = whole.usage.get(fr, 0) + units
