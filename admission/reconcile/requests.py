"""Effects as requests to the API server. The live shell and the in-memory world send what this file says.

Bodies are JSON merge patches: apply costs the API server more, and patches of lists that others also write carry the
resourceVersion they were made from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from admission.jobs import JOB_KINDS
from admission.jobs.descriptor import Descriptor
from admission.jobs.templates import NothingLent, PermanentProblem
from admission.jobs.workload import compose
from admission.model.effects import (
    CreateLocalQueue,
    CreateWorkload,
    Delete,
    Effect,
    Patch,
    RestoreJob,
    StartJob,
    UpdateWorkload,
)
from admission.model.job_kind import ASKS_BY_NOW, DESCRIBED_BY
from admission.model.kinds import KINDS, Ref
from admission.model.names import QUEUE_FROM

MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"
# Kueue's own managers, so that ownership of fields reads the same (Kueue 0.19).
ADMISSION_MANAGER = "kueue-admission"
MANAGER = "kueue"
# Of a Workload's spec: a merge patch that does not speak of them would leave what the job said before.
_MAY_GO = ("queueName", "priorityClassRef", "maximumExecutionTimeSeconds")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `ref` names the object; for a create its body does too."""

    verb: Literal["create", "patch", "delete"]
    ref: Ref
    body: Mapping[str, Any]
    subresource: str | None = None
    manager: str = MANAGER


def needs(effect: Effect) -> tuple[Ref, ...]:
    """Objects whose manifests `render` wants, to be read right before."""
    match effect:
        case CreateWorkload(job=job) | UpdateWorkload(job=job):
            return (job,)
        case CreateLocalQueue(template=template):
            return (template,)
        case StartJob(ref=ref):
            return (ref,)
        case RestoreJob(ref=ref, workload=workload):
            return (ref,) if workload is None else (ref, workload)
        case _:
            return ()


def render(
    effect: Effect, manifests: Mapping[Ref, Mapping[str, Any]], kinds: Mapping[str, Descriptor] = JOB_KINDS
) -> Request:
    """The request of an effect. `manifests` holds what `needs` named; a missing object is simply not in it.

    Raises Moved when a manifest is not the object that the effect was planned for (outcome: conflict), Impossible when
    what is asked contradicts the manifest and always will (outcome: impossible).
    """
    match effect:
        case Patch(ref=ref, body=body, subresource=subresource, resource_version=version):
            manager = ADMISSION_MANAGER if ref.kind == "Workload" else MANAGER
            return Request("patch", ref, _at(body, version), subresource, manager)
        case CreateWorkload():
            return Request("create", effect.ref, _composed(effect, manifests, kinds))
        case CreateLocalQueue():
            return Request("create", effect.ref, _like(effect, _manifest(effect.template, manifests)))
        case UpdateWorkload():
            composed = _composed(effect, manifests, kinds)
            spec = {**dict.fromkeys(_MAY_GO), **composed["spec"]}
            spec.pop("active", None)
            update: dict[str, Any] = {"spec": spec}
            described = composed["metadata"].get("annotations", {}).get(DESCRIBED_BY)
            if described is not None:
                update["metadata"] = {"annotations": {DESCRIBED_BY: described, ASKS_BY_NOW: None}}
            return Request("patch", effect.ref, _at(update, effect.resource_version))
        case StartJob():
            job = _manifest(effect.ref, manifests)
            try:
                body = _kind(effect.ref, kinds).start(job, effect.infos)
            except PermanentProblem as problem:
                raise Impossible(str(problem)) from problem
            return Request("patch", effect.ref, _at(body, effect.resource_version))
        case RestoreJob():
            job = _manifest(effect.ref, manifests)
            kind = _kind(effect.ref, kinds)
            workload = manifests.get(effect.workload) if effect.workload is not None else None
            return Request("patch", effect.ref, _at(kind.restore(job, workload), effect.resource_version))
        case Delete(ref=ref, uid=uid):
            return Request("delete", ref, {"preconditions": {"uid": uid}, "propagationPolicy": "Background"})
        case _:
            raise TypeError(f"{type(effect).__name__} is not sent as a request of its own")


class Moved(Exception):
    """The object is gone or another one has taken its name: the outcome is a conflict, no request is sent."""


class Impossible(Exception):
    """The effect contradicts the object for good; the message says how."""


def _manifest(ref: Ref, manifests: Mapping[Ref, Mapping[str, Any]]) -> Mapping[str, Any]:
    if ref not in manifests:
        raise Moved(f"{ref} does not exist any more")
    return manifests[ref]


def _like(effect: CreateLocalQueue, template: Mapping[str, Any]) -> dict[str, Any]:
    """A LocalQueue like the template, which it says that it was made from."""
    metadata = {
        "name": effect.ref.name,
        "namespace": effect.ref.namespace,
        "annotations": {QUEUE_FROM: effect.template.name},
    }
    head = {"apiVersion": KINDS["LocalQueue"].api_version, "kind": "LocalQueue", "metadata": metadata}
    return {**head, "spec": template.get("spec") or {}}


def _kind(ref: Ref, kinds: Mapping[str, Descriptor]) -> Descriptor:
    if ref.kind not in kinds:
        raise Moved(f"the kind of {ref} is described no more")
    return kinds[ref.kind]


def _composed(
    effect: CreateWorkload | UpdateWorkload,
    manifests: Mapping[Ref, Mapping[str, Any]],
    kinds: Mapping[str, Descriptor],
) -> dict[str, Any]:
    job = _manifest(effect.job, manifests)
    if job["metadata"].get("uid") != effect.job_uid:
        raise Moved(f"{effect.job} is another object now")
    _kind(effect.job, kinds)
    keys = effect.label_keys if isinstance(effect, CreateWorkload) else ()
    try:
        return compose(effect.job.kind, job, effect.ref.name, effect.priority, effect.priority_class, keys, kinds)
    except PermanentProblem as problem:
        raise Impossible(str(problem)) from problem
    except NothingLent as missing:
        raise Moved(str(missing)) from missing


def _at(body: Mapping[str, Any], version: int | None) -> Mapping[str, Any]:
    if version is None:
        return body
    metadata = {**body.get("metadata", {}), "resourceVersion": str(version)}
    return {**body, "metadata": metadata}
