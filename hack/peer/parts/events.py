"""What happens to a made-up cluster: workloads come, end and go; people edit queues."""

from collections.abc import Callable
from random import Random
from typing import Any

from hack.peer.parts.queues import Plan, amount
from hack.peer.scenario import Event, Manifest, named

Maker = Callable[[Random, Plan, list[Manifest]], list[Event]]


def script(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    """Creations in their order; between them, mostly after the first half, what else happens; classes last.

    A workload that names a class is created with the value that the class has, as a job's would be.
    """
    found: list[Event] = [{"op": "create", "ref": named(job)} for job in jobs]
    others: list[Event] = [_pick(random, "finish", "admitted") for _ in range(random.randint(1, 3))]
    for feature, maker in _MAKERS.items():
        if feature in made.features:
            others += maker(random, made, jobs)
    random.shuffle(others)
    for event in others[:9]:
        found.insert(random.randint(len(jobs) // 2, len(found)), event)
    found = _existing(_in_order(found))
    for answer in _answers(random, made):
        found.insert(random.randint(2, len(found)), answer)
    found += _classes(random, made)
    found = [_active(name) for name in made.checks] + found
    if "slow-stop" in made.features:
        found = [{**event, "hold": True} if random.random() < 0.5 else event for event in found[:-1]] + found[-1:]
    return found


def _existing(found: list[Event]) -> list[Event]:
    """What names a workload comes after its creation."""
    late = [event for event in found if "soon" in event]
    found = [event for event in found if "soon" not in event]
    for event in late:
        created = next(place for place, one in enumerate(found) if one["op"] == "create" and one["ref"] == event["ref"])
        found.insert((created + len(found) + 1) // 2 + 1, {k: v for k, v in event.items() if k != "soon"})
    return found


def _active(check: str) -> Event:
    condition = {"type": "Active", "status": "True", "reason": "Active", "message": "answers"}
    return {
        "op": "patch",
        "ref": f"AdmissionCheck/{check}",
        "subresource": "status",
        "patch": {"status": {"conditions": [condition]}},
    }


def _answers(random: Random, made: Plan) -> list[Event]:
    """Of the controllers of checks: mostly that all is well."""
    if not made.checks:
        return []
    found = [_pick(random, "check", "checking", state="Ready", all=True) for _ in range(random.randint(3, 6))]
    refusals = [random.choice(["Retry", "Rejected"]) for _ in range(random.choice([0, 1, 1, 2]))]
    return found + [_pick(random, "check", "checking", state=state) for state in refusals]


def _classes(random: Random, made: Plan) -> list[Event]:
    if not made.classes or "priority-edit" not in made.features:
        return []
    ref = f"WorkloadPriorityClass/{random.choice(list(made.classes))}"
    return [{"op": "patch", "ref": ref, "patch": {"value": random.randint(19, 40)}}]


def _in_order(found: list[Event]) -> list[Event]:
    """What comes in pairs (stopped, resumed) may have been shuffled apart the wrong way round."""
    seen: dict[tuple[str, str], list[Event]] = {}
    for event in found:
        if "turn" in event:
            seen.setdefault((event["op"], event["ref"]), []).append(event)
    for events in seen.values():
        events.sort(key=lambda event: int(event["turn"]))
    return [
        {k: v for k, v in seen[event["op"], event["ref"]].pop(0).items() if k != "turn"} if "turn" in event else event
        for event in found
    ]


def _pick(random: Random, op: str, whose: str, **more: Any) -> Event:
    return {"op": op, "pick": {"state": whose, "index": random.randint(0, 11)}, **more}


def _patch(ref: str, spec: dict[str, Any], **more: Any) -> Event:
    return {"op": "patch", "ref": ref, "patch": {"spec": spec}, **more}


def _delete(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    return [_pick(random, "delete", random.choice(["admitted", "pending", "any"]))]


def _quota(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    """Lists are atomic, so a group is replaced as a whole; a JSON patch names the one number."""
    events: list[Event] = []
    for _ in range(random.choice([1, 1, 2])):
        queue = random.choice(made.queues)
        group = random.randrange(len(made.groups))
        resources, flavors = made.groups[group]
        flavor, resource = random.randrange(len(flavors)), random.randrange(len(resources))
        path = f"/spec/resourceGroups/{group}/flavors/{flavor}/resources/{resource}/nominalQuota"
        value = amount(resources[resource], random.randint(0, 7))
        if "lending-limit" in made.features:
            value = amount(resources[resource], random.randint(6, 9))  # never below what may be lent
        change = {"op": "replace", "path": path, "value": value}
        events.append({"op": "json-patch", "ref": f"ClusterQueue/{queue.name}", "patch": [change]})
    return events


def _stop_queue(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    ref = f"ClusterQueue/{random.choice(made.queues).name}"
    return _stopped(random, ref)


def _stop_local(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    namespace, name = random.choice(random.choice(made.queues).local)
    return _stopped(random, f"LocalQueue/{namespace}/{name}")


def _stopped(random: Random, ref: str) -> list[Event]:
    policy = random.choice(["Hold", "HoldAndDrain", "HoldAndDrain"])
    return [_patch(ref, {"stopPolicy": policy}, turn=0), _patch(ref, {"stopPolicy": "None"}, turn=1)]


def _namespace(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    labels = {"team": random.choice(["blue", "red"])}
    ref = f"Namespace/{random.choice(made.namespaces)}"
    return [{"op": "patch", "ref": ref, "patch": {"metadata": {"labels": labels}}}]


def _reclaimable(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    return [_pick(random, "reclaimable", "admitted", count=1) for _ in range(2)]


def _deactivation(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    state = random.choice(["admitted", "admitted", "pending"])
    events = [_pick(random, "patch", state, patch={"spec": {"active": False}})]
    if random.random() < 0.6:
        events.append(_pick(random, "patch", "inactive", patch={"spec": {"active": True}}))
    return events


def _priority(random: Random, made: Plan, jobs: list[Manifest]) -> list[Event]:
    """Of one without a class, for those with one follow it."""
    plain = [job for job in jobs if "priorityClassRef" not in job["spec"]]
    if not plain:
        return []
    return [_patch(named(random.choice(plain)), {"priority": random.randint(40, 99)}, soon=True)]


_MAKERS: dict[str, Maker] = {
    "deletion": _delete,
    "quota-edit": _quota,
    "stop-queue": _stop_queue,
    "stop-local-queue": _stop_local,
    "namespace-selector": _namespace,
    "reclaimable": _reclaimable,
    "deactivation": _deactivation,
    "priority-edit": _priority,
}
