"""The part of Argo's workflow controller (3.7), for a workflow as one pod. It never kills the pods of a suspended one:
those run to their end, and `Running` remains what it says of the whole."""

from typing import Any

from admission.readers.narrow import entries, mapping
from admission.world.objects import Frozen, Object, copied


def running(job: Frozen, now: str) -> Object:
    name = job["metadata"]["name"]
    node: Object = {"id": name, "name": name, "displayName": name, "type": "Pod", "phase": "Running", "startedAt": now}
    node["finishedAt"] = None  # of the run before
    return {
        "phase": "Running",
        "startedAt": mapping(job.get("status")).get("startedAt") or now,
        "nodes": {name: node},
        "conditions": _conditions(job, PodRunning=True),
    }


def stopped(job: Frozen, now: str) -> Object:
    return {"phase": "Running", "nodes": _over(job, now, "Succeeded"), "conditions": _conditions(job, PodRunning=False)}


def finished(job: Frozen, now: str) -> Object:
    return {
        "phase": "Succeeded",
        "finishedAt": now,
        "nodes": _over(job, now, "Succeeded"),
        "conditions": _conditions(job, PodRunning=False, Completed=True),
    }


def failed(job: Frozen, now: str, message: str) -> Object:
    return {**finished(job, now), "phase": "Failed", "message": message, "nodes": _over(job, now, "Failed")}


def children(job: Frozen) -> list[Object]:
    return []


def _over(job: Frozen, now: str, phase: str) -> dict[str, Any]:
    nodes = mapping(mapping(job.get("status")).get("nodes"))
    still = {name: node for name, node in nodes.items() if mapping(node).get("phase") in ("Pending", "Running")}
    return {name: {"phase": phase, "finishedAt": now} for name in still}


def _conditions(job: Frozen, **changes: bool) -> list[Object]:
    """Argo's conditions have neither reason nor time."""
    told = [copied(each) for each in entries(mapping(job.get("status")).get("conditions"))]
    kept = [each for each in told if each.get("type") not in changes]
    return [*kept, *({"type": name, "status": str(holds)} for name, holds in changes.items())]
