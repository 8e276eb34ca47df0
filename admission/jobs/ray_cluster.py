"""RayCluster: a head and groups of workers, with what KubeRay adds to the head and no template shows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import OMITTED, FieldError, duplicate, invalid, required
from admission.jobs.descriptor import Manifest
from admission.jobs.hold import SUSPEND
from admission.jobs.places import Path
from admission.jobs.reading import Facts
from admission.jobs.templated import PodGroup, Templated, missing_template, shown
from admission.model.amounts import BadQuantity, exact
from admission.readers.metadata import read_conditions, read_metadata
from admission.readers.narrow import integer, items, mapping, text

HEAD = "head"
_WORKERS = "workerGroupSpecs"
_MOST = 2**31 - 1  # numbers of KubeRay's and counts of pod sets are int32
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # what a pod set may be called
# After a cluster that survives its head a Job empties Redis, on what the head leaves behind.
_CLEANUP = {"cpu": "200m", "memory": "256Mi"}
_AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}


def cluster_groups(cluster: Mapping[str, Any], at: Path, annotations: Mapping[str, str]) -> list[PodGroup]:
    """Of a cluster's spec, which lies at `at`; `annotations` are its owner's."""
    head = PodGroup(HEAD, 1, _head(cluster, annotations), (*at, "headGroupSpec", "template"))
    return [head, *(_workers(mapping(one), (*at, _WORKERS, index)) for index, one in _indexed(cluster))]


def cluster_problem(cluster: Mapping[str, Any], at: Path, groups: Sequence[PodGroup]) -> str:
    """Why no Workload can be made of a job with this cluster and these groups of pods, or ""."""
    for index, group in _indexed(cluster):
        if fault := _bad_number(mapping(group), f"{shown((*at, _WORKERS, index))}."):
            return str(fault)
    return _bad_name(groups) or missing_template(groups)


def with_container(template: Mapping[str, Any], container: Mapping[str, Any]) -> Mapping[str, Any]:
    """The template with one container more; one without a spec stays as it is."""
    spec = template.get("spec")
    if not isinstance(spec, Mapping):
        return template
    return {**template, "spec": {**spec, "containers": [*items(spec.get("containers")), container]}}


def _groups(manifest: Manifest) -> list[PodGroup]:
    return cluster_groups(mapping(manifest.get("spec")), ("spec",), read_metadata(manifest).annotations)


def _facts(manifest: Manifest, groups: Sequence[PodGroup]) -> Facts:
    status = mapping(manifest.get("status"))
    ready = status.get("state") == "ready"
    problem = cluster_problem(mapping(manifest.get("spec")), ("spec",), groups)
    return Facts(active=ready or _has_pods(status), pods_ready=ready, problem=problem)


RAY_CLUSTER = Templated("RayCluster", SUSPEND, _groups, _facts)


def _has_pods(status: Mapping[str, Any]) -> bool:
    """Until all of its pods run for the first time, or again after a suspension, no `state` tells of them."""
    head = read_conditions(status.get("conditions")).get("HeadPodReady")
    return integer(status.get("availableWorkerReplicas")) > 0 or (head is not None and head.reason != "HeadPodNotFound")


def _indexed(cluster: Mapping[str, Any]) -> list[tuple[int, Any]]:
    return list(enumerate(items(cluster.get(_WORKERS))))


def _workers(group: Mapping[str, Any], at: Path) -> PodGroup:
    """A worker group's `suspend` says nothing of quota: whoever lets it go asks nobody."""
    count = min(_replicas(group) * max(integer(group.get("numOfHosts"), 1), 1), _MOST)
    return PodGroup(text(group.get("groupName")).lower(), count, mapping(group.get("template")), (*at, "template"))


def _replicas(group: Mapping[str, Any]) -> int:
    """Of fewer replicas than `minReplicas` KubeRay makes that many."""
    return max(integer(group.get("replicas"), 1), integer(group.get("minReplicas")), 0)


def _head(cluster: Mapping[str, Any], annotations: Mapping[str, str]) -> Mapping[str, Any]:
    template = mapping(mapping(cluster.get("headGroupSpec")).get("template"))
    survived = cluster.get("gcsFaultToleranceOptions") is not None
    if survived or annotations.get("ray.io/ft-enabled", "").lower() == "true":
        template = _with_cleanup(template)
    if cluster.get("enableInTreeAutoscaling") is True:
        stated = mapping(cluster.get("autoscalerOptions")).get("resources")
        resources = stated if isinstance(stated, Mapping) else {"requests": _AUTOSCALER, "limits": _AUTOSCALER}
        template = with_container(template, {"name": "autoscaler", "resources": resources})
    return template


def _with_cleanup(template: Mapping[str, Any]) -> Mapping[str, Any]:
    """The Ray container, which is the first, asks for at least what the cleaning takes."""
    spec = mapping(template.get("spec"))
    containers = items(spec.get("containers"))
    if not containers:
        return template
    ray = mapping(containers[0])
    resources = mapping(ray.get("resources"))
    requests, limits = mapping(resources.get("requests")), mapping(resources.get("limits"))
    # A limit without a request is the request.
    raised = {name: _larger(requests.get(name, limits.get(name)), least) for name, least in _CLEANUP.items()}
    first = {**ray, "resources": {**resources, "requests": {**requests, **raised}}}
    return {**template, "spec": {**spec, "containers": [first, *containers[1:]]}}


def _larger(stated: Any, least: str) -> Any:
    if not isinstance(stated, str | int | float):
        return least
    try:
        return least if exact(str(stated)) < exact(least) else stated
    except BadQuantity:
        return stated


def _bad_number(group: Mapping[str, Any], path: str) -> FieldError | None:
    for name, least in (("replicas", 0), ("minReplicas", 0), ("numOfHosts", 1)):
        value = group.get(name)
        if value is not None and not least <= integer(value, -1) <= _MOST:
            told = value if isinstance(value, str | int | float) else OMITTED
            return invalid(path + name, told, f"must be a whole number from {least} to {_MOST}")
    replicas, hosts = _replicas(group), integer(group.get("numOfHosts"), 1)
    if replicas * hosts > _MOST:
        return invalid(
            f"{path}replicas", replicas, f"with {hosts} hosts each makes more than {_MOST} pods: ask for fewer"
        )
    return None


def _bad_name(groups: Sequence[PodGroup]) -> str:
    taken = {group.name for group in groups if _WORKERS not in group.at}
    for group in groups:
        if _WORKERS not in group.at:
            continue
        path = shown((*group.at[:-1], "groupName"))
        if not group.name:
            return str(required(path, "name each group of workers"))
        if not _LABEL.fullmatch(group.name):
            why = "must consist of at most 63 letters, digits and '-', and start and end with a letter or digit"
            return str(invalid(path, group.name, why))
        if group.name in taken:
            return f"{duplicate(path, group.name)}: give each group of pods a name of its own"
        taken.add(group.name)
    return ""
