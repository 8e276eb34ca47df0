"""What the API server says of each Job, in a few words: the line of progress that a person follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hack.cluster import Api

Object = dict[str, Any]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


@dataclass(frozen=True, slots=True)
class Sight:
    """A Job at one look. `state`: held, admitted, running, preempted or finished; `why` is a detail for people."""

    state: str
    why: str = ""
    evictions: bool = False  # it lost its quota at least once


def look(api: Api) -> dict[str, Sight]:
    """namespace/name -> what is seen of the Job and its Workload. Raises Refused."""
    workloads = {}
    for one in api.get(f"{KUEUE}/workloads")["items"]:
        for owner in one["metadata"].get("ownerReferences") or ():
            workloads[owner["uid"]] = one
    jobs = api.get("/apis/batch/v1/jobs")["items"]
    return {
        f"{job['metadata']['namespace']}/{job['metadata']['name']}": sight(job, workloads.get(job["metadata"]["uid"]))
        for job in jobs
    }


def sight(job: Object, workload: Object | None) -> Sight:
    """One Job, with its Workload if it has one."""
    conditions = _conditions(workload or {})
    evicted = conditions.get("Evicted")
    lost = evicted is not None
    pods = job["spec"].get("parallelism", 1)
    if any(one["type"] == "Complete" and one["status"] == "True" for one in job["status"].get("conditions") or ()):
        return Sight("finished", f"{job['status'].get('succeeded', 0)} pods succeeded", lost)
    # A victim says Evicted until it has quota again; while it still holds the old one, it is being stopped.
    if evicted and evicted["status"] == "True" and _holds_quota(conditions):
        return Sight("preempted", evicted.get("message", ""), lost)
    if job["spec"].get("suspend"):
        return Sight("held", _reason(conditions), lost)
    if job["status"].get("ready") == pods:
        return Sight("running", f"{pods} of {pods} pods", lost)
    return Sight("admitted", ", ".join(dict.fromkeys(_flavors(workload or {}))), lost)


def _conditions(workload: Object) -> dict[str, Object]:
    return {one["type"]: one for one in (workload.get("status") or {}).get("conditions") or ()}


def _holds_quota(conditions: dict[str, Object]) -> bool:
    reserved = conditions.get("QuotaReserved")
    return reserved is not None and reserved["status"] == "True"


def _reason(conditions: dict[str, Object]) -> str:
    reserved = conditions.get("QuotaReserved")
    return reserved.get("message", "") if reserved and reserved["status"] == "False" else ""


def _flavors(workload: Object) -> Iterator[str]:
    for assignment in ((workload.get("status") or {}).get("admission") or {}).get("podSetAssignments") or ():
        yield from (assignment.get("flavors") or {}).values()
