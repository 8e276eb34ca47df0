"""Which flavor each resource of a workload gets.

Flavors of a resource group are tried in the queue's order; the queue's fungibility says when to stop and which of
several is best. All resources of a group get the same flavor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from admission.model.queues import FlavorResource, ResourceFlavor
from admission.model.workload import Admission, PodSetAssignment
from admission.rules.asks import Ask, Asks
from admission.rules.grades import FIT, NO_FIT, PREEMPT, Grade, Judge, Shortfall
from admission.rules.matching import mismatch
from admission.rules.menu import Group, Menu

Flavors = Mapping[str, ResourceFlavor]
Requests = tuple[tuple[str, int], ...]
# (index of the pod set, resource) -> index of the flavor tried last; only where untried ones are left.
Progress = Mapping[tuple[int, str], int]

# (index of the pod set, resource) -> the only flavor to try.
Pinned = Mapping[tuple[int, str], str]

NOTHING_TRIED: Progress = {}
EVERY_FLAVOR: Pinned = {}
_NOTHING = (0, 0, 0)  # the score of what does not fit


@dataclass(slots=True)
class Assignment:
    """`usage` is what it would take; `needs` what of it must be preempted for. `failures`: per pod set that does not
    fit, every attempt that fell short."""

    mode: int = FIT  # NO_FIT, PREEMPT or FIT
    borrowing: int = 0
    pod_sets: list[PodSetAssignment] = field(default_factory=list)
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    needs: list[FlavorResource] = field(default_factory=list)
    failures: list[list[Shortfall]] = field(default_factory=list)
    tried: dict[tuple[int, str], int] = field(default_factory=dict)

    def admission(self, queue: str) -> Admission:
        return Admission(queue, tuple(self.pod_sets))


def assign(
    asks: Asks,
    menu: Menu,
    judge: Judge,
    flavors: Flavors,
    tried: Progress = NOTHING_TRIED,
    pinned: Pinned = EVERY_FLAVOR,
) -> Assignment:
    """The whole workload, pod set after pod set; what earlier ones take counts for later ones.

    Stops at the first pod set that cannot be served at all.
    """
    whole = Assignment()
    for index, ask in enumerate(asks):
        requests = wanted(ask, menu)
        chosen: dict[str, str] = {}
        failures: list[Shortfall] = []
        for resource, units in requests:
            if resource in chosen:
                continue
            group = menu.groups.get(resource)
            if group is None:
                if units and menu.must_cover(resource):
                    return _unserved(whole, index, [unavailable(ask, resource, units)])
                continue
            scan = _Scan(ask, requests, judge, flavors, whole.usage)
            scan.run(group, tried.get((index, resource), -1) + 1, pinned.get((index, resource)))
            if not scan.grades:
                return _unserved(whole, index, scan.attempts)
            if scan.best.mode != FIT:
                failures += scan.attempts
            _note(whole, index, scan)
            chosen.update(dict.fromkeys(scan.grades, scan.flavor))
        if failures:
            whole.failures.append(failures)
        _take(whole, ask, requests, chosen)
    return whole


def wanted(ask: Ask, menu: Menu) -> Requests:
    """The requests of a pod set; where quota counts pods, they are one of them."""
    if "pods" in menu.groups:
        return (*[item for item in ask.requests if item[0] != "pods"], ("pods", ask.pods))
    return ask.requests


class _Scan:
    """One walk over the flavors of a resource group for one pod set."""

    __slots__ = ("_ask", "_assumed", "_flavors", "_judge", "_requests", "attempts", "best", "flavor", "grades", "tried")

    def __init__(
        self, ask: Ask, requests: Requests, judge: Judge, flavors: Flavors, assumed: Mapping[FlavorResource, int]
    ) -> None:
        self._ask, self._requests, self._judge = ask, requests, judge
        self._flavors, self._assumed = flavors, assumed
        self.attempts: list[Shortfall] = []
        self.best = Grade(NO_FIT, 0)
        self.flavor = ""
        self.grades: dict[str, Grade] = {}  # of the best flavor, by resource; empty: none will do
        self.tried = -1

    def run(self, group: Group, start: int, only: str | None) -> None:
        """From the flavor at `start`, or from the first if the list has become shorter than that; through all, or
        just past `only`."""
        requests = [item for item in self._requests if item[0] in group.resources]
        end = len(group.flavors)
        last, best = -1, _NOTHING
        for last in range(start if start < end else 0, end):
            name = group.flavors[last]
            if only is not None and name != only:
                continue
            note = mismatch(name, self._flavors.get(name), self._ask)
            if note:
                self.attempts.append(unmatched(self._ask, requests[0], name, note))
                continue
            grades, worst, score = self._grade(name, requests)
            stop = not self._judge.try_next(worst)
            if stop or score > best:
                best = score
                self.best, self.flavor, self.grades = worst, name, grades
            if stop:
                break
        self.tried = -1 if last == end - 1 or not self._judge.fungible else last

    def _grade(
        self, flavor: str, requests: list[tuple[str, int]]
    ) -> tuple[dict[str, Grade], Grade, tuple[int, int, int]]:
        """Each resource's grade, the worst, and its score."""
        grades: dict[str, Grade] = {}
        worst, least = Grade(FIT, 0), None
        for resource, units in requests:
            fr = (flavor, resource)
            before = self._assumed.get(fr, 0)
            grade, verdict, free, most = self._judge.grade(fr, before + units)
            grades[resource] = grade
            if grade.mode != FIT:
                self.attempts.append(
                    Shortfall(self._ask.name, resource, flavor, before + units, before, free, most, verdict)
                )
            score = self._judge.score(grade)
            if least is None or score < least:
                worst, least = grade, score
        return grades, worst, least or _NOTHING


def unmatched(ask: Ask, request: tuple[str, int], flavor: str, note: str) -> Shortfall:
    resource, units = request
    return Shortfall(ask.name, resource, flavor, units, 0, 0, 0, "NoMatchingFlavor", note)


def unavailable(ask: Ask, resource: str, units: int) -> Shortfall:
    return unmatched(ask, (resource, units), "", f"resource {resource} unavailable in ClusterQueue")


def _unserved(whole: Assignment, index: int, failures: list[Shortfall]) -> Assignment:
    """What this pod set got so far is void, and so is how far its flavors were scanned."""
    whole.mode = NO_FIT
    whole.failures.append(failures)
    whole.tried = {key: at for key, at in whole.tried.items() if key[0] != index}
    return whole


def _note(whole: Assignment, index: int, scan: _Scan) -> None:
    for resource, grade in scan.grades.items():
        if grade.borrowing > whole.borrowing:
            whole.borrowing = grade.borrowing
        if grade.mode != FIT:
            whole.mode = PREEMPT
            whole.needs.append((scan.flavor, resource))
        if scan.tried >= 0:
            whole.tried[index, resource] = scan.tried


def _take(whole: Assignment, ask: Ask, requests: Requests, chosen: dict[str, str]) -> None:
    usage = {resource: units for resource, units in requests if resource in chosen}
    whole.pod_sets.append(PodSetAssignment(ask.name, chosen, usage, ask.pods))
    for resource, units in usage.items():
        fr = (chosen[resource], resource)
        whole.usage[fr] = whole.usage.get(fr, 0) + units
