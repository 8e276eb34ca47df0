"""RayClusters and RayJobs at random: of every submission mode, with all that KubeRay adds to the head."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.core.manifests.pods import AMOUNTS, Object, Pods, Sample, metadata, requests_of, resources, templates, total

_SUBMITTER = {"cpu": 500, "memory": 200 << 20}
_AUTOSCALER = {"cpu": 500, "memory": 512 << 20}
_CLEANUP = {"cpu": 200, "memory": 256 << 20}


@st.composite
def clusters(draw: st.DrawFn) -> Sample:
    spec, pods = draw(specs())
    return Sample({**_ray("RayCluster"), "spec": {**spec, "suspend": True}}, pods)


@st.composite
def jobs(draw: st.DrawFn) -> Sample:
    mode = draw(st.sampled_from([None, "K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode"]))
    cluster, pods = draw(specs(_SUBMITTER if mode == "SidecarMode" else {}))
    spec: Object = {"suspend": True, "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster}
    if mode is not None:
        spec["submissionMode"] = mode
    if mode == "K8sJobMode":
        submitter = draw(st.none() | templates)
        if submitter is not None:
            spec["submitterPodTemplate"] = submitter
        pods = (*pods, Pods("submitter", 1, _SUBMITTER if submitter is None else requests_of(submitter)))
    return Sample({**_ray("RayJob"), "spec": spec}, pods)


@st.composite
def specs(draw: st.DrawFn, beside_the_head: Mapping[str, int] | None = None) -> tuple[Object, tuple[Pods, ...]]:
    """A cluster's spec and its pods; `beside_the_head`: requests of what the head's pod gets besides."""
    template: Object = draw(templates)
    asked = dict(beside_the_head or {})
    spec: Object = {"rayVersion": "2.46.0"}
    if draw(st.booleans()):
        spec["enableInTreeAutoscaling"] = True
        options = draw(st.fixed_dictionaries({}, optional={"resources": resources}))
        spec["autoscalerOptions"] = options
        asked = total(asked, _asked(options) if options else _AUTOSCALER)
    survives = draw(st.booleans())
    if survives:
        spec["gcsFaultToleranceOptions"] = {"redisAddress": "redis:6379"}
    if asked or survives:  # so that the head's pod asks for nothing but the sum of its containers
        template = {**template, "spec": {**template["spec"], "initContainers": []}}
    ray, *others = [_asked(container) for container in template["spec"]["containers"]]
    if survives:
        ray = {name: max(ray.get(name, 0), _CLEANUP.get(name, 0)) for name in AMOUNTS}
    head = total(ray, *others, asked) if asked or survives else requests_of(template)
    spec["headGroupSpec"] = {"rayStartParams": {}, "template": template}
    names = draw(st.lists(st.sampled_from(["w", "GPU", "tpu-v6"]), unique=True))
    groups = [draw(_groups(name)) for name in names]
    if draw(st.booleans()) or groups:
        spec["workerGroupSpecs"] = [group for group, _ in groups]
    pods = (Pods("head", 1, {name: n for name, n in head.items() if n}), *(each for _, each in groups))
    return spec, pods


@st.composite
def _groups(draw: st.DrawFn, name: str) -> tuple[Object, Pods]:
    counts = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "replicas": st.integers(0, 4),
                "minReplicas": st.integers(0, 4),
                "maxReplicas": st.integers(4, 9),
                "numOfHosts": st.integers(1, 4),
            },
        )
    )
    template = draw(templates)
    replicas = max(counts.get("replicas", 1), counts.get("minReplicas", 0))
    pods = Pods(name.lower(), replicas * counts.get("numOfHosts", 1), requests_of(template))
    return {"groupName": name, "rayStartParams": {}, **counts, "template": template}, pods


def _ray(kind: str) -> Object:
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": metadata()}


def _asked(container: Mapping[str, Any]) -> dict[str, int]:
    return requests_of({"spec": {"containers": [container]}})


SAMPLES = {"RayCluster": clusters(), "RayJob": jobs()}
