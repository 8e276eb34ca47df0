"""KubeRay's part (1.6) for RayCluster and RayJob.

A RayJob's status names the RayCluster that is made for it, and forgets it once the job is suspended: a job that starts
again gets a new one. Both keep saying that they run until their pods are gone.
"""

import hashlib
from collections.abc import Mapping

from admission.jobs.places import replaced, value_at
from admission.jobs.ray_cluster import RAY_CLUSTER
from admission.jobs.ray_job import RAY_JOB, SUBMITTER, submission_mode
from admission.jobs.templated import PodGroup
from admission.readers.narrow import integer, items, mapping, text
from admission.world.objects import Frozen, Object, copied, with_conditions
from admission.world.operator import owned_by

KINDS = ("RayCluster", "RayJob")

_SUBMITTER_RETRIES = 2
_HEAD_POD = ("headGroupSpec", "template", "spec")
_SELECTED = "ray.io/cluster"  # names the cluster in a clusterSelector


def running(job: Frozen, now: str) -> Object:
    return _job_running(job, now) if job["kind"] == "RayJob" else _cluster_running(job, now)


def stopped(job: Frozen, now: str) -> Object:
    return _job_suspended() if job["kind"] == "RayJob" else _cluster_suspended(job, now)


def finished(job: Frozen, now: str) -> Object | None:
    """A cluster is there until somebody deletes it."""
    if job["kind"] != "RayJob":
        return None
    end = {"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete", "message": "Job finished successfully."}
    return {**end, "endTime": now, "succeeded": integer(_status(job).get("succeeded")) + 1}


def failed(job: Frozen, now: str, message: str) -> Object | None:
    if job["kind"] != "RayJob":
        return None
    end = {"jobStatus": "FAILED", "jobDeploymentStatus": "Failed", "reason": "AppFailed", "message": message}
    return {**end, "endTime": now, "failed": integer(_status(job).get("failed")) + 1}


def children(job: Frozen) -> list[Object]:
    """Of a RayJob: its cluster, unless it uses another's or has ended, and what submits it."""
    name = text(_status(job).get("rayClusterName"))
    if job["kind"] != "RayJob" or not name:
        return []
    found = RAY_JOB.read(job)
    spec, groups = mapping(job.get("spec")), RAY_JOB.groups(job)
    shut_down = found.end is not None and spec.get("shutdownAfterJobFinishes") is True
    made = [] if found.skipped or shut_down else [_cluster_of(job, name, groups[0])]
    return [*made, *(_submitter_of(job, one) for one in groups if one.name == SUBMITTER)]


def _job_running(job: Frozen, now: str) -> Object:
    spec, status, name = mapping(job.get("spec")), _status(job), job["metadata"]["name"]
    selected = text(mapping(spec.get("clusterSelector")).get(_SELECTED))
    suffix = _suffix(job["metadata"]["uid"], now)
    told: Object = {
        "rayClusterName": text(status.get("rayClusterName")) or selected or f"{name}-{suffix}",
        "startTime": now,
        "dashboardURL": f"{name}-head-svc.{job['metadata']['namespace']}.svc.cluster.local:8265",
    }
    if submission_mode(job) == "InteractiveMode" and not spec.get("jobId"):
        return {**told, "jobDeploymentStatus": "Waiting"}
    told |= {"jobId": spec.get("jobId") or f"{name}-{suffix}", "jobStatus": "RUNNING", "jobDeploymentStatus": "Running"}
    return {**told, "rayClusterStatus": {"state": "ready"}}


def _job_suspended() -> Object:
    forgotten = ("jobId", "rayClusterName", "dashboardURL", "jobStatus", "reason", "message", "rayJobInfo")
    return {**dict.fromkeys(forgotten), "rayClusterStatus": None, "jobDeploymentStatus": "Suspended"}


def _cluster_running(cluster: Frozen, now: str) -> Object:
    told = (
        _condition("HeadPodReady", "True", "HeadPodRunningAndReady", "", now),
        _condition(
            "RayClusterProvisioned",
            "True",
            "AllPodRunningAndReadyFirstTime",
            "All Ray Pods are ready for the first time",
            now,
        ),
        _condition("RayClusterSuspended", "False", "RayClusterSuspended", "", now),
        _condition("RayClusterSuspending", "False", "RayClusterSuspending", "", now),
    )
    workers = sum(_workers(cluster))
    counts = dict.fromkeys(("desiredWorkerReplicas", "availableWorkerReplicas", "readyWorkerReplicas"), workers)
    return {**_state("ready", now), **counts, "conditions": with_conditions(cluster, *told)}


def _cluster_suspended(cluster: Frozen, now: str) -> Object:
    told = (
        _condition("HeadPodReady", "False", "HeadPodNotFound", "Head Pod not found", now),
        _condition(
            "RayClusterProvisioned", "False", "RayClusterPodsProvisioning", "RayCluster has been suspended", now
        ),
        _condition("RayClusterSuspended", "True", "RayClusterSuspended", "", now),
        _condition("RayClusterSuspending", "False", "RayClusterSuspending", "", now),
    )
    counts = dict.fromkeys(("availableWorkerReplicas", "readyWorkerReplicas"), 0)
    return {**_state("suspended", now), **counts, "conditions": with_conditions(cluster, *told)}


def _workers(cluster: Frozen) -> list[int]:
    """Pods by group of workers; a suspended group has none."""
    suspended = [mapping(one).get("suspend") is True for one in items(mapping(cluster["spec"]).get("workerGroupSpecs"))]
    _, *groups = RAY_CLUSTER.groups(cluster)
    return [0 if held else one.count for one, held in zip(groups, suspended, strict=True)]


def _cluster_of(job: Frozen, name: str, head: PodGroup) -> Object:
    meta, mode = job["metadata"], submission_mode(job)
    marks = {**_marks(job), "ray.io/job-submission-mode": mode}
    spec = copied(mapping(job["spec"].get("rayClusterSpec")))
    spec.pop("suspend", None)  # it runs as long as the job does
    if mode == "SidecarMode":
        pod = copied(mapping(value_at(spec, _HEAD_POD)))
        beside = [*items(pod.get("containers")), copied(value_at(head.template, ("spec", "containers", -1)))]
        spec = replaced(spec, _HEAD_POD, {**pod, "containers": beside, "restartPolicy": "Never"})
    return {
        "apiVersion": job["apiVersion"],
        "kind": "RayCluster",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {**mapping(meta.get("labels")), **marks},
            "annotations": dict(mapping(meta.get("annotations"))),
            "ownerReferences": owned_by(job),
        },
        "spec": spec,
    }


def _submitter_of(job: Frozen, submitter: PodGroup) -> Object:
    retries = mapping(job["spec"].get("submitterConfig")).get("backoffLimit", _SUBMITTER_RETRIES)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job["metadata"]["name"],
            "namespace": job["metadata"]["namespace"],
            "labels": {**_marks(job), "app.kubernetes.io/created-by": "kuberay-operator"},
            "ownerReferences": owned_by(job),
        },
        "spec": {"backoffLimit": retries, "template": copied(submitter.template)},
    }


def _marks(job: Frozen) -> dict[str, str]:
    return {"ray.io/originated-from-cr-name": job["metadata"]["name"], "ray.io/originated-from-crd": "RayJob"}


def _state(state: str, now: str) -> Object:
    return {"state": state, "lastUpdateTime": now, "stateTransitionTimes": {state: now}}


def _condition(type: str, status: str, reason: str, message: str, now: str) -> Object:
    return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}


def _status(job: Frozen) -> Mapping[str, object]:
    return mapping(job.get("status"))


def _suffix(*parts: str) -> str:
    """KubeRay's is random; this one differs from start to start all the same."""
    return hashlib.sha1("\n".join(parts).encode(), usedforsecurity=False).hexdigest()[:5]
