"""Random days on a small cluster, by a seed: people create, finish, delete and edit while everything goes wrong."""

from collections.abc import Callable
from random import Random
from typing import Any

from admission.jobs import JOB_KINDS
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.kinds import Ref
from admission.state import State
from admission.world.faults import Faults
from admission.world.laws import QuotaLaw, StartLaw, at_rest, negative_usage
from admission.world.objects import Frozen, holds, kind_key, ref_of
from admission.world.product import Machine
from admission.world.weather import REQUEST_TIMEOUT
from admission.world.world import World

KUEUE = "kueue.x-k8s.io/v1beta2"
LARGEST = 4  # cpu of the largest workload; no queue has less, so that everybody can run some day


def calm(seed: int) -> Faults:
    """No faults at all: what goes wrong then is no fault of the weather."""
    return Faults(
        seed, conflict=0, lost_request=0, lost_reply=0, late_request=0, late_watch=0, broken_watch=0, crash=0, sleep=0
    )


def cluster_queue(name: str, cohort: str, cpu: int, **spec: Any) -> dict[str, Any]:
    flavor = {"name": "std", "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
    body = {"namespaceSelector": {}, "cohortName": cohort, "resourceGroups": groups, **spec}
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": body}


def pods(cpu: int) -> dict[str, Any]:
    container = {"name": "c", "image": "none:1", "resources": {"requests": {"cpu": str(cpu)}}}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


CLUSTER: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
    {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "std"}},
    {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "org"}, "spec": {}},
    {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "dept"}, "spec": {"parentName": "org"}},
    cluster_queue("a", "dept", 6, preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}),
    cluster_queue("b", "dept", 4, queueingStrategy="StrictFIFO", preemption={"reclaimWithinCohort": "Any"}),
    cluster_queue("c", "org", 8, preemption={"withinClusterQueue": "LowerOrNewerEqualPriority"}),
    *(
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": queue, "namespace": "lab"},
            "spec": {"clusterQueue": queue},
        }
        for queue in "abc"
    ),
    *(
        {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("low", -1), ("high", 2))
    ),
]


class Day:
    """One run: `play` so many events, then `evening`. `complaints` collects every broken law."""

    cluster = CLUSTER

    def __init__(
        self,
        faults: Faults,
        machine: Callable[[Configuration], Machine] = State,
        quotas_change: bool = True,
        configuration: Configuration = DEFAULTS,
    ) -> None:
        self.world = World(configuration, pods_stop_after=1.0, faults=faults, machine=machine)
        self.complaints: list[str] = []
        self.random = Random(faults.seed * 7919 + 1)  # other numbers than the storm's
        self.quotas_change = quotas_change
        # What a write was made from may be as old as the slowest watch (late three times over) and request together.
        memory = 3 * faults.longest_delay + REQUEST_TIMEOUT
        self.quota_law = QuotaLaw(self.world, memory if quotas_change else 0.0)
        self.start_law = StartLaw(self.world, memory)
        self._count = 0
        for manifest in self.cluster:
            assert self.world.api.create(manifest).ok
        self.world.settle()

    def play(self, events: int) -> None:
        for _ in range(events):
            self._event()
            if self.random.random() < 0.7:
                self.world.advance(self.world.now + self.random.choice((0.0, 0.5, 3.0, 20.0)))

    def evening(self) -> None:
        """The weather clears and people let go: after a while everything has ended, and the books are right."""
        assert self.world.storm is not None
        self.world.storm.calm()
        for queue in self.world.api.list("ClusterQueue"):
            self.world.api.patch(ref_of(queue), {"spec": {"stopPolicy": "None"}})
        for workload in self._workloads():
            self.world.api.patch(ref_of(workload), {"spec": {"active": True}})
        self.world.advance(self.world.now + 300)
        self.complaints += at_rest(self.world)
        for _ in range(400):
            self.let_go()
            self.world.advance(self.world.now + 2)
            if not self._workloads():
                break
        self.complaints += [f"{ref_of(workload)} never ended" for workload in self._workloads()]
        self.complaints += negative_usage(self.world)
        self.complaints += self.quota_law.broken + self.start_law.broken

    def let_go(self) -> None:
        """Everything that runs ends."""
        for workload in self._workloads():
            if holds(workload, "Admitted") and not holds(workload, "Evicted"):
                self._finish(workload)

    # what people do

    def _event(self) -> None:
        roll = self.random.random()
        for chance, action in self._actions:
            if roll < chance:
                action()
                return
            roll -= chance

    @property
    def _actions(self) -> tuple[tuple[float, Callable[[], None]], ...]:
        """How likely each is; what is left of 1 is nothing at all."""
        return (
            (0.35, self._create_workload),
            (0.20, self._create_job),
            (0.22, self._finish_some),
            (0.05, self._delete_some),
            (0.05, self._edit_quota),
            (0.05, self._hold_or_release),
            (0.05, self._deactivate_or_back),
        )

    def _create_workload(self) -> None:
        self._count += 1
        spec = {
            "queueName": self.random.choice("abc"),
            "priority": self.random.randrange(-1, 3),
            "podSets": [{"name": "main", "count": 1, "template": pods(self.random.randint(1, LARGEST))}],
        }
        meta = {"name": f"w{self._count}", "namespace": "lab"}
        assert self.world.api.create({"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": spec}).ok

    def _create_job(self) -> None:
        self._count += 1
        labels = {"kueue.x-k8s.io/queue-name": self.random.choice("abc")}
        if self.random.random() < 0.5:
            labels["kueue.x-k8s.io/priority-class"] = self.random.choice(("low", "high"))
        meta = {"name": f"j{self._count}", "namespace": "lab", "labels": labels}
        count = self.random.randint(1, 2)
        spec = {"parallelism": count, "completions": count, "template": pods(LARGEST // 2)}
        assert self.world.api.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}).ok

    def _workloads(self) -> list[dict[str, Any]]:
        """Those that have not ended."""
        return [dict(w) for w in self.world.api.scan("Workload") if not holds(w, "Finished")]

    def _some(self) -> dict[str, Any] | None:
        found = self._workloads()
        return self.random.choice(found) if found else None

    def _finish_some(self) -> None:
        running = [w for w in self._workloads() if holds(w, "Admitted")]
        if running:
            self._finish(self.random.choice(running))

    def _finish(self, workload: dict[str, Any]) -> None:
        owner = self._owner(workload)
        ref = owner if owner is not None else ref_of(workload)
        found = self.world.api.peek(ref)
        if found is not None and not (owner is not None and JOB_KINDS[owner.kind].hold.holds(found)):
            self._end(ref)

    def _end(self, ref: Ref) -> None:
        self.world.finish(ref)

    def _owner(self, workload: Frozen) -> Ref | None:
        owners = workload["metadata"].get("ownerReferences")
        return Ref(kind_key(owners[0]), "lab", owners[0]["name"]) if owners else None

    def _delete_some(self) -> None:
        workload = self._some()
        if workload is not None:
            owner = self._owner(workload)
            by_owner = owner is not None and self.random.random() < 0.7
            self.world.api.delete(owner if owner is not None and by_owner else ref_of(workload))

    def _edit_quota(self) -> None:
        if not self.quotas_change:
            return
        name, cpu = self.random.choice("abc"), self.random.randint(LARGEST, 9)
        groups = cluster_queue(name, "", cpu)["spec"]["resourceGroups"]
        assert self.world.api.patch(Ref("ClusterQueue", "", name), {"spec": {"resourceGroups": groups}}).ok

    def _hold_or_release(self) -> None:
        policy = self.random.choice(("None", "None", "Hold", "HoldAndDrain"))
        self.world.api.patch(Ref("ClusterQueue", "", self.random.choice("abc")), {"spec": {"stopPolicy": policy}})

    def _deactivate_or_back(self) -> None:
        workload = self._some()
        if workload is not None:
            active = workload["spec"].get("active", True)
            self.world.api.patch(ref_of(workload), {"spec": {"active": not active}})
