"""Fields that v1beta1 has and v1beta2 has not, or has under another name; see `v1beta1` for where they are."""

from typing import Annotated, Literal

from pydantic import Field

from admission.api.cluster_queue import CheckRule
from admission.api.local_queue import Consumption
from admission.api.quotas import FlavorUsage
from admission.api.resource_flavor import Taint
from admission.api.shapes import (
    ATOMIC,
    SET,
    CheckName,
    Int32,
    Int64,
    Labels,
    Name,
    Positive,
    Schema,
    Shape,
    Time,
    map_by,
)


class AdmissionCheckSpec(Shape):
    """Who decides."""

    retry_delay_minutes: Int64 = 15
    """Has no effect any more."""


class ClusterQueueSpec(Shape):
    """What is owned."""

    cohort: Name | None = None
    """The cohort whose members lend each other what they leave unused; none means alone."""
    admission_checks: Annotated[list[CheckName], Field(max_length=64)] | None = None
    """AdmissionChecks that all workloads need; takes the place of admissionChecksStrategy."""


class ChecksStrategy(Shape):
    """Which AdmissionChecks a workload needs."""

    admission_checks: Annotated[list[CheckRule], Field(max_length=64), map_by("name")] | None = None
    """The checks; all that apply must be Ready before a workload with quota is admitted."""


class FlavorFungibility(Shape):
    """When the search for a flavor goes on."""

    when_can_borrow: Literal["MayStopSearch", "TryNextFlavor", "Borrow"] = "MayStopSearch"
    """A workload fits a flavor by borrowing: take it, or look at the next one first. Borrow means MayStopSearch."""
    when_can_preempt: Literal["MayStopSearch", "TryNextFlavor", "Preempt"] = "TryNextFlavor"
    """A workload fits a flavor after preemption: take it, or look at the next one first. Preempt means
    MayStopSearch."""


class PendingWorkload(Shape):
    """A workload that waits."""

    name: str
    """Its name."""
    namespace: str
    """Its namespace."""


class PendingWorkloadsStatus(Shape):
    """Who waited."""

    cluster_queue_pending_workload: Annotated[list[PendingWorkload], ATOMIC] | None = None
    """The first in line."""
    last_change_time: Time
    """When that was last written."""


class ClusterQueueStatus(Shape):
    """Who waits."""

    pending_workloads_status: PendingWorkloadsStatus | None = None
    """Is not kept any more; ask the visibility API."""


class Share(Shape):
    """Where an object stands in fair sharing."""

    admission_fair_sharing_status: Consumption | None = None
    """Only kept of a LocalQueue."""


class FlavorTopology(Shape):
    """How the nodes of a flavor are arranged."""

    name: Name
    """The Topology."""
    levels: Annotated[list[str], Field(min_length=1, max_length=16), ATOMIC]
    """Its node labels."""


class LocalQueueFlavor(Shape):
    """A flavor that workloads of the queue may get."""

    name: Name
    """The ResourceFlavor."""
    resources: Annotated[list[str], Field(max_length=64), SET] | None = None
    """The resources that it has quota for."""
    node_labels: Annotated[Labels, Field(max_length=8), Schema({"x-kubernetes-map-type": "atomic"})] | None = None
    """Labels of its nodes."""
    node_taints: Annotated[list[Taint], Field(max_length=8), ATOMIC] | None = None
    """Taints of its nodes."""
    topology: FlavorTopology | None = None
    """How its nodes are arranged."""


class LocalQueueStatus(Shape):
    """What is in use."""

    flavor_usage: Annotated[list[FlavorUsage], Field(max_length=64), map_by("name")] | None = None
    """Quota that admitted workloads use."""
    flavors: Annotated[list[LocalQueueFlavor], Field(max_length=64), map_by("name")] | None = None
    """Is not kept any more."""


class WorkloadSpec(Shape):
    """How urgent it is."""

    priority_class_name: Name | None = None
    """The class that the priority comes from."""
    priority_class_source: Literal["kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass", ""] = ""
    """The sort of that class."""


class Domain(Shape):
    """One place that pods go to."""

    values: Annotated[list[Annotated[str, Field(max_length=63)]], Field(min_length=1, max_length=16), ATOMIC]
    """Its name, level by level."""
    count: Positive
    """How many pods."""


class TopologyAssignment(Shape):
    """The domains that the pods go to."""

    domains: list[Domain]
    """The domains."""


class WorkloadStatus(Shape):
    """Where it stands."""

    accumulated_past_exexcution_time_seconds: Int32 | None = None
    """How long it ran in earlier admissions. The name has always been spelled so."""
