"""Our kinds as the API server serves them: scope, short names, columns and schema in one CustomResourceDefinition."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from admission.api.admission_check import AdmissionCheck
from admission.api.cluster_queue import ClusterQueue
from admission.api.cohort import Cohort
from admission.api.local_queue import LocalQueue
from admission.api.priority_class import WorkloadPriorityClass
from admission.api.provisioning_request_config import ProvisioningRequestConfig
from admission.api.resource_flavor import ResourceFlavor
from admission.api.structural import structural
from admission.api.topology import Topology
from admission.api.workload import Workload
from admission.model.kinds import KINDS


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`; `wide` ones only with `-o wide`."""

    name: str
    path: str
    description: str
    type: str = "string"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    model: type[BaseModel]
    short_names: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    status: bool = True
    selectable: tuple[str, ...] = ()  # JSON paths for `--field-selector`


_PENDING = Column("Pending Workloads", ".status.pendingWorkloads", "Workloads that wait for quota", "integer")
_ADMITTED = (".status.admittedWorkloads", "Workloads that are admitted and not finished", "integer")


def _condition(name: str, description: str) -> Column:
    return Column(name, f".status.conditions[?(@.type=='{name}')].status", description)


SERVED: dict[str, Served] = {
    "AdmissionCheck": Served(AdmissionCheck, ("ac",)),
    "ClusterQueue": Served(
        ClusterQueue,
        ("cq",),
        (
            Column("Cohort", ".spec.cohortName", "The cohort that the queue belongs to"),
            Column("Strategy", ".spec.queueingStrategy", "How pending workloads are ordered", wide=True),
            _PENDING,
            Column("Admitted Workloads", *_ADMITTED, wide=True),
        ),
    ),
    "Cohort": Served(Cohort, ("co",)),
    "LocalQueue": Served(
        LocalQueue,
        ("queue", "queues", "lq"),
        (
            Column("ClusterQueue", ".spec.clusterQueue", "Whose quota its workloads use"),
            _PENDING,
            Column("Admitted Workloads", *_ADMITTED),
        ),
    ),
    "ProvisioningRequestConfig": Served(ProvisioningRequestConfig, ("prc",), status=False),
    "ResourceFlavor": Served(ResourceFlavor, ("flavor", "flavors", "rf"), status=False),
    "Topology": Served(Topology, ("topo",), status=False),
    "Workload": Served(
        Workload,
        ("kwl", "kueueworkload", "kueueworkloads"),
        (
            Column("Queue", ".spec.queueName", "The LocalQueue that it was submitted to"),
            Column("Reserved in", ".status.admission.clusterQueue", "The ClusterQueue whose quota it holds"),
            _condition("Admitted", "Whether it may run"),
            _condition("Finished", "Whether it is done"),
            Column("Age", ".metadata.creationTimestamp", "How long ago it was created", "date"),
        ),
        selectable=(".status.admission.clusterQueue",),
    ),
    "WorkloadPriorityClass": Served(
        WorkloadPriorityClass,
        ("wpc",),
        (Column("Value", ".value", "The priority", "integer"),),
        status=False,
    ),
}


@cache
def schema_of(kind: str) -> dict[str, Any]:
    """The structural schema of one of our kinds. KeyError for any other. Shared: not to be changed."""
    return structural(SERVED[kind].model)


def definition(kind: str) -> dict[str, Any]:
    """The CustomResourceDefinition of one of our kinds, as a manifest."""
    served, described = SERVED[kind], KINDS[kind]
    version: dict[str, Any] = {
        "name": described.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema_of(kind)},
    }
    if served.status:
        version["subresources"] = {"status": {}}
    if served.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in served.columns]
    if served.selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in served.selectable]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{described.plural}.{described.group}"},
        "spec": {
            "group": described.group,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": described.plural,
                "singular": kind.lower(),
                "shortNames": list(served.short_names),
            },
            "scope": "Namespaced" if described.namespaced else "Cluster",
            "versions": [version],
        },
    }


def definitions() -> Iterable[dict[str, Any]]:
    """All of them, by name."""
    return (definition(kind) for kind in sorted(SERVED))


def _column(column: Column) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": column.name,
        "jsonPath": column.path,
        "type": column.type,
        "description": column.description,
    }
    return {**shown, "priority": 1} if column.wide else shown
