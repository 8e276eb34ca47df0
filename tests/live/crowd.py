"""A crowd of bare Workloads in a tree of cohorts, and the one who runs them: submits, finishes, and lets go of quota
when evicted, as the owner of such a Workload must.

It knows what it hears from etcd's stream, acts through the API server, and its every choice comes from a seed.
"""

import heapq
import json
import random
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from hack.cluster import Cluster, Refused
from hack.cluster.etcd import Event
from tests.live.auditor import KUEUE

API = "kueue.x-k8s.io/v1beta2"
WORKLOADS = f"/apis/{API}/namespaces/default/workloads"
PREFIX = f"{KUEUE}workloads/default/"
AT_ONCE = 8  # requests of ours under way
WAITING = 60  # Workloads ahead of the quota, so that every queue always has somebody to choose
LONGEST_RUN, LONGEST_STOP = 1.2, 0.3  # seconds

PREEMPTION = {
    "withinClusterQueue": "LowerPriority",
    "reclaimWithinCohort": "Any",
    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 0},
}
# queue: cohort, nominal, borrowingLimit and lendingLimit of cpu in the flavors std and fast
QUEUES: dict[str, tuple[str, tuple[int, int | None, int | None], tuple[int, int | None, int | None]]] = {
    "vision": ("research", (6, 4, None), (2, None, None)),
    "speech": ("research", (4, None, 2), (2, 2, 1)),
    "theory": ("research", (0, 6, None), (0, None, None)),
    "serving": ("platform", (8, 2, 3), (4, None, 2)),
    "batch": ("platform", (2, None, None), (0, 4, None)),
    "alone": ("", (5, None, None), (3, None, None)),
}
COHORTS: dict[str, tuple[str, tuple[int, int | None, int | None], tuple[int, int | None, int | None]]] = {
    "company": ("", (3, None, None), (1, None, None)),
    "research": ("company", (2, 5, 8), (0, 2, None)),
    "platform": ("company", (0, None, 6), (0, None, 2)),
}


def _groups(std: tuple[int, int | None, int | None], fast: tuple[int, int | None, int | None]) -> list[dict[str, Any]]:
    def flavor(name: str, limits: tuple[int, int | None, int | None]) -> dict[str, Any]:
        nominal, borrowing, lending = limits
        resource: dict[str, Any] = {"name": "cpu", "nominalQuota": str(nominal)}
        if borrowing is not None:
            resource["borrowingLimit"] = str(borrowing)
        if lending is not None:
            resource["lendingLimit"] = str(lending)
        return {"name": name, "resources": [resource]}

    return [{"coveredResources": ["cpu"], "flavors": [flavor("std", std), flavor("fast", fast)]}]


def _object(kind: str, name: str, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def tree() -> Iterator[dict[str, Any]]:
    """Flavors, cohorts, queues."""
    for name in ("std", "fast"):
        yield _object("ResourceFlavor", name, {})
    for name, (parent, std, fast) in COHORTS.items():
        yield _object(
            "Cohort", name, {"resourceGroups": _groups(std, fast), **({"parentName": parent} if parent else {})}
        )
    for name, (cohort, std, fast) in QUEUES.items():
        spec = {"namespaceSelector": {}, "resourceGroups": _groups(std, fast), "preemption": dict(PREEMPTION)}
        if cohort:
            spec["cohortName"] = cohort
        else:
            spec["preemption"] = {"withinClusterQueue": "LowerPriority"}
        yield _object("ClusterQueue", name, spec)
        yield _object("LocalQueue", name, {"clusterQueue": name}, namespace="default")


class Crowd:
    """Feed it the events of the stream, and call `act` whenever `next_due` has come. Times are steady seconds."""

    def __init__(self, cluster: Cluster, total: int, seed: int) -> None:
        self.total = total
        self.finished = 0
        self._api = cluster.api()
        self._random = random.Random(seed)
        self._created = 0
        self._unfinished = 0
        self._seen: dict[str, tuple[int, dict[str, Any]]] = {}  # revision and manifest
        self._due: list[tuple[float, str]] = []
        self._planned: set[str] = set()
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._requests: list[Future[None]] = []

    @property
    def done(self) -> bool:
        """As many as were asked for, and all that were made, have finished."""
        return self.finished >= self.total and not self._unfinished

    def next_due(self) -> float | None:
        """When there will be something to do."""
        return self._due[0][0] if self._due else None

    def hear(self, event: Event, now: float) -> None:
        """An event of the stream."""
        if not event.key.startswith(PREFIX) or event.deleted:
            return
        name, manifest = event.key.removeprefix(PREFIX), event.json
        true, before = _true(manifest), _true(self._seen[name][1]) if name in self._seen else set()
        self._seen[name] = (event.revision, manifest)
        if "Finished" in true:
            if "Finished" not in before:
                self.finished += 1
                self._unfinished -= 1
        elif name not in self._planned and "QuotaReserved" in true and ("Evicted" in true or "Admitted" in true):
            longest = LONGEST_STOP if "Evicted" in true else LONGEST_RUN
            self._planned.add(name)
            heapq.heappush(self._due, (now + self._random.random() * longest, name))

    def act(self, now: float, more: bool) -> None:
        """Do what is due, and see to it that enough of them wait: up to the total, then as long as `more` are wanted.
        Raises what a request of ours raised."""
        while self._due and self._due[0][0] <= now:
            name = heapq.heappop(self._due)[1]
            self._planned.discard(name)
            self._send(self._run, name)
        while (self._created < self.total or more) and self._unfinished < WAITING:
            self._send(self._create, self._workload(self._created))
            self._created += 1
            self._unfinished += 1
        for request in [request for request in self._requests if request.done()]:
            self._requests.remove(request)
            request.result()

    def open(self) -> str:
        """Those that have not finished, as they were last heard of."""
        left = {name: manifest for name, (_, manifest) in self._seen.items() if "Finished" not in _true(manifest)}
        return "\n".join(f"{name}: {json.dumps(manifest.get('status'))}" for name, manifest in list(left.items())[:5])

    def close(self) -> None:
        self._threads.shutdown()

    def _send(self, call: Any, *arguments: Any) -> None:
        self._requests.append(self._threads.submit(call, *arguments))

    def _workload(self, number: int) -> dict[str, Any]:
        cpu = self._random.choice(("500m", "1", "1", "2", "3"))
        container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        spec = {
            "queueName": self._random.choice(list(QUEUES)),
            "priority": self._random.choice((0, 0, 0, 10, 100)),
            "podSets": [{"name": "main", "count": 1, "template": template}],
        }
        return _object("Workload", f"w{number:05}", spec, namespace="default")

    def _create(self, manifest: dict[str, Any]) -> None:
        self._api.create(WORKLOADS, manifest)

    def _run(self, name: str) -> None:
        """Finish it, or let go of its quota if it was evicted meanwhile. A conflict is news that the stream brings."""
        revision, manifest = self._seen[name]
        status = manifest["status"]
        if "Evicted" in _true(manifest):
            conditions = [
                ("Requeued", "True", "Preempted"),
                ("QuotaReserved", "False", "Pending"),
                ("Admitted", "False", "NoReservation"),
            ]
            changed: dict[str, Any] = {"admission": None}
        else:
            conditions, changed = [("Finished", "True", "Succeeded")], {}
        changed["conditions"] = _with(status["conditions"], conditions)
        body = {"metadata": {"resourceVersion": str(revision)}, "status": changed}
        try:
            self._api.merge(f"{WORKLOADS}/{name}/status", body)
        except Refused as refused:
            if refused.status != 409:
                raise


def _true(manifest: dict[str, Any]) -> set[str]:
    return {one["type"] for one in manifest.get("status", {}).get("conditions", ()) if one["status"] == "True"}


def _with(conditions: list[dict[str, Any]], changes: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    table = {one["type"]: one for one in conditions}
    for kind, status, reason in changes:
        one = {"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": now}
        table[kind] = one
    return list(table.values())
