"""Topology annotations on the pod templates of a job: on each, and between those that are placed as one."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from admission.api.field_errors import OMITTED, FieldError, invalid, key
from admission.jobs.descriptor import Descriptor, Manifest
from admission.jobs.places import Path, value_at
from admission.jobs.templated import PodGroup
from admission.model.names import POD_SET_GROUP_NAME, PREFERRED_TOPOLOGY, REQUIRED_TOPOLOGY
from admission.readers.narrow import mapping, strings
from admission.validation.topology_annotations import check_topology_annotations

# Of these Kueue judges each template for itself only.
_NEVER_GROUPED = frozenset(("TFJob", "PyTorchJob", "XGBoostJob", "PaddleJob", "JAXJob", "SparkApplication"))

# Of kinds without a template to look into: where annotations of a pod set's pods are.
_SAID_AT = {"SparkApplication": "spec.{}.annotations", "Workflow": "spec.podMetadata.annotations"}


@runtime_checkable
class Grouped(Protocol):
    """A descriptor that knows where in the manifest its pod templates lie."""

    def groups(self, manifest: Manifest) -> list[PodGroup]: ...


class _Noted(NamedTuple):
    path: str  # of the annotations, for people
    notes: Mapping[str, str]
    pods: int


def check_pod_templates(name: str, descriptor: Descriptor, manifest: Manifest) -> list[FieldError]:
    """`name`: of the kind, as in `Ref.kind`."""
    noted = _noted(name, descriptor, manifest)
    errors = [error for one in noted for error in check_topology_annotations(one.path, one.notes, one.pods)]
    return errors if name in _NEVER_GROUPED else [*errors, *_groups(noted)]


def _noted(name: str, descriptor: Descriptor, manifest: Manifest) -> list[_Noted]:
    if isinstance(descriptor, Grouped):
        return [
            _Noted(_path(one.at), strings(_annotations(value_at(manifest, one.at))), one.count)
            for one in descriptor.groups(manifest)
        ]
    return [
        _Noted(_SAID_AT[name].format(one["name"]), strings(_annotations(one["template"])), one["count"])
        for one in descriptor.pod_sets(manifest)
    ]


def _groups(noted: list[_Noted]) -> Iterator[FieldError]:
    placed: dict[str, list[_Noted]] = {}
    for one in noted:
        if POD_SET_GROUP_NAME in one.notes and (REQUIRED_TOPOLOGY in one.notes or PREFERRED_TOPOLOGY in one.notes):
            placed.setdefault(one.notes[POD_SET_GROUP_NAME], []).append(one)
    for group, members in placed.items():
        yield from _together(group, members)


def _together(group: str, members: list[_Noted]) -> Iterator[FieldError]:
    """A leader and its workers share a level; more than that nobody can place."""
    if len(members) != 2:
        why = f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
        yield from (invalid(key(one.path, POD_SET_GROUP_NAME), group, why) for one in members)
        return
    first, second = members
    if 1 not in (first.pods, second.pods):
        why = (
            "can only define groups where at least one pod set has only 1 replica, "
            f"got: {first.pods} replica(s) and {second.pods} replica(s) in the group"
        )
        yield from (invalid(key(one.path, POD_SET_GROUP_NAME), group, why) for one in members)
    if any(first.notes.get(wish) != second.notes.get(wish) for wish in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY)):
        wishes = f"'{REQUIRED_TOPOLOGY}' or '{PREFERRED_TOPOLOGY}'"
        for one, other in ((first, second), (second, first)):
            why = f"must specify {wishes} topology consistent with '{other.path}' in group '{group}'"
            yield invalid(one.path, OMITTED, why)


def _annotations(template: object) -> object:
    return mapping(mapping(template).get("metadata")).get("annotations")


def _path(at: Path) -> str:
    """As Kubernetes writes it: positions and the names of replica types, which are keys of a map, in brackets."""
    parts, bracketed = [], False
    for part in (*at, "metadata", "annotations"):
        parts.append(f"[{part}]" if bracketed or isinstance(part, int) else f".{part}")
        bracketed = isinstance(part, str) and part.endswith("ReplicaSpecs")
    return "".join(parts).removeprefix(".")
