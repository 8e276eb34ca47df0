"""How many pods of a job must start together, as other systems say it, against what a kind can say here.

A job is admitted as a whole: a gang of all its pods is what it is anyway. With fewer it may start where its kind can
say so, which only a batch Job can; of any other its author is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from admission.jobs.places import Path, value_at
from admission.jobs.ray_cluster import cluster_groups
from admission.jobs.templated import shown
from admission.model.names import ELASTIC_JOB
from admission.readers.narrow import entries, integer, mapping, text

HEAD = "headgroup"  # KAI's name for the pods of a Ray cluster that are not workers


def minimum_of_ray(cluster: Mapping[str, Any]) -> dict[str, int]:
    """Of a RayCluster's spec, by group: the pods without which KAI starts none of them."""
    least = {HEAD: 1}
    for group in entries(cluster.get("workerGroupSpecs")):
        replicas = integer(group.get("minReplicas"), integer(group.get("replicas"), 1))
        name = text(group.get("groupName"))
        least[name] = least.get(name, 0) + max(replicas, 0) * max(integer(group.get("numOfHosts"), 1), 1)
    return least


def minimum_for(
    kind: str, manifest: Mapping[str, Any], pod_sets: Sequence[Mapping[str, Any]], place: str, least: int
) -> tuple[int | None, str]:
    """The number that the kind's own annotation should say, if it can and must, and what to tell the author or ""."""
    pods = sum(integer(one.get("count")) for one in pod_sets)
    if least == pods:
        return None, ""
    if not 0 < least < pods:
        return None, f"{place}: a gang of {least} is not taken over: the job has {pods} pods, and is admitted with all"
    if kind == "Job" and not _elastic(manifest):
        return least, ""
    whole = f"a {kind.partition('.')[0]} is admitted with all of its pods"
    return None, f"{place}: a gang of {least} of {pods} pods is not taken over: {whole}"


# Where the cluster's spec lies, in kinds that have one.
_RAY: Mapping[str, Path] = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec")}


def smaller_ray_gang(kind: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What to tell of a Ray cluster that KAI would start with fewer than all of its pods."""
    at = _RAY.get(kind)
    if at is None:
        return
    cluster = mapping(value_at(manifest, at))
    least, pods = minimum_of_ray(cluster), sum(group.count for group in cluster_groups(cluster, at, {}))
    if 0 < sum(least.values()) < pods:
        parts = ", ".join(f"{count} of {name}" for name, count in least.items())
        where = shown((*at, "workerGroupSpecs"))
        smaller = f"{where}: KAI would start it with {sum(least.values())} of {pods} pods ({parts})"
        yield f"{smaller}: here it is admitted with all of its pods"


def _elastic(manifest: Mapping[str, Any]) -> bool:
    return mapping(value_at(manifest, ("metadata", "annotations"))).get(ELASTIC_JOB) == "true"
