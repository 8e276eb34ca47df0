"""Workload: one job's demand, as it waits for quota and as it holds it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from admission.api.shapes import (
    ATOMIC,
    SUBDOMAIN,
    Conditions,
    Count,
    Int32,
    Name,
    PodSetName,
    PodTemplate,
    Positive,
    Shape,
    map_by,
    ruled,
)
from admission.api.topology_assignment import TopologyRequest
from admission.api.workload_rules import (
    CLASS_RULES,
    MIN_WITHIN_COUNT,
    PRIORITY_WITH_CLASS,
    STATUS_RULES,
    WORKLOAD_RULES,
)
from admission.api.workload_status import (
    Admission,
    CheckState,
    EvictionCount,
    GateName,
    GateState,
    NodeName,
    PodSetRequest,
    ReclaimablePod,
    RequeueState,
)


class PodSet(Shape):
    """Pods of one shape."""

    model_config = ruled(MIN_WITHIN_COUNT)

    name: PodSetName = "main"
    """Tells the pod sets of a workload apart."""
    template: PodTemplate
    """What each of the pods looks like."""
    count: Count = 1
    """How many there are."""
    min_count: Positive | None = None
    """With how many the job could do, where that is fewer."""
    topology_request: TopologyRequest | None = None
    """How near each other they must run."""


class PriorityClassRef(Shape):
    """The class that the priority comes from."""

    model_config = ruled(*CLASS_RULES)

    group: Literal["kueue.x-k8s.io", "scheduling.k8s.io"]
    """Its API group."""
    kind: Literal["WorkloadPriorityClass", "PriorityClass"]
    """Its kind."""
    name: Annotated[str, Field(min_length=1, max_length=253, pattern=SUBDOMAIN)]
    """Its name."""


class Gate(Shape):
    """Something that must happen before the workload may preempt others."""

    name: GateName
    """Who has to open it."""


class WorkloadSpec(Shape):
    """What is asked for, of whom, and how urgently."""

    model_config = ruled(PRIORITY_WITH_CLASS)

    pod_sets: Annotated[list[PodSet], Field(min_length=1, max_length=18), map_by("name")] | None = None
    """The pods, grouped by shape; all of them start together."""
    queue_name: Name | None = None
    """The LocalQueue; cannot be changed while quota is held."""
    priority_class_ref: PriorityClassRef | None = None
    """The class that the priority comes from."""
    priority: Int32 | None = None
    """Higher goes first."""
    active: bool = True
    """false takes it out of the queue, or evicts it."""
    maximum_execution_time_seconds: Positive | None = None
    """How long it may run, all its starts together, before it is deactivated."""
    preemption_gates: Annotated[list[Gate], Field(max_length=8), map_by("name")] | None = None
    """What must happen before it may preempt others."""


class SchedulingStats(Shape):
    """What happened to it so far."""

    evictions: Annotated[list[EvictionCount], Field(max_length=256), map_by("reason", "underlyingCause")] | None = None
    """How often it was evicted, and why."""


class WorkloadStatus(Shape):
    """Where it stands."""

    model_config = ruled(*STATUS_RULES)

    conditions: Conditions | None = None
    """QuotaReserved, Admitted, Evicted, Finished and others."""
    admission: Admission | None = None
    """The quota that it holds."""
    requeue_state: RequeueState | None = None
    """When it may try again after an eviction."""
    reclaimable_pods: Annotated[list[ReclaimablePod], Field(max_length=18), map_by("name")] | None = None
    """Pods that have finished and need their quota no more."""
    admission_checks: Annotated[list[CheckState], Field(max_length=8), map_by("name")] | None = None
    """What its admission checks say."""
    resource_requests: Annotated[list[PodSetRequest], Field(max_length=18), map_by("name")] | None = None
    """What the scheduler took its pods to ask for, while it waits."""
    accumulated_past_execution_time_seconds: Int32 | None = None
    """How long it ran in earlier admissions."""
    scheduling_stats: SchedulingStats | None = None
    """What happened to it so far."""
    nominated_cluster_names: (
        Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=20), ATOMIC] | None
    ) = None
    """Clusters that are asked to run it."""
    cluster_name: Annotated[str, Field(max_length=256)] | None = None
    """The cluster that runs it; cannot be changed once set."""
    unhealthy_nodes: Annotated[list[NodeName], Field(max_length=8), map_by("name")] | None = None
    """Nodes that its pods must leave."""
    preemption_gates: Annotated[list[GateState], Field(max_length=8), map_by("name")] | None = None
    """Which of its gates are open."""


class Workload(Shape):
    """One job's demand, as it waits for quota and as it holds it."""

    model_config = ruled(*WORKLOAD_RULES)

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: WorkloadSpec | None = None
    """What is asked for, of whom, and how urgently."""
    status: WorkloadStatus | None = None
    """Where it stands; written by the controller."""
