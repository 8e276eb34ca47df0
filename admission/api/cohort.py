"""Cohort: a node of the tree in which queues lend each other quota."""

from typing import Any

from admission.api.quotas import ResourceGroups
from admission.api.shapes import FairSharing, Name, Shape, Share


class CohortSpec(Shape):
    """Its place in the tree, and what it owns itself."""

    parent_name: Name | None = None
    """The cohort above; none means a root."""
    resource_groups: ResourceGroups | None = None
    """Quotas that belong to no single queue: all below may borrow them."""
    fair_sharing: FairSharing | None = None
    """How this cohort competes with its siblings."""


class CohortStatus(Shape):
    """Where it stands."""

    fair_sharing: Share | None = None
    """Where the cohort stands in fair sharing, if that is on."""


class Cohort(Shape):
    """A node of the tree in which queues lend each other quota; only needed for a parent or quotas of its own."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: CohortSpec | None = None
    """Its place in the tree, and what it owns itself."""
    status: CohortStatus | None = None
    """Where it stands; written by the controller."""
