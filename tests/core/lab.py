"""A small cluster for scheduling tests: people configure, submit, stop and finish; the scheduler decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from admission.model.amounts import amount
from admission.model.decisions import Admit, Decision, Hold, Preempt
from admission.model.names import WorkloadKey
from admission.model.queues import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    Fungibility,
    Namespace,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
)
from admission.model.selectors import EVERYTHING, Selector
from admission.model.workload import Admission, Condition, PodSet, PodSetAssignment, Workload
from admission.rules.scheduler import Run, Scheduler

NEXT = Fungibility("TryNextFlavor", "TryNextFlavor")
MUCH = 10_000  # effects; more than any test needs


def quota(resource: str, text: str) -> Quota:
    """`nominal`, `nominal+borrowing limit`, `nominal-lending limit`, or all three as `n+b-l`."""
    rest, _, lending = text.partition("-")
    nominal, _, borrowing = rest.partition("+")
    return Quota(
        amount(resource, nominal),
        amount(resource, borrowing) if borrowing else None,
        amount(resource, lending) if lending else None,
    )


def group(flavors: Mapping[str, Mapping[str, str]]) -> ResourceGroup:
    """{flavor: {resource: quota}}; every flavor lists the same resources."""
    resources = tuple(next(iter(flavors.values())))
    offers = [FlavorQuotas(name, {r: quota(r, text) for r, text in each.items()}) for name, each in flavors.items()]
    return ResourceGroup(resources, tuple(offers))


@dataclass
class Lab:
    scheduler: Scheduler = field(default_factory=Scheduler)
    now: float = 0.0
    workloads: dict[str, Workload] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)  # workload -> ClusterQueue
    heard: dict[str, Hold] = field(default_factory=dict)
    flavors: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scheduler.put_namespace(Namespace("lab"))

    # -- configuring ---

    def flavor(self, name: str, labels: Mapping[str, str] | None = None, **rest: Any) -> None:
        self.flavors[name] = None
        self.scheduler.put_flavor(ResourceFlavor(name, node_labels=labels or {}, **rest))

    def cohort(self, name: str, parent: str = "", flavors: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.scheduler.put_cohort(Cohort(name, parent=parent, groups=(group(flavors),) if flavors else ()))

    def queue(
        self,
        name: str,
        *groups: Mapping[str, Mapping[str, str]],
        cpu: str = "",
        active: bool = True,
        selector: Selector | None = EVERYTHING,
        **rest: Any,
    ) -> None:
        """Resource groups as {flavor: {resource: quota}}, or just cpu in flavor std."""
        offers = groups or ({"std": {"cpu": cpu}},)
        for flavors in offers:
            for flavor in flavors:
                if flavor not in self.flavors:
                    self.flavor(flavor)
        spec = ClusterQueue(name, groups=tuple(group(each) for each in offers), namespace_selector=selector, **rest)
        self.scheduler.put_cluster_queue(spec, active)

    # -- using ---

    def submit(self, name: str, queue: str, priority: int = 0, namespace: str = "lab", **requests: str) -> str:
        """One pod set of one pod; `gpu` stands for acme.io/gpu."""
        asks = {("acme.io/gpu" if r == "gpu" else r): text for r, text in requests.items()}
        pod_set = PodSet("main", 1, {r: amount(r, text) for r, text in asks.items()})
        return self.submit_pods(name, queue, pod_set, priority=priority, namespace=namespace)

    def submit_pods(self, name: str, queue: str, *pod_sets: PodSet, priority: int = 0, namespace: str = "lab") -> str:
        self.now += 1
        workload = Workload(namespace, name, f"uid-{name}", 1, self.now, "lq", pod_sets, priority=priority)
        self.workloads[name], self.homes[name] = workload, queue
        self.scheduler.push(workload, queue, self.now)
        return name

    def edit(self, name: str, **changes: Any) -> None:
        """The spec of a waiting workload changes."""
        before = self.workloads[name]
        self.workloads[name] = replace(before, generation=before.generation + 1, **changes)
        self.scheduler.push(self.workloads[name], self.homes[name], self.now)

    def runs(self, name: str, queue: str, priority: int = 0, flavor: str = "std", **usage: str) -> str:
        """It was admitted before we came."""
        self.now += 1
        units = {("acme.io/gpu" if r == "gpu" else r): amount(r, text) for r, text in usage.items()}
        admission = Admission(queue, (PodSetAssignment("main", dict.fromkeys(units, flavor), units, 1),))
        reserved = {"QuotaReserved": Condition("QuotaReserved", "True", "QuotaReserved", "", self.now)}
        workload = Workload(
            "lab", name, f"uid-{name}", 1, self.now, "lq", (PodSet("main", 1, units),),
            priority=priority, admission=admission, conditions=reserved,
        )  # fmt: skip
        self.workloads[name], self.homes[name] = workload, queue
        self.scheduler.charge(workload, admission.usage())
        return name

    def stop(self, name: str) -> None:
        """An evicted workload's pods are gone: it gives its quota back and waits again."""
        self.now += 1
        self.scheduler.release(self.key(name), self.now)
        self.scheduler.push(replace(self.workloads[name], admission=None), self.homes[name], self.now)

    def finish(self, name: str) -> None:
        self.now += 1
        self.scheduler.release(self.key(name), self.now)

    def run(self, budget: int = MUCH) -> Run:
        self.now += 1
        run = self.scheduler.run(self.now, budget)
        for decision in run.decisions:
            if isinstance(decision, Hold):
                self.heard[decision.workload.partition("/")[2]] = decision
        return run

    # -- looking ---

    def key(self, name: str) -> WorkloadKey:
        return self.workloads[name].key

    def holding(self) -> list[str]:
        return [name for name, each in self.workloads.items() if self.scheduler.holds(each.key)]

    def parked(self) -> list[str]:
        return [name for name, each in self.workloads.items() if self.scheduler.parked(each.key)]

    def flavor_of(self, name: str) -> dict[str, str]:
        """Flavors that a holder has units of, by resource."""
        holder = self.scheduler.holders.get(self.key(name))
        assert holder is not None, f"{name} holds nothing"
        return {resource: flavor for flavor, resource in holder.usage}

    def why(self, name: str) -> tuple[str, str]:
        hold = self.scheduler.last(self.key(name))
        assert hold is not None, f"nobody has looked at {name}"
        return hold.reason, hold.message


def admitted(run: Run) -> list[str]:
    return [each.workload.partition("/")[2] for each in run.decisions if isinstance(each, Admit)]


def preempted(run: Run) -> list[tuple[str, str]]:
    """(victim, reason), in the order of issue."""
    return [
        (victim.workload.partition("/")[2], victim.reason)
        for each in run.decisions
        if isinstance(each, Preempt)
        for victim in each.victims
    ]


def held(run: Run) -> dict[str, Hold]:
    return {each.workload.partition("/")[2]: each for each in run.decisions if isinstance(each, Hold)}


def names(decisions: tuple[Decision, ...]) -> list[str]:
    return [each.workload.partition("/")[2] for each in decisions]


LOWER = Preemption(within_cluster_queue="LowerPriority")
RECLAIM_ANY = Preemption(reclaim_within_cohort="Any")
