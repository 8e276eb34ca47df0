"""SparkApplication: a driver, and the executors that it starts.

Starting writes into the fields of the two roles, not into their templates: those would take other labels than the
operator gives. A selector for the whole application must move into the roles, as the operator accepts only one of both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import invalid
from admission.jobs.descriptor import Manifest, Stop
from admission.jobs.hold import SUSPEND
from admission.jobs.merge_patch import difference, joined
from admission.jobs.originals import put_back, with_note
from admission.jobs.places import Path, replaced, value_at
from admission.jobs.reading import Facts, read_job
from admission.jobs.spark_pods import DRIVER, EXECUTOR, template_of
from admission.jobs.spark_settings import Settings
from admission.jobs.templates import PermanentProblem, restored, started, submitted
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.model.names import WORKLOAD_ANNOTATION
from admission.readers.narrow import entries, integer, mapping, text
from admission.readers.pod_set import pod_set

CLUSTER_ONLY = "only Cluster mode is supported for a kueue managed job"
ROLES = (DRIVER, EXECUTOR)

_SELECTOR: Path = ("spec", "nodeSelector")
_FIELDS = ("labels", "annotations", "nodeSelector", "tolerations")  # of a role, that starting may change
_WITHOUT_PODS = ("", "SUSPENDED", "RESUMING", "SUBMISSION_FAILED", "COMPLETED", "FAILED")
_UP = ("RUNNING", "COMPLETED")  # of an executor
# The operator does not keep track of executors beyond this number unless it is told to (maxTrackedExecutorPerApp).
_TRACKED = 1000

hold = SUSPEND
stop: Stop = "Suspend"


def read(manifest: Manifest) -> Job:
    settings = Settings(manifest)
    counts = (1, settings.executors().most or 0)
    found = [pod_set(role.name, template_of(settings, role), count) for role, count in zip(ROLES, counts, strict=True)]
    return read_job("SparkApplication", manifest, tuple(found), hold.holds(manifest), _facts(manifest, settings))


def pod_sets(manifest: Manifest) -> list[dict[str, Any]]:
    settings = Settings(manifest)
    counts = (1, settings.executors().most or 0)
    return [
        {"name": role.name, "count": count, "template": submitted(template_of(settings, role))}
        for role, count in zip(ROLES, counts, strict=True)
    ]


def start(manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
    if len(infos) != len(ROLES):
        raise PermanentProblem(f"invalid podset infos: expecting {len(ROLES)} podsets, got {len(infos)}")
    before = put_back(manifest) or manifest
    whole = mapping(value_at(before, _SELECTOR))
    wanted = with_note(before, _touched())
    for role, info in zip(ROLES, infos, strict=True):
        own = mapping(value_at(before, ("spec", role.name)))
        selector = {**whole, **mapping(own.get("nodeSelector"))}
        template = started(_as_template({**own, "nodeSelector": selector} if selector else own), info)
        wanted = replaced(wanted, ("spec", role.name), _with_fields(own, template))
    wanted = hold.set(replaced(wanted, _SELECTOR, None), held=False)
    return joined(difference(manifest, wanted), hold.patch(held=False))


def suspend() -> dict[str, Any]:
    return hold.patch(held=True)


def forget_start() -> dict[str, Any] | None:
    return None


def restore(manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
    before = put_back(manifest)
    if before is None:
        before = _by_workload(manifest, mapping(workload))
    return joined(difference(manifest, hold.set(before, held=True)), hold.patch(held=True))


def _by_workload(manifest: Manifest, workload: Mapping[str, Any]) -> Manifest:
    """An application that was started by Kueue has no note of how it was."""
    originals = entries(mapping(workload.get("spec")).get("podSets"))
    if [original.get("name") for original in originals] != [role.name for role in ROLES]:
        return manifest
    if not all(_carries_admission(manifest, role.name) for role in ROLES):
        return manifest
    for role, original in zip(ROLES, originals, strict=True):
        own = mapping(value_at(manifest, ("spec", role.name)))
        template = restored(_as_template(own), mapping(original.get("template")))
        manifest = replaced(manifest, ("spec", role.name), _with_fields(own, template))
    result: Manifest = replaced(manifest, _SELECTOR, None)
    return result


def _carries_admission(manifest: Manifest, role: str) -> bool:
    return value_at(manifest, ("spec", role, "annotations", WORKLOAD_ANNOTATION)) is not None


def _touched() -> list[Path]:
    return [_SELECTOR, *(("spec", role.name, field) for role in ROLES for field in _FIELDS)]


def _as_template(own: Mapping[str, Any]) -> dict[str, Any]:
    """What a role says of labels, nodes and tolerations, as a pod template would say it."""
    said = {field: own[field] for field in _FIELDS if own.get(field) is not None}
    metadata = {field: said.pop(field) for field in ("labels", "annotations") if field in said}
    return {"metadata": metadata, "spec": said}


def _with_fields(own: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    said = {**mapping(template.get("metadata")), **mapping(template.get("spec"))}
    others = {field: value for field, value in own.items() if field not in _FIELDS}
    return {**others, **{field: said[field] for field in _FIELDS if field in said}}


def _facts(manifest: Manifest, settings: Settings) -> Facts:
    status = mapping(manifest.get("status"))
    application = mapping(status.get("applicationState"))
    state = text(application.get("state"))
    return Facts(
        active=state not in _WITHOUT_PODS,
        end=_end(settings.spec, status, state, text(application.get("errorMessage"))),
        pods_ready=state == "RUNNING" and _up(status) >= min(settings.executors().least, _TRACKED),
        problem=_problem(settings),
    )


def _end(spec: Mapping[str, Any], status: Mapping[str, Any], state: str, message: str) -> JobEnd | None:
    ended = state in ("COMPLETED", "FAILED") or (state == "SUBMISSION_FAILED" and not _tries_again(spec, status))
    return JobEnd(state == "COMPLETED", message) if ended else None


def _tries_again(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Whether the operator will submit it once more."""
    policy = mapping(spec.get("restartPolicy"))
    retries = integer(policy.get("onSubmissionFailureRetries"), -1)
    within = integer(status.get("submissionAttempts")) <= retries
    return policy.get("type") == "Always" or (policy.get("type") == "OnFailure" and within)


def _up(status: Mapping[str, Any]) -> int:
    return sum(1 for state in mapping(status.get("executorState")).values() if state in _UP)


def _problem(settings: Settings) -> str:
    mode = settings.spec.get("mode")
    if mode == "client":
        return str(invalid("spec.mode", mode, CLUSTER_ONLY))
    return str(next(iter(settings.faults()), ""))
