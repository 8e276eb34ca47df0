"""What the API server says of each Job, in a few words: the line of progress that a person follows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hack.cluster import Api

Object = dict[str, Any]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
_PREEMPTOR = re.compile(r"JobUID: (?P<uid>[^)]*)\) due to (?P<cause>[^;]*)")


@dataclass(frozen=True, slots=True)
class Sight:
    """A Job at one look. `state`: held, admitted, running, preempted or finished; `why` is a detail for people."""

    state: str
    why: str = ""
    evicted: bool = False  # at least once
    holds_quota: bool = False


def look(api: Api) -> dict[str, Sight]:
    """namespace/name -> what is seen of the Job and its Workload. Raises Refused."""
    workloads = {}
    for one in api.get(f"{KUEUE}/workloads")["items"]:
        for owner in one["metadata"].get("ownerReferences") or ():
            workloads[owner["uid"]] = one
    jobs = api.get("/apis/batch/v1/jobs")["items"]
    names = {job["metadata"]["uid"]: f"{job['metadata']['namespace']}/{job['metadata']['name']}" for job in jobs}
    by_uid = {job["metadata"]["uid"]: job for job in jobs}
    return {name: sight(by_uid[uid], workloads.get(uid, {}), names) for uid, name in names.items()}


def sight(job: Object, workload: Object, names: Mapping[str, str]) -> Sight:
    """One Job, with its Workload ({} when it has none yet); `names` of Jobs by uid."""
    conditions = _conditions(workload)
    evicted = conditions.get("Evicted")
    holds = _true(conditions, "QuotaReserved")

    def seen(state: str, why: str) -> Sight:
        return Sight(state, why, evicted is not None, holds)

    pods = job["spec"].get("parallelism", 1)
    if any(one["type"] == "Complete" and one["status"] == "True" for one in job["status"].get("conditions") or ()):
        return seen("finished", f"{job['status'].get('succeeded', 0)} pods succeeded")
    if evicted and _true(conditions, "Evicted"):  # until it has quota again
        return seen("preempted", _cause(evicted.get("message", ""), names))
    if job["spec"].get("suspend"):
        return seen("held", "" if holds else conditions.get("QuotaReserved", {}).get("message", ""))
    if job["status"].get("ready") == pods:
        return seen("running", f"{pods} of {pods} pods")
    return seen("admitted", ", ".join(dict.fromkeys(_flavors(workload))))


def _conditions(workload: Object) -> dict[str, Object]:
    return {one["type"]: one for one in (workload.get("status") or {}).get("conditions") or ()}


def _true(conditions: dict[str, Object], type: str) -> bool:
    return bool(conditions.get(type, {}).get("status") == "True")


def _cause(message: str, names: Mapping[str, str]) -> str:
    """For whom and why, without the identifiers that mean nothing to a person."""
    told = _PREEMPTOR.search(message)
    if told is None or told["uid"] not in names:
        return message
    return f"for {names[told['uid']]}: {told['cause']}"


def _flavors(workload: Object) -> Iterator[str]:
    for assignment in ((workload.get("status") or {}).get("admission") or {}).get("podSetAssignments") or ():
        yield from (assignment.get("flavors") or {}).values()
