"""What is created and when: Kueue's generator file as queues, and Workloads in rows with a gap between two of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hack.cluster import HackError

Object = dict[str, Any]

KUEUE = "kueue.x-k8s.io/v1beta2"
FLAVOR = "default"
# A cpu quota alone: the driver finishes Workloads by hand, nothing ever runs.
RESOURCE = "cpu"


@dataclass(frozen=True, slots=True)
class Kind:
    """Equal Workloads: `runtime` in seconds from admission, `cpu` as a quantity."""

    name: str
    runtime: float
    priority: int
    cpu: str


@dataclass(frozen=True, slots=True)
class Row:
    """`count` rounds, one Workload of each kind in a round, `gap` seconds before each of them."""

    number: int
    count: int
    gap: float
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """A ClusterQueue, with a namespace and a LocalQueue of the same name."""

    name: str
    cohort: str
    spec: Object
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Mix:
    """All of it. `total` Workloads."""

    queues: tuple[Queue, ...]

    @property
    def total(self) -> int:
        """How many Workloads there will be."""
        return sum(row.count * len(row.kinds) for queue in self.queues for row in queue.rows)

    @property
    def kinds(self) -> list[str]:
        """Names of the kinds, the longest running first."""
        found = {kind.name: kind.runtime for queue in self.queues for row in queue.rows for kind in row.kinds}
        return sorted(found, key=lambda name: -found[name])

    @property
    def seconds(self) -> float:
        """How long creating takes when every creation is instant."""
        return max(row.gap * row.count * len(row.kinds) for queue in self.queues for row in queue.rows)


def read(path: Path, scale: float = 1.0) -> Mix:
    """`scale` shortens every row, at least to one round; all else stays. HackError for what we cannot play."""
    content = yaml.safe_load(path.read_text())
    if "topology" in content:
        raise HackError(f"{path}: has a topology, which this driver does not play; use the mix `baseline`")
    return Mix(tuple(_queues(content, scale)))


def _queues(content: Object, scale: float) -> Iterator[Queue]:
    for cohorts in content["cohorts"]:
        for c in range(cohorts["count"]):
            cohort = f"{cohorts['className']}-{c}"
            for s, queues in enumerate(cohorts["queuesSets"]):
                rows = tuple(_row(number, row, scale) for number, row in enumerate(queues["workloadsSets"]))
                for q in range(queues["count"]):
                    yield Queue(f"{queues['className']}-{s}-{q}-{cohort}", cohort, _spec(queues, cohort), rows)


def _row(number: int, row: Object, scale: float) -> Row:
    kinds = tuple(
        Kind(kind["className"], kind["runtimeMs"] / 1000, kind["priority"], str(kind["request"]))
        for kind in row["workloads"]
    )
    return Row(number, max(1, math.ceil(row["count"] * scale)), row["creationIntervalMs"] / 1000, kinds)


def _spec(queues: Object, cohort: str) -> Object:
    quota = {
        "name": RESOURCE,
        "nominalQuota": str(queues["nominalQuota"]),
        "borrowingLimit": str(queues["borrowingLimit"]),
    }
    return {
        "cohortName": cohort,
        "namespaceSelector": {},
        "preemption": {
            "reclaimWithinCohort": queues["reclaimWithinCohort"],
            "withinClusterQueue": queues["withinClusterQueue"],
        },
        "resourceGroups": [
            {"coveredResources": [RESOURCE], "flavors": [{"name": FLAVOR, "resources": [quota]}]},
        ],
    }


def standing(mix: Mix) -> Iterator[tuple[str, Object]]:
    """What must be there before the first Workload: (path of the collection, object)."""
    group = f"/apis/{KUEUE}"
    yield f"{group}/resourceflavors", _object("ResourceFlavor", FLAVOR, spec={})
    for queue in mix.queues:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": queue.name}}
        yield "/api/v1/namespaces", namespace
        yield f"{group}/clusterqueues", _object("ClusterQueue", queue.name, spec=queue.spec)
        local = _object("LocalQueue", queue.name, spec={"clusterQueue": queue.name})
        yield f"{group}/namespaces/{queue.name}/localqueues", local


def workload(queue: str, kind: Kind, name: str) -> Object:
    """One Workload of one pod."""
    container = {"name": "main", "image": "none", "resources": {"requests": {RESOURCE: kind.cpu}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {
        "queueName": queue,
        "priority": kind.priority,
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }
    return _object("Workload", name, spec=spec)


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": spec}
