"""Resource groups as ClusterQueues and Cohorts share them, and the totals that their statuses report."""

from typing import Annotated

from pydantic import Field

from admission.api.rules import SAME_RESOURCES
from admission.api.shapes import ATOMIC, Name, Quantity, Shape, map_by, ruled


class ResourceQuota(Shape):
    """The quota of one resource in one flavor."""

    name: str
    """The resource, like cpu or nvidia.com/gpu."""
    nominal_quota: Quantity
    """What is owned: free to use at any time."""
    borrowing_limit: Quantity | None = None
    """The most that may be borrowed from the cohort on top; none means as much as the cohort has."""
    lending_limit: Quantity | None = None
    """The most of the nominal quota that others in the cohort may use; none means all of it."""


class FlavorQuotas(Shape):
    """The quotas of one flavor."""

    name: Name
    """The ResourceFlavor."""
    resources: Annotated[list[ResourceQuota], Field(min_length=1, max_length=64), map_by("name")]
    """One entry for each covered resource, in their order."""


class ResourceGroup(Shape):
    """Resources that a pod set gets from one and the same flavor."""

    model_config = ruled(SAME_RESOURCES)

    covered_resources: Annotated[list[str], Field(min_length=1, max_length=64), ATOMIC]
    """The resources; each may be in one group only."""
    flavors: Annotated[list[FlavorQuotas], Field(min_length=1, max_length=64), map_by("name")]
    """The flavors that provide them, in the order in which they are tried."""


ResourceGroups = Annotated[list[ResourceGroup], Field(max_length=16), ATOMIC]


class ResourceUsage(Shape):
    """How much of one resource is in use."""

    name: str
    """The resource."""
    total: Quantity | None = None
    """All that is in use."""


class BorrowedUsage(ResourceUsage):
    """How much of one resource is in use, and how much of that is borrowed."""

    borrowed: Quantity | None = None
    """What of it is beyond the nominal quota."""


class FlavorUsage(Shape):
    """Usage of one flavor."""

    name: Name
    """The ResourceFlavor."""
    resources: Annotated[list[ResourceUsage], Field(max_length=64), map_by("name")]
    """Usage by resource."""


class FlavorBorrowedUsage(Shape):
    """Usage of one flavor, and how much of it is borrowed."""

    name: Name
    """The ResourceFlavor."""
    resources: Annotated[list[BorrowedUsage], Field(max_length=64), map_by("name")]
    """Usage by resource."""
