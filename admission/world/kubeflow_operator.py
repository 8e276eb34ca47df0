"""The part of Kubeflow's training operator and of its MPI operator (training-operator 1.9, mpi-operator 0.8).

Until a stopped job's pods are gone its status goes on to say that it runs.
"""

from admission.readers.narrow import integer, mapping
from admission.world.objects import Frozen, Object, condition, copied, with_conditions
from admission.world.operator import owned_by

_REPLICAS = {
    "TFJob": "tfReplicaSpecs",
    "PyTorchJob": "pytorchReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
}
KINDS = tuple(_REPLICAS)


def running(job: Frozen, now: str) -> Object:
    told = [_condition(job, "Created", "True", "is created", now)]
    if condition(job, "Suspended") is not None:
        told.append(_condition(job, "Suspended", "False", "is resumed", now, "Resumed"))
    told.append(_condition(job, "Running", "True", "is running", now))
    return {
        "startTime": (job.get("status") or {}).get("startTime") or now,
        "replicaStatuses": {name: {"active": count} for name, count in _counts(job).items()},
        "conditions": with_conditions(job, *told),
    }


def stopped(job: Frozen, now: str) -> Object:
    told = [_condition(job, "Suspended", "True", "is suspended", now)]
    if condition(job, "Running") is not None:
        told.append(_condition(job, "Running", "False", "is suspended", now, "Suspended"))
    return {
        "startTime": None,
        "replicaStatuses": {name: {"active": 0} for name in _counts(job)},
        "conditions": with_conditions(job, *told),
    }


def finished(job: Frozen, now: str) -> Object:
    counts = {name: {"active": 0, "succeeded": count} for name, count in _counts(job).items()}
    return {**_ended(job, "Succeeded", "successfully completed", now), "replicaStatuses": counts}


def failed(job: Frozen, now: str, message: str) -> Object:
    counts = {name: {"active": 0, "failed": 1} for name in _counts(job)}
    return {**_ended(job, "Failed", f"has failed because {message}", now), "replicaStatuses": counts}


def children(job: Frozen) -> list[Object]:
    """The launcher of an MPIJob is a Job; all else are plain pods."""
    spec = mapping(job.get("spec"))
    launcher = mapping(mapping(spec.get("mpiReplicaSpecs")).get("Launcher"))
    if job["kind"] != "MPIJob" or not launcher:
        return []
    policy, meta = mapping(spec.get("runPolicy")), job["metadata"]
    limits = {name: policy[name] for name in ("ttlSecondsAfterFinished", "activeDeadlineSeconds") if name in policy}
    template = copied(mapping(launcher.get("template")))
    template["spec"] = {"restartPolicy": "OnFailure", **mapping(template.get("spec"))}
    return [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": f"{meta['name']}-launcher",
                "namespace": meta["namespace"],
                "labels": {"app": meta["name"]},
                "ownerReferences": owned_by(job),
            },
            "spec": {**limits, "suspend": policy.get("suspend") is True, "template": template},
        }
    ]


def _counts(job: Frozen) -> dict[str, int]:
    """Pods by replica type, as the manifest spells it."""
    stated = mapping(mapping(job.get("spec")).get(_REPLICAS[job["kind"]]))
    return {name: max(integer(mapping(one).get("replicas"), 1), 0) for name, one in stated.items()}


def _ended(job: Frozen, how: str, message: str, now: str) -> Object:
    told = [_condition(job, how, "True", message, now)]
    if condition(job, "Running") is not None:
        told.append(_condition(job, "Running", "False", message, now))
    started = (job.get("status") or {}).get("startTime") or now
    return {"startTime": started, "completionTime": now, "conditions": with_conditions(job, *told)}


def _condition(job: Frozen, type: str, status: str, said: str, now: str, reason: str = "") -> Object:
    return {
        "type": type,
        "status": status,
        "reason": f"{job['kind']}{reason or type}",
        "message": f"{job['kind']} {job['metadata']['name']} {said}.",
        "lastUpdateTime": now,
        "lastTransitionTime": now,
    }
