"""What a platform engineer writes: flavors, cluster queues, cohorts, local queues, priority classes, namespaces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from admission.model.selectors import Selector
from admission.model.workload import Condition, Taint, Toleration

FlavorResource = tuple[str, str]  # (flavor, resource): the unit in which quota is counted


class Quota(NamedTuple):
    """Units; None as a limit means unlimited."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True)
class FlavorQuotas:
    name: str
    quotas: Mapping[str, Quota]  # by resource


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]  # in the order in which they are tried


@dataclass(frozen=True, slots=True)
class Preemption:
    within_cluster_queue: str = "Never"  # Never | LowerPriority | LowerOrNewerEqualPriority
    reclaim_within_cohort: str = "Never"  # Never | LowerPriority | Any
    borrow_within_cohort: str = "Never"  # Never | LowerPriority
    max_priority_threshold: int | None = None  # of borrowWithinCohort


@dataclass(frozen=True, slots=True)
class Fungibility:
    when_can_borrow: str = "MayStopSearch"  # MayStopSearch | TryNextFlavor
    when_can_preempt: str = "TryNextFlavor"
    preference: str = "BorrowingOverPreemption"  # or PreemptionOverBorrowing


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """What we last wrote, so that an unchanged status is not written again. JSON-shaped."""

    conditions: Mapping[str, Condition] = field(default_factory=dict)
    rest: str = ""  # canonical JSON of the status without its conditions
    # Of a LocalQueue: what it has used, in billionths by resource. Part of `rest`, too.
    consumed: Mapping[str, int] = field(default_factory=dict, compare=False)


class CheckRule(NamedTuple):
    """An AdmissionCheck that a ClusterQueue asks for. `on_flavors` empty: whatever flavors are assigned."""

    name: str
    on_flavors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    name: str
    uid: str = ""
    resource_version: int = 0
    generation: int = 1
    created: float = 0.0
    deleting: bool = False
    finalizers: tuple[str, ...] = ()
    cohort: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    strict_fifo: bool = False
    namespace_selector: Selector | None = None  # None selects no namespace
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    stop_policy: str = "None"  # None | Hold | HoldAndDrain
    checks: tuple[CheckRule, ...] = ()
    weight: Fraction = Fraction(1)  # fairSharing.weight, exact
    usage_based: bool = False  # admissionScope.admissionMode: UsageBasedAdmissionFairSharing
    status: QueueStatus = QueueStatus()
    virtual: bool = False  # made of an elastic quota: no such object exists, and resources without quota are free

    def quotas(self) -> dict[FlavorResource, Quota]:
        return quotas_of(self.groups)


@dataclass(frozen=True, slots=True)
class Cohort:
    name: str
    uid: str = ""
    resource_version: int = 0
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    generation: int = 1
    weight: Fraction = Fraction(1)
    status: QueueStatus = QueueStatus()
    virtual: bool = False

    def quotas(self) -> dict[FlavorResource, Quota]:
        return quotas_of(self.groups)


@dataclass(frozen=True, slots=True)
class LocalQueue:
    namespace: str
    name: str
    cluster_queue: str
    uid: str = ""
    resource_version: int = 0
    generation: int = 1
    deleting: bool = False
    stop_policy: str = "None"
    weight: Fraction = Fraction(1)  # fairSharing.weight; counts in admission fair sharing
    labels: Mapping[str, str] = field(default_factory=dict)  # choose which LocalQueues have metrics of their own
    status: QueueStatus = QueueStatus()
    virtual: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    name: str
    uid: str = ""
    resource_version: int = 0
    deleting: bool = False
    finalizers: tuple[str, ...] = ()
    node_labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""
    virtual: bool = False


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """`active`: its controller says that it is at work; None while it has said nothing."""

    name: str
    uid: str = ""
    resource_version: int = 0
    deleting: bool = False
    finalizers: tuple[str, ...] = ()
    controller_name: str = ""
    active: bool | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """Only that it exists: a flavor that names a missing one makes its queues inactive."""

    name: str
    resource_version: int = 0


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A WorkloadPriorityClass or a core PriorityClass."""

    name: str
    value: int
    resource_version: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"  # of a core PriorityClass


def global_default(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """The class of pods that name none; of several Kubernetes takes the lowest."""
    defaults = (one for one in classes if one.global_default)
    return min(defaults, key=lambda one: (one.value, one.name), default=None)


@dataclass(frozen=True, slots=True)
class Namespace:
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    resource_version: int = 0
    deleting: bool = False


def quotas_of(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, Quota]:
    """(flavor, resource) -> quota over all resource groups."""
    return {
        (flavor.name, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.quotas.items()
    }
