"""batch/v1 Job as the API server treats it: defaults, and what may not change once a Job has started."""

import json
from collections.abc import Iterator
from typing import Any

from admission.model.amounts import exact
from admission.world.metadata import valid_label_value, why_no_label
from admission.world.objects import Frozen, Object, holds
from admission.world.quantities import canonical

_POD_DEFAULTS: dict[str, Any] = {
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER_DEFAULTS: dict[str, Any] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")
# Of a pod template, what a suspended Job that never started may change, unlike everything else.
_DIRECTIVES = ("nodeSelector", "affinity", "tolerations", "schedulingGates")
_IMMUTABLE = ("completions", "selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy")


def defaulted(job: Object) -> Object:
    """The Job with Kubernetes' defaults, quantities in canonical form; unchanged if they are there already."""
    spec = dict(job.get("spec") or {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    for key, value in (
        ("parallelism", 1),
        ("backoffLimit", 6),
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("manualSelector", None),
        ("podReplacementPolicy", "TerminatingOrFailed"),
    ):
        if value is not None and spec.get(key) is None:
            spec[key] = value
    template = spec.get("template")
    if isinstance(template, dict):
        spec["template"] = _template(template)
    if not spec.get("manualSelector"):
        _select(job, spec)
    return {**job, "spec": spec} if spec != job.get("spec") else job


def _select(job: Frozen, spec: Object) -> None:
    """The generated selector and labels; only a Job without a selector gets them."""
    if "selector" in spec or not isinstance(spec.get("template"), dict):
        return
    uid, name = job["metadata"]["uid"], job["metadata"]["name"]
    spec["selector"] = {"matchLabels": {_UID_LABELS[0]: uid}}
    meta = dict(spec["template"].get("metadata") or {})
    labels = dict.fromkeys(_NAME_LABELS, name) | dict.fromkeys(_UID_LABELS, uid)
    meta["labels"] = {**(meta.get("labels") or {}), **labels}
    spec["template"] = {**spec["template"], "metadata": meta}


def _template(template: Object) -> Object:
    pod = dict(template.get("spec") or {})
    for key, value in _POD_DEFAULTS.items():
        pod.setdefault(key, value)
    for key in ("initContainers", "containers"):
        if isinstance(pod.get(key), list):
            pod[key] = [_container(entry) for entry in pod[key]]
    return {**template, "spec": pod} if pod != template.get("spec") else template


def _container(container: Object) -> Object:
    result = dict(container)
    for key, value in _CONTAINER_DEFAULTS.items():
        result.setdefault(key, value)
    image = str(container.get("image", ""))
    latest = ":" not in image.rpartition("/")[2] or image.endswith(":latest")
    result.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
    resources = result["resources"]
    if isinstance(resources, dict) and resources:
        result["resources"] = {key: _canonical_list(entry) for key, entry in resources.items()}
    return result


def _canonical_list(amounts: Any) -> Any:
    if not isinstance(amounts, dict):
        return amounts
    return {name: value if (known := canonical(value)) is None else known for name, value in amounts.items()}


def errors_of(job: Frozen, old: Frozen | None, subresource: str | None) -> list[str]:
    """What the API server refuses of this Job, in its words."""
    if subresource == "status":
        return list(_status_errors(job, old)) if old is not None else []
    errors = list(_spec_errors(job["spec"]))
    if old is not None:
        errors += _change_errors(job["spec"], old)
    return errors


def _spec_errors(spec: Frozen) -> Iterator[str]:
    for key in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        value = spec.get(key)
        if value is not None and value < 0:
            yield f"spec.{key}: Invalid value: {json.dumps(value)}: must be greater than or equal to 0"
    template = spec.get("template") or {}
    for value in ((template.get("metadata") or {}).get("labels") or {}).values():
        if not valid_label_value(value):
            yield f'spec.template.labels: Invalid value: "{value}": {why_no_label(value)}'
    pod = template.get("spec")
    if not isinstance(pod, dict) or not pod.get("containers"):
        yield "spec.template.spec.containers: Required value"
        return
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        yield 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    for group in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(group) or ()):
            place = f"spec.template.spec.{group}[{index}]"
            for key in ("name", "image"):
                if not container.get(key):
                    yield f"{place}.{key}: Required value"
            yield from _resource_errors(f"{place}.resources", container.get("resources") or {})


def _resource_errors(place: str, resources: Frozen) -> Iterator[str]:
    for key in ("requests", "limits"):
        for name, value in (resources.get(key) or {}).items():
            if canonical(value) is None:
                yield f"{place}.{key}[{name}]: Invalid value: {json.dumps(value)}: must be a quantity"
            elif str(value).startswith("-"):
                yield f'{place}.{key}[{name}]: Invalid value: "{value}": must be greater than or equal to 0'
    limits = resources.get("limits") or {}
    for name, value in (resources.get("requests") or {}).items():
        asked, most = canonical(value), canonical(limits.get(name))
        if asked is not None and most is not None and exact(asked) > exact(most):
            yield f'{place}.requests: Invalid value: "{value}": must be less than or equal to {name} limit of {most}'


def _change_errors(spec: Frozen, old: Frozen) -> Iterator[str]:
    before = old["spec"]
    for key in _IMMUTABLE:
        if spec.get(key) != before.get(key) and not (key == "completions" and _elastic(spec)):
            yield f"spec.{key}: Invalid value: {json.dumps(spec.get(key))}: field is immutable"
    mutable = before.get("suspend") is True and not (old.get("status") or {}).get("startTime")
    new_template, old_template = spec.get("template") or {}, before.get("template") or {}
    if new_template == old_template:
        return
    if not mutable or _without_directives(new_template) != _without_directives(old_template):
        yield "spec.template: Invalid value: field is immutable"


def _elastic(spec: Frozen) -> bool:
    """An Indexed Job may be resized as long as both numbers move together."""
    return spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")


def _without_directives(template: Frozen) -> Object:
    meta = {k: v for k, v in (template.get("metadata") or {}).items() if k not in ("labels", "annotations") and v}
    pod = {k: v for k, v in (template.get("spec") or {}).items() if k not in _DIRECTIVES}
    return {"metadata": meta, "spec": pod}


def _status_errors(job: Frozen, old: Frozen) -> Iterator[str]:
    status, before = job.get("status") or {}, old.get("status") or {}
    if not job["spec"].get("suspend") and before.get("startTime") and status.get("startTime") != before["startTime"]:
        verb = "removed" if not status.get("startTime") else "updated"
        yield f"status.startTime: Required value: startTime cannot be {verb} for unsuspended job"
    for ending in ("Complete", "Failed"):
        if holds(old, ending) and not holds(job, ending):
            yield f"status.conditions: Invalid value: cannot disable the terminal {ending}=True condition"
        if holds(job, ending) and status.get("active"):
            yield "status.active: Invalid value: active>0 is invalid for finished job"
    if status.get("completionTime") and not holds(job, "Complete"):
        yield "status.completionTime: Invalid value: cannot set completionTime when there is no Complete=True condition"
