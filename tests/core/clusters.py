"""Random little clusters and what happens to them, for laws over the whole of the core.

A cluster is drawn as data (hypothesis shrinks it), built as manifests in a World, and judged by `reference_tree`.
Numbers are small on purpose: ties, exact fits and contention are where the faults are.
"""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from admission.model.amounts import amount
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.kinds import KUEUE, Ref
from admission.model.queues import Quota
from admission.world.clock import EPOCH
from admission.world.world import World
from tests.core.reference_tree import CPU, Reference

API = f"{KUEUE}/v1beta2"


@dataclass(frozen=True)
class QueuePlan:
    cohort: str
    nominal: int
    borrowing: int | None
    lending: int | None
    strict: bool
    within: str
    reclaim: str
    borrow_within: str


@dataclass(frozen=True)
class Plan:
    """Queue number i is named q<i>; cohorts "left" and "right" hang below "root"."""

    queues: tuple[QueuePlan, ...]
    root_nominal: int


@st.composite
def queue_plans(draw: st.DrawFn) -> QueuePlan:
    cohort = draw(st.sampled_from(["", "left", "left", "right"]))
    nominal = draw(st.integers(0, 6))
    limit = st.none() | st.integers(0, 4)
    reclaim = draw(st.sampled_from(["Never", "LowerPriority", "Any"]))
    return QueuePlan(
        cohort=cohort,
        nominal=nominal,
        borrowing=draw(limit) if cohort else None,
        lending=min(nominal, draw(st.integers(0, 4))) if cohort and draw(st.booleans()) else None,
        strict=draw(st.booleans()),
        within=draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
        reclaim=reclaim,
        borrow_within=draw(st.sampled_from(["Never", "LowerPriority"])) if reclaim != "Never" else "Never",
    )


READY = replace(DEFAULTS, wait_for_pods_ready=None)  # nobody tells of the pods of bare Workloads

plans = st.builds(Plan, st.lists(queue_plans(), min_size=2, max_size=4).map(tuple), st.integers(0, 3))


class Cluster:
    """A World with the queues of a plan. Workloads are bare; their pods stop one second after an eviction, and nobody
    waits for them to get ready unless the configuration says so."""

    def __init__(
        self, plan: Plan, *, pods_stop_after: float | None = 1.0, configuration: Configuration = READY
    ) -> None:
        self.plan = plan
        self.world = World(configuration, pods_stop_after=pods_stop_after)
        self.created = 0
        for manifest in manifests(plan):
            self.create(manifest)
        self.world.settle()

    def create(self, manifest: dict[str, Any]) -> None:
        answer = self.world.api.create(manifest)
        assert answer.code == 201, answer.body

    def submit(self, queue: int, cpu: int, priority: int) -> Ref:
        self.created += 1
        return self.create_named(f"w{self.created:03}", queue, cpu, priority)

    def create_named(self, name: str, queue: int, cpu: int, priority: int) -> Ref:
        self.create(workload(name, f"q{queue}", cpu, priority))
        return Ref("Workload", "lab", name)

    def pass_time(self, seconds: float) -> None:
        self.world.advance(self.world.now + seconds)

    def workloads(self) -> list[dict[str, Any]]:
        return self.world.api.list("Workload", "lab")

    def get(self, ref: Ref) -> dict[str, Any]:
        body = self.world.api.get(ref).body
        assert body is not None, f"{ref} does not exist"
        return body

    def reference(self) -> Reference:
        """The tree as the API server has it now, usage from the reservations in force."""
        tree = Reference()
        tree.cohort("root", cpu=Quota(self.plan.root_nominal * 1000))
        for name in ("left", "right"):
            tree.cohort(name, "root")
        for queue in self.world.api.list("ClusterQueue"):
            spec = queue["spec"]
            tree.queue(queue["metadata"]["name"], spec.get("cohortName", ""), cpu=_quota(spec))
        for found in self.workloads():
            if holds(found):
                for assigned in found["status"]["admission"]["podSetAssignments"]:
                    units = amount("cpu", assigned["resourceUsage"]["cpu"])
                    tree.use(found["status"]["admission"]["clusterQueue"], cpu=units)
        return tree


def manifests(plan: Plan) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
        {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": CPU[0]}},
        _cohort("root", "", plan.root_nominal),
        _cohort("left", "root", None),
        _cohort("right", "root", None),
    ]
    for number, queue in enumerate(plan.queues):
        out.append(cluster_queue(f"q{number}", queue))
        spec = {"clusterQueue": f"q{number}"}
        out.append({"apiVersion": API, "kind": "LocalQueue", "metadata": _in_lab(f"q{number}"), "spec": spec})
    return out


def cluster_queue(name: str, queue: QueuePlan) -> dict[str, Any]:
    resource: dict[str, Any] = {"name": CPU[1], "nominalQuota": str(queue.nominal)}
    if queue.borrowing is not None:
        resource["borrowingLimit"] = str(queue.borrowing)
    if queue.lending is not None:
        resource["lendingLimit"] = str(queue.lending)
    preemption: dict[str, Any] = {"withinClusterQueue": queue.within, "reclaimWithinCohort": queue.reclaim}
    if queue.borrow_within != "Never":
        preemption["borrowWithinCohort"] = {"policy": queue.borrow_within}
    spec = {
        "namespaceSelector": {},
        "queueingStrategy": "StrictFIFO" if queue.strict else "BestEffortFIFO",
        "preemption": preemption,
        "resourceGroups": [
            {"coveredResources": [CPU[1]], "flavors": [{"name": CPU[0], "resources": [resource]}]},
        ],
    }
    if queue.cohort:
        spec["cohortName"] = queue.cohort
    return {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def workload(name: str, queue: str, cpu: int, priority: int) -> dict[str, Any]:
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": str(cpu)}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    spec = {"queueName": queue, "priority": priority, "podSets": [pod_set]}
    return {"apiVersion": API, "kind": "Workload", "metadata": _in_lab(name), "spec": spec}


def holds(found: dict[str, Any]) -> bool:
    """QuotaReserved and neither finished nor deactivated."""
    active = found["spec"].get("active", True)
    return is_true(found, "QuotaReserved") and not is_true(found, "Finished") and active


def is_true(found: dict[str, Any], condition: str) -> bool:
    conditions = found.get("status", {}).get("conditions", [])
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


def _cohort(name: str, parent: str, nominal: int | None) -> dict[str, Any]:
    spec: dict[str, Any] = {"parentName": parent} if parent else {}
    if nominal is not None:
        flavor = {"name": CPU[0], "resources": [{"name": CPU[1], "nominalQuota": str(nominal)}]}
        spec["resourceGroups"] = [{"coveredResources": [CPU[1]], "flavors": [flavor]}]
    return {"apiVersion": API, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def _quota(spec: dict[str, Any]) -> Quota:
    row = spec["resourceGroups"][0]["flavors"][0]["resources"][0]
    limits = [row.get("borrowingLimit"), row.get("lendingLimit")]
    borrowing, lending = (None if limit is None else amount("cpu", limit) for limit in limits)
    return Quota(amount("cpu", row["nominalQuota"]), borrowing, lending)


def _in_lab(name: str) -> dict[str, str]:
    return {"namespace": "lab", "name": name}


__all__ = ["EPOCH", "Cluster", "Plan", "QueuePlan", "cluster_queue", "holds", "is_true", "manifests", "plans"]
