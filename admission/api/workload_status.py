"""The parts of a Workload's status."""

from typing import Annotated, Literal

from pydantic import Field

from admission.api.shapes import (
    ATOMIC,
    CheckName,
    Count,
    Labels,
    Name,
    PodSetName,
    Quantities,
    Shape,
    Time,
    Tolerations,
    map_by,
)
from admission.api.topology_assignment import DelayedRequest, TopologyAssignment

GateName = Annotated[str, Field(min_length=1, max_length=63)]


class PodSetAssignment(Shape):
    """What one pod set holds."""

    name: PodSetName = "main"
    """The pod set."""
    flavors: dict[str, Name] | None = None
    """The flavor of each resource."""
    resource_usage: Quantities | None = None
    """What all its pods use together, by resource."""
    count: Count | None = None
    """How many pods that is for."""
    topology_assignment: TopologyAssignment | None = None
    """The domains that the pods go to."""
    delayed_topology_request: DelayedRequest | None = None
    """Whether the domains are still to be found."""


class Admission(Shape):
    """The quota that a workload holds."""

    cluster_queue: Name | None = None
    """Whose quota it is."""
    pod_set_assignments: Annotated[list[PodSetAssignment], Field(max_length=18), map_by("name")] | None = None
    """What each pod set holds."""


class RequeueState(Shape):
    """When a workload may try again after an eviction."""

    count: Count | None = None
    """How often it was put back."""
    requeue_at: Time | None = None
    """Not before this time."""


class ReclaimablePod(Shape):
    """Pods of one pod set that need their quota no more."""

    name: PodSetName
    """The pod set."""
    count: Count
    """How many of its pods."""


class PodSetUpdate(Shape):
    """What a check wants the pods of one pod set to have when they start."""

    name: PodSetName
    """The pod set."""
    labels: Labels | None = None
    """Labels of the pods."""
    annotations: Labels | None = None
    """Annotations of the pods."""
    node_selector: Labels | None = None
    """Labels that their nodes must have."""
    tolerations: Tolerations | None = None
    """Taints that they tolerate."""


class CheckState(Shape):
    """What one AdmissionCheck says."""

    name: CheckName
    """The check."""
    state: Literal["Pending", "Ready", "Retry", "Rejected"]
    """Ready lets the workload start; Retry and Rejected take its quota, Rejected for good."""
    last_transition_time: Time
    """When the state last changed."""
    message: Annotated[str, Field(max_length=32768)]
    """Why, for people."""
    requeue_after_seconds: Count | None = None
    """With Retry: how long to wait."""
    retry_count: Count | None = None
    """How often it said Retry."""
    pod_set_updates: Annotated[list[PodSetUpdate], Field(max_length=18), ATOMIC] | None = None
    """What the pods should have when they start."""


class PodSetRequest(Shape):
    """What the scheduler took the pods of one pod set to ask for."""

    name: PodSetName
    """The pod set."""
    resources: Quantities | None = None
    """All its pods together, by resource."""


class EvictionCount(Shape):
    """How often a workload was evicted for one reason."""

    reason: Annotated[str, Field(max_length=316)]
    """The reason of the Evicted condition."""
    underlying_cause: Annotated[str, Field(max_length=316)]
    """What was behind it, where that says more."""
    count: Count
    """How often."""


class NodeName(Shape):
    """A node."""

    name: Annotated[str, Field(max_length=63)]
    """Its name."""


class GateState(Shape):
    """Whether a gate is open."""

    name: GateName
    """The gate."""
    position: Literal["Closed", "Open"]
    """Open lets the workload preempt."""
    last_transition_time: Time
    """When the position last changed."""
