"""Topology annotations on the pod templates of a job: on each, and between those that are placed as one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from admission.api.field_errors import OMITTED, FieldError, invalid, key
from admission.jobs.places import Path, value_at
from admission.jobs.templated import PodGroup
from admission.model.names import POD_SET_GROUP_NAME, PREFERRED_TOPOLOGY, REQUIRED_TOPOLOGY
from admission.readers.narrow import mapping, strings
from admission.validation.topology_annotations import check_topology_annotations

# Of these Kueue judges each template for itself only.
_NEVER_GROUPED = frozenset(("TFJob", "PyTorchJob", "XGBoostJob", "PaddleJob", "JAXJob", "SparkApplication"))


def check_pod_templates(name: str, manifest: Mapping[str, Any], groups: Sequence[PodGroup]) -> list[FieldError]:
    """`name`: of the kind, as in `Ref.kind`."""
    found = [(_path(one.at), strings(_annotations(manifest, one)), one) for one in groups]
    errors = [error for path, notes, one in found for error in check_topology_annotations(path, notes, one.count)]
    if name in _NEVER_GROUPED:
        return errors
    placed: dict[str, list[tuple[str, Mapping[str, str], PodGroup]]] = {}
    for path, notes, one in found:
        if POD_SET_GROUP_NAME in notes and (REQUIRED_TOPOLOGY in notes or PREFERRED_TOPOLOGY in notes):
            placed.setdefault(notes[POD_SET_GROUP_NAME], []).append((path, notes, one))
    return [*errors, *(error for group, members in placed.items() for error in _together(group, members))]


def _together(group: str, members: list[tuple[str, Mapping[str, str], PodGroup]]) -> Iterator[FieldError]:
    """A leader and its workers share a level; more than that nobody can place."""
    if len(members) != 2:
        why = f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
        yield from (invalid(key(path, POD_SET_GROUP_NAME), group, why) for path, _, _ in members)
        return
    (one, one_notes, leader), (other, other_notes, workers) = members
    if 1 not in (leader.count, workers.count):
        why = (
            "can only define groups where at least one pod set has only 1 replica, "
            f"got: {leader.count} replica(s) and {workers.count} replica(s) in the group"
        )
        yield from (invalid(key(path, POD_SET_GROUP_NAME), group, why) for path in (one, other))
    if any(one_notes.get(wish) != other_notes.get(wish) for wish in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY)):
        for path, against in ((one, other), (other, one)):
            wishes = f"'{REQUIRED_TOPOLOGY}' or '{PREFERRED_TOPOLOGY}'"
            yield invalid(
                path, OMITTED, f"must specify {wishes} topology consistent with '{against}' in group '{group}'"
            )


def _annotations(manifest: Mapping[str, Any], group: PodGroup) -> Any:
    return mapping(mapping(value_at(manifest, group.at)).get("metadata")).get("annotations")


def _path(at: Path) -> str:
    """As Kubernetes writes it: positions and the names of replica types, which are keys of a map, in brackets."""
    parts, bracketed = [], False
    for part in (*at, "metadata", "annotations"):
        parts.append(f"[{part}]" if bracketed or isinstance(part, int) else f".{part}")
        bracketed = isinstance(part, str) and part.endswith("ReplicaSpecs")
    return "".join(parts).removeprefix(".")
