"""The fields of a Workload that its rules look at."""

from typing import Any

import msgspec

from admission.model.names import ELASTIC_JOB, QUOTA_RESERVED
from admission.validation.quotas import Number

Quantities = dict[str, Number | None]  # null is nothing, as in Go


class Resources(msgspec.Struct):
    requests: Quantities | None = None
    limits: Quantities | None = None


class Container(msgspec.Struct):
    resources: Resources | None = None


class PodSpec(msgspec.Struct, rename="camel"):
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: Resources | None = None  # of the whole pod


class Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class Template(msgspec.Struct):
    metadata: Metadata | None = None
    spec: PodSpec | None = None


class SliceConstraint(msgspec.Struct):
    size: int = 0


class TopologyRequest(msgspec.Struct, rename="camel"):
    sub_group_count: int | None = None
    pod_set_slice_required_topology: str | None = None
    pod_set_slice_size: int | None = None
    podset_slice_required_topology_constraints: list[SliceConstraint] | None = None


class PodSet(msgspec.Struct, rename="camel"):
    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: Template | None = None
    topology_request: TopologyRequest | None = None


class Spec(msgspec.Struct, rename="camel"):
    pod_sets: list[PodSet] | None = None
    queue_name: str = ""


class Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class Assignment(msgspec.Struct, rename="camel"):
    name: str = "main"
    count: int | None = None
    flavors: dict[str, str] | None = None
    resource_usage: Quantities | None = None


class Admission(msgspec.Struct, rename="camel"):
    """Compared field by field on update: topology assignments, which may be edited, are left out."""

    cluster_queue: str = ""
    pod_set_assignments: list[Assignment] | None = None


class ReclaimablePod(msgspec.Struct):
    name: str = ""
    count: int = 0


class Toleration(msgspec.Struct):
    key: str = ""


class PodSetUpdate(msgspec.Struct, rename="camel"):
    name: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    node_selector: dict[str, str] | None = None
    tolerations: list[Toleration] | None = None


class CheckState(msgspec.Struct, rename="camel"):
    name: str = ""
    state: str = ""
    pod_set_updates: list[dict[str, Any]] | None = None  # in full, since they must not change


class Status(msgspec.Struct, rename="camel"):
    conditions: list[Condition] | None = None
    admission: Admission | None = None
    reclaimable_pods: list[ReclaimablePod] | None = None
    admission_checks: list[CheckState] | None = None
    cluster_name: str | None = None
    nominated_cluster_names: list[str] | None = None


class Workload(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: Spec = msgspec.field(default_factory=Spec)
    status: Status = msgspec.field(default_factory=Status)

    @property
    def reserved(self) -> bool:
        return any(c.type == QUOTA_RESERVED and c.status == "True" for c in self.status.conditions or ())

    def annotation(self, name: str) -> str | None:
        return (self.metadata.annotations or {}).get(name)

    @property
    def elastic(self) -> bool:
        """Of a job that may change its size while it runs."""
        return self.annotation(ELASTIC_JOB) == "true"

    @property
    def pod_sets(self) -> list[PodSet]:
        return self.spec.pod_sets or []
