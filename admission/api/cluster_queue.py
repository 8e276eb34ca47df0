"""ClusterQueue: the quotas of a team, and the rules by which its workloads are queued and admitted."""

from typing import Annotated, Any, Literal

from pydantic import Field

from admission.api.quotas import FlavorBorrowedUsage, ResourceGroups
from admission.api.rules import BORROWING_NEEDS_COHORT, BORROWING_NEEDS_RECLAIM, PREFERENCE_NEEDS_SEARCH
from admission.api.shapes import (
    EMPTY_OBJECT,
    SET,
    CheckName,
    Conditions,
    FairSharing,
    Int32,
    LabelSelector,
    Name,
    Schema,
    Shape,
    Share,
    StopPolicy,
    map_by,
    ruled,
)

Search = Literal["MayStopSearch", "TryNextFlavor"]


class FlavorFungibility(Shape):
    """When the search for a flavor goes on although one was found that could do."""

    model_config = ruled(PREFERENCE_NEEDS_SEARCH)

    when_can_borrow: Search = "MayStopSearch"
    """A workload fits a flavor by borrowing: take it, or look at the next one first."""
    when_can_preempt: Search = "TryNextFlavor"
    """A workload fits a flavor after preemption: take it, or look at the next one first."""
    preference: Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"] | None = None
    """Which is better when both are possible and every flavor was looked at."""


class BorrowWithinCohort(Shape):
    """Preemption by workloads that need to borrow."""

    policy: Literal["Never", "LowerPriority"] = "Never"
    """Whether they may preempt workloads of lower priority in other queues of the cohort."""
    max_priority_threshold: Int32 | None = None
    """Only workloads up to this priority may be preempted; none means any below the preemptor's."""


class Preemption(Shape):
    """Whose workloads may have to leave for a pending one."""

    model_config = ruled(BORROWING_NEEDS_RECLAIM)

    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    """Whose, in other queues of the cohort that use more than they own, when the pending one fits its own quota."""
    borrow_within_cohort: Annotated[BorrowWithinCohort, EMPTY_OBJECT] | None = None
    """Whether a pending workload may preempt in other queues even when it has to borrow."""
    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    """Whose, in its own queue."""


class CheckRule(Shape):
    """An AdmissionCheck and the flavors that it is for."""

    name: CheckName
    """The AdmissionCheck."""
    on_flavors: Annotated[list[Name], Field(max_length=64), SET] | None = None
    """Only workloads with one of these flavors need it; none means all workloads."""


class ChecksStrategy(Shape):
    """Which AdmissionChecks a workload needs."""

    admission_checks: Annotated[list[CheckRule], Field(min_length=1, max_length=64), map_by("name")]
    """The checks; all that apply must be Ready before a workload with quota is admitted."""


class AdmissionScope(Shape):
    """Whether earlier usage of the local queues counts."""

    admission_mode: Literal["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]
    """Order workloads by what their local queues used before, or not."""


class MigrationConstraints(Shape):
    """How far migration goes."""

    last_acceptable_flavor_name: Name | None = None
    """The last flavor in order that a workload may settle on."""


class Migration(Shape):
    """What happens when a better flavor becomes free."""

    mode: Annotated[Literal["TryPreferredFlavors", "RetainFirstAdmission"], Schema({"maxLength": 253})]
    """Move to it, or stay with the first admission."""
    constraints: MigrationConstraints | None = None
    """Limits on moving."""


class ConcurrentAdmissionPolicy(Shape):
    """Waiting for several flavors at the same time."""

    migration: Migration
    """What happens when a better flavor becomes free."""


class ClusterQueueSpec(Shape):
    """What is owned, whom it is for, and by which rules it is given out."""

    model_config = ruled(BORROWING_NEEDS_COHORT)

    resource_groups: ResourceGroups | None = None
    """The quotas; a resource that no group covers cannot be asked for."""
    cohort_name: Name | None = None
    """The cohort whose members lend each other what they leave unused; none means alone."""
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    """StrictFIFO: the first in line holds up all others. BestEffortFIFO: those that fit may pass it."""
    namespace_selector: LabelSelector | None = None
    """Namespaces whose workloads may use this queue; {} means all, nothing means none."""
    flavor_fungibility: Annotated[FlavorFungibility, EMPTY_OBJECT] | None = None
    """When the search for a flavor goes on although one was found that could do."""
    preemption: Annotated[Preemption, EMPTY_OBJECT] | None = None
    """Whose workloads may have to leave for a pending one."""
    admission_checks_strategy: ChecksStrategy | None = None
    """Which AdmissionChecks a workload needs."""
    stop_policy: StopPolicy = "None"
    """Hold: admit nothing new. HoldAndDrain: also evict what is admitted."""
    fair_sharing: FairSharing | None = None
    """How this queue competes for what others leave unused."""
    admission_scope: AdmissionScope | None = None
    """Whether earlier usage of the local queues counts."""
    concurrent_admission_policy: ConcurrentAdmissionPolicy | None = None
    """Waiting for several flavors at the same time; cannot be changed."""


class ClusterQueueStatus(Shape):
    """What is in use and who waits."""

    conditions: Conditions | None = None
    """Active says whether workloads can be admitted, and if not, why."""
    flavors_reservation: Annotated[list[FlavorBorrowedUsage], Field(max_length=64), map_by("name")] | None = None
    """Quota that workloads hold, admitted or still waiting for their checks."""
    flavors_usage: Annotated[list[FlavorBorrowedUsage], Field(max_length=64), map_by("name")] | None = None
    """Quota that admitted workloads use."""
    pending_workloads: Int32 | None = None
    """Workloads that wait for quota."""
    reserving_workloads: Int32 | None = None
    """Workloads that hold quota."""
    admitted_workloads: Int32 | None = None
    """Workloads that are admitted and not finished."""
    fair_sharing: Share | None = None
    """Where the queue stands in fair sharing, if that is on."""


class ClusterQueue(Shape):
    """The quotas of a team, and the rules by which its workloads are queued and admitted."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: ClusterQueueSpec | None = None
    """What is owned, whom it is for, and by which rules it is given out."""
    status: ClusterQueueStatus | None = None
    """What is in use and who waits; written by the controller."""
