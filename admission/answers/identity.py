"""Who a new job or Workload belongs to: its owner's user, else whoever creates it."""

from collections.abc import Sequence

import msgspec

from admission.answers.request import PatchOperation, Request, View
from admission.api.documents import Document, may_mention, view
from admission.api.field_errors import FieldError
from admission.readers.narrow import mapping, strings
from admission.stamping.ancestors import OwnerReference, managed_owner
from admission.stamping.identity import (
    TRUSTED,
    Annotations,
    changed,
    creator,
    kept,
    speaks,
    stated,
    written,
)
from admission.validation.stamps import stamps_changed

Identified = tuple[tuple[PatchOperation, ...], tuple[str, ...]]  # patch, warnings
_NOTHING: Identified = ((), ())
_MARK = b"lockgate.dev/"


class _Metadata(msgspec.Struct, rename="camel"):
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def identified(
    annotations: Annotations, owners: Sequence[OwnerReference] | None, request: Request, around: View
) -> Identified:
    """For a new job: nothing is written while no policy asks, and nobody else may write it even then."""
    policies = around.queue_policies
    if not policies and not speaks(annotations):
        return _NOTHING
    if _is_ours(request, around) or (TRUSTED in request.groups and speaks(annotations)):
        return _NOTHING
    above = managed_owner(list(owners or ()), around.job_kinds)
    found = around.owner(request.namespace, above.api_version, above.kind, above.name) if above is not None else None
    owner = mapping((found or {}).get("metadata"))
    if above is not None and owner.get("uid") == above.uid:
        return written(annotations, stated(strings(owner.get("annotations"))))
    return written(annotations, creator(request.username, request.groups, policies.groups))


def identified_workload(document: Document, request: Request, around: View) -> Identified:
    """A Workload has the user of its job; one that somebody made by hand has theirs."""
    if not around.queue_policies and not may_mention(document, _MARK):
        return _NOTHING
    metadata = view(document, _Object).metadata
    return identified(metadata.annotations, metadata.owner_references, request, around)


def _is_ours(request: Request, around: View) -> bool:
    """Our controller, which tells of every Workload whose job it is for."""
    return request.username.startswith(f"system:serviceaccount:{around.configuration.namespace}:")


def identity_kept(annotations: Annotations, before: Annotations) -> tuple[PatchOperation, ...]:
    """For a change of a job."""
    return kept(annotations, before) if speaks(before) else ()


def identity_errors(document: Document, before: Document | None) -> list[FieldError]:
    """For a change: whose it is stays as it was, and so does what stamping noted."""
    if before is None or not (may_mention(document, _MARK) or may_mention(before, _MARK)):
        return []
    now, then = view(document, _Object).metadata, view(before, _Object).metadata
    return [*changed(now.annotations, then.annotations), *stamps_changed(now.annotations, then.annotations)]
