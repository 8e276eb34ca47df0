"""Manifests of the objects that queues of other systems become."""

from collections.abc import Mapping
from typing import Any


def made(
    kind: str, name: str, spec: dict[str, Any] | None, labels: Mapping[str, str] | None = None, **others: Any
) -> dict[str, Any]:
    """One of Kueue's kinds; `others`: fields beside the spec."""
    metadata: dict[str, Any] = {"name": name} | ({"labels": dict(labels)} if labels else {})
    manifest = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **others}
    return manifest if spec is None else {**manifest, "spec": spec}


def local_queue(name: str, namespace: str) -> dict[str, Any]:
    manifest = made("LocalQueue", name, {"clusterQueue": name})
    manifest["metadata"] = {"namespace": namespace, **manifest["metadata"]}
    return manifest


def queue_policy(name: str, kind: str, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "lockgate.dev/v1alpha1",
        "kind": "QueuePolicy",
        "metadata": {"name": name},
        "spec": {"target": {"kind": kind, "name": name}, **said},
    }
