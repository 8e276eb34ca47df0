"""The nodes KWOK plays: pools of equal ones, each with resources, labels and taints."""

from dataclasses import dataclass, field
from typing import Any

from hack.cluster.api import Api
from hack.cluster.errors import HackError

POOL_LABEL = "lockgate.dev/pool"
EXAMPLE = "name=gpu,count=4,cpu=32,memory=128Gi,nvidia.com/gpu=8,label=k=v,taint=k=v:NoSchedule"


@dataclass(frozen=True, slots=True)
class Pool:
    """`count` nodes called NAME-0, NAME-1, … with these resources."""

    name: str = "node"
    count: int = 1
    resources: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()

    @property
    def node_names(self) -> list[str]:
        """The nodes it holds."""
        return [f"{self.name}-{number}" for number in range(self.count)]

    def node(self, name: str) -> dict[str, Any]:
        """One node object, with its capacity."""
        capacity = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "500Gi"} | self.resources
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": self.name,
            POOL_LABEL: self.name,
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": labels | self.labels,
                "annotations": {"kwok.x-k8s.io/node": "fake"},  # KWOK plays only nodes that say so
            },
            "spec": {"taints": list(self.taints)},
            "status": {"capacity": capacity, "allocatable": capacity},
        }


def parse(text: str) -> Pool:
    """Read EXAMPLE and the like.

    `gpu=nvidia.com/gpu=8` is another way to write `nvidia.com/gpu=8`; label and taint may be repeated.
    """
    name, count = "node", 1
    resources: dict[str, str] = {}
    labels: dict[str, str] = {}
    taints: list[dict[str, str]] = []
    for part in text.split(","):
        key, equals, value = part.strip().partition("=")
        if not equals or not value:
            raise HackError(f"--pool {text}: '{part}' is not key=value; like {EXAMPLE}")
        match key:
            case "name":
                name = value
            case "count":
                count = _number(value, text)
            case "label":
                label, _, content = value.partition("=")
                labels[label] = content
            case "taint":
                taints.append(_taint(value, text))
            case "gpu":
                resource, _, amount = value.rpartition("=")
                resources[resource or "nvidia.com/gpu"] = amount
            case _:
                resources[key] = value
    return Pool(name, count, resources, labels, tuple(taints))


def create(api: Api, pools: tuple[Pool, ...]) -> None:
    """Make the nodes; KWOK then makes them ready."""
    for pool in pools:
        for name in pool.node_names:
            api.create("/api/v1/nodes", pool.node(name))


def ready(api: Api, names: set[str]) -> bool:
    """Whether all these nodes are Ready and free of the taint new nodes have."""
    items = [item for item in api.get("/api/v1/nodes")["items"] if item["metadata"]["name"] in names]
    return len(items) == len(names) and all(_is_ready(item) for item in items)


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = {item["type"]: item["status"] for item in node.get("status", {}).get("conditions", [])}
    taints = {taint["key"] for taint in node["spec"].get("taints", [])}
    return conditions.get("Ready") == "True" and "node.kubernetes.io/not-ready" not in taints


def _taint(value: str, text: str) -> dict[str, str]:
    pair, colon, effect = value.rpartition(":")
    if not colon:
        raise HackError(f"--pool {text}: taint '{value}' has no effect; like taint=gpu=yes:NoSchedule")
    key, _, content = pair.partition("=")
    return {"key": key, "value": content, "effect": effect}


def _number(value: str, text: str) -> int:
    if not value.isdigit():
        raise HackError(f"--pool {text}: count '{value}' is not a number")
    return int(value)
