"""batch/v1 Job: one pod set, suspended by `spec.suspend`.

Stopping takes three writes, since the API server lets nobody touch the template of a suspended job whose
`status.startTime` is still set: suspend and mark, forget the start, restore and unmark.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.jobs.descriptor import Manifest, Stop
from admission.jobs.hold import SUSPEND
from admission.jobs.indexes import indexes_below
from admission.jobs.merge_patch import difference
from admission.jobs.reading import Facts, positive, read_job
from admission.jobs.templates import PermanentProblem, restored, started, submitted
from admission.model import names
from admission.model.booleans import is_true
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.readers.metadata import read_conditions
from admission.readers.narrow import entries, integer, items, mapping, maybe_integer, text
from admission.readers.pod_set import pod_set

MAIN = "main"
# What the job controller puts on the template; only the modern name label says nothing about one run.
_GENERATED_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name")
_MANAGED_LABELS = (*_GENERATED_LABELS, "batch.kubernetes.io/job-name")


hold = SUSPEND
# Templates can be restored only once status.startTime is gone.
stop: Stop = "InSteps"


def read(manifest: Manifest) -> Job:
    spec, status = mapping(manifest.get("spec")), mapping(manifest.get("status"))
    main = pod_set(MAIN, spec.get("template"), _count(spec), _min_count(manifest))
    facts = Facts(
        stopping=_annotations(manifest).get(names.STOPPING) == "true",
        started=text(status.get("startTime")) != "",
        active=integer(status.get("active")) != 0,
        end=_end(status),
        pods_ready=_ready(status) >= main.count,
        reclaimable=_reclaimable(spec, status),
        problem="" if isinstance(spec.get("template"), Mapping) else "spec.template: Required value",
    )
    return read_job("Job", manifest, (main,), spec.get("suspend") is True, facts)


def pod_sets(manifest: Manifest) -> list[dict[str, Any]]:
    spec = mapping(manifest.get("spec"))
    entry: dict[str, Any] = {
        "name": MAIN,
        "count": _count(spec),
        "template": submitted(mapping(spec.get("template")), _GENERATED_LABELS),
    }
    least = _min_count(manifest)
    return [entry if least is None else {**entry, "minCount": least}]


def start(manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
    if len(infos) != 1:
        raise PermanentProblem(f"invalid podset infos: expecting 1 podset, got {len(infos)}")
    spec = mapping(manifest.get("spec"))
    wanted = {**spec, "template": started(mapping(spec.get("template")), infos[0]), **_sized(manifest, infos[0].count)}
    return {"spec": {**difference(spec, wanted), "suspend": False}}


def suspend() -> dict[str, Any]:
    return {"spec": {"suspend": True}, "metadata": {"annotations": {names.STOPPING: "true"}}}


def forget_start() -> dict[str, Any]:
    return {"status": {"startTime": None}}


def restore(manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
    patch: dict[str, Any] = {"metadata": {"annotations": {names.STOPPING: None}}}
    originals = entries(mapping(mapping(workload).get("spec")).get("podSets"))
    if len(originals) != 1:  # not the Workload of this job as it is now: whose fields would they be?
        return patch
    spec, original = mapping(manifest.get("spec")), mapping(originals[0].get("template"))
    template = restored(mapping(spec.get("template")), original, _MANAGED_LABELS)
    wanted = {**spec, "template": template, **_sized(manifest, integer(originals[0].get("count"), 1))}
    return {**patch, "spec": {**difference(spec, wanted), "suspend": True}}


def _count(spec: Mapping[str, Any]) -> int:
    parallelism = integer(spec.get("parallelism"), 1)
    return max(min(parallelism, integer(spec.get("completions"), parallelism)), 0)


def _min_count(manifest: Manifest) -> int | None:
    return positive(_annotations(manifest).get(names.MIN_PARALLELISM))


def _sized(manifest: Manifest, count: int) -> dict[str, int]:
    """Fields that follow the number of admitted pods: none, unless the job accepts fewer than it asks for."""
    if _min_count(manifest) is None:
        return {}
    together = is_true(_annotations(manifest).get(names.COMPLETIONS_EQUAL_PARALLELISM))
    return {"parallelism": count, "completions": count} if together else {"parallelism": count}


def _annotations(manifest: Manifest) -> Mapping[str, Any]:
    return mapping(mapping(manifest.get("metadata")).get("annotations"))


def _end(status: Mapping[str, Any]) -> JobEnd | None:
    for condition in read_conditions(status.get("conditions")).values():
        if condition.type in ("Complete", "Failed") and condition.true:
            return JobEnd(condition.type == "Complete", condition.message)
    return None


def _ready(status: Mapping[str, Any]) -> int:
    leaving = items(mapping(status.get("uncountedTerminatedPods")).get("succeeded"))
    return integer(status.get("succeeded")) + integer(status.get("ready")) + len(leaving)


def _reclaimable(spec: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, int]:
    """Pods of a parallel job that will not be needed again, as so few completions are left."""
    parallelism = integer(spec.get("parallelism"), 1)
    completions = maybe_integer(spec.get("completions"))
    done = integer(status.get("succeeded"))
    if completions is not None and spec.get("completionMode") == "Indexed":
        done = indexes_below(completions, status.get("completedIndexes"), status.get("failedIndexes"))
    if parallelism <= 1 or done <= 0:
        return {}
    left = max((parallelism if completions is None else completions) - done, 0)
    return {MAIN: parallelism - left} if left < parallelism else {}
