"""One contestant on one fresh control plane: set up, play the mix, and read what it cost."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import mean
from typing import Any

from hack.bench import writes
from hack.bench.contestants import Contestant
from hack.bench.driver import Driver, Life, Stalled
from hack.bench.mix import KUEUE, Mix, standing
from hack.bench.wire import Wire
from hack.cluster import Cluster, Extra, Usage

# As in the control plane of Kueue's own benchmark, so that the API server's fairness rules are not what is measured.
INFLIGHT = Extra(apiserver=("--max-requests-inflight=5000", "--max-mutating-requests-inflight=2500"))
# Nothing runs here, so nobody has to schedule, collect or play nodes; they would only take from the two who count.
IDLE = ("kwok", "kube-scheduler", "kube-controller-manager")
SETTLE_SECONDS = 5.0  # after the last end: queue statuses that are written late belong to the cost
SAMPLE_SECONDS = 5.0
LONGEST_SECONDS = 1200.0
LAST_WORDS = 15  # lines of a log


@dataclass(frozen=True, slots=True)
class Admission:
    """Seconds from creation to the first admission, of one kind: the driver's clock, and the conditions' stamps."""

    mean: float
    median: float
    longest: float
    stamped_mean: float


@dataclass(frozen=True, slots=True)
class Result:
    """CPU in seconds, memory in bytes. `writes` are the contestant's; `samples` tell the story in time."""

    contestant: str
    workloads: int
    wall: float
    admission: Mapping[str, Admission]
    evictions: int
    cpu: Mapping[str, float]
    peak_memory: Mapping[str, int]
    writes: Mapping[str, int]
    driver_writes: Mapping[str, int]
    driver_late_mean: float
    driver_late_most: float
    load_before: float
    samples: list[Mapping[str, Any]]

    @property
    def writes_per_workload(self) -> float:
        """Successful writes of the contestant."""
        return writes.successful(self.writes) / self.workloads

    def cpu_per_workload(self, component: str) -> float:
        """Seconds."""
        return self.cpu[component] / self.workloads

    def as_json(self) -> dict[str, Any]:
        """Everything, and what is computed from it."""
        return {**asdict(self), "writes_per_workload": self.writes_per_workload}


def play(contestant: Contestant, mix: Mix, say: Callable[[str], None], flags: tuple[str, ...] = ()) -> Result:
    """From nothing to nothing. Stalled, StartFailed."""
    load = os.getloadavg()[0]
    with Cluster.start(extra=INFLIGHT) as cluster:
        contestant.start(cluster, flags)
        for component in IDLE:
            cluster.remove(component)
        api = cluster.api()
        for path, manifest in standing(mix):
            api.create(path, manifest)
        names = [queue.name for queue in mix.queues]
        cluster.until(lambda: _active(api.get(f"/apis/{KUEUE}/clusterqueues")["items"], names), "the queues active")
        say(f"{contestant.name}: {mix.total} workloads in {len(names)} queues …")
        return asyncio.run(_measured(contestant, cluster, mix, load, say))


async def _measured(
    contestant: Contestant, cluster: Cluster, mix: Mix, load: float, say: Callable[[str], None]
) -> Result:
    counts, before = writes.counted(cluster.api()), _cpu(cluster)
    samples: list[Mapping[str, Any]] = []
    async with Wire(cluster) as wire:
        driver = Driver(wire, mix)
        sampling = asyncio.create_task(_sample(cluster, driver, before, samples, say))
        try:
            wall = await driver.run(LONGEST_SECONDS)
        except Stalled as error:
            raise Stalled(f"{error}\n{_last_words(contestant, cluster)}") from None
        finally:
            sampling.cancel()
            with suppress(asyncio.CancelledError):
                await sampling
    await asyncio.sleep(SETTLE_SECONDS)
    usage, after = cluster.usage(), _cpu(cluster)
    made = Counter(writes.counted(cluster.api()))
    made.subtract(counts)
    lives = list(driver.lives.values())
    return Result(
        contestant=contestant.name,
        workloads=driver.done,
        wall=wall,
        admission={kind: _admission(life for life in lives if life.kind.name == kind) for kind in mix.kinds},
        evictions=sum(life.evictions for life in lives),
        cpu={_role(name, contestant): after[name] - before[name] for name in after},
        peak_memory={_role(name, contestant): used.peak_bytes for name, used in usage.items()},
        writes=writes.without_driver(made, driver.writes),
        driver_writes=driver.writes,
        driver_late_mean=mean(life.late for life in lives),
        driver_late_most=max(life.late for life in lives),
        load_before=load,
        samples=samples,
    )


async def _sample(
    cluster: Cluster,
    driver: Driver,
    before: Mapping[str, float],
    samples: list[Mapping[str, Any]],
    say: Callable[[str], None],
) -> None:
    """How far it is and what it has cost so far, now and then."""
    began = time.monotonic()
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        admitted = sum(life.admitted is not None for life in driver.lives.values())
        spent = {name: round(used - before.get(name, 0.0), 2) for name, used in _cpu(cluster).items()}
        at = round(time.monotonic() - began, 1)
        samples.append({"at": at, "created": driver.created, "admitted": admitted, "done": driver.done, "cpu": spent})
        if len(samples) % 4 == 0:
            say(f"  {at:5.0f} s: {driver.created} created, {admitted} admitted, {driver.done} finished")


def _last_words(contestant: Contestant, cluster: Cluster) -> str:
    runs = "still runs" if contestant.component in cluster.usage() else "has died"
    lines = cluster.log(contestant.component).read_text(errors="replace").splitlines()[-LAST_WORDS:]
    return "\n  ".join([f"{contestant.name} {runs}; the end of its log:", *(line[:300] for line in lines)])


def _cpu(cluster: Cluster) -> dict[str, float]:
    mine = Usage(time.process_time(), 0, 0)
    return {name: used.cpu_seconds for name, used in {**cluster.usage(), "driver": mine}.items()}


def _role(component: str, contestant: Contestant) -> str:
    return "controller" if component == contestant.component else component


def _active(queues: list[dict[str, Any]], names: list[str]) -> bool:
    active = {
        queue["metadata"]["name"]
        for queue in queues
        for one in queue.get("status", {}).get("conditions", ())
        if one["type"] == "Active" and one["status"] == "True"
    }
    return active >= set(names)


def _admission(lives: Iterable[Life]) -> Admission:
    chosen = list(lives)
    waits = sorted(life.admitted - life.created for life in chosen if life.admitted is not None)
    stamped = [_seconds(life.stamped) for life in chosen if life.stamped]
    return Admission(mean(waits), waits[len(waits) // 2], waits[-1], mean(stamped))


def _seconds(stamped: tuple[str, str]) -> float:
    created, admitted = (datetime.fromisoformat(text) for text in stamped)
    return (admitted - created).total_seconds()
