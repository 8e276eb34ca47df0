"""What a control plane shows at rest, reduced to what two of them must agree on.

Left out: uids, versions, times, who wrote what. Amounts are compared by value, lists that are maps as maps.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from admission.model import amounts

Snapshot = dict[str, Any]  # kind -> name -> what it shows


@dataclass(slots=True)
class Moment:
    """After one event, or after the owner of `released` let go of its quota. `what` tells it for people."""

    event: int  # -1: before the first
    released: str
    what: Mapping[str, Any]  # the event as it happened, `pick` resolved; {} where it could not happen
    answer: str  # "" if accepted; else how the request was refused
    restless: str  # what kept changing, if it did not come to rest
    shows: Snapshot
    circling: list[str] = field(default_factory=list)  # in memory: whose scan of flavors would go on for ever

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Outcome:
    """Of one scenario on one side. `broken`: why it could not be played to its end."""

    scenario: str
    moments: list[Moment] = field(default_factory=list)
    broken: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {"scenario": self.scenario, "broken": self.broken, "moments": [one.as_json() for one in self.moments]}


def outcome_from_json(said: Mapping[str, Any]) -> Outcome:
    """What `as_json` gave."""
    return Outcome(said["scenario"], [Moment(**one) for one in said["moments"]], said["broken"])


def snapshot(objects: Mapping[str, Iterable[Mapping[str, Any]]]) -> Snapshot:
    """By kind, of all objects of a scenario."""
    return {
        "workloads": {_name(one): _workload(one) for one in _sorted(objects["Workload"])},
        "clusterQueues": {_name(one): _queue(one) for one in _sorted(objects["ClusterQueue"])},
        "localQueues": {_name(one): _queue(one) for one in _sorted(objects["LocalQueue"])},
        "cohorts": {_name(one): _share(one) for one in _sorted(objects["Cohort"])},
    }


def _sorted(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(found, key=_name)


def _name(manifest: Mapping[str, Any]) -> str:
    meta = manifest["metadata"]
    return "/".join(part for part in (meta.get("namespace", ""), meta["name"]) if part)


def _workload(manifest: Mapping[str, Any]) -> dict[str, Any]:
    spec, status = manifest["spec"], manifest.get("status") or {}
    shows: dict[str, Any] = {
        "active": spec.get("active", True),
        "priority": spec.get("priority", 0),
        "conditions": _conditions(status, ("QuotaReserved", "Admitted", "Evicted", "Preempted", "Requeued")),
        "deleting": bool(manifest["metadata"].get("deletionTimestamp")),
    }
    admission = status.get("admission")
    if admission:
        shows["admission"] = {
            "clusterQueue": admission["clusterQueue"],
            "podSets": {one["name"]: _assignment(one) for one in admission.get("podSetAssignments") or ()},
        }
    if status.get("admissionChecks"):
        shows["checks"] = {one["name"]: _check(one) for one in status["admissionChecks"]}
    if status.get("reclaimablePods"):
        shows["reclaimable"] = {one["name"]: one["count"] for one in status["reclaimablePods"]}
    stats = (status.get("schedulingStats") or {}).get("evictions") or ()
    if stats:
        shows["evictions"] = {f"{one['reason']}/{one.get('underlyingCause', '')}": one["count"] for one in stats}
    if status.get("requeueState"):
        shows["requeues"] = status["requeueState"].get("count", 0)
    return shows


def _conditions(status: Mapping[str, Any], first: tuple[str, ...]) -> dict[str, Any]:
    table = {one["type"]: one for one in status.get("conditions") or ()}
    order = [*first, *sorted(set(table) - set(first))]
    return {
        name: [table[name]["status"], table[name]["reason"], _message(table[name].get("message", ""))]
        for name in order
        if name in table
    }


_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _message(text: str) -> str:
    return " ".join(_UID.sub("<uid>", text).split())


def _assignment(said: Mapping[str, Any]) -> dict[str, Any]:
    usage = said.get("resourceUsage") or {}
    return {
        "flavors": dict(sorted((said.get("flavors") or {}).items())),
        "usage": {resource: amounts.amount(resource, usage[resource]) for resource in sorted(usage)},
        "count": said.get("count", 0),
    }


def _check(said: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": said["state"], "retries": said.get("retryCount", 0), "message": said.get("message", "")}


def _queue(manifest: Mapping[str, Any]) -> dict[str, Any]:
    status = manifest.get("status") or {}
    return {
        "conditions": _conditions(status, ("Active",)),
        "pending": status.get("pendingWorkloads") or 0,
        "reserving": status.get("reservingWorkloads") or 0,
        "admitted": status.get("admittedWorkloads") or 0,
        "reservation": _usage(status.get("flavorsReservation")),
        "usage": _usage(status.get("flavorsUsage")),
        **_share(manifest),
    }


def _usage(said: Any) -> dict[str, Any]:
    """`flavor/resource` -> [total, borrowed]."""
    found = {}
    for flavor in said or ():
        for one in flavor.get("resources") or ():
            name = one["name"]
            total, borrowed = one.get("total") or "0", one.get("borrowed") or "0"
            found[f"{flavor['name']}/{name}"] = [amounts.amount(name, total), amounts.amount(name, borrowed)]
    return dict(sorted(found.items()))


def _share(manifest: Mapping[str, Any]) -> dict[str, Any]:
    fair = (manifest.get("status") or {}).get("fairSharing") or {}
    return {"share": fair["weightedShare"]} if "weightedShare" in fair else {}
