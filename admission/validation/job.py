"""What a Job's labels and annotations must not say, and what must not change about them while it runs."""

import re

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, forbidden, invalid, key
from admission.model.booleans import is_bool, is_true
from admission.model.names import (
    COMPLETIONS_EQUAL_PARALLELISM,
    ELASTIC_JOB,
    MAX_EXEC_TIME,
    MIN_PARALLELISM,
    PREBUILT_WORKLOAD,
    PREFERRED_TOPOLOGY,
    PRIORITY_CLASS,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
    STOPPING,
)
from admission.validation.gates import check_gates
from admission.validation.syntax import IMMUTABLE, subdomain_faults
from admission.validation.topology_annotations import check_topology_annotations

_QUEUE = key("metadata.labels", QUEUE_NAME)
_MAX_EXEC = key("metadata.labels", MAX_EXEC_TIME)
_PRIORITY = key("metadata.labels", PRIORITY_CLASS)
_MIN_PARALLELISM = key("metadata.annotations", MIN_PARALLELISM)
_SYNC = key("metadata.annotations", COMPLETIONS_EQUAL_PARALLELISM)
_ELASTIC = key("metadata.annotations", ELASTIC_JOB)
_TEMPLATE = "spec.template.metadata.annotations"

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}").fullmatch  # what fits an int64 however it is spelled


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _TemplateMetadata(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _TemplateMetadata | None = None


class _Spec(msgspec.Struct, rename="camel"):
    suspend: bool | None = None
    template: _Template | None = None
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None


class _Job(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)

    def label(self, name: str) -> str:
        return (self.metadata.labels or {}).get(name, "")

    def annotation(self, name: str) -> str | None:
        return (self.metadata.annotations or {}).get(name)

    @property
    def suspended(self) -> bool:
        """A job being stopped still counts as running until its template is restored."""
        return bool(self.spec.suspend) and self.annotation(STOPPING) != "true"

    @property
    def parallelism(self) -> int:
        return 1 if self.spec.parallelism is None else self.spec.parallelism

    @property
    def pods(self) -> int:
        completions = self.spec.completions
        return self.parallelism if completions is None else min(self.parallelism, completions)

    @property
    def prebuilt(self) -> str:
        return self.annotation(PREBUILT_WORKLOAD) or self.label(PREBUILT_WORKLOAD)

    @property
    def prebuilt_path(self) -> str:
        where = "annotations" if self.annotation(PREBUILT_WORKLOAD) else "labels"
        return key(f"metadata.{where}", PREBUILT_WORKLOAD)

    @property
    def syncs_completions(self) -> bool:
        return is_true(self.annotation(COMPLETIONS_EQUAL_PARALLELISM))

    @property
    def elastic(self) -> bool:
        return self.annotation(ELASTIC_JOB) == "true"

    @property
    def template_annotations(self) -> dict[str, str] | None:
        template = self.spec.template
        return template.metadata.annotations if template and template.metadata else None


def check_job(
    document: Document, before: Document | None, has_default_queue: bool, gated: bool = True
) -> list[FieldError]:
    """`has_default_queue`: a LocalQueue `default` exists in its namespace. `gated`: admission gates are in use.

    Raises Unreadable.
    """
    job = view(document, _Job)
    if job.metadata.deletion_timestamp is not None:
        return []
    errors = [*_names(job), *_max_exec(job)]
    if before is None:
        gates = check_gates(job.metadata.annotations) if gated else []
        return [*errors, *gates, *_min_parallelism(job), *_sync_completions(job), *_topology(job)]
    old = view(before, _Job)
    gates = check_gates(job.metadata.annotations, old.metadata.annotations, created=False) if gated else []
    changed = job.annotation(MIN_PARALLELISM) != old.annotation(MIN_PARALLELISM)
    return [
        *errors,
        *(_min_parallelism(job) if changed else ()),  # starting it with fewer pods is no mistake of its author
        *_sync_completions(job),
        *_queue_update(job, old, has_default_queue),
        *_while_running(job, old),
        *_priority_update(job, old),
        *_elastic_update(job, old),
        *gates,
        *_partial_update(job, old),
        *_topology(job),
    ]


def _names(job: _Job) -> list[FieldError]:
    queue, prebuilt = (job.metadata.labels or {}).get(QUEUE_NAME), job.prebuilt
    errors = []
    if faults := subdomain_faults(queue) if queue is not None else []:
        errors.append(invalid(_QUEUE, queue, ",".join(faults)))
    if faults := subdomain_faults(prebuilt) if prebuilt else []:
        errors.append(invalid(job.prebuilt_path, prebuilt, ",".join(faults)))
    return errors


def _max_exec(job: _Job) -> list[FieldError]:
    value = (job.metadata.labels or {}).get(MAX_EXEC_TIME)
    if value is None:
        return []
    if not _INTEGER(value):
        return [invalid(_MAX_EXEC, value, f'strconv.Atoi: parsing "{value}": invalid syntax')]
    return [invalid(_MAX_EXEC, int(value), "should be greater than 0")] if int(value) <= 0 else []


def _min_parallelism(job: _Job) -> list[FieldError]:
    value = job.annotation(MIN_PARALLELISM)
    if value is None:
        return []
    errors = []
    if not _INTEGER(value):
        errors.append(invalid(_MIN_PARALLELISM, value, f'strconv.Atoi: parsing "{value}": invalid syntax'))
    elif not 0 < int(value) < job.pods:
        errors.append(invalid(_MIN_PARALLELISM, int(value), f"should be between 0 and {job.pods - 1}"))
    if job.elastic:
        errors.append(invalid(_MIN_PARALLELISM, value, "partial admission and elastic job cannot be used together"))
    return errors


def _sync_completions(job: _Job) -> list[FieldError]:
    value = job.annotation(COMPLETIONS_EQUAL_PARALLELISM)
    if value is None:
        return []
    if not is_bool(value):
        return [invalid(_SYNC, value, f'strconv.ParseBool: parsing "{value}": invalid syntax')]
    if not is_true(value):
        return []
    errors = []
    if job.spec.completion_mode in (None, "NonIndexed"):
        errors.append(invalid(_SYNC, value, "should not be enabled for NonIndexed jobs"))
    completions = job.spec.completions
    if job.parallelism != (1 if completions is None else completions):
        why = f"should be equal to parallelism when {COMPLETIONS_EQUAL_PARALLELISM} annotation is true"
        errors.append(invalid("spec.completions", completions, why))
    return errors


def _queue_update(job: _Job, old: _Job, has_default_queue: bool) -> list[FieldError]:
    queue, before = job.label(QUEUE_NAME), old.label(QUEUE_NAME)
    errors = []
    if not job.suspended and queue != before:
        errors.append(invalid(_QUEUE, queue, IMMUTABLE))
    if before and not queue and has_default_queue:
        errors.append(invalid(_QUEUE, "", "queue-name must not be empty in namespace with default queue"))
    return errors


def _while_running(job: _Job, old: _Job) -> list[FieldError]:
    errors = []
    if not job.suspended and not old.elastic and job.prebuilt != old.prebuilt:
        errors.append(invalid(job.prebuilt_path, job.prebuilt, IMMUTABLE))
    if not (job.suspended and old.suspended) and job.label(MAX_EXEC_TIME) != old.label(MAX_EXEC_TIME):
        errors.append(invalid(_MAX_EXEC, job.label(MAX_EXEC_TIME), IMMUTABLE))
    return errors


def _priority_update(job: _Job, old: _Job) -> list[FieldError]:
    """It may always change to another class: running work is re-ranked, too."""
    priority, before = job.label(PRIORITY_CLASS), old.label(PRIORITY_CLASS)
    if priority and not before and not job.suspended:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        return [invalid(_PRIORITY, priority, why)]
    if before and not priority:
        return [invalid(_PRIORITY, "", "WorkloadPriorityClass cannot be removed from a workload")]
    return []


def _elastic_update(job: _Job, old: _Job) -> list[FieldError]:
    return [] if job.elastic == old.elastic else [invalid(_ELASTIC, job.elastic, IMMUTABLE)]


def _topology(job: _Job) -> list[FieldError]:
    """An elastic job grows wherever there is room, so it cannot ask to stay together."""
    found = job.template_annotations
    if errors := check_topology_annotations(_TEMPLATE, found, job.pods):
        return errors
    for name, word in ((REQUIRED_TOPOLOGY, "required"), (PREFERRED_TOPOLOGY, "preferred")):
        if job.elastic and name in (found or {}):
            return [forbidden(f"{_TEMPLATE}.{name}", f"{word} topology is not supported with elastic jobs")]
    return []


def _partial_update(job: _Job, old: _Job) -> list[FieldError]:
    errors = []
    if old.annotation(MIN_PARALLELISM) is not None and not old.spec.suspend and job.parallelism != old.parallelism:
        why = "cannot change when partial admission is enabled and the job is not suspended"
        errors.append(forbidden("spec.parallelism", why))
    both_run = not job.suspended and not old.suspended
    if both_run and job.syncs_completions != old.syncs_completions:
        errors.append(forbidden(_SYNC, f"{IMMUTABLE} while the job is not suspended"))
    return errors
