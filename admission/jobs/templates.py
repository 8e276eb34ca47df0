"""Pod templates as they run and as they were: what starting adds to one, and how stopping takes it away again."""

from collections.abc import Collection, Mapping
from typing import Any

from admission.model.effects import PodSetInfo
from admission.model.names import WORKLOAD_ANNOTATION
from admission.model.workload import Toleration
from admission.readers.narrow import entries, items, mapping
from admission.readers.pod_set import read_toleration
from admission.readers.shape import last_of_each

_CONTAINERS = ("containers", "initContainers")


class PermanentProblem(Exception):
    """The job cannot be started however often it is tried; the message names the field and both values."""


class NothingLent(Exception):
    """A template that lies in another object is not there just now; the message says which."""


def started(template: Mapping[str, Any], info: PodSetInfo) -> dict[str, Any]:
    """The template with `info` merged in. Raises PermanentProblem where it already says something else."""
    metadata, spec = mapping(template.get("metadata")), mapping(template.get("spec"))
    # Another Workload's name can be left behind by an admission that was never stopped properly.
    notes = {key: note for key, note in mapping(metadata.get("annotations")).items() if key != WORKLOAD_ANNOTATION}
    return {
        **template,
        "metadata": {
            **metadata,
            **_merged("metadata.labels", metadata, "labels", info.labels),
            **_merged("metadata.annotations", {"annotations": notes}, "annotations", info.annotations),
        },
        "spec": {
            **spec,
            **_merged("spec.nodeSelector", spec, "nodeSelector", info.node_selector),
            **_tolerating(spec, info.tolerations),
        },
    }


def restored(
    template: Mapping[str, Any], original: Mapping[str, Any], kept_labels: Collection[str] = ()
) -> dict[str, Any]:
    """The template with what starting may have changed set back to `original`.

    `kept_labels` belong to the job's own controller: they stay as they are now, for they are not in the original.
    """
    before, now = mapping(original.get("metadata")), mapping(template.get("metadata"))
    kept = {key: value for key, value in mapping(now.get("labels")).items() if key in kept_labels}
    if kept:
        before = {**before, "labels": {**mapping(before.get("labels")), **kept}}
    metadata = _set_back(now, before, ("labels", "annotations"))
    result = dict(template)
    if metadata or "metadata" in original:
        result["metadata"] = metadata
    else:
        result.pop("metadata", None)
    spec = mapping(original.get("spec"))
    result["spec"] = _set_back(mapping(template.get("spec")), spec, ("nodeSelector", "tolerations", "schedulingGates"))
    return result


def submitted(template: Mapping[str, Any], dropped_labels: Collection[str] = ()) -> dict[str, Any]:
    """The template as a Workload keeps it: without labels that its job's controller generated, and with each
    environment variable once (a list keyed by name refuses more)."""
    result = dict(template)
    labels = mapping(mapping(template.get("metadata")).get("labels"))
    if any(key in labels for key in dropped_labels):
        metadata = {key: value for key, value in template["metadata"].items() if key != "labels"}
        if left := {key: value for key, value in labels.items() if key not in dropped_labels}:
            metadata["labels"] = left
        result["metadata"] = metadata
    spec = mapping(template.get("spec"))
    if spec:
        result["spec"] = {
            field: [_unique_env(entry) for entry in value]
            if field in _CONTAINERS and isinstance(value, list)
            else value
            for field, value in spec.items()
        }
    return result


def _merged(path: str, holder: Mapping[str, Any], field: str, added: Mapping[str, str]) -> dict[str, Any]:
    present = mapping(holder.get(field))
    for key, value in added.items():
        if present.get(key, value) != value:
            raise PermanentProblem(
                f"conflict for {path}[{key}]: the pod template says {present[key]!r}, the admission {value!r}: "
                "remove it from the template"
            )
    return {field: {**present, **added}} if added else {field: present} if field in holder else {}


def _tolerating(spec: Mapping[str, Any], added: tuple[Toleration, ...]) -> dict[str, Any]:
    present = items(spec.get("tolerations"))
    # Read first: a missing operator means Equal, so two spellings can be one toleration.
    known = {read_toleration(entry) for entry in entries(present)}
    missing = [_written(toleration) for toleration in dict.fromkeys(added) if toleration not in known]
    return {"tolerations": [*present, *missing]} if missing else {}


def _written(toleration: Toleration) -> dict[str, Any]:
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
    }
    written: dict[str, Any] = {name: value for name, value in fields.items() if value}
    if toleration.seconds is not None:
        written["tolerationSeconds"] = toleration.seconds
    return written


def _set_back(now: Mapping[str, Any], before: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    others = {name: value for name, value in now.items() if name not in fields}
    return others | {name: before[name] for name in fields if before.get(name) is not None}


def _unique_env(container: Any) -> Any:
    env = mapping(container).get("env")
    return {**container, "env": last_of_each(env)} if isinstance(env, list) else container
