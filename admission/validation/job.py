"""What a batch Job must not say about its size, and what must not change about that while it runs."""

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError, forbidden, invalid, key
from admission.model.booleans import is_bool, is_true
from admission.model.kinds import KINDS
from admission.model.names import (
    COMPLETIONS_EQUAL_PARALLELISM,
    MIN_PARALLELISM,
    PREFERRED_TOPOLOGY,
    REQUIRED_TOPOLOGY,
    STOPPING,
)
from admission.validation.go_numbers import integer_fault
from admission.validation.job_labels import Metadata, Standing, check_labels
from admission.validation.syntax import IMMUTABLE
from admission.validation.topology_annotations import check_topology_annotations

_MIN_PARALLELISM = key("metadata.annotations", MIN_PARALLELISM)
_SYNC = key("metadata.annotations", COMPLETIONS_EQUAL_PARALLELISM)
_TEMPLATE = "spec.template.metadata.annotations"


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
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def standing(self) -> Standing:
        return Standing(self.metadata, self.suspended)

    @property
    def suspended(self) -> bool:
        """A job being stopped still counts as running until its template is restored."""
        return bool(self.spec.suspend) and self.metadata.annotation(STOPPING) != "true"

    @property
    def parallelism(self) -> int:
        return 1 if self.spec.parallelism is None else self.spec.parallelism

    @property
    def pods(self) -> int:
        completions = self.spec.completions
        return self.parallelism if completions is None else min(self.parallelism, completions)

    @property
    def syncs_completions(self) -> bool:
        return is_true(self.metadata.annotation(COMPLETIONS_EQUAL_PARALLELISM))

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
    old = None if before is None else view(before, _Job)
    standing = None if old is None else old.standing
    errors = check_labels("Job", KINDS["Job"], job.standing, standing, has_default_queue, gated)
    # Starting it with fewer pods is no mistake of its author: what was accepted once is not judged again.
    changed = old is None or job.metadata.annotation(MIN_PARALLELISM) != old.metadata.annotation(MIN_PARALLELISM)
    return [
        *errors,
        *(_min_parallelism(job) if changed else ()),
        *_sync_completions(job),
        *(_partial_update(job, old) if old is not None else ()),
        *_topology(job),
    ]


def _min_parallelism(job: _Job) -> list[FieldError]:
    value = job.metadata.annotation(MIN_PARALLELISM)
    if value is None:
        return []
    errors = []
    if fault := integer_fault(value):
        errors.append(invalid(_MIN_PARALLELISM, value, fault))
    elif not 0 < int(value) < job.pods:
        errors.append(invalid(_MIN_PARALLELISM, int(value), f"should be between 0 and {job.pods - 1}"))
    if job.metadata.elastic:
        errors.append(invalid(_MIN_PARALLELISM, value, "partial admission and elastic job cannot be used together"))
    return errors


def _sync_completions(job: _Job) -> list[FieldError]:
    value = job.metadata.annotation(COMPLETIONS_EQUAL_PARALLELISM)
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


def _topology(job: _Job) -> list[FieldError]:
    """An elastic job grows wherever there is room, so it cannot ask to stay together."""
    found = job.template_annotations
    if errors := check_topology_annotations(_TEMPLATE, found, job.pods):
        return errors
    for name, word in ((REQUIRED_TOPOLOGY, "required"), (PREFERRED_TOPOLOGY, "preferred")):
        if job.metadata.elastic and name in (found or {}):
            return [forbidden(f"{_TEMPLATE}.{name}", f"{word} topology is not supported with elastic jobs")]
    return []


def _partial_update(job: _Job, old: _Job) -> list[FieldError]:
    errors = []
    if (
        old.metadata.annotation(MIN_PARALLELISM) is not None
        and not old.spec.suspend
        and job.parallelism != old.parallelism
    ):
        why = "cannot change when partial admission is enabled and the job is not suspended"
        errors.append(forbidden("spec.parallelism", why))
    both_run = not job.suspended and not old.suspended
    if both_run and job.syncs_completions != old.syncs_completions:
        errors.append(forbidden(_SYNC, f"{IMMUTABLE} while the job is not suspended"))
    return errors
