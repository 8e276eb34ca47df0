"""Every metric of Kueue by name, type, labels and buckets, so that existing dashboards and alerts go on working.

Names are without the prefix `kueue_`, which those of MultiKueue have not; each series also carries `replica_role`. The
first labels name the object that a series belongs to: with the object its series go. Facts: Kueue 0.19, and a few
families of its next version.
"""

from dataclasses import dataclass
from typing import Literal

PREFIX = "kueue_"

Owner = Literal["", "ClusterQueue", "LocalQueue", "Cohort"]


def _edges(count: int) -> tuple[float, ...]:
    """1, then doubling from 2.5: what Kueue's wait times are sorted into, in seconds."""
    return (1.0, *(2.5 * 2**power for power in range(count - 1)))


_WAITS, _LONG_WAITS = _edges(14), _edges(16)
_QUICK = tuple(0.01 * 2**power for power in range(11))  # a Workload follows its job within milliseconds
_USUAL = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # the Go client's own


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    name: str
    type: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()  # of a histogram, without +Inf
    owner: Owner = ""

    @property
    def full_name(self) -> str:
        """As on the page."""
        return self.name if self.name.startswith("multikueue_") else PREFIX + self.name


FAMILIES: list[Family] = []  # in the order in which they are shown


def _new(family: Family) -> Family:
    FAMILIES.append(family)
    return family


def _counter(name: str, help: str, *labels: str, owner: Owner = "ClusterQueue") -> Family:
    return _new(Family(name, "counter", help, labels, owner=owner))


def _gauge(name: str, help: str, *labels: str, owner: Owner = "ClusterQueue") -> Family:
    return _new(Family(name, "gauge", help, labels, owner=owner))


def _histogram(
    name: str, help: str, *labels: str, edges: tuple[float, ...] = _WAITS, owner: Owner = "ClusterQueue"
) -> Family:
    return _new(Family(name, "histogram", help, labels, edges, owner))


def _twin(family: Family) -> Family:
    """The same per LocalQueue, by Kueue's rule for their names."""
    labels = ("name", "namespace", *family.labels[1:])
    edges = _WAITS if family.edges else ()
    return _new(Family(f"local_queue_{family.name}", family.type, family.help, labels, edges, "LocalQueue"))


_CQ, _COHORT, _LOCAL = "cluster_queue", "cohort", ("name", "namespace")

BUILD_INFO = _gauge(
    "build_info", "Always 1; what runs here.",
    "git_version", "git_commit", "build_date", "go_version", "compiler", "platform", owner="",
)  # fmt: skip

# --- the scheduler
ATTEMPTS = _counter(
    "admission_attempts_total", "Scheduling cycles that looked at somebody: success when one was admitted.",
    "result", owner="",
)  # fmt: skip
ATTEMPT_SECONDS = _histogram(
    "admission_attempt_duration_seconds", "How long a scheduling cycle took.", "result", edges=_USUAL, owner=""
)
PREEMPTION_SKIPS = _gauge(
    "admission_cycle_preemption_skips", "Preemptions that had to stand back for others in the last cycle.", _CQ
)
PREEMPTED = _counter(
    "preempted_workloads_total", "Workloads that had to leave, by the queue for which.",
    "preempting_cluster_queue", "reason",
)  # fmt: skip

# --- who waits
PENDING = _gauge("pending_workloads", "Workloads that wait: active, or set aside as inadmissible.", _CQ, "status")
LOCAL_PENDING = _twin(PENDING)
PENDING_HASHES = _gauge("pending_scheduling_hashes", "Different asks among the workloads that wait.", _CQ, "status")
RESOURCE_PENDING = _gauge("cluster_queue_resource_pending", "What waiting workloads ask for.", _CQ, "resource")
UNADMITTED = _gauge("unadmitted_workloads", "Workloads not admitted, by reason.", _CQ, "reason", "underlying_cause")
LOCAL_UNADMITTED = _gauge(
    "local_queue_unadmitted_workloads", "Workloads not admitted, by reason.",
    *_LOCAL, _CQ, "reason", "underlying_cause", owner="LocalQueue",
)  # fmt: skip

# --- what became of them
RESERVED = _counter("quota_reserved_workloads_total", "Workloads that got quota.", _CQ, "priority_class")
LOCAL_RESERVED = _twin(RESERVED)
RESERVED_WAIT = _histogram(
    "quota_reserved_wait_time_seconds", "From queueing, or the last requeueing, to quota.", _CQ, "priority_class"
)
LOCAL_RESERVED_WAIT = _twin(RESERVED_WAIT)
ADMITTED = _counter("admitted_workloads_total", "Workloads that were admitted.", _CQ, "priority_class")
LOCAL_ADMITTED = _twin(ADMITTED)
ADMITTED_WAIT = _histogram(
    "admission_wait_time_seconds", "From queueing, or the last requeueing, to admission.",
    _CQ, "priority_class", edges=_LONG_WAITS,
)  # fmt: skip
LOCAL_ADMITTED_WAIT = _twin(ADMITTED_WAIT)
CHECKS_WAIT = _histogram(
    "admission_checks_wait_time_seconds", "From quota to admission, of workloads with checks.", _CQ, "priority_class"
)
LOCAL_CHECKS_WAIT = _twin(CHECKS_WAIT)
READY_WAIT = _histogram(
    "ready_wait_time_seconds", "From queueing, or the last requeueing, until all pods were ready.",
    _CQ, "priority_class",
)  # fmt: skip
LOCAL_READY_WAIT = _twin(READY_WAIT)
ADMITTED_UNTIL_READY = _histogram(
    "admitted_until_ready_wait_time_seconds", "From admission until all pods were ready.", _CQ, "priority_class"
)
LOCAL_ADMITTED_UNTIL_READY = _twin(ADMITTED_UNTIL_READY)
EVICTED = _counter("evicted_workloads_total", "Evictions.", _CQ, "reason", "underlying_cause", "priority_class")
LOCAL_EVICTED = _twin(EVICTED)
EVICTED_ONCE = _counter(
    "evicted_workloads_once_total", "Workloads evicted for the first time for this reason.",
    _CQ, "reason", "underlying_cause", "priority_class",
)  # fmt: skip
READY_TO_EVICTED = _histogram(
    "pods_ready_to_evicted_time_seconds", "From all pods ready to eviction.", _CQ, "reason", "underlying_cause"
)
EVICTION_LATENCY = _histogram(
    "workload_eviction_latency_seconds", "From eviction until the quota was given back.", _CQ, "reason"
)
FINISHED = _gauge("finished_workloads", "Finished workloads that still exist.", _CQ)
LOCAL_FINISHED = _twin(FINISHED)
FINISHED_TOTAL = _counter("finished_workloads_total", "Workloads that finished.", _CQ, "priority_class")
LOCAL_FINISHED_TOTAL = _twin(FINISHED_TOTAL)
EXECUTION = _histogram("execution_time_seconds", "From admission to the end.", _CQ, "priority_class")
LOCAL_EXECUTION = _twin(EXECUTION)
CREATION_LATENCY = _histogram(
    "workload_creation_latency_seconds", "From the job to its Workload.", "job_kind", edges=_QUICK, owner=""
)

# --- queues
RESERVING = _gauge("reserving_active_workloads", "Workloads that hold quota.", _CQ)
LOCAL_RESERVING = _twin(RESERVING)
ADMITTED_ACTIVE = _gauge("admitted_active_workloads", "Workloads that may run.", _CQ)
LOCAL_ADMITTED_ACTIVE = _twin(ADMITTED_ACTIVE)
QUEUE_STATUS = _gauge("cluster_queue_status", "1 for the status it has: pending, active, terminating.", _CQ, "status")
LOCAL_STATUS = _gauge(
    "local_queue_status", "1 for what its Active condition says: True, False, Unknown.",
    *_LOCAL, "active", owner="LocalQueue",
)  # fmt: skip
_OF_RESOURCE = (_COHORT, _CQ, "flavor", "resource")
RESERVATION = _gauge("cluster_queue_resource_reservation", "Quota that workloads hold.", *_OF_RESOURCE)
USAGE = _gauge("cluster_queue_resource_usage", "Quota that admitted workloads hold.", *_OF_RESOURCE)
NOMINAL = _gauge("cluster_queue_nominal_quota", "Nominal quota.", *_OF_RESOURCE)
BORROWING = _gauge("cluster_queue_borrowing_limit", "What it may borrow; +Inf without a limit.", *_OF_RESOURCE)
LENDING = _gauge("cluster_queue_lending_limit", "What it may lend; +Inf without a limit.", *_OF_RESOURCE)
LOCAL_RESERVATION = _gauge(
    "local_queue_resource_reservation", "Quota that workloads hold.", *_LOCAL, "flavor", "resource", owner="LocalQueue"
)
LOCAL_USAGE = _gauge(
    "local_queue_resource_usage", "Quota that admitted workloads hold.",
    *_LOCAL, "flavor", "resource", owner="LocalQueue",
)  # fmt: skip
FAIR_USAGE = _gauge(
    "local_queue_admission_fair_sharing_usage", "What the queue is served by under admission fair sharing.",
    *_LOCAL, _CQ, owner="LocalQueue",
)  # fmt: skip
SHARE = _gauge("cluster_queue_weighted_share", "Weighted share of what it borrows; NaN: beyond all.", _CQ, _COHORT)
QUEUE_INFO = _gauge("cluster_queue_info", "Always 1; where the queue stands.", _CQ, "parent_cohort", "root_cohort")

# --- cohorts
COHORT_SHARE = _gauge("cohort_weighted_share", "Weighted share of what it borrows.", _COHORT, owner="Cohort")
COHORT_QUOTA = _gauge(
    "cohort_subtree_quota", "Quota of the cohort and all below it.", _COHORT, "flavor", "resource", owner="Cohort"
)
COHORT_RESERVATIONS = _gauge(
    "cohort_subtree_resource_reservations", "Quota that workloads hold in the cohort and all below it.",
    _COHORT, "flavor", "resource", owner="Cohort",
)  # fmt: skip
COHORT_ADMITTED = _counter(
    "cohort_subtree_admitted_workloads_total", "Workloads admitted in the cohort and all below it.",
    _COHORT, "priority_class", owner="Cohort",
)  # fmt: skip
COHORT_ADMITTED_ACTIVE = _gauge(
    "cohort_subtree_admitted_active_workloads", "Workloads that may run in the cohort and all below it.",
    _COHORT, owner="Cohort",
)  # fmt: skip
COHORT_INFO = _gauge(
    "cohort_info", "Always 1; where the cohort stands.", _COHORT, "parent_cohort", "root_cohort", owner="Cohort"
)

# --- parts of Kueue that are not here: known to those who ask, without series (docs/metrics.md says why)
_counter("multikueue_workloads_dispatched_total", "Copies sent to worker clusters.", _CQ, "cluster")
_counter("multikueue_workloads_admitted_total", "Workloads that a worker cluster admitted.", _CQ, "cluster")
_counter("preemption_target_recomputations_total", "Preemptions planned anew within a cycle.", _CQ, "result")
_counter("replaced_workload_slices_total", "Slices of elastic workloads replaced by larger ones.", _CQ)
_histogram(
    "pod_scheduling_gate_removal_seconds", "From a pod to the removal of its gate.",
    "name", _CQ, "is_group", edges=_USUAL,
)  # fmt: skip
