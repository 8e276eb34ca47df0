"""A year of a busy cluster in small: thirty teams in five departments, jobs of every size, nights and rushes."""

import json
import math
import random
from pathlib import Path
from typing import Any

QUEUES, COHORTS = 30, 5
CORES, GPUS = 100, 16  # of each queue
MEAN_RUNTIME = 600.0  # seconds
DAY = 86_400.0
KUEUE = "kueue.x-k8s.io/v1beta2"

# cpu and memory of a pod, its GPUs, number of pods, share of all jobs: many small ones, few large ones, as in the
# public traces of batch clusters.
SHAPES = (
    (1, "2Gi", 0, 1, 40),
    (2, "8Gi", 0, 2, 20),
    (4, "8Gi", 1, 2, 10),
    (1, "1Gi", 0, 8, 20),
    (8, "32Gi", 4, 1, 5),
    (2, "4Gi", 0, 10, 5),
)
APPETITES = [3 - 2 * number / QUEUES for number in range(QUEUES)]  # the busiest queue asks for three times the quietest
PRIORITIES = (0, 0, 0, 0, 0, 0, 0, 0, 100, 1000)


def write(folder: Path, jobs: int, load: float) -> None:
    """queues.json and jobs.csv; `load`: cores asked for on average, as a part of all cores."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queues.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": _objects()}))
    rng = random.Random(jobs)
    shapes, shares = [shape[:4] for shape in SHAPES], [shape[4] for shape in SHAPES]
    mean = sum(cpu * pods * share for cpu, _, _, pods, share in SHAPES) / sum(shares)
    rate = QUEUES * CORES * load / (mean * MEAN_RUNTIME)
    rows, now = ["arrival,runtime,queue,priority,cpu,memory,gpu,count"], 0.0
    for _ in range(jobs):
        # Twice as many by day as by night.
        now += rng.expovariate(rate * (1 + math.sin(2 * math.pi * now / DAY) / 3))
        cpu, memory, gpus, pods = rng.choices(shapes, shares)[0]
        runtime = max(1, round(rng.expovariate(1 / MEAN_RUNTIME)))
        queue = rng.choices(range(QUEUES), APPETITES)[0]
        rows.append(f"{now:.0f},{runtime},lab/q{queue},{rng.choice(PRIORITIES)},{cpu},{memory},{gpus or ''},{pods}")
    (folder / "jobs.csv").write_text("\n".join(rows) + "\n")


def _objects() -> list[dict[str, Any]]:
    def kueue(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        return {"apiVersion": KUEUE, "kind": kind, "metadata": metadata, "spec": spec}

    def group(flavor: str, quotas: dict[str, str]) -> dict[str, Any]:
        resources = [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()]
        return {"coveredResources": list(quotas), "flavors": [{"name": flavor, "resources": resources}]}

    groups = [
        group("cpu", {"cpu": str(CORES), "memory": f"{4 * CORES}Gi"}),
        group("gpu", {"nvidia.com/gpu": str(GPUS)}),
    ]
    objects = [kueue("ResourceFlavor", "cpu", {}), kueue("ResourceFlavor", "gpu", {}), kueue("Cohort", "company", {})]
    objects += [kueue("Cohort", f"department-{number}", {"parentName": "company"}) for number in range(COHORTS)]
    for number in range(QUEUES):
        spec = {
            "cohortName": f"department-{number % COHORTS}",
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
            "resourceGroups": groups,
        }
        objects.append(kueue("ClusterQueue", f"q{number}", spec))
        objects.append(kueue("LocalQueue", f"q{number}", {"clusterQueue": f"q{number}"}, "lab"))
    return objects
