"""What is refused about Ray's kinds while they are managed, in Kueue's words: clusters that would keep quota or outgrow
it, and groups of pods that a Workload cannot hold."""

from collections.abc import Mapping
from typing import Any

from admission.api.field_errors import FieldError, forbidden, invalid, required, too_many
from admission.jobs.descriptor import Manifest
from admission.jobs.ray_cluster import HEAD
from admission.readers.narrow import items, mapping

_MOST_POD_SETS = 18  # of a Workload


def check_ray_cluster(manifest: Manifest) -> list[FieldError]:
    return _cluster(mapping(manifest.get("spec")), "spec")


def check_ray_job(manifest: Manifest) -> list[FieldError]:
    """A job on a cluster that is there already is nobody's to queue: whose quota that is was decided before."""
    spec = mapping(manifest.get("spec"))
    selector, cluster = mapping(spec.get("clusterSelector")), spec.get("rayClusterSpec")
    if selector:
        why = "a kueue managed job should not use an existing cluster"
        return [] if cluster is None else [invalid("spec.clusterSelector", dict(selector), why)]
    if cluster is None:
        why = "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector"
        return [required("spec.rayClusterSpec", why)]
    errors = _cluster(mapping(cluster), "spec.rayClusterSpec")
    if spec.get("shutdownAfterJobFinishes") is True:
        return errors
    why = "a kueue managed job should delete the cluster after finishing"
    return [invalid("spec.shutdownAfterJobFinishes", False, why), *errors]


def _cluster(cluster: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = []
    if cluster.get("enableInTreeAutoscaling") is True:
        # Kueue lets elastic jobs do so. Here nothing that runs is resized, so the autoscaler would outgrow its quota.
        why = "a kueue managed job should only use autoscaling when workload slicing is enabled, which it cannot be yet"
        errors.append(invalid(f"{path}.enableInTreeAutoscaling", True, why))
    groups = items(cluster.get("workerGroupSpecs"))
    if len(groups) + 1 > _MOST_POD_SETS:
        errors.append(too_many(f"{path}.workerGroupSpecs", len(groups) + 1, _MOST_POD_SETS))
    for index, group in enumerate(groups):
        if mapping(group).get("groupName") == HEAD:
            where = f"{path}.workerGroupSpecs[{index}].groupName"
            errors.append(forbidden(where, f'"{HEAD}" is reserved for the head group'))
    return errors
