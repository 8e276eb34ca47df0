"""Job kinds, and the registry of readers: the first floor that knows one for every watched kind."""

from collections.abc import Callable, Mapping
from typing import Any

from admission.jobs.registry import JOB_KINDS, JobKinds
from admission.readers.admission_check import read_admission_check, read_topology
from admission.readers.catalogue import read_catalogue
from admission.readers.cluster_queue import read_cluster_queue
from admission.readers.cohort import read_cohort
from admission.readers.elastic_quota import read_elastic_quota, read_node_capacity, read_quota_pod
from admission.readers.flavor import read_flavor
from admission.readers.job_kind import read_job_kind
from admission.readers.job_profile import read_job_profile
from admission.readers.limit_range import read_limit_range
from admission.readers.local_queue import read_local_queue
from admission.readers.namespace import read_namespace
from admission.readers.priority_class import read_priority_class
from admission.readers.queue_policy import read_queue_policy
from admission.readers.runtime_class import read_runtime_class
from admission.readers.workload import read_workload

__all__ = ["JOB_KINDS", "READERS", "JobKinds"]

# One reader per kind of admission.model.kinds.WATCHED and COUNTED: the object as JSON -> what the core keeps of it.
READERS: dict[str, Callable[[Mapping[str, Any]], object]] = {
    "Namespace": read_namespace,
    "LimitRange": read_limit_range,
    "RuntimeClass": read_runtime_class,
    "ConfigMap": read_catalogue,
    "ResourceFlavor": read_flavor,
    "Topology": read_topology,
    "AdmissionCheck": read_admission_check,
    "Cohort": read_cohort,
    "ClusterQueue": read_cluster_queue,
    "LocalQueue": read_local_queue,
    "ElasticQuota": read_elastic_quota,
    "Node": read_node_capacity,
    "Pod": read_quota_pod,
    "PriorityClass": read_priority_class,
    "WorkloadPriorityClass": read_priority_class,
    "JobKind": read_job_kind,
    "JobProfile": read_job_profile,
    "QueuePolicy": read_queue_policy,
    "Workload": read_workload,
} | {kind: descriptor.read for kind, descriptor in JOB_KINDS.items()}
