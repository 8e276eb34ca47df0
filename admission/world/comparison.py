"""The same jobs under two sets of queues: what became of each job, and what each queue held and made wait.

Jobs are matched by the order in which they were given, which is the same on both sides: generated names need not be.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from admission.explain import state_word
from admission.model.kinds import Ref
from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.world.meter import Meter
from admission.world.simulation import Simulation
from admission.world.stories import Story

# What may differ for a job, in the order in which a person wants to know it.
CHANGES = (
    "neverStarts",  # it did before
    "nowStarts",
    "later",
    "earlier",
    "preemptedMore",
    "preemptedLess",
    "endsLater",  # in spite of an equal start, or none: it was interrupted
    "endsEarlier",
    "elsewhere",  # in another ClusterQueue or on other flavors
    "state",  # anything else that differs at the end
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job on one side. Times are seconds from the start, None: never."""

    state: str
    arrived: float | None = None
    started: float | None = None
    finished: float | None = None
    evictions: int = 0
    preemptions: int = 0  # of the evictions
    cluster_queue: str = ""
    flavors: tuple[tuple[str, str, str], ...] = ()  # pod set, resource, flavor
    problem: str = ""


class Change(NamedTuple):
    """One job on both sides; no `changes`: nothing differs."""

    job: Ref
    before: Outcome
    after: Outcome
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """What a queue held of one resource of one flavor: units as in `admission.model.amounts`."""

    nominal: int
    mean: float  # over the whole time
    peak: int


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """A ClusterQueue on one side. Waits are seconds from arrival to the first start, of jobs that did start."""

    use: Mapping[FlavorResource, Use]
    started: int = 0
    waiting: int = 0  # never started
    preemptions: int = 0
    wait_mean: float | None = None
    wait_p95: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    until: float  # seconds: both sides are looked at as long as the longer one goes on
    jobs: Sequence[Change]
    queues: Mapping[str, tuple[QueueRecord | None, QueueRecord | None]]

    @property
    def different(self) -> bool:
        return any(change.changes for change in self.jobs) or any(a != b for a, b in self.queues.values())

    def count(self, change: str) -> int:
        return sum(change in one.changes for one in self.jobs)


def compare(before: Simulation, after: Simulation, until: float | None = None) -> Comparison:
    """Runs both. Each must have been told of the same arrivals in the same order."""
    meters = []
    for side in (before, after):
        meter = Meter(side)
        side.run(until, progress=meter.step)
        meters.append(meter)
    end = max(before.now, after.now) if until is None else until
    for meter in meters:
        meter.end(end)
    told = [_outcomes(side) for side in (before, after)]
    jobs = [Change(ref, was, is_, _changes(was, is_)) for (ref, was), (_, is_) in zip(told[0], told[1], strict=True)]
    records = [
        _records(side, meter, [outcome for _, outcome in outcomes], end)
        for side, meter, outcomes in zip((before, after), meters, told, strict=True)
    ]
    names = sorted({*records[0], *records[1]})
    return Comparison(end, jobs, {name: (records[0].get(name), records[1].get(name)) for name in names})


def _outcomes(side: Simulation) -> list[tuple[Ref, Outcome]]:
    preempted = Counter(one.workload for one in side.timeline if one.what == "preempted")
    return [(ref, _outcome(side, story, preempted)) for ref, story in side.arrivals()]


def _outcome(side: Simulation, story: Story | None, preempted: Mapping[WorkloadKey, int]) -> Outcome:
    if story is None:
        return Outcome("unmanaged")
    slots = side.state.objects.workloads
    workload = slots[story.key].current if story.key in slots else None
    if workload is None:
        return Outcome("misconfigured", story.arrived, problem=story.problem)
    local = side.state.objects.local_queue(workload.namespace, workload.queue_name)
    queue, flavors = local.cluster_queue if local is not None else "", list[tuple[str, str, str]]()
    if workload.admission is not None:
        queue = workload.admission.cluster_queue
        flavors = [(one.name, *pair) for one in workload.admission.assignments for pair in sorted(one.flavors.items())]
    return Outcome(
        state_word(workload, side.state.scheduler.parked(story.key)),
        story.arrived,
        story.started,
        story.finished,
        story.evictions,
        preempted.get(story.key, 0),
        queue,
        tuple(flavors),
    )


def _changes(was: Outcome, is_: Outcome) -> tuple[str, ...]:
    started, finished = (was.started, is_.started), (was.finished, is_.finished)
    found = set()
    match started:
        case (float() | int(), None):
            found.add("neverStarts")
        case (None, float() | int()):
            found.add("nowStarts")
        case (float() | int() as then, float() | int() as now) if then != now:
            found.add("later" if now > then else "earlier")
    if was.preemptions != is_.preemptions:
        found.add("preemptedMore" if is_.preemptions > was.preemptions else "preemptedLess")
    if started[0] == started[1] and finished[0] != finished[1]:
        never = float("inf")
        sooner = (never if finished[1] is None else finished[1]) < (never if finished[0] is None else finished[0])
        found.add("endsEarlier" if sooner else "endsLater")
    if None not in started and (was.cluster_queue, was.flavors) != (is_.cluster_queue, is_.flavors):
        found.add("elsewhere")
    if not found and was != is_:
        found.add("state")
    return tuple(change for change in CHANGES if change in found)


def _records(side: Simulation, meter: Meter, told: Sequence[Outcome], end: float) -> dict[str, QueueRecord]:
    of_queue: dict[str, list[Outcome]] = {}
    for outcome in told:
        of_queue.setdefault(outcome.cluster_queue, []).append(outcome)
    records = {}
    for name in sorted(side.state.objects.cluster_queues):
        queue = side.state.objects.cluster_queue(name)
        if queue is not None:
            use = {
                fr: Use(
                    quota.nominal,
                    meter.unit_seconds.get((name, fr), 0.0) / end if end else 0.0,
                    meter.peaks.get((name, fr), 0),
                )
                for fr, quota in queue.quotas().items()
            }
            records[name] = _record(use, of_queue.get(name, []))
    return records


def _record(use: Mapping[FlavorResource, Use], outcomes: Sequence[Outcome]) -> QueueRecord:
    waits = sorted(
        outcome.started - outcome.arrived
        for outcome in outcomes
        if outcome.started is not None and outcome.arrived is not None
    )
    return QueueRecord(
        use,
        started=len(waits),
        waiting=len(outcomes) - len(waits),
        preemptions=sum(outcome.preemptions for outcome in outcomes),
        wait_mean=sum(waits) / len(waits) if waits else None,
        wait_p95=waits[min(len(waits) - 1, len(waits) * 95 // 100)] if waits else None,
    )
