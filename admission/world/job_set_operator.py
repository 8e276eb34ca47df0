"""The part of the JobSet controller (0.12): its Jobs are there at once, held as long as it is, and summed up in it."""

from admission.readers.narrow import entries, integer, mapping, text
from admission.world.objects import Frozen, Object, condition, copied, with_conditions
from admission.world.operator import owned_by

_SET, _SET_UID = "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/jobset-uid"
_REPLICATED, _INDEX = "jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index"


def running(job: Frozen, now: str) -> Object:
    status: Object = {"replicatedJobsStatus": _told(job, active=1, ready=1)}
    if condition(job, "Suspended") is not None:
        resumed = _condition("Suspended", "False", "ResumeJobs", "jobset is resumed", now)
        status["conditions"] = with_conditions(job, resumed)
    return status


def stopped(job: Frozen, now: str) -> Object:
    held = _condition("Suspended", "True", "SuspendedJobs", "jobset is suspended", now)
    return {"replicatedJobsStatus": _told(job, suspended=1), "conditions": with_conditions(job, held)}


def finished(job: Frozen, now: str) -> Object:
    done = _condition("Completed", "True", "AllJobsCompleted", "jobset completed successfully", now)
    return {
        "replicatedJobsStatus": _told(job, succeeded=1),
        "terminalState": "Completed",
        "conditions": with_conditions(job, done),
    }


def failed(job: Frozen, now: str, message: str) -> Object:
    end = _condition("Failed", "True", "FailedJobs", message, now)
    return {
        "replicatedJobsStatus": _told(job, failed=1),
        "terminalState": "Failed",
        "conditions": with_conditions(job, end),
    }


def children(job: Frozen) -> list[Object]:
    return [_child(job, one, index) for one in _replicated(job) for index in range(_replicas(one))]


def _child(job: Frozen, one: Frozen, index: int) -> Object:
    meta, template, name = job["metadata"], copied(mapping(one.get("template"))), text(one.get("name"))
    marks = {
        _SET: meta["name"],
        _SET_UID: meta["uid"],
        _REPLICATED: name,
        _INDEX: str(index),
    }
    spec = mapping(template.get("spec"))
    pods = _marked(mapping(spec.get("template")), marks)
    pods["spec"] = {"restartPolicy": "OnFailure", **mapping(pods.get("spec"))}  # as its webhook has it
    child = _marked({"metadata": mapping(template.get("metadata"))}, marks)
    child["metadata"] |= {
        "name": f"{meta['name']}-{name}-{index}",
        "namespace": meta["namespace"],
        "ownerReferences": owned_by(job),
    }
    held = mapping(job.get("spec")).get("suspend") is True
    return {"apiVersion": "batch/v1", "kind": "Job", **child, "spec": {**spec, "suspend": held, "template": pods}}


def _marked(manifest: Frozen, marks: dict[str, str]) -> Object:
    meta = dict(mapping(manifest.get("metadata")))
    for field in ("labels", "annotations"):
        meta[field] = {**mapping(meta.get(field)), **marks}
    return {**manifest, "metadata": meta}


def _told(job: Frozen, **each: int) -> list[Object]:
    """Of every replicated Job that all of its Jobs are in these states."""
    states = ("ready", "succeeded", "failed", "active", "suspended")
    return [
        {"name": text(one.get("name")), **{state: each.get(state, 0) * _replicas(one) for state in states}}
        for one in _replicated(job)
    ]


def _replicated(job: Frozen) -> list[Frozen]:
    return list(entries(mapping(job.get("spec")).get("replicatedJobs")))


def _replicas(one: Frozen) -> int:
    return max(integer(one.get("replicas"), 1), 0)


def _condition(type: str, status: str, reason: str, message: str, now: str) -> Object:
    return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
