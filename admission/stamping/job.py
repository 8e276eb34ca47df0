"""What a Job gets on its way in: a queue if its namespace has a default one, and it is held until it may start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from admission.api.documents import Document, view
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME, WORKLOAD_ANNOTATION
from admission.stamping.ancestors import FindOwner, OwnerReference, managed_ancestor, managed_owner
from admission.stamping.patches import PatchOperation, set_entry, set_field

DEFAULT_LOCAL_QUEUE = "default"  # the LocalQueue whose mere existence makes it the namespace's default
DEFAULT_PRIORITY_CLASS = "default"  # likewise, the cluster's


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the cluster around a job says about it."""

    has_default_queue: bool
    namespace_is_managed: bool  # matches managedJobsNamespaceSelector
    manage_without_queue_name: bool
    owner: FindOwner
    has_priority_class: Callable[[str], bool] | None = None  # None: nobody gets one by default


class Stamp(NamedTuple):
    patch: tuple[PatchOperation, ...] = ()
    warnings: tuple[str, ...] = ()


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None


class _Template(msgspec.Struct):
    metadata: _Metadata | None = None


class _Spec(msgspec.Struct):
    suspend: bool | None = None
    template: _Template | None = None


class _Job(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def queue_name(self) -> str:
        return (self.metadata.labels or {}).get(QUEUE_NAME, "")

    @property
    def carries_admission(self) -> bool:
        """Starting a job marks its pods with their Workload in the same write that releases it."""
        template = self.spec.template
        marks = (template.metadata.annotations if template and template.metadata else None) or {}
        return WORKLOAD_ANNOTATION in marks


def stamp_job(document: Document, around: Surroundings) -> Stamp:
    """For a new job: default queue, default class, then suspended if it is ours. Raises Unreadable, NestedTooDeeply."""
    job = view(document, _Job)
    operations = []
    labels, queue_name = job.metadata.labels, job.queue_name
    if not queue_name and _takes_default_queue(job, around):
        queue_name = DEFAULT_LOCAL_QUEUE
        operations.append(set_entry(("metadata", "labels"), labels, QUEUE_NAME, queue_name))
        labels = {**(labels or {}), QUEUE_NAME: queue_name}
    if not (labels or {}).get(PRIORITY_CLASS) and _takes_default_class(job, around):
        operations.append(set_entry(("metadata", "labels"), labels, PRIORITY_CLASS, DEFAULT_PRIORITY_CLASS))
    if not job.spec.suspend and _must_wait(job, queue_name, around):
        operations.append(set_field(("spec", "suspend"), True))
    return Stamp(tuple(operations))


def keep_held(document: Document, before: Document, around: Surroundings) -> Stamp:
    """For a change: a manifest that says `suspend: false`, applied again while the job waits, does not start it.

    The product's own start is known by the mark of admission on the pod template. Raises Unreadable, NestedTooDeeply.
    """
    job, old = view(document, _Job), view(before, _Job)
    if job.spec.suspend or not old.spec.suspend or job.carries_admission:
        return Stamp()
    if not _must_wait(job, job.queue_name, around):
        return Stamp()
    waits = f"in LocalQueue {job.queue_name}" if job.queue_name else "for admission"
    return Stamp(
        (set_field(("spec", "suspend"), True),),
        (f"spec.suspend: kept at true, the job waits {waits} and is started on admission",),
    )


def _takes_default_queue(job: _Job, around: Surroundings) -> bool:
    return (
        around.has_default_queue
        and around.namespace_is_managed
        and managed_owner(job.metadata.owner_references) is None
    )


def _takes_default_class(job: _Job, around: Surroundings) -> bool:
    return (
        around.has_priority_class is not None
        and managed_owner(job.metadata.owner_references) is None
        and around.has_priority_class(DEFAULT_PRIORITY_CLASS)
    )


def _must_wait(job: _Job, queue_name: str, around: Surroundings) -> bool:
    """Kueue's rule: naming a queue suffices, even where nobody serves the namespace."""
    if job.metadata.deletion_timestamp is not None:
        return False
    without = around.manage_without_queue_name
    if not queue_name and not (without and around.namespace_is_managed):
        return False
    return managed_ancestor(job.metadata.owner_references, around.owner, without) is None
