"""What waits or runs: a Workload as the core keeps it, without its pod templates.

Values only, frozen: an assumption about a workload is another value (`dataclasses.replace`), so it can be dropped.
Amounts are units as in `amounts`; times are seconds since 1970.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, NamedTuple

from admission.model.kinds import Ref
from admission.model.names import ADMITTED, EVICTED, FINISHED, ON_HOLD, QUOTA_RESERVED, WorkloadKey
from admission.model.pods import PodResources


class Condition(NamedTuple):
    """metav1.Condition; `since` is lastTransitionTime."""

    type: str
    status: str
    reason: str
    message: str
    since: float
    generation: int = 0

    @property
    def true(self) -> bool:
        return self.status == "True"


class Toleration(NamedTuple):
    key: str
    operator: str  # Equal or Exists, never empty
    value: str
    effect: str  # "" tolerates every effect
    seconds: int | None = None  # tolerationSeconds

    def tolerates(self, taint: "Taint") -> bool:
        """As the scheduler judges it: an empty key with Exists tolerates everything."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return bool(self.key) and self.value == taint.value


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


class NodeRule(NamedTuple):
    """One expression of a required node affinity term: In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one shape. `requests` is what one pod asks for."""

    name: str
    count: int
    requests: Mapping[str, int]
    min_count: int | None = None
    node_selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[NodeRule, ...], ...] = ()  # required terms, ORed; rules of a term ANDed
    tolerations: tuple[Toleration, ...] = ()
    shape: str = ""  # digest of init containers and containers: what job and Workload are compared by
    priority_class: str = ""  # of the pod template
    template_of: str = ""  # the object in which the template lies, where that is not the job
    problem: str = ""  # why the workload can never be admitted with such pods (requests above limits), or ""
    # What the template says of resources, to work `requests` out again; None: they stay as they are. What it says that
    # matters is compared by `requests` and `shape`.
    pod: PodResources | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PodSetAssignment:
    name: str
    flavors: Mapping[str, str]  # resource -> flavor
    usage: Mapping[str, int]  # of all its pods together
    count: int


@dataclass(frozen=True, slots=True)
class Admission:
    cluster_queue: str
    assignments: tuple[PodSetAssignment, ...]

    def usage(self) -> dict[tuple[str, str], int]:
        """(flavor, resource) -> units, over all pod sets."""
        total: dict[tuple[str, str], int] = {}
        for pod_set in self.assignments:
            for resource, flavor in pod_set.flavors.items():
                fr = (flavor, resource)
                total[fr] = total.get(fr, 0) + pod_set.usage.get(resource, 0)
        return total


class PodSetRequest(NamedTuple):
    """One entry of status.resourceRequests: of all pods of the pod set together, sorted by resource."""

    name: str
    resources: tuple[tuple[str, int], ...]


class PriorityClassRef(NamedTuple):
    group: str
    kind: str
    name: str


class PodSetUpdate(NamedTuple):
    """What a check adds to the pods of one pod set. Pairs are sorted by key."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class CheckState(NamedTuple):
    """One entry of status.admissionChecks."""

    name: str
    state: str  # Pending | Ready | Retry | Rejected
    since: float
    message: str
    requeue_after: int | None = None  # seconds
    retry_count: int | None = None
    updates: tuple[PodSetUpdate, ...] = ()
    updates_wire: str = ""  # the same as JSON: its controller's words are written back as they are


_NO_CONDITIONS: Mapping[str, Condition] = {}
_NO_COUNTS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Workload:
    """A Workload object: its spec in totals, its status as far as anything here depends on it."""

    namespace: str
    name: str
    uid: str
    resource_version: int
    created: float
    queue_name: str
    pod_sets: tuple[PodSet, ...]
    generation: int = 1
    priority: int = 0
    priority_class: PriorityClassRef | None = None
    active: bool = True
    maximum_execution_seconds: int | None = None
    deleting: bool = False
    finalizers: tuple[str, ...] = ()
    owner: Ref | None = None  # the controlling owner, if it is of a group; the kind may be none of ours
    owner_uid: str = ""
    owned: bool = False  # any owner reference at all
    job_uid: str = ""  # label kueue.x-k8s.io/job-uid
    gated_by: str = ""  # annotation kueue.x-k8s.io/admission-gated-by
    described_by: str = ""  # digest of the rules by which its job was read last
    asks_by_now: str = ""  # digest of what its job asks for by those, where that is not what is said here
    conditions: Mapping[str, Condition] = field(default_factory=lambda: _NO_CONDITIONS)
    admission: Admission | None = None
    requeue_at: float | None = None
    requeue_count: int = 0
    reclaimable: Mapping[str, int] = field(default_factory=lambda: _NO_COUNTS)
    checks: tuple[CheckState, ...] = ()
    evictions: tuple[tuple[str, str, int], ...] = ()  # (reason, cause, count) of status.schedulingStats
    accumulated_seconds: int = 0
    resource_requests: tuple[PodSetRequest, ...] = ()  # what the scheduler last saw it ask for, while it waits
    user: str = ""  # who created its job: annotation lockgate.dev/user
    groups: tuple[str, ...] = ()  # of those that policies speak of: annotation lockgate.dev/groups
    labels: tuple[tuple[str, str], ...] = ()  # by key; without Kueue's own
    boost: int = 0  # annotation kueue.x-k8s.io/priority-boost: added to the priority where its gate is on

    def but(self, **changes: Any) -> "Workload":
        """The same with these fields changed: `dataclasses.replace` in less than half of its time, for what happens
        several times to every workload."""
        values = list(_values(self))
        for name, value in changes.items():
            values[_PLACES[name]] = value
        return Workload(*values)

    @property
    def key(self) -> WorkloadKey:
        return WorkloadKey(f"{self.namespace}/{self.name}")

    @property
    def ref(self) -> Ref:
        return Ref("Workload", self.namespace, self.name)

    @property
    def runtime_classes(self) -> list[str]:
        """The RuntimeClasses that its pods name."""
        return [each.pod.runtime_class for each in self.pod_sets if each.pod is not None and each.pod.runtime_class]

    def is_true(self, condition: str) -> bool:
        found = self.conditions.get(condition)
        return found is not None and found.status == "True"

    @property
    def finished(self) -> bool:
        return self.is_true(FINISHED)

    @property
    def reserved(self) -> bool:
        return self.is_true(QUOTA_RESERVED)

    @property
    def admitted(self) -> bool:
        return self.is_true(ADMITTED)

    @property
    def evicted(self) -> bool:
        return self.is_true(EVICTED)

    @property
    def on_hold(self) -> bool:
        """Its quota was given back until its job can use it: it waits in no queue."""
        found = self.conditions.get(QUOTA_RESERVED)
        return found is not None and found.status == "False" and found.reason == ON_HOLD

    @property
    def holds_quota(self) -> bool:
        """Kueue's HasActiveQuotaReservation: what counts as usage."""
        return self.reserved and self.active and not self.finished and self.admission is not None

    @property
    def admissible(self) -> bool:
        """May enter a queue (Kueue's IsAdmissible)."""
        return (
            self.active
            and not self.reserved
            and not self.finished
            and not self.gated_by
            and not self.deleting
            and not self.on_hold
        )


_PLACES = {field.name: place for place, field in enumerate(fields(Workload))}
_values = attrgetter(*_PLACES)
