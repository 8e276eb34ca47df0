"""What a Cohort must not say, beyond its schema."""

import msgspec

from admission.api.documents import Document, view
from admission.api.field_errors import FieldError
from admission.validation.quotas import FairSharing, Group, Rules, check_groups, check_weight


class _Spec(msgspec.Struct, rename="camel"):
    parent_name: str = ""
    resource_groups: list[Group] | None = None
    fair_sharing: FairSharing | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Cohort(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


def check_cohort(document: Document, before: Document | None) -> list[FieldError]:
    """A cohort may promise to lend more than its own quota: it lends what its members own, too. Raises Unreadable."""
    cohort = view(document, _Cohort)
    if cohort.metadata.deletion_timestamp is not None:  # whose finalizers it may have, they must be able to go
        return []
    spec = cohort.spec
    rules = Rules("parent", bool(spec.parent_name), lending_within_nominal=False)
    return [
        *check_weight("spec.fairSharing", spec.fair_sharing),
        *check_groups("spec.resourceGroups", spec.resource_groups or [], rules),
    ]
