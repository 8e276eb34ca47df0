"""Plain Pods: they are not queued, but stamped as profiles want it, and judged by Koordinator's rules.

Every pod of a cluster would pass through here. So it is only asked for while the cluster has something that is about
Pods: `verbs` says what for.
"""

import msgspec

from admission.answers.hooks import Verb
from admission.answers.request import Answer, Request, View
from admission.answers.stamping import stamped_by_rules
from admission.api.documents import Document, view, whole
from admission.api.field_errors import FieldError
from admission.readers.metadata import read_owner
from admission.readers.narrow import mapping, strings
from admission.stamping.incoming import Metadata
from admission.validation.accelerators import faults
from admission.validation.elastic_quota import validate_pod_quota
from admission.validation.qos import check_pod_qos


class _Pod(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)


def verbs(around: View) -> tuple[Verb, ...]:
    """What there is to do about Pods. Who has Koordinator's priority classes, or quotas, speaks its language, and is
    told of mistakes in it."""
    classes = (around.pod_priority_class(band.priority_class) for band in around.configuration.koordinator.bands)
    stamps = bool(around.colocation_profiles) or any("Pod" in one.match.kinds for one in around.job_profiles)
    judges = stamps or bool(around.elastic_quotas().by_name) or any(one is not None for one in classes)
    return (*(("mutate",) if stamps else ()), *(("validate",) if judges else ()))


def stamped_pod(document: Document, request: Request, around: View) -> tuple[Answer, list[FieldError]]:
    """The answer, unless there are complaints. Raises Unreadable, CannotStamp."""
    said = stamped_by_rules("Pod", None, document, view(document, _Pod).metadata, request, around)
    return Answer(patch=said.patch, warnings=said.warnings), list(said.refusals)


def check_pod(document: Document, before: Document | None, request: Request, around: View) -> list[FieldError]:
    """What it asks for accelerators is judged once, of a pod that somebody writes by hand; else where its template is.

    Raises Unreadable.
    """
    if view(document, _Pod).metadata.deletion_timestamp is not None:
        return []  # it must be able to lose its finalizers
    pod, old = whole(document), None if before is None else whole(before)
    labels, were = (None if one is None else strings(mapping(one.get("metadata")).get("labels")) for one in (pod, old))
    koordinator = around.configuration.koordinator
    return [
        *check_pod_qos(pod, old, koordinator, koordinator.value_of(around.pod_priority_class)),
        *validate_pod_quota(labels or {}, were, request.namespace, around.elastic_quotas()),
        *(faults(pod, around.accelerators) if before is None and read_owner(pod) is None else ()),
    ]
