"""An example folder as a play: who enters when, on which stage, and how `simulate` says that it ends.

Times are squeezed: a minute of the example lasts a second or two, for arrivals and run times alike.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from admission.model.amounts import amount
from admission.model.durations import duration
from admission.model.names import ARRIVAL, RUNTIME
from hack.cluster import HackError, Pool

Object = dict[str, Any]

# What one node of a pool offers. GPUs are what example jobs are short of; the rest is ample, since these tests are
# about quota: a job that has quota must find a node, however the pods of others lie.
GPUS_A_NODE = 4
CPUS_A_NODE, MEMORY_A_NODE = 64, "512Gi"
SPARE_NODES = 2  # for pods that end while those of the next job come


@dataclass(frozen=True, slots=True)
class Entry:
    """A Job and the second at which it is applied."""

    at: float
    job: Object

    @property
    def name(self) -> str:
        """namespace/name."""
        return f"{self.job['metadata']['namespace']}/{self.job['metadata']['name']}"


@dataclass(frozen=True, slots=True)
class Foretold:
    """What `simulate` says of the Jobs (namespace/name): the times of the example, not of the play."""

    finished: frozenset[str]
    waiting: frozenset[str]
    evicted: frozenset[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Example:
    """`queues` in the order of the files; `entries` in the order of arrival."""

    folder: Path
    queues: tuple[Object, ...]
    entries: tuple[Entry, ...]


def read(folder: Path, pace: float) -> Example:
    """`pace`: seconds of the play per second of the example. HackError when it is no example."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise HackError(f"{folder} has no *.yaml: name a folder like examples/university")
    manifests = [manifest for file in files for manifest in yaml.safe_load_all(file.read_text()) if manifest]
    jobs = [manifest for manifest in manifests if manifest["kind"] == "Job"]
    entries = [Entry(_seconds(job, ARRIVAL) * pace, squeezed(job, pace)) for job in jobs]
    queues = [manifest for manifest in manifests if manifest["kind"] != "Job"]
    # Namespaces first: LocalQueues live in them.
    queues.sort(key=lambda manifest: str(manifest["kind"]) != "Namespace")
    return Example(folder, tuple(queues), tuple(sorted(entries, key=lambda entry: entry.at)))


def squeezed(job: Object, pace: float) -> Object:
    """The same Job with shorter run times, on itself and on its pods."""
    template = job["spec"]["template"]
    return {
        **job,
        "metadata": _squeezed(job["metadata"], pace),
        "spec": {**job["spec"], "template": {**template, "metadata": _squeezed(template.get("metadata") or {}, pace)}},
    }


def _squeezed(metadata: Object, pace: float) -> Object:
    annotations = metadata.get("annotations") or {}
    if RUNTIME not in annotations:
        return metadata
    runtime = f"{duration(annotations[RUNTIME]) * pace * 1000:.0f}ms"
    return {**metadata, "annotations": {**annotations, RUNTIME: runtime}}


def _seconds(job: Object, annotation: str) -> float:
    return duration((job["metadata"].get("annotations") or {}).get(annotation, "0s"))


def foretell(folder: Path) -> Foretold:
    """Ask the simulator. HackError when it refuses the example."""
    command = [sys.executable, "-m", "controller.cli", "simulate", str(folder), "--output", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise HackError(f"`lockgate simulate {folder}` refused:\n{ran.stderr}")
    said = json.loads(ran.stdout)
    jobs = {one["owner"].partition("/")[2]: one for one in said["workloads"] if one["owner"]}
    finished = frozenset(name for name, one in jobs.items() if one["state"] == "finished")
    evicted = frozenset(name for name, one in jobs.items() if one["evictions"])
    return Foretold(finished, frozenset(jobs) - finished, evicted, said["now"])


def pools(queues: tuple[Object, ...]) -> list[Pool]:
    """Nodes enough for every quota of every flavor, with the flavor's labels and taints."""
    flavors = {one["metadata"]["name"]: one.get("spec") or {} for one in queues if one["kind"] == "ResourceFlavor"}
    totals = _quotas(queues)
    made = []
    for name, spec in flavors.items():
        devices = {resource: total for resource, total in totals[name].items() if "/" in resource}
        cpus = totals[name].get("cpu", 0) / 1000
        count = max([cpus / CPUS_A_NODE, *(total / GPUS_A_NODE for total in devices.values())])
        made.append(
            Pool(
                name,
                int(count) + SPARE_NODES,
                {"cpu": str(CPUS_A_NODE), "memory": MEMORY_A_NODE, **dict.fromkeys(devices, str(GPUS_A_NODE))},
                labels=spec.get("nodeLabels") or {},
                taints=tuple(spec.get("nodeTaints") or ()),
            )
        )
    return made


def _quotas(queues: tuple[Object, ...]) -> Mapping[str, Mapping[str, int]]:
    """Nominal quotas summed by flavor and resource: cpu in milli, others in their unit."""
    totals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for flavor, resource in _flavors(queues):
        totals[flavor][resource["name"]] += amount(resource["name"], resource["nominalQuota"])
    return totals


def _flavors(queues: tuple[Object, ...]) -> Iterator[tuple[str, Object]]:
    for queue in queues:
        for group in (queue.get("spec") or {}).get("resourceGroups") or ():
            for flavor in group["flavors"]:
                for resource in flavor["resources"]:
                    yield flavor["name"], resource
