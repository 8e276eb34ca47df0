"""QueuePolicy: who may do how much in a queue, and how its work is treated when somebody else wants the room."""

from typing import Annotated, Any, Literal

from pydantic import Field

from admission.api.job_kind import Strict
from admission.api.shapes import ATOMIC, Conditions, Count, Int32, Name, Positive, Quantities, Shape

# Durations as Go writes them; admission.model.durations is asked for the rest.
_PART = r"[0-9]*\.?[0-9]*(ns|us|µs|ms|s|m|h)"
Duration = Annotated[str, Field(max_length=64, pattern=rf"^(0|({_PART})+)$")]
_Name = Annotated[str, Field(min_length=1, max_length=512)]
_Names = Annotated[list[_Name], Field(min_length=1, max_length=256), ATOMIC]


class Target(Strict):
    """The queue or cohort that a policy is for."""

    kind: Literal["ClusterQueue", "Cohort", "LocalQueue"]
    """What it is."""
    name: Name
    """Its name."""
    namespace: Name | None = None
    """Of a LocalQueue: where it is."""


class Budget(Strict):
    """So many evictions in so long a time."""

    evictions: Annotated[int, Field(ge=0, le=1_000_000)]
    """How many workloads of the queue may be preempted within `per`; 0: none ever."""
    per: Duration
    """The time that they are counted in, like 10m."""


class Preemption(Strict):
    """How far the queue's work is spared when others want its room."""

    min_runtime: Duration | None = None
    """So long a workload runs before others of its queue may preempt it."""
    reclaim_min_runtime: Duration | None = None
    """So long it runs before workloads of other queues may."""
    budget: Budget | None = None
    """How often work of the queue is preempted at most."""
    hold_freed_quota: Duration | None = None
    """So long the quota that victims leave behind is kept for the workload of this queue that they left for."""


class NonPreemptible(Strict):
    """Work that is never preempted and in turn never borrows."""

    label: Annotated[str, Field(min_length=3, max_length=381, pattern=r"^[^=]+=[^=]*$")]
    """Label and value that mark it, like lockgate.dev/preemptible=false."""


class QuotaShrink(Strict):
    """What happens when the queue holds more than its quota, since that was lowered."""

    after: Duration
    """How long it may go on like this before workloads are evicted."""
    order: Literal["BorrowedFirst", "LowestPriorityFirst"] = "BorrowedFirst"
    """Who is evicted first: those of queues that borrow, or the least important; of equals the newest."""


class Submit(Strict):
    """Who may create jobs for the queue."""

    users: _Names | None = None
    """Names as the API server knows them; * is everybody."""
    groups: _Names | None = None
    """Their groups; * is any."""


class Limit(Strict):
    """How much each of these users may have, and each of these groups altogether."""

    users: _Names | None = None
    """Each on its own; * is every user."""
    groups: _Names | None = None
    """Each group, all its users together; * is every group."""
    running: Count | None = None
    """Workloads that hold quota at the same time."""
    pending: Count | None = None
    """Workloads that wait at the same time."""
    resources: Quantities | None = None
    """What those that hold quota may have together."""
    max_priority: Int32 | None = None
    """The highest priority that they may ask for."""
    pods_per_workload: Positive | None = None
    """The most pods in one workload."""
    max_runtime: Duration | None = None
    """How long one workload may run, in whole seconds; it is deactivated then."""


class QueuePolicySpec(Strict):
    """Whose policy, and what it says."""

    target: Target
    """What it is for. What is below inherits it field by field, unless a nearer policy says otherwise."""
    preemption: Preemption | None = None
    """How far the queue's work is spared when others want its room."""
    non_preemptible: NonPreemptible | None = None
    """Work that is never preempted and in turn never borrows."""
    quota_shrink: QuotaShrink | None = None
    """What happens when the queue holds more than its quota, since that was lowered; absent: it ends by itself."""
    strict_fifo_scope: Annotated[Literal["Queue", "Flavors"] | None, Field(alias="strictFIFOScope")] = None
    """Whether a head that does not fit in a StrictFIFO queue blocks all behind it, or only those who want the same
    flavors and resources."""
    submit: Submit | None = None
    """Who may create jobs for the queue; absent: everybody whom RBAC lets."""
    max_pending: Count | None = None
    """Workloads that wait at the same time, of all users together."""
    limits: Annotated[list[Limit], Field(max_length=64), ATOMIC] | None = None
    """How much users and groups may have; every row that matches counts."""


class UserUse(Shape):
    """What one user has under this policy."""

    name: str
    """The user."""
    running: Count
    """Workloads that hold quota."""
    pending: Count
    """Workloads that wait."""
    resources: Quantities | None = None
    """What those that hold quota have together."""


class QueuePolicyStatus(Shape):
    """Whether it counts, and who has how much."""

    conditions: Conditions | None = None
    """Active says whether it counts, and if not, why."""
    users: Annotated[list[UserUse], Field(max_length=100), ATOMIC] | None = None
    """The users who have most, at most a hundred."""


class QueuePolicy(Shape):
    """Who may do how much in a queue, and how its work is treated when somebody else wants the room."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: QueuePolicySpec
    """Whose policy, and what it says."""
    status: QueuePolicyStatus | None = None
    """Whether it counts, and who has how much; written by the controller."""
