"""Pods of a class that runs on what others leave idle ask for the resources of that class, not for cpu and memory.

The units differ: of batch-cpu and mid-cpu there are whole pieces, each a thousandth of a core; of the memory names
there are bytes, as ever.
"""

import json
from collections.abc import Iterator
from typing import Any

from admission.api.documents import Unreadable
from admission.api.field_errors import invalid, key
from admission.model.amounts import BadQuantity, amount
from admission.model.qos import BATCH_CPU, BATCH_MEMORY, EXTENDED_RESOURCE_SPEC, PriorityBand
from admission.readers.narrow import mapping

_CONTAINERS = ("initContainers", "containers")


def translate(pod: dict[str, Any], band: PriorityBand | None) -> None:
    """In place, of a pod or a template: native requests and limits of every container, and the overhead, under the
    names of the band, which replace what stands there. A request that is missing beside its limit becomes equal to
    it, which Kubernetes does only before webhooks are asked. Raises Unreadable for what is no quantity."""
    spec = pod.get("spec")
    if band is None or not band.cpu or not isinstance(spec, dict):
        return
    for path, container in _containers(spec):
        resources = container.get("resources")
        if isinstance(resources, dict):
            for field in ("requests", "limits"):
                _move(resources.get(field), band, f"{path}.resources.{field}")
            _follow_limits(resources, band)
    _move(spec.get("overhead"), band, "spec.overhead")


def note_extended_resources(pod: dict[str, Any]) -> None:
    """In place: the annotation with what each container has of batch resources, for those on a node who find that the
    kubelet passes on no resource that it does not know. Where no container has any, nobody may say otherwise."""
    spec = pod.get("spec")
    found: dict[str, Any] = {}
    for path, container in _containers(spec if isinstance(spec, dict) else {}):
        if not path.startswith("spec.containers"):
            continue
        resources = container.get("resources")
        stated = {field: _batch(resources, field) for field in ("limits", "requests")}
        if any(stated.values()):
            found[str(container.get("name"))] = {field: each for field, each in stated.items() if each}
    if not found:
        notes = mapping(mapping(pod.get("metadata")).get("annotations"))
        if EXTENDED_RESOURCE_SPEC in notes:
            del pod["metadata"]["annotations"][EXTENDED_RESOURCE_SPEC]
        return
    metadata = _within(pod, "metadata")
    _within(metadata, "annotations")[EXTENDED_RESOURCE_SPEC] = json.dumps(
        {"containers": found}, separators=(",", ":"), sort_keys=True
    )


def _containers(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for field in _CONTAINERS:
        listed = spec.get(field)
        for at, container in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(container, dict):
                yield f"spec.{field}[{at}]", container


def _move(quantities: Any, band: PriorityBand, path: str) -> None:
    if not isinstance(quantities, dict):
        return
    if (cpu := quantities.get("cpu")) is not None:
        try:
            quantities[band.cpu] = str(amount("cpu", str(cpu)))
        except BadQuantity as bad:
            raise Unreadable(invalid(key(path, "cpu"), cpu, str(bad))) from bad
        del quantities["cpu"]
    if quantities.get("memory") is not None:
        quantities[band.memory] = quantities.pop("memory")


def _follow_limits(resources: dict[str, Any], band: PriorityBand) -> None:
    limits = resources.get("limits")
    for name in (band.cpu, band.memory):
        if isinstance(limits, dict) and name in limits:
            _within(resources, "requests").setdefault(name, limits[name])


def _batch(resources: Any, field: str) -> dict[str, Any]:
    stated = resources.get(field) if isinstance(resources, dict) else None
    return {name: stated[name] for name in (BATCH_CPU, BATCH_MEMORY) if isinstance(stated, dict) and name in stated}


def _within(holder: dict[str, Any], field: str) -> dict[str, Any]:
    """The mapping there, made where there is none."""
    if not isinstance(holder.get(field), dict):
        holder[field] = {}
    found: dict[str, Any] = holder[field]
    return found
