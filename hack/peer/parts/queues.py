"""The made-up quota tree: flavors, cohorts, queues, namespaces, priority classes, checks."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from hack.peer.scenario import Manifest
from hack.peer.settings import CREDITS, GPU

KUEUE = "kueue.x-k8s.io/v1beta2"
POOL = "peer.dev/pool"  # label of every flavor; its value is the flavor's name
TAINT = "peer.dev/only"
CONTROLLER = "peer.dev/checker"


@dataclass
class Queue:
    """A ClusterQueue to be, with its LocalQueues `(namespace, name)`."""

    name: str
    cohort: str = ""
    local: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Plan:
    """What the later parts need to know of the tree."""

    features: set[str]
    queues: list[Queue] = field(default_factory=list)
    cohorts: dict[str, str] = field(default_factory=dict)  # to their parents
    flavors: list[str] = field(default_factory=list)
    tainted: list[str] = field(default_factory=list)
    groups: list[tuple[list[str], list[str]]] = field(default_factory=list)  # resources, flavors
    namespaces: list[str] = field(default_factory=lambda: ["lab"])
    classes: dict[str, int] = field(default_factory=dict)
    checks: list[str] = field(default_factory=list)
    settings: str = "plain"

    @property
    def resources(self) -> list[str]:
        return [resource for resources, _ in self.groups for resource in resources]


# How often a scenario gets each of what it may have.
_CHANCES = {
    "cohort": 0.88,
    "nested-cohorts": 0.4,
    "cohort-quota": 0.35,
    "borrowing-limit": 0.35,
    "lending-limit": 0.35,
    "several-flavors": 0.55,
    "taint": 0.3,
    "node-selector": 0.3,
    "two-groups": 0.25,
    "several-resources": 0.35,
    "within-queue": 0.6,
    "reclaim": 0.65,
    "borrow-within-cohort": 0.45,
    "threshold": 0.6,
    "fungibility": 0.5,
    "preference": 0.5,
    "strict-fifo": 0.4,
    "priority-class": 0.4,
    "equal-priorities": 0.25,
    "several-pod-sets": 0.25,
    "two-namespaces": 0.3,
    "namespace-selector": 0.5,
    "slow-stop": 0.2,
    "weights": 0.5,
    "quota-edit": 0.4,
    "stop-queue": 0.25,
    "stop-local-queue": 0.25,
    "reclaimable": 0.25,
    "deactivation": 0.3,
    "priority-edit": 0.3,
    "deletion": 0.35,
    "check": 0.3,
    "flavor-check": 0.4,
    "partial": 0.3,
}
_NEEDS = {
    "nested-cohorts": "cohort",
    "cohort-quota": "cohort",
    "borrowing-limit": "cohort",
    "lending-limit": "cohort",
    "reclaim": "cohort",
    "borrow-within-cohort": "reclaim",
    "threshold": "borrow-within-cohort",
    "taint": "several-flavors",
    "node-selector": "several-flavors",
    "fungibility": "several-flavors",
    "preference": "fungibility",
    "namespace-selector": "two-namespaces",
    "flavor-check": "check",
}


def plan(random: Random, settings: str) -> Plan:
    """What this scenario is made of."""
    features: set[str] = set()
    for feature, chance in _CHANCES.items():
        lucky = random.random() < (chance + 0.2 if settings == "fair" and feature == "reclaim" else chance)
        if lucky and _NEEDS.get(feature, feature) in features | {feature}:
            features.add(feature)
    if settings != "fair":
        features.discard("weights")
    if settings == "resources":
        features |= {"two-groups", "excluded"}
    made = Plan(features, settings=settings)
    _resources(random, made)
    _tree(random, made)
    if "two-namespaces" in features:
        made.namespaces.append("den")
    for queue in made.queues:
        for namespace in made.namespaces:
            if namespace == "lab" or random.random() < 0.7:
                queue.local.append((namespace, f"to-{queue.name}"))
    if "priority-class" in features:
        made.classes = {"gold": random.randint(20, 30), "iron": random.randint(-5, 5)}
    if "check" in features:
        made.checks = ["audit", "budget"][: random.choice([1, 1, 2])]
    return made


def _resources(random: Random, made: Plan) -> None:
    main = ["cpu", "memory"] if "several-resources" in made.features else ["cpu"]
    count = random.choice([2, 2, 3]) if "several-flavors" in made.features else 1
    made.flavors = ["ash", "birch", "cedar"][:count]
    made.groups = [(main, list(made.flavors))]
    if "two-groups" in made.features:
        made.flavors.append("gpu")
        made.groups.append(([CREDITS if made.settings == "resources" else GPU], ["gpu"]))
    if "taint" in made.features:
        made.tainted = [random.choice(made.groups[0][1])]


def _tree(random: Random, made: Plan) -> None:
    # Shares are compared where several borrow.
    sizes = [2, 2, 2, 3, 3, 4] if made.settings != "fair" else [2, 3, 3, 4, 4]
    count = random.choice(sizes) if "cohort" in made.features else random.choice([1, 1, 2])
    names = ["oak", "elm", "fir", "yew"][:count]
    if "cohort" not in made.features:
        made.queues = [Queue(name) for name in names]
        return
    made.cohorts = {"root": ""}
    if "nested-cohorts" in made.features:
        made.cohorts["left"] = "root"
        if random.random() < 0.6:
            made.cohorts["right"] = "root"
        if random.random() < 0.35:
            made.cohorts["deep"] = "left"
    places = list(made.cohorts)
    made.queues = [Queue(name, random.choice(places)) for name in names]


def manifests(random: Random, made: Plan) -> list[Manifest]:
    """All of it but the workloads."""
    found: list[Manifest] = []
    for namespace in made.namespaces:
        meta = {"name": namespace, "labels": {"team": "blue" if namespace == "lab" else "red"}}
        found.append({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    found += [_flavor(random, made, name) for name in made.flavors]
    for name, value in made.classes.items():
        found.append(_kueue("WorkloadPriorityClass", name) | {"value": value})
    found += [_cohort(random, made, name) for name in made.cohorts if _exists(random, made, name)]
    for name in made.checks:
        found.append(_kueue("AdmissionCheck", name, {"controllerName": CONTROLLER}))
    for queue in made.queues:
        found.append(_cluster_queue(random, made, queue))
    for queue in made.queues:
        for namespace, name in queue.local:
            manifest = _kueue("LocalQueue", name, {"clusterQueue": queue.name})
            manifest["metadata"]["namespace"] = namespace
            found.append(manifest)
    return found


def _kueue(kind: str, name: str, spec: dict[str, Any] | None = None) -> dict[str, Any]:
    made = {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}}
    return made if spec is None else {**made, "spec": spec}


def _flavor(random: Random, made: Plan, name: str) -> Manifest:
    spec: dict[str, Any] = {"nodeLabels": {POOL: name}}
    if name in made.tainted:
        spec["nodeTaints"] = [{"key": TAINT, "value": name, "effect": "NoSchedule"}]
        if random.random() < 0.25:
            spec["tolerations"] = [{"key": TAINT, "operator": "Exists"}]
    return _kueue("ResourceFlavor", name, spec)


def _exists(random: Random, made: Plan, name: str) -> bool:
    """A cohort that says nothing need not be there."""
    told = bool(made.cohorts[name]) or "cohort-quota" in made.features or "weights" in made.features
    return told or random.random() < 0.5


def _cohort(random: Random, made: Plan, name: str) -> Manifest:
    parent = made.cohorts[name]
    spec: dict[str, Any] = {"parentName": parent} if parent else {}
    if "cohort-quota" in made.features and random.random() < 0.7:
        spec["resourceGroups"] = _groups(random, made, limits=bool(parent), most=4, lends_more=True)
    if "weights" in made.features and random.random() < 0.6:
        spec["fairSharing"] = {"weight": random.choice(["0", "1", "2", "500m", "3"])}
    return _kueue("Cohort", name, spec)


def _groups(random: Random, made: Plan, *, limits: bool, most: int, lends_more: bool) -> list[dict[str, Any]]:
    groups = []
    for resources, flavors in made.groups:
        quotas = []
        for flavor in flavors:
            entries = []
            for resource in resources:
                nominal = random.randint(0, most)
                entry: dict[str, Any] = {"name": resource, "nominalQuota": amount(resource, nominal)}
                if limits and "borrowing-limit" in made.features and random.random() < 0.5:
                    entry["borrowingLimit"] = amount(resource, random.randint(0, 4))
                if limits and "lending-limit" in made.features and random.random() < 0.5:
                    entry["lendingLimit"] = amount(resource, random.randint(0, most if lends_more else nominal))
                entries.append(entry)
            quotas.append({"name": flavor, "resources": entries})
        groups.append({"coveredResources": list(resources), "flavors": quotas})
    return groups


def amount(resource: str, units: int) -> str:
    """Memory has a Gi for what the others have as one."""
    return f"{units}Gi" if resource == "memory" else str(units)


def _cluster_queue(random: Random, made: Plan, queue: Queue) -> Manifest:
    features = made.features
    spec: dict[str, Any] = {"namespaceSelector": {}}
    if "namespace-selector" in features and random.random() < 0.6:
        spec["namespaceSelector"] = {"matchLabels": {"team": random.choice(["blue", "red"])}}
    if queue.cohort:
        spec["cohortName"] = queue.cohort
    if "strict-fifo" in features and random.random() < 0.6:
        spec["queueingStrategy"] = "StrictFIFO"
    spec["resourceGroups"] = _groups(random, made, limits=bool(queue.cohort), most=6, lends_more=False)
    preemption: dict[str, Any] = {}
    if "within-queue" in features and random.random() < 0.75:
        newer = 0.8 if "equal-priorities" in features else 0.4
        preemption["withinClusterQueue"] = "LowerOrNewerEqualPriority" if random.random() < newer else "LowerPriority"
    if "reclaim" in features and random.random() < 0.75:
        preemption["reclaimWithinCohort"] = random.choice(["Any", "Any", "LowerPriority"])
        if "borrow-within-cohort" in features and random.random() < 0.75:
            preemption["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if "threshold" in features:
                preemption["borrowWithinCohort"]["maxPriorityThreshold"] = random.randint(-2, 12)
    if preemption:
        spec["preemption"] = preemption
    if "fungibility" in features and random.random() < 0.8:
        spec["flavorFungibility"] = _fungibility(random, features)
    checks = [_check(random, made, name) for name in made.checks if random.random() < 0.7]
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": checks}
    if "weights" in features and random.random() < 0.7:
        spec["fairSharing"] = {"weight": random.choice(["0", "1", "2", "500m", "3"])}
    return _kueue("ClusterQueue", queue.name, spec)


def _check(random: Random, made: Plan, name: str) -> dict[str, Any]:
    if "flavor-check" not in made.features or random.random() < 0.4:
        return {"name": name}
    return {"name": name, "onFlavors": sorted(random.sample(made.flavors, random.randint(1, len(made.flavors))))}


def _fungibility(random: Random, features: set[str]) -> dict[str, str]:
    if "preference" in features and random.random() < 0.7:
        preference = random.choice(["BorrowingOverPreemption", *["PreemptionOverBorrowing"] * 2])
        return {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": preference}
    choice = ["MayStopSearch", "TryNextFlavor"]
    return {"whenCanBorrow": random.choice(choice), "whenCanPreempt": random.choice(choice)}
