"""Elastic quotas in a scenario: what the cluster has is one node, what leaves are asked for are pods that wait, and
whether the published figures are as expected."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from admission.model.elastic_quota import QUOTA_NAME, RUNTIME
from admission.world.objects import Frozen, Object
from admission.world.scenario.naming import Manifest
from admission.world.scenario.paths import MISSING, same_quantity
from admission.world.scenario.source import Path

Quantities = Mapping[str, str]
_NODE = "scenario"

# path, expected, seen, note, about: as `judge.Mismatch`.
Found = tuple[Path, Any, Any, str, tuple[Frozen, ...]]


def cluster_of(resources: Quantities) -> Object:
    """A node that has all of it."""
    status = {"allocatable": dict(resources)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": _NODE}, "status": status}


def pods_of(requests: Mapping[str, Quantities], manifests: Sequence[Manifest]) -> Iterator[Object]:
    """A pod that waits for each leaf that is asked for something; leaves are those of the file."""
    for manifest in manifests:
        meta = manifest["metadata"]
        if manifest["kind"] == "ElasticQuota" and meta["name"] in requests:
            asked = {"requests": dict(requests[meta["name"]])}
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "namespace": meta["namespace"],
                    "name": f"asks-{meta['name']}",
                    "labels": {QUOTA_NAME: meta["name"]},
                },
                "spec": {"containers": [{"name": "main", "image": "none", "resources": asked}]},
            }


def judge_elastic_quota(said: Mapping[str, Any], found: Sequence[Frozen]) -> Iterator[Found]:
    """What does not hold of the figures of the one ElasticQuota in `found`."""
    if not found:
        yield ("elasticQuota",), said["elasticQuota"], MISSING, "there is no such ElasticQuota", ()
        return
    quota = found[0]
    noted = (quota["metadata"].get("annotations") or {}).get(RUNTIME)
    seen = {
        "used": (quota.get("status") or {}).get("used") or {},
        "runtime": msgspec.json.decode(noted) if noted else {},
    }
    for figure in ("used", "runtime"):
        for resource, expected in (said.get(figure) or {}).items():
            there = seen[figure].get(resource)
            if there is None or not same_quantity(expected, there):
                yield (figure, resource), expected, MISSING if there is None else there, "", (quota,)
