"""The kinds we read or write: their group, version, plural, and whether they live in a namespace.

A kind that this product knows is named by its bare Kind; any other is spelled out as `Kind.version.group`, with
`:plural` behind it where English would have it wrong. So a name says all that is needed to find the objects.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from admission.model.accelerators import CONFIG_MAP

KUEUE = "kueue.x-k8s.io"
LOCKGATE = "lockgate.dev"


class Ref(NamedTuple):
    """One object: kind (as `kind_of` takes it), namespace ("" when cluster-scoped), name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


@dataclass(frozen=True, slots=True)
class Kind:
    """Where the API server keeps objects of a kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str | None = None) -> str:
        """The URL path of one object, or of the collection when `name` is empty."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [self.plural]
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


KINDS: dict[str, Kind] = {
    "Namespace": Kind("", "v1", "Namespace", "namespaces", False),
    "Event": Kind("", "v1", "Event", "events", True),
    "Secret": Kind("", "v1", "Secret", "secrets", True),
    "ConfigMap": Kind("", "v1", "ConfigMap", "configmaps", True),
    "Node": Kind("", "v1", "Node", "nodes", False),
    "Pod": Kind("", "v1", "Pod", "pods", True),
    "Lease": Kind("coordination.k8s.io", "v1", "Lease", "leases", True),
    "PriorityClass": Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False),
    "Job": Kind("batch", "v1", "Job", "jobs", True),
    "CronJob": Kind("batch", "v1", "CronJob", "cronjobs", True),
    "TFJob": Kind("kubeflow.org", "v1", "TFJob", "tfjobs", True),
    "PyTorchJob": Kind("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", True),
    "XGBoostJob": Kind("kubeflow.org", "v1", "XGBoostJob", "xgboostjobs", True),
    "PaddleJob": Kind("kubeflow.org", "v1", "PaddleJob", "paddlejobs", True),
    "JAXJob": Kind("kubeflow.org", "v1", "JAXJob", "jaxjobs", True),
    "MPIJob": Kind("kubeflow.org", "v2beta1", "MPIJob", "mpijobs", True),
    "RayJob": Kind("ray.io", "v1", "RayJob", "rayjobs", True),
    "RayCluster": Kind("ray.io", "v1", "RayCluster", "rayclusters", True),
    "SparkApplication": Kind("sparkoperator.k8s.io", "v1beta2", "SparkApplication", "sparkapplications", True),
    "JobSet": Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", True),
    "Workflow": Kind("argoproj.io", "v1alpha1", "Workflow", "workflows", True),
    "ClusterColocationProfile": Kind(
        "config.koordinator.sh", "v1alpha1", "ClusterColocationProfile", "clustercolocationprofiles", False
    ),
    "JobKind": Kind(LOCKGATE, "v1alpha1", "JobKind", "jobkinds", False),
    "JobProfile": Kind(LOCKGATE, "v1alpha1", "JobProfile", "jobprofiles", False),
    "QueuePolicy": Kind(LOCKGATE, "v1alpha1", "QueuePolicy", "queuepolicies", False),
    "ResourceFlavor": Kind(KUEUE, "v1beta2", "ResourceFlavor", "resourceflavors", False),
    "Cohort": Kind(KUEUE, "v1beta2", "Cohort", "cohorts", False),
    "ClusterQueue": Kind(KUEUE, "v1beta2", "ClusterQueue", "clusterqueues", False),
    "LocalQueue": Kind(KUEUE, "v1beta2", "LocalQueue", "localqueues", True),
    "Workload": Kind(KUEUE, "v1beta2", "Workload", "workloads", True),
    "WorkloadPriorityClass": Kind(KUEUE, "v1beta2", "WorkloadPriorityClass", "workloadpriorityclasses", False),
    "AdmissionCheck": Kind(KUEUE, "v1beta2", "AdmissionCheck", "admissionchecks", False),
    "Topology": Kind(KUEUE, "v1beta2", "Topology", "topologies", False),
    "ProvisioningRequestConfig": Kind(
        KUEUE, "v1beta2", "ProvisioningRequestConfig", "provisioningrequestconfigs", False
    ),
    "ElasticQuota": Kind("scheduling.sigs.k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas", True),
    "LimitRange": Kind("", "v1", "LimitRange", "limitranges", True),
    "RuntimeClass": Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", False),
}

# The kinds of jobs that are built in. Those that own others come before them: a first list tells of owners first.
JOBS = (
    "Workflow",
    "SparkApplication",
    "RayJob",
    "RayCluster",
    "TFJob",
    "PyTorchJob",
    "XGBoostJob",
    "PaddleJob",
    "JAXJob",
    "MPIJob",
    "JobSet",
    "Job",
)
# Nobody waits for these: a cluster need not serve them.
OPTIONAL = frozenset((*JOBS, "ConfigMap", "ElasticQuota", "JobKind", "JobProfile", "QueuePolicy")) - {"Job"}

# What the controller keeps in step with, in the order in which a first list is fed to State: queues before workloads,
# workloads before the jobs that own them.
WATCHED = (
    "Namespace",
    "LimitRange",
    "RuntimeClass",
    "ConfigMap",
    "ResourceFlavor",
    "Topology",
    "AdmissionCheck",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "ElasticQuota",
    "QueuePolicy",
    "PriorityClass",
    "WorkloadPriorityClass",
    "JobKind",
    "JobProfile",
    "Workload",
    *JOBS,
)
# Of these one object alone is read, in the product's own namespace: by kind its name.
SINGLE = {"ConfigMap": CONFIG_MAP}
# Kept in step with, too, as long as there is an ElasticQuota.
COUNTED = ("Node", "Pod")


def kind_of(name: str) -> Kind:
    """Where objects of the kind of this name are kept. Raises KeyError for a name that is neither known nor spelled
    out."""
    return KINDS[name] if name in KINDS else _spelled_out(name)


def maybe_kind(name: str) -> Kind | None:
    """The same for a name that others chose: None for one that says too little."""
    try:
        return kind_of(name)
    except KeyError:
        return None


def plural_of(kind: str) -> str:
    """As Kubernetes guesses it, and nearly every kind has it: `Sweep` -> `sweeps`."""
    lowered = kind.lower()
    if lowered.endswith(("s", "x", "ch", "sh")):
        return lowered + "es"
    return lowered[:-1] + "ies" if lowered.endswith("y") else lowered + "s"


@lru_cache(1024)
def _spelled_out(name: str) -> Kind:
    stated, _, plural = name.partition(":")
    kind, _, rest = stated.partition(".")
    version, _, group = rest.partition(".")
    if not (kind and version and group):
        raise KeyError(name)
    return Kind(group, version, kind, plural or plural_of(kind), True)
