"""How a scenario names objects: `Kind/namespace/name`, `Kind.group/…` where kinds clash, `prefix*` when generated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Manifest = Mapping[str, Any]

SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
CLUSTER_SCOPED = frozenset(
    {
        "AdmissionCheck", "ClusterColocationProfile", "ClusterQueue", "Cohort", "JobKind", "Namespace", "Node",
        "PriorityClass", "Queue", "ResourceFlavor", "RuntimeClass", "WorkloadPriorityClass",
    }
)  # fmt: skip


def group_of(manifest: Manifest) -> str:
    return str(manifest["apiVersion"]).rpartition("/")[0]


def names_of(manifest: Manifest) -> Iterator[str]:
    """The ways to write a reference to this manifest, the usual one first."""
    meta, kind = manifest["metadata"], manifest["kind"]
    name = meta.get("name") or meta["generateName"] + "*"
    where = f"{meta['namespace']}/" if "namespace" in meta else ""
    yield f"{kind}/{where}{name}"
    if group_of(manifest):
        yield f"{kind}.{group_of(manifest)}/{where}{name}"


def by_name(manifests: Sequence[Manifest]) -> dict[str, Manifest]:
    return {name: manifest for manifest in manifests for name in names_of(manifest)}
