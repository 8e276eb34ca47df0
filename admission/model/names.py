"""Names that Kueue fixed and we keep: labels, annotations, finalizers, conditions and their reasons."""

from typing import NewType

WorkloadKey = NewType("WorkloadKey", str)  # "namespace/name"

_P = "kueue.x-k8s.io/"

# labels
QUEUE_NAME = _P + "queue-name"
PRIORITY_CLASS = _P + "priority-class"
MAX_EXEC_TIME = _P + "max-exec-time-seconds"
PREBUILT_WORKLOAD = _P + "prebuilt-workload-name"
JOB_UID = _P + "job-uid"
POD_SET = _P + "podset"
LOCAL_QUEUE_NAME = _P + "local-queue-name"
CLUSTER_QUEUE_NAME = _P + "cluster-queue-name"
NAMESPACE_NAME = "kubernetes.io/metadata.name"

# annotations
WORKLOAD_ANNOTATION = _P + "workload"
STOPPING = _P + "stopping"
MIN_PARALLELISM = _P + "job-min-parallelism"
COMPLETIONS_EQUAL_PARALLELISM = _P + "job-completions-equal-parallelism"
ADMISSION_GATED_BY = _P + "admission-gated-by"
PRIORITY_BOOST = _P + "priority-boost"
ELASTIC_JOB = _P + "elastic-job"
SLICE_REPLACEMENT_FOR = _P + "workload-slice-replacement-for"
# on pod templates: how near each other the pods must run
REQUIRED_TOPOLOGY = _P + "podset-required-topology"
PREFERRED_TOPOLOGY = _P + "podset-preferred-topology"
UNCONSTRAINED_TOPOLOGY = _P + "podset-unconstrained-topology"
POD_SET_GROUP_NAME = _P + "podset-group-name"
SLICE_REQUIRED_TOPOLOGY = _P + "podset-slice-required-topology"
SLICE_SIZE = _P + "podset-slice-size"
SLICE_CONSTRAINTS = _P + "podset-slice-required-topology-constraints"
ARRIVAL = "lockgate.dev/arrival"
RUNTIME = "lockgate.dev/runtime"
# written by stamping alone
STAMPED = "lockgate.dev/stamped"  # what came from which profile
ROLLOUT = "lockgate.dev/rollout"  # 0 to 99: a profile for so many of a hundred or fewer does not count
QUEUE_FROM = "lockgate.dev/queue-from"  # the template from which the job's LocalQueue is made
WRITTEN_BY_STAMPING = frozenset((STAMPED, ROLLOUT, QUEUE_FROM))

# on a job that was held because the job above it is not admitted: that one's uid
HELD_WITH = "lockgate.dev/held-with"

# finalizer
IN_USE = _P + "resource-in-use"

# condition types of a Workload
QUOTA_RESERVED = "QuotaReserved"
ADMITTED = "Admitted"
EVICTED = "Evicted"
PREEMPTED = "Preempted"
REQUEUED = "Requeued"
PODS_READY = "PodsReady"
FINISHED = "Finished"
DEACTIVATION_TARGET = "DeactivationTarget"

ACTIVE = "Active"  # of a ClusterQueue or LocalQueue

# reasons of Preempted=True
IN_CLUSTER_QUEUE = "InClusterQueue"
IN_COHORT_RECLAMATION = "InCohortReclamation"
IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
QUOTA_SHRUNK = "QuotaShrunk"  # ours: a QueuePolicy lets nobody stay above a lowered quota

# reasons of QuotaReserved=False. The peer (v0.19.2, gate UnadmittedWorkloadsObservability off) writes only
# coarse ones on the wire; the fine ones are what we keep and explain with.
PENDING = "Pending"
INADMISSIBLE = "Inadmissible"
ON_HOLD = "OnHold"


def workload_key(namespace: str, name: str) -> WorkloadKey:
    return WorkloadKey(f"{namespace}/{name}")
