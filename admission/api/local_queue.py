"""LocalQueue: a namespace's door to a ClusterQueue."""

from typing import Annotated, Any

from pydantic import Field

from admission.api.quotas import FlavorUsage
from admission.api.rules import IMMUTABLE
from admission.api.shapes import (
    Conditions,
    FairSharing,
    Int32,
    Name,
    Quantities,
    Schema,
    Shape,
    Share,
    StopPolicy,
    Time,
    map_by,
    rules,
)


class LocalQueueSpec(Shape):
    """Where its workloads go."""

    cluster_queue: Annotated[Name, Schema(rules(IMMUTABLE))] | None = None
    """The ClusterQueue that admits its workloads; cannot be changed."""
    stop_policy: StopPolicy = "None"
    """Hold: admit nothing new from here. HoldAndDrain: also evict what is admitted."""
    fair_sharing: FairSharing | None = None
    """How this queue competes with others of the same ClusterQueue when earlier usage counts."""


class Consumption(Shape):
    """What the queue used before."""

    consumed_resources: Quantities
    """Usage by resource, older usage counting less."""
    last_update: Time
    """When that was last computed."""


class LocalQueueShare(Share):
    """Where the queue stands in fair sharing."""

    admission_fair_sharing_status: Consumption | None = None
    """What the queue used before, where that counts."""


class LocalQueueStatus(Shape):
    """What is in use and who waits."""

    conditions: Conditions | None = None
    """Active says whether workloads can be admitted, and if not, why."""
    pending_workloads: Int32 | None = None
    """Workloads that wait for quota."""
    reserving_workloads: Int32 | None = None
    """Workloads that hold quota."""
    admitted_workloads: Int32 | None = None
    """Workloads that are admitted and not finished."""
    flavors_reservation: Annotated[list[FlavorUsage], Field(max_length=64), map_by("name")] | None = None
    """Quota that workloads hold, admitted or still waiting for their checks."""
    flavors_usage: Annotated[list[FlavorUsage], Field(max_length=64), map_by("name")] | None = None
    """Quota that admitted workloads use."""
    fair_sharing: LocalQueueShare | None = None
    """Where the queue stands in fair sharing, if that is on."""


class LocalQueue(Shape):
    """A namespace's door to a ClusterQueue: jobs name it in their label kueue.x-k8s.io/queue-name."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: LocalQueueSpec | None = None
    """Where its workloads go."""
    status: LocalQueueStatus | None = None
    """What is in use and who waits; written by the controller."""
