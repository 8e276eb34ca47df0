"""Our kinds as the API server serves them: scope, short names, columns and schemas in one CustomResourceDefinition.

Of Kueue's kinds v1beta2 is what is stored. v1beta1 is served beside it; those whose fields differ need a webhook for
that. Our own kinds have one version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from admission.api.admission_check import AdmissionCheck
from admission.api.cluster_queue import ClusterQueue
from admission.api.cohort import Cohort
from admission.api.job_kind import JobKind
from admission.api.job_profile import JobProfile
from admission.api.local_queue import LocalQueue
from admission.api.priority_class import WorkloadPriorityClass
from admission.api.provisioning_request_config import ProvisioningRequestConfig
from admission.api.queue_policy import QueuePolicy
from admission.api.resource_flavor import ResourceFlavor
from admission.api.structural import structural
from admission.api.topology import Topology
from admission.api.v1beta1 import VERSION as OLDER
from admission.api.v1beta1 import WARNING, older
from admission.api.workload import Workload
from admission.model.kinds import KINDS

STORED = "v1beta2"
VERSIONS = (STORED, OLDER)
CONVERT_PATH = "/convert"  # of the webhooks; Kueue's
LABEL, PRODUCT = "app.kubernetes.io/name", "lockgate"  # CRDs with it are ours to keep up to date


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`; `wide` ones only with `-o wide`. `older_path`: in v1beta1, where it is another."""

    name: str
    path: str
    description: str
    type: str = "string"
    wide: bool = False
    older_path: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    model: type[BaseModel]
    short_names: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    status: bool = True
    selectable: tuple[str, ...] = ()  # JSON paths for `--field-selector`, in v1beta2
    converted: bool = False  # by a webhook; the other kinds have the same fields in both versions


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
            Column("Cohort", ".spec.cohortName", "The cohort that the queue belongs to", older_path=".spec.cohort"),
            Column("Strategy", ".spec.queueingStrategy", "How pending workloads are ordered", wide=True),
            _PENDING,
            Column("Admitted Workloads", *_ADMITTED, wide=True),
        ),
        converted=True,
    ),
    "Cohort": Served(Cohort, ("co",), converted=True),
    "LocalQueue": Served(
        LocalQueue,
        ("queue", "queues", "lq"),
        (
            Column("ClusterQueue", ".spec.clusterQueue", "Whose quota its workloads use"),
            _PENDING,
            Column("Admitted Workloads", *_ADMITTED),
        ),
        converted=True,
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
        converted=True,
    ),
    "WorkloadPriorityClass": Served(
        WorkloadPriorityClass,
        ("wpc",),
        (Column("Value", ".value", "The priority", "integer"),),
        status=False,
    ),
}

# Of a group of our own, which Kueue does not have.
OWN: dict[str, Served] = {
    "JobKind": Served(
        JobKind,
        ("jk",),
        (
            Column("Kind", ".spec.kind", "The kind of job that it describes"),
            _condition("Active", "Whether jobs of the kind are queued"),
            Column("Reason", ".status.conditions[?(@.type=='Active')].reason", "Why, in one word"),
        ),
    ),
    "QueuePolicy": Served(
        QueuePolicy,
        ("qp",),
        (
            Column("Kind", ".spec.target.kind", "What it is for"),
            Column("Target", ".spec.target.name", "Its name"),
            _condition("Active", "Whether it counts"),
            Column("Reason", ".status.conditions[?(@.type=='Active')].reason", "Why, in one word"),
        ),
    ),
    "JobProfile": Served(
        JobProfile,
        ("jp",),
        (
            Column("Order", ".spec.order", "When it is applied: ascending, then by name", "integer"),
            Column("Percent", ".spec.percent", "Of a hundred jobs that match, how many get it", "integer"),
            Column("Jobs", ".status.matched", "Jobs that exist now and were stamped by it", "integer"),
            _condition("Active", "Whether it counts"),
        ),
    ),
}
_ALL = {**SERVED, **OWN}


def schema_of(kind: str, version: str = "") -> dict[str, Any]:
    """The structural schema of one of our kinds, "": as it is stored. KeyError for any other, or another version.
    Shared: not to be changed."""
    return _schema(kind, version or KINDS[kind].version)


@cache
def _schema(kind: str, version: str) -> dict[str, Any]:
    if kind in SERVED and version == OLDER:
        return older(kind, schema_of(kind))
    return {KINDS[kind].version: structural(_ALL[kind].model)}[version]


def definition(kind: str, converter: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The CustomResourceDefinition of one of our kinds, as a manifest.

    `converter`: the clientConfig of the webhooks at CONVERT_PATH. Without one, kinds that need it are served as
    v1beta2 only: the API server would take an older object for a new one and drop the fields that it does not know.
    """
    served, described = _ALL[kind], KINDS[kind]
    versions = [_version(kind, described.version)]
    if kind in SERVED and (converter is not None or not served.converted):
        versions.append(_version(kind, OLDER))
    spec = {
        "group": described.group,
        "names": {
            "kind": kind,
            "listKind": f"{kind}List",
            "plural": described.plural,
            "singular": kind.lower(),
            "shortNames": list(served.short_names),
        },
        "scope": "Namespaced" if described.namespaced else "Cluster",
        "versions": versions,
    }
    if converter is not None and served.converted:
        webhook = {"clientConfig": dict(converter), "conversionReviewVersions": ["v1"]}
        spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": crd_name(kind), "labels": {LABEL: PRODUCT}},
        "spec": spec,
    }


def definitions(converter: Mapping[str, Any] | None = None) -> Iterable[dict[str, Any]]:
    """All of them, by name. `converter`: see `definition`."""
    return (definition(kind, converter) for kind in sorted(_ALL))


def crd_name(kind: str) -> str:
    """What the CustomResourceDefinition of a kind of ours is called."""
    return f"{KINDS[kind].plural}.{KINDS[kind].group}"


CONVERTED = tuple(kind for kind in sorted(SERVED) if SERVED[kind].converted)


def _version(kind: str, version: str) -> dict[str, Any]:
    served, is_stored = _ALL[kind], version == KINDS[kind].version
    made: dict[str, Any] = {"name": version, "served": True, "storage": is_stored}
    if not is_stored:
        made |= {"deprecated": True, "deprecationWarning": WARNING}
    made["schema"] = {"openAPIV3Schema": schema_of(kind, version)}
    if served.status:
        made["subresources"] = {"status": {}}
    if served.columns:
        made["additionalPrinterColumns"] = [_column(column, version) for column in served.columns]
    if served.selectable and is_stored:
        made["selectableFields"] = [{"jsonPath": path} for path in served.selectable]
    return made


def _column(column: Column, version: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": column.name,
        "jsonPath": column.older_path if version == OLDER and column.older_path else column.path,
        "type": column.type,
        "description": column.description,
    }
    return {**shown, "priority": 1} if column.wide else shown
