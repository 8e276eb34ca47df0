"""The Workload of a job: its name, its manifest, and whether one still fits the job."""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from admission.api.field_errors import too_many
from admission.jobs.descriptor import Descriptor, Manifest
from admission.jobs.registry import JOB_KINDS
from admission.jobs.templates import NothingLent, PermanentProblem
from admission.model import names
from admission.model.job import Job
from admission.model.job_kind import DESCRIBED_BY
from admission.model.kinds import KINDS, kind_of
from admission.model.queue_policy import GROUPS, USER
from admission.model.workload import PodSet, Workload
from admission.readers.metadata import read_metadata

_LONGEST_NAME = 253  # a DNS subdomain
_LONGEST_LABEL = 63  # the value of a label
_DIGEST = 12  # hex digits: it is compared with what the same job said before
_HASH = 5  # hex digits that tell apart jobs of one name over time, as in Kueue
_MOST_POD_SETS = 18
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def workload_name(kind: str, name: str, uid: str, *, short: bool = False) -> str:
    """The name of the Workload of one job. `kind` as `kind_of` takes it; `short`: fit for the value of a label."""
    described = kind_of(kind)
    longest = _LONGEST_LABEL if short else _LONGEST_NAME
    prefix = f"{described.kind.lower()}-{name}"[: longest - _HASH - 1]
    owner = "\n".join((described.kind, described.group, name, uid))
    return f"{prefix}-{hashlib.sha1(owner.encode(), usedforsecurity=False).hexdigest()[:_HASH]}"


def compose(
    kind: str,
    job: Manifest,
    name: str,
    priority: int = 0,
    priority_class: tuple[str, str, str] | None = None,
    label_keys: Collection[str] = (),
    kinds: Mapping[str, Descriptor] = JOB_KINDS,
) -> dict[str, Any]:
    """The Workload `name` for a job's manifest. `priority_class`: group, kind, name; `label_keys`: of labels to copy.

    Raises PermanentProblem when no Workload can hold the job, NothingLent when a template of it is not there just now.
    """
    read, pod_sets = kinds[kind].read(job), kinds[kind].pod_sets(job)
    if not all(one.found for one in read.borrowed):
        raise NothingLent(read.problem)
    if len(pod_sets) > _MOST_POD_SETS:
        raise PermanentProblem(str(too_many("spec.podSets", len(pod_sets), _MOST_POD_SETS)))
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": read.ref.namespace,
        "finalizers": [names.IN_USE],
        "ownerReferences": [_controller(kind, read)],
    }
    labels = {key: value for key, value in read_metadata(job).labels.items() if key in label_keys}
    if read.uid and is_label_value(read.uid):
        labels[names.JOB_UID] = read.uid
    if labels:
        metadata["labels"] = labels
    stated = read_metadata(job).annotations
    annotations = {key: stated[key] for key in (USER, GROUPS) if key in stated}
    if read.described_by:
        annotations[DESCRIBED_BY] = read.described_by
    if read.gated_by:
        annotations[names.ADMISSION_GATED_BY] = read.gated_by
    if annotations:
        metadata["annotations"] = annotations
    spec: dict[str, Any] = {
        "active": True,
        "podSets": pod_sets,
        "priority": priority,
    }
    if read.queue_name:  # the schema takes no empty one
        spec["queueName"] = read.queue_name
    if priority_class is not None:
        spec["priorityClassRef"] = dict(zip(("group", "kind", "name"), priority_class, strict=True))
    if read.maximum_execution_seconds is not None:
        spec["maximumExecutionTimeSeconds"] = read.maximum_execution_seconds
    described = KINDS["Workload"]
    return {"apiVersion": described.api_version, "kind": described.kind, "metadata": metadata, "spec": spec}


def equivalent(job: Job, workload: Workload) -> bool:
    """Whether the Workload still says what the job asks for (Kueue 0.19).

    One that holds quota may describe the job as started: with injected tolerations, and with fewer pods where it was
    admitted partially.
    """
    if workload.owner is None or workload.owner.name != job.ref.name or workload.owner_uid != job.uid:
        return False
    if workload.asks_by_now and workload.described_by == job.described_by and _has_pods(job, workload):
        return (workload.evicted and workload.reserved) or workload.asks_by_now == asked_digest(job)
    if workload.maximum_execution_seconds != job.maximum_execution_seconds:
        return False
    if len(workload.pod_sets) != len(job.pod_sets):
        return False
    pairs = list(zip(_asked(job, workload), workload.pod_sets, strict=True))
    # Who was deactivated a moment ago counts no more, and its job runs on with what starting it injected.
    if workload.reserved and workload.admission is not None:
        counts = {assignment.name: assignment.count for assignment in workload.admission.assignments}
        if all(_runs_as(asked, kept, counts, workload.admitted) for asked, kept in pairs):
            return True
        if not job.suspended:
            return False
    return all(_same(asked, kept) for asked, kept in pairs)


def _asked(job: Job, workload: Workload) -> tuple[PodSet, ...]:
    """A template in another object, which may change any time, counts as it was when the job was admitted, until its
    pods are gone; one that is not there says nothing."""
    if not job.borrowed:
        return job.pod_sets
    runs = _has_pods(job, workload)
    lent = {one.pod_set for one in job.borrowed if runs or not one.found}
    return tuple(
        replace(asked, shape=kept.shape, tolerations=kept.tolerations) if asked.name in lent else asked
        for asked, kept in zip(job.pod_sets, workload.pod_sets, strict=True)
    )


def _has_pods(job: Job, workload: Workload) -> bool:
    """Or may have; one that has left keeps what it was admitted with until they are gone."""
    return not job.suspended or job.active or (workload.evicted and workload.reserved)


def asked_digest(job: Job) -> str:
    """Of what the job asks for, as it is read now, without what is not its author's: what starting put in, and
    templates in other objects."""
    lent = {one.pod_set for one in job.borrowed}
    asked = [
        (one.name, one.count if one.min_count is None else None, one.min_count, one.name in lent or one.shape)
        for one in job.pod_sets
    ]
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:_DIGEST]


def is_label_value(value: str) -> bool:
    """Whether Kubernetes takes it as the value of a label."""
    return len(value) <= _LONGEST_LABEL and _LABEL_VALUE.fullmatch(value) is not None


def _runs_as(asked: PodSet, kept: PodSet, counts: Mapping[str, int], admitted: bool) -> bool:
    count = kept.count if kept.min_count is None else counts.get(kept.name, kept.count)
    if (asked.count, asked.min_count, asked.shape) != (count, kept.min_count, kept.shape):
        return False
    return admitted or asked.tolerations[: len(kept.tolerations)] == kept.tolerations


def _same(asked: PodSet, kept: PodSet) -> bool:
    return (asked.count, asked.min_count, asked.shape, asked.tolerations) == (
        kept.count,
        kept.min_count,
        kept.shape,
        kept.tolerations,
    )


def _controller(kind: str, job: Job) -> dict[str, Any]:
    described = kind_of(kind)
    return {
        "apiVersion": described.api_version,
        "kind": described.kind,
        "name": job.ref.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
