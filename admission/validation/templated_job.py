"""What is refused about a job of any kind but batch Job: labels as for all, topology on each of its pod templates, and
what only its kind has rules for."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from admission.api.documents import Document, view, whole
from admission.api.field_errors import FieldError
from admission.jobs.descriptor import Descriptor, Manifest
from admission.model.kinds import kind_of
from admission.model.names import QUEUE_NAME
from admission.validation.job_labels import Metadata, Standing, check_labels
from admission.validation.pod_templates import check_pod_templates
from admission.validation.ray import check_ray_cluster, check_ray_job
from admission.validation.spark import check_spark_application
from admission.validation.unchanged import unchanged
from admission.validation.workflow import check_workflow

# Rules of one kind, for jobs that are managed: the job as it would be stored -> complaints.
_OWN: Mapping[str, Callable[[Manifest], list[FieldError]]] = {
    "RayCluster": check_ray_cluster,
    "RayJob": check_ray_job,
    "SparkApplication": check_spark_application,
    "Workflow": check_workflow,
}
# Of these Kueue judges an update only if the job is, or was, one to manage.
_LEFT_ALONE_UNQUEUED = frozenset(("RayJob", "RayCluster", "SparkApplication"))


class Around(NamedTuple):
    has_default_queue: bool  # a LocalQueue `default` exists in its namespace
    gated: bool  # admission gates are in use
    manage_without_queue_name: bool
    judge_who_leaves: bool  # also a Ray or Spark job that has just lost its queue


class _Labelled(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)


def check_templated_job(
    name: str, descriptor: Descriptor, document: Document, before: Document | None, around: Around
) -> list[FieldError]:
    """`name`: of the kind, as in `Ref.kind`. Raises Unreadable."""
    metadata = view(document, _Labelled).metadata
    old = None if before is None else view(before, _Labelled).metadata
    if metadata.deletion_timestamp is not None or _passes(name, metadata, old, around):
        return []
    if before is not None and old is not None and _same_words(metadata, old) and unchanged(document, before, "spec"):
        return []  # finalizers, status: they must pass however wrong the rest of old is
    manifest = whole(document)
    job = Standing(metadata, descriptor.hold.holds(manifest))
    standing = None if before is None or old is None else Standing(old, descriptor.hold.holds(whole(before)))
    errors = check_labels(name, kind_of(name), job, standing, around.has_default_queue, around.gated)
    if name in _OWN and (metadata.label(QUEUE_NAME) or around.manage_without_queue_name):
        errors = [*_OWN[name](manifest), *errors]
    return [*errors, *check_pod_templates(name, descriptor, manifest)]


def _passes(name: str, metadata: Metadata, old: Metadata | None, around: Around) -> bool:
    if old is None or name not in _LEFT_ALONE_UNQUEUED or around.manage_without_queue_name:
        return False
    return not (metadata.label(QUEUE_NAME) or (around.judge_who_leaves and old.label(QUEUE_NAME)))


def _same_words(metadata: Metadata, old: Metadata) -> bool:
    return metadata.labels == old.labels and metadata.annotations == old.annotations
