"""What a new job is stamped with before it is queued: asked for the whole object only where some rule may be for it.

Most clusters have no rules at all, and most rules are for other jobs; then a job costs what it cost without them.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import msgspec

from admission.answers.request import PatchOperation, Request, View
from admission.api.documents import Document, may_mention, whole
from admission.api.documents import view as decoded
from admission.api.field_errors import FieldError
from admission.jobs.descriptor import Descriptor
from admission.jobs.places import value_at
from admission.jobs.pods_within import pods_within, spread
from admission.model.job_profile import JobProfile
from admission.model.names import STAMPED, WRITTEN_BY_STAMPING
from admission.readers.narrow import mapping
from admission.readers.stamps import read_stamps
from admission.stamping.ancestors import managed_owner
from admission.stamping.colocation import COLOCATION, means
from admission.stamping.difference import difference
from admission.stamping.foreign_hints import NAMESPACE_LABEL, named
from admission.stamping.incoming import Metadata
from admission.stamping.matching import Subject, may_be_for
from admission.stamping.pipeline import Rules, stamp_manifest
from admission.stamping.reapplied import translate_again

_BATCH = b"kubernetes.io/batch-"
_ANNOTATIONS = ("metadata", "annotations")
_MARKS = (STAMPED, COLOCATION)  # on pod templates


class ByRules(NamedTuple):
    """`document`: the job as it is now; `patch` leads to it. With refusals it is not to be created."""

    document: Document
    patch: tuple[PatchOperation, ...] = ()
    warnings: tuple[str, ...] = ()
    refusals: tuple[FieldError, ...] = ()


def stamped_by_rules(
    kind: str, descriptor: Descriptor | None, document: Document, metadata: Metadata, request: Request, view: View
) -> ByRules:
    """For a new job, or a Pod (`descriptor` None). A job that is part of another of ours was stamped with it.

    Raises Unreadable, CannotStamp.
    """
    labels = view.namespace_labels(request.namespace)
    subject = Subject(kind, request.namespace, labels, request.username, request.groups)
    systems = named((labels or {}).get(NAMESPACE_LABEL, ""))
    called = subject.called
    profiles = [one for one in view.job_profiles if may_be_for(one, subject, called)]
    if not profiles and not _concerned(subject, document, metadata, systems, view):
        return ByRules(document)
    if descriptor is not None and managed_owner(metadata.owner_references, view.job_kinds) is not None:
        return ByRules(document)
    before = whole(document)
    shallow = not (
        systems or view.colocation_profiles or any(one.foreign_hints or one.stamp.translate for one in profiles)
    )
    spread_out = spread(descriptor, before) if shallow and descriptor is not None else None
    after = _own_copy(document) if spread_out is None else spread_out
    said = stamp_manifest(after, subject, descriptor, rules_of(request, view, systems, profiles))
    if said.refusals:
        return ByRules(document, warnings=said.warnings, refusals=said.refusals)
    patch = difference(before, after)
    return ByRules(after if patch else document, patch, said.warnings)


def kept_stamped(
    kind: str, descriptor: Descriptor, document: Document, before: Document, request: Request, view: View
) -> ByRules:
    """For a changed job: templates that were stamped and come without the mark of it are stamped again, by the profiles
    that have stamped the job; those that keep the mark have their resources translated again.

    Whoever applies a manifest again puts lists back as their author wrote them, and most kinds keep their templates in
    lists. Raises Unreadable, CannotStamp.
    """
    if not may_mention(before, *(mark.encode() for mark in _MARKS)):
        return ByRules(document)
    old, new, after = whole(before), whole(document), _own_copy(document)
    if _unmarked(descriptor, new) <= _unmarked(descriptor, old):
        stored = {str(pod): pod.seen for pod in pods_within(descriptor, dict(old))}
        for pod in pods_within(descriptor, after):
            translate_again(pod.seen, stored.get(str(pod), {}), view.configuration.koordinator.bands)
            pod.keep()
        patch = difference(new, after)
        return ByRules(after if patch else document, patch)
    names = read_stamps(value_at(new, _ANNOTATIONS)) or read_stamps(value_at(old, _ANNOTATIONS))
    profiles = [one for one in view.job_profiles if one.name in names]
    labels = view.namespace_labels(request.namespace)
    subject = Subject(kind, request.namespace, labels, request.username, request.groups)
    said = stamp_manifest(after, subject, descriptor, rules_of(request, view, (), profiles))
    if said.refusals:
        return ByRules(document, warnings=said.warnings, refusals=said.refusals)
    patch = difference(new, after)
    return ByRules(after if patch else document, patch)


def rules_of(
    request: Request, view: View, systems: tuple[str, ...], profiles: Sequence[JobProfile], telling: bool = False
) -> Rules:
    """All that may be stamped. `telling`: with a line for whatever is done."""
    return Rules(
        profiles=profiles,
        colocation=view.colocation_profiles,
        systems=systems,
        class_named=view.pod_priority_class,
        job_kinds=view.job_kinds,
        owner=lambda api_version, kind, name: view.owner(request.namespace, api_version, kind, name),
        koordinator=view.configuration.koordinator,
        uid=request.uid,
        telling=telling,
    )


def _unmarked(descriptor: Descriptor, manifest: Mapping[str, Any]) -> int:
    """How many of its pods show no mark of stamping."""
    told = (mapping(value_at(pod.seen, _ANNOTATIONS)) for pod in pods_within(descriptor, dict(manifest)))
    return sum(1 for annotations in told if not any(mark in annotations for mark in _MARKS))


class _Template(msgspec.Struct):
    metadata: dict[str, Any] | None = None


class _Spec(msgspec.Struct):
    template: _Template | None = None


class _Templated(msgspec.Struct):
    spec: _Spec | None = None


def _concerned(subject: Subject, document: Document, metadata: Metadata, systems: tuple[str, ...], view: View) -> bool:
    if systems or WRITTEN_BY_STAMPING & (metadata.annotations or {}).keys():
        return True
    return bool(view.colocation_profiles) and _colocated(subject, document, metadata, view)


def _colocated(subject: Subject, document: Document, metadata: Metadata, view: View) -> bool:
    """Of the kinds that there are most of, by no more than metadata of the pod or template."""
    match subject.kind:
        case "Pod":
            said: dict[str, Any] = {"labels": metadata.labels, "annotations": metadata.annotations}
            if may_mention(document, _BATCH):
                return True  # what it asks for is noted
        case "Job":
            spec = decoded(document, _Templated).spec
            template = spec.template if spec is not None else None
            said = (template.metadata if template is not None else None) or {}
        case _:
            return True
    return means(view.colocation_profiles, said, subject.namespace_labels)


def _own_copy(document: Document) -> dict[str, Any]:
    """That nobody else holds."""
    if isinstance(document, Mapping):
        return deepcopy(dict(document))
    copy: dict[str, Any] = msgspec.json.decode(document)
    return copy
