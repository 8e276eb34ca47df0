"""What labels and annotations of a job of any kind must not say, and what must not change about them while it runs."""

from typing import NamedTuple

import msgspec

from admission.api.field_errors import FieldError, forbidden, invalid, key
from admission.model.kinds import Kind
from admission.model.names import ELASTIC_JOB, MAX_EXEC_TIME, PREBUILT_WORKLOAD, PRIORITY_CLASS, QUEUE_NAME
from admission.validation.gates import check_gates
from admission.validation.go_numbers import integer_fault
from admission.validation.syntax import IMMUTABLE, subdomain_faults

_QUEUE = key("metadata.labels", QUEUE_NAME)
_MAX_EXEC = key("metadata.labels", MAX_EXEC_TIME)
_PRIORITY = key("metadata.labels", PRIORITY_CLASS)
_ELASTIC = key("metadata.annotations", ELASTIC_JOB)

# Kinds that Kueue has, and that it lets nobody make a Workload for beforehand, are not here; nor are those it has not.
_MAY_BE_PREBUILT = frozenset(
    ("Job", "JobSet", "TFJob", "PaddleJob", "PyTorchJob", "XGBoostJob", "MPIJob", "RayJob", "RayCluster")
)
_MAY_BE_ELASTIC = frozenset(("Job", "RayCluster", "RayJob"))

# What fits an int64 however it is spelled.


class Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None

    def label(self, name: str) -> str:
        return (self.labels or {}).get(name, "")

    def annotation(self, name: str) -> str | None:
        return (self.annotations or {}).get(name)

    @property
    def prebuilt(self) -> str:
        return self.annotation(PREBUILT_WORKLOAD) or self.label(PREBUILT_WORKLOAD)

    @property
    def prebuilt_path(self) -> str:
        where = "annotations" if self.annotation(PREBUILT_WORKLOAD) else "labels"
        return key(f"metadata.{where}", PREBUILT_WORKLOAD)

    @property
    def elastic(self) -> bool:
        return self.annotation(ELASTIC_JOB) == "true"


class Standing(NamedTuple):
    """A job before or after a change."""

    metadata: Metadata
    suspended: bool


def check_labels(
    name: str, kind: Kind, job: Standing, old: Standing | None, has_default_queue: bool, gated: bool
) -> list[FieldError]:
    """`name`: of the kind, as in `Ref.kind`. `has_default_queue`: a LocalQueue `default` exists in its namespace.
    `gated`: admission gates are in use."""
    metadata = job.metadata
    errors = [*_names(metadata), *_max_exec(metadata), *_not_of_this_kind(name, kind, metadata)]
    if old is None:
        return [*errors, *(check_gates(metadata.annotations) if gated else ())]
    before = old.metadata
    return [
        *errors,
        *_queue_update(job, before, has_default_queue),
        *_while_running(job, old),
        *_priority_update(job, before),
        *_elastic_update(metadata, before),
        *(check_gates(metadata.annotations, before.annotations, created=False) if gated else ()),
    ]


def _names(metadata: Metadata) -> list[FieldError]:
    queue, prebuilt = (metadata.labels or {}).get(QUEUE_NAME), metadata.prebuilt
    errors = []
    if faults := subdomain_faults(queue) if queue is not None else []:
        errors.append(invalid(_QUEUE, queue, ",".join(faults)))
    if faults := subdomain_faults(prebuilt) if prebuilt else []:
        errors.append(invalid(metadata.prebuilt_path, prebuilt, ",".join(faults)))
    return errors


def _max_exec(metadata: Metadata) -> list[FieldError]:
    value = (metadata.labels or {}).get(MAX_EXEC_TIME)
    if value is None:
        return []
    if fault := integer_fault(value):
        return [invalid(_MAX_EXEC, value, fault)]
    return [invalid(_MAX_EXEC, int(value), "should be greater than 0")] if int(value) <= 0 else []


def _not_of_this_kind(name: str, kind: Kind, metadata: Metadata) -> list[FieldError]:
    told = f'"{kind.api_version}, Kind={kind.kind}"'
    errors = []
    if metadata.prebuilt and name not in _MAY_BE_PREBUILT:
        errors.append(forbidden(metadata.prebuilt_path, f"Is not supported for {told}"))
    if metadata.elastic and name not in _MAY_BE_ELASTIC:
        errors.append(forbidden(_ELASTIC, f"elastic job is not supported for {told}"))
    return errors


def _queue_update(job: Standing, old: Metadata, has_default_queue: bool) -> list[FieldError]:
    queue, before = job.metadata.label(QUEUE_NAME), old.label(QUEUE_NAME)
    errors = []
    if not job.suspended and queue != before:
        errors.append(invalid(_QUEUE, queue, IMMUTABLE))
    if before and not queue and has_default_queue:
        errors.append(invalid(_QUEUE, "", "queue-name must not be empty in namespace with default queue"))
    return errors


def _while_running(job: Standing, old: Standing) -> list[FieldError]:
    metadata, before = job.metadata, old.metadata
    errors = []
    if not job.suspended and not before.elastic and metadata.prebuilt != before.prebuilt:
        errors.append(invalid(metadata.prebuilt_path, metadata.prebuilt, IMMUTABLE))
    if not (job.suspended and old.suspended) and metadata.label(MAX_EXEC_TIME) != before.label(MAX_EXEC_TIME):
        errors.append(invalid(_MAX_EXEC, metadata.label(MAX_EXEC_TIME), IMMUTABLE))
    return errors


def _priority_update(job: Standing, old: Metadata) -> list[FieldError]:
    """It may always change to another class: running work is re-ranked, too."""
    priority, before = job.metadata.label(PRIORITY_CLASS), old.label(PRIORITY_CLASS)
    if priority and not before and not job.suspended:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        return [invalid(_PRIORITY, priority, why)]
    if before and not priority:
        return [invalid(_PRIORITY, "", "WorkloadPriorityClass cannot be removed from a workload")]
    return []


def _elastic_update(metadata: Metadata, old: Metadata) -> list[FieldError]:
    return [] if metadata.elastic == old.elastic else [invalid(_ELASTIC, metadata.elastic, IMMUTABLE)]
