"""The made-up workloads: bare ones, as in Kueue's own tests; the runner plays their owner."""

from random import Random
from typing import Any

from hack.peer.parts.queues import KUEUE, POOL, TAINT, Plan, amount
from hack.peer.scenario import Manifest
from hack.peer.settings import CREDITS, FREE, GPU


def workloads(random: Random, made: Plan) -> list[Manifest]:
    """Some ten of them, in the order of their creation."""
    count = random.randint(6, 11)
    priorities = _priorities(random, made, count)
    return [_workload(random, made, number, priorities[number]) for number in range(count)]


def _priorities(random: Random, made: Plan, count: int) -> list[int]:
    if "equal-priorities" in made.features:
        return [random.choice([0, 0, 5, 10]) for _ in range(count)]
    return random.sample(range(-2, 19), count)


def _workload(random: Random, made: Plan, number: int, priority: int) -> Manifest:
    queue = random.choice(made.queues)
    namespace, local = random.choice(queue.local)
    # Who is as important and younger has to leave only for one that was too big when there was room for the younger.
    big = "equal-priorities" in made.features and number in (1, 2)
    spec: dict[str, Any] = {"queueName": local, "podSets": _pod_sets(random, made, big), "priority": priority}
    if made.classes and random.random() < 0.4:
        chosen = random.choice(list(made.classes))
        spec["priorityClassRef"] = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": chosen}
        spec["priority"] = made.classes[chosen]
    meta = {"name": f"w{number}", "namespace": namespace}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": spec}


def _pod_sets(random: Random, made: Plan, big: bool) -> list[dict[str, Any]]:
    names = ["main"]
    if "several-pod-sets" in made.features and random.random() < 0.5:
        names.append("more")
    pod_sets = [_pod_set(random, made, name, big) for name in names]
    shrinkable = [one for one in pod_sets if one["count"] > 1]
    if "partial" in made.features and shrinkable and random.random() < 0.7:
        chosen = random.choice(shrinkable)  # Kueue allows it for one of them
        chosen["minCount"] = random.randint(1, chosen["count"] - 1)
    return pod_sets


def _pod_set(random: Random, made: Plan, name: str, big: bool) -> dict[str, Any]:
    count = random.choice([1, 1, 1, 2, 3] if "partial" not in made.features else [1, 2, 3, 4, 5])
    requests = {made.groups[0][0][0]: random.randint(1, 4 if count == 1 else 2) + (2 if big else 0)}
    for resource in made.resources[1:]:
        if random.random() < 0.6:
            requests[GPU if resource == CREDITS else resource] = random.randint(1, 3 if count == 1 else 1)
    if "excluded" in made.features and random.random() < 0.4:
        requests[FREE] = random.randint(1, 9)
    container = {
        "name": "c",
        "image": "registry.example/none:1",
        "resources": {"requests": {resource: amount(resource, units) for resource, units in requests.items()}},
    }
    limits = {key: value for key, value in container["resources"]["requests"].items() if "/" in key}  # type: ignore[index]
    if limits:
        container["resources"]["limits"] = limits  # type: ignore[index]
    pod: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
    if "node-selector" in made.features and random.random() < 0.35:
        pod |= _placed(random, made)
    if made.tainted and random.random() < 0.5:
        pod["tolerations"] = [{"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}]
    return {"name": name, "count": count, "template": {"spec": pod}}


def _placed(random: Random, made: Plan) -> dict[str, Any]:
    flavors = made.groups[0][1]
    if random.random() < 0.6:
        return {"nodeSelector": {POOL: random.choice(flavors), "peer.dev/else": "x"}}
    chosen = random.sample(flavors, random.randint(1, len(flavors)))
    rule = {"key": POOL, "operator": random.choice(["In", "NotIn"]), "values": chosen}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
