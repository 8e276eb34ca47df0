"""Kubeflow's training jobs: pods by replica type, in the order in which Kueue lists the types of each kind."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import FieldError, duplicate, invalid, required
from admission.jobs.descriptor import Manifest
from admission.jobs.hold import Hold
from admission.jobs.reading import Facts
from admission.jobs.templated import PodGroup, Templated, missing_template
from admission.model.job import JobEnd
from admission.readers.metadata import read_conditions
from admission.readers.narrow import integer, mapping, text

_SUSPEND = Hold(("spec", "runPolicy", "suspend"))
_MOST = 2**31 - 1  # counts of pod sets are int32
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # what a pod set may be called


def _training_job(kind: str, field: str, *types: str, others: bool = True) -> Templated:
    """`field` of the spec has the replicas by type, known `types` in the order of their pod sets.

    `others`: the training operator takes a type however its letters are cased, and runs pods of types that it does not
    know, where no webhook of its own refuses them; so those count too, after the known ones. The MPI operator looks at
    nothing but its two.
    """

    def groups(manifest: Manifest) -> list[PodGroup]:
        replicas = mapping(mapping(manifest.get("spec")).get(field))
        return [_group(name, mapping(replicas[name]), field) for name in _ordered(replicas, types, others)]

    def facts(manifest: Manifest, groups: Sequence[PodGroup]) -> Facts:
        policy = mapping(mapping(manifest.get("spec")).get("runPolicy"))
        status = mapping(manifest.get("status"))
        running = read_conditions(status.get("conditions")).get("Running")
        return Facts(
            active=_active(status),
            end=_end(status),
            pods_ready=running is not None and running.true,
            pod_priority_class=text(mapping(policy.get("schedulingPolicy")).get("priorityClass")),
            problem=_problem(groups, field, types),
        )

    return Templated(kind, _SUSPEND, groups, facts)


TF_JOB = _training_job("TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator")
PYTORCH_JOB = _training_job("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker")
XGBOOST_JOB = _training_job("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker")
PADDLE_JOB = _training_job("PaddleJob", "paddleReplicaSpecs", "Master", "Worker")
JAX_JOB = _training_job("JAXJob", "jaxReplicaSpecs", "Worker")
MPI_JOB = _training_job("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker", others=False)


def _ordered(replicas: Mapping[str, Any], types: Sequence[str], others: bool) -> list[str]:
    """The types that have replicas, as the manifest spells them."""
    stated = [name for name in replicas if isinstance(replicas[name], Mapping)]
    if not others:
        return [name for name in types if name in stated]
    places = {name.lower(): place for place, name in enumerate(types)}
    return sorted(stated, key=lambda name: (places.get(name.lower(), len(types)), name))


def _group(name: str, replicas: Mapping[str, Any], field: str) -> PodGroup:
    count = min(max(integer(replicas.get("replicas"), 1), 0), _MOST)
    return PodGroup(name.lower(), count, mapping(replicas.get("template")), ("spec", field, name, "template"))


def _active(status: Mapping[str, Any]) -> bool:
    return any(integer(mapping(one).get("active")) != 0 for one in mapping(status.get("replicaStatuses")).values())


def _end(status: Mapping[str, Any]) -> JobEnd | None:
    for condition in read_conditions(status.get("conditions")).values():
        if condition.type in ("Succeeded", "Failed") and condition.true:
            return JobEnd(condition.type == "Succeeded", condition.message)
    return None


def _problem(groups: Sequence[PodGroup], field: str, types: Sequence[str]) -> str:
    if not groups:
        return str(required(f"spec.{field}", f"there must be replicas of {' or '.join(types)}"))
    return str(_bad_name(groups, field) or "") or missing_template(groups)


def _bad_name(groups: Sequence[PodGroup], field: str) -> FieldError | None:
    taken: dict[str, object] = {}
    for group in groups:
        path, spelled = f"spec.{field}", group.at[2]
        if not _LABEL.fullmatch(group.name):
            why = "must consist of at most 63 letters, digits and '-', and start and end with a letter or digit"
            return invalid(path, spelled, why)
        if group.name in taken:
            return duplicate(path, f"{spelled}, which is {taken[group.name]} too: leave one of the two")
        taken[group.name] = spelled
    return None
