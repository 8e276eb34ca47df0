"""RayJob: a Ray cluster, and the pod that submits the job to it.

Where no template for that pod is given, starting writes the one that KubeRay would use, so that this pod, too, runs
where it was admitted. Stopping takes it away again: the job is then what its author wrote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from admission.api.field_errors import required
from admission.jobs.descriptor import Manifest
from admission.jobs.hold import SUSPEND
from admission.jobs.merge_patch import joined
from admission.jobs.places import nested, replaced, value_at
from admission.jobs.ray_cluster import cluster_groups, cluster_problem, with_container
from admission.jobs.reading import Facts
from admission.jobs.templated import PodGroup, Templated
from admission.model.effects import PodSetInfo
from admission.model.job import JobEnd
from admission.readers.metadata import read_metadata
from admission.readers.narrow import entries, items, mapping, text
from admission.readers.shape import shape_of

SUBMITTER = "submitter"
_CLUSTER = ("spec", "rayClusterSpec")
_TEMPLATE = ("spec", "submitterPodTemplate")
_HEAD_CONTAINERS = ("headGroupSpec", "template", "spec", "containers")
# Of the container that KubeRay makes by itself.
_SUBMITTER_NAME = "ray-job-submitter"
_SUBMITTER_RESOURCES = {
    "limits": {"cpu": "1", "memory": "1Gi"},
    "requests": {"cpu": "500m", "memory": "200Mi"},
}
_WITHOUT_PODS = ("", "Suspended")  # of the words for how far it got
_ENDED = ("Complete", "Failed")


def submission_mode(manifest: Manifest) -> str:
    """Who submits it. The CRD's default is K8sJobMode, so on an API server it is always said; a manifest that never was
    on one asks for a pod that submits only by describing it."""
    described = "K8sJobMode" if value_at(manifest, _TEMPLATE) is not None else ""
    return text(value_at(manifest, ("spec", "submissionMode"))) or described


def served(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A RayJob as an API server gives it back: with what its CRD says where it says nothing itself."""
    if not isinstance(manifest.get("spec"), Mapping) or submission_mode(manifest):
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "submissionMode": "K8sJobMode"}}


def default_submitter(head_containers: object) -> dict[str, Any]:
    """KubeRay's own template for the pod that submits: it runs the image of the first of the head's containers."""
    container: dict[str, Any] = {"name": _SUBMITTER_NAME}
    if image := text(mapping(next(iter(items(head_containers)), None)).get("image")):
        container["image"] = image
    container["resources"] = _SUBMITTER_RESOURCES
    return {"spec": {"containers": [container], "restartPolicy": "Never"}}


class _RayJob(Templated):
    __slots__ = ()

    def start(self, manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
        if submission_mode(manifest) != "K8sJobMode" or value_at(manifest, _TEMPLATE) is not None:
            return super().start(manifest, infos)
        written = _submitter(manifest).template
        return joined(nested(_TEMPLATE, written), super().start(replaced(manifest, _TEMPLATE, written), infos))

    def restore(self, manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
        patch = super().restore(manifest, workload)
        return joined(patch, nested(_TEMPLATE, None)) if _wrote_submitter(manifest, workload) else patch


def _groups(manifest: Manifest) -> list[PodGroup]:
    cluster, mode = mapping(value_at(manifest, _CLUSTER)), submission_mode(manifest)
    head, *workers = cluster_groups(cluster, _CLUSTER, read_metadata(manifest).annotations)
    if mode == "SidecarMode":
        sidecar = {"name": _SUBMITTER_NAME, "resources": _SUBMITTER_RESOURCES}
        head = replace(head, template=with_container(head.template, sidecar))
    submitters = [_submitter(manifest)] if mode == "K8sJobMode" else []
    return [head, *workers, *submitters]


def _facts(manifest: Manifest, groups: Sequence[PodGroup]) -> Facts:
    status = mapping(manifest.get("status"))
    stage = text(status.get("jobDeploymentStatus"))
    end = JobEnd(status.get("jobStatus") == "SUCCEEDED", text(status.get("message"))) if stage in _ENDED else None
    return Facts(
        active=stage not in _WITHOUT_PODS,
        end=end,
        # What it waits for is somebody to submit it: KubeRay says no more of the cluster, which is ready by then.
        pods_ready=stage == "Waiting" or mapping(status.get("rayClusterStatus")).get("state") == "ready",
        on_hold=stage == "ValidationFailed",
        skipped=bool(mapping(value_at(manifest, ("spec", "clusterSelector")))),
        problem=_problem(manifest, groups),
    )


def _submitter(manifest: Manifest) -> PodGroup:
    stated = value_at(manifest, _TEMPLATE)
    made = default_submitter(value_at(manifest, (*_CLUSTER, *_HEAD_CONTAINERS))) if stated is None else mapping(stated)
    return PodGroup(SUBMITTER, 1, made, _TEMPLATE)


def _wrote_submitter(manifest: Manifest, workload: Manifest | None) -> bool:
    """Whether the template for the submitter's pod is of our making: its original is KubeRay's, to the letter."""
    kept = entries(value_at(mapping(workload), ("spec", "podSets")))
    if len(kept) != len(_groups(manifest)) or kept[-1].get("name") != SUBMITTER:
        return False
    # The head may have got another image since.
    default = default_submitter(value_at(kept[0], _HEAD_CONTAINERS[1:]))
    original = mapping(kept[-1].get("template"))
    metadata, spec = mapping(original.get("metadata")), mapping(original.get("spec"))
    plain = not metadata.get("labels") and not metadata.get("annotations") and spec.keys() == default["spec"].keys()
    return plain and shape_of(spec) == shape_of(default["spec"])


def _problem(manifest: Manifest, groups: Sequence[PodGroup]) -> str:
    cluster = value_at(manifest, _CLUSTER)
    if not isinstance(cluster, Mapping):
        return str(required("spec.rayClusterSpec", "describe the cluster that is to run the job"))
    return cluster_problem(cluster, _CLUSTER, groups)


RAY_JOB = _RayJob("RayJob", SUSPEND, _groups, _facts)
