"""The pods of a SparkApplication: its role's own template if there is one, what Spark writes into it, and what the
operator's webhook adds when the pod is made."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from admission.jobs.spark_memory import BadMemory, quantity
from admission.jobs.spark_settings import Settings
from admission.readers.narrow import canonical, entries, integer, items, mapping, strings, text

_LOCAL_DIRECTORY = "spark-local-dir-"  # such volumes are mounted by Spark itself


class Role(NamedTuple):
    name: str
    containers: tuple[str, ...]  # names of the container that Spark runs in, the usual one first


DRIVER = Role("driver", ("spark-kubernetes-driver",))
EXECUTOR = Role("executor", ("spark-kubernetes-executor", "executor"))


def template_of(settings: Settings, role: Role) -> dict[str, Any]:
    """The pod template of a role. Total: what cannot be read is left out."""
    own = settings.role(role.name)
    base = mapping(own.get("template"))
    pod = dict(mapping(base.get("spec")))
    pod["containers"] = _containers(settings, role, entries(pod.get("containers")))
    pod |= _unless_empty("initContainers", _beside(entries(pod.get("initContainers")), own.get("initContainers")))
    pod |= _volumes(settings, role, pod)
    pod |= _unless_empty("nodeSelector", _node_selector(settings, role.name, pod))
    pod |= _unless_empty("tolerations", [*items(pod.get("tolerations")), *items(own.get("tolerations"))])
    if affinity := mapping(own.get("affinity")):
        pod["affinity"] = affinity
    for field, stated in (
        ("priorityClassName", own.get("priorityClassName")),
        ("schedulerName", settings.spec.get("batchScheduler") or own.get("schedulerName")),
    ):
        pod |= _unless_empty(field, text(stated))
    metadata = _metadata(mapping(base.get("metadata")), own)
    return {"metadata": metadata, "spec": pod} if metadata else {"spec": pod}


def _containers(settings: Settings, role: Role, stated: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    own = settings.role(role.name)
    found = [dict(container) for container in stated] or [{}]
    # Where none has the name that Spark looks for, it takes the first.
    at = next((at for at, container in enumerate(found) if container.get("name") in role.containers), 0)
    main = found[at]
    main.setdefault("name", role.containers[0])
    main["resources"] = _resources(settings, role.name, mapping(main.get("resources")))
    mounts = [*items(main.get("volumeMounts")), *_mounts(settings, own)]
    main |= _unless_empty("volumeMounts", mounts)
    return _beside(found, own.get("sidecars"))


def _resources(settings: Settings, role: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    requests, limits = dict(mapping(stated.get("requests"))), dict(mapping(stated.get("limits")))
    requests["cpu"] = settings.cores(role).value
    if limit := settings.core_limit(role):
        limits["cpu"] = limit.value
    with suppress(BadMemory):  # told as a fault of the application
        requests["memory"] = limits["memory"] = f"{settings.memory(role)}Mi"
    limits |= settings.devices(role)
    own = settings.role(role)
    if stated_limit := text(own.get("memoryLimit")):
        limits["memory"] = quantity(stated_limit)
    gpu = mapping(own.get("gpu"))
    if (name := text(gpu.get("name"))) and (count := integer(gpu.get("quantity"))) > 0:
        limits[name] = str(count)
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}


def _beside(stated: list[Any], added: object) -> list[Any]:
    known = {_called(container) for container in stated}
    return stated + [one for one in entries(added) if _called(one) not in known]


def _called(container: Mapping[str, Any]) -> str:
    return canonical([container.get("name"), container.get("image")])


def _mounts(settings: Settings, own: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    known = {text(volume.get("name")) for volume in entries(settings.spec.get("volumes"))}
    return [
        mount
        for mount in entries(own.get("volumeMounts"))
        if text(mount.get("name")) in known and not text(mount.get("name")).startswith(_LOCAL_DIRECTORY)
    ]


def _volumes(settings: Settings, role: Role, pod: Mapping[str, Any]) -> dict[str, Any]:
    mounted = {text(mount.get("name")) for mount in _mounts(settings, settings.role(role.name))}
    wanted = [volume for volume in entries(settings.spec.get("volumes")) if text(volume.get("name")) in mounted]
    return _unless_empty("volumes", [*items(pod.get("volumes")), *wanted])


def _node_selector(settings: Settings, role: str, pod: Mapping[str, Any]) -> dict[str, str]:
    return {
        **strings(pod.get("nodeSelector")),
        **settings.node_selector(role),
        **strings(settings.spec.get("nodeSelector")),
        **strings(settings.role(role).get("nodeSelector")),
    }


def _metadata(stated: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(stated)
    for field in ("labels", "annotations"):
        metadata |= _unless_empty(field, {**strings(stated.get(field)), **strings(own.get(field))})
    return metadata


def _unless_empty(field: str, value: Any) -> dict[str, Any]:
    return {field: value} if value else {}
