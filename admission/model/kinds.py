"""The kinds we read or write: their group, version, plural, and whether they live in a namespace.

A kind is named by its bare Kind where that is unambiguous here, else by `Kind.group`.
"""

from dataclasses import dataclass
from typing import NamedTuple

KUEUE = "kueue.x-k8s.io"


class Ref(NamedTuple):
    """One object: kind (a key of KINDS), namespace ("" when cluster-scoped), name."""

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
    "Node": Kind("", "v1", "Node", "nodes", False),
    "Pod": Kind("", "v1", "Pod", "pods", True),
    "Lease": Kind("coordination.k8s.io", "v1", "Lease", "leases", True),
    "PriorityClass": Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False),
    "Job": Kind("batch", "v1", "Job", "jobs", True),
    "CronJob": Kind("batch", "v1", "CronJob", "cronjobs", True),
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
    "LimitRange": Kind("", "v1", "LimitRange", "limitranges", True),
    "RuntimeClass": Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", False),
}

# What the controller keeps in step with, in the order in which a first list is fed to State: queues before workloads,
# workloads before the jobs that own them.
WATCHED = (
    "Namespace",
    "LimitRange",
    "RuntimeClass",
    "ResourceFlavor",
    "Topology",
    "AdmissionCheck",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "PriorityClass",
    "WorkloadPriorityClass",
    "Workload",
    "Job",
)
