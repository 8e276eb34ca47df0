"""What pods ask for, put to the real Kueue: of the same manifests both charge, refuse and tell the same."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from admission.configuration import read
from admission.model.amounts import exact
from admission.model.kinds import KINDS, KUEUE, Ref
from admission.state.decide import REPORT_AFTER
from admission.world.world import World
from hack.cluster import Cluster
from hack.cluster.wait import until
from hack.kueue import Kueue

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

Manifest = dict[str, Any]

RESOURCES = {
    "excludeResourcePrefixes": ["ex.io/"],
    "transformations": [
        {"input": "acme.io/mig", "strategy": "Replace", "outputs": {"acme.io/mem": "5", "acme.io/credit": "-2"}},
        {"input": "acme.io/b", "outputs": {"acme.io/credit": "3"}},
        {"input": "acme.io/mib", "strategy": "Replace", "multiplyBy": "acme.io/b", "outputs": {"acme.io/total": "1"}},
        {"input": "cpu", "outputs": {"acme.io/cpu-credit": "1000"}},
    ],
}
COVERED = ("cpu", "memory", *(f"acme.io/{name}" for name in ("b", "mem", "credit", "total", "cpu-credit")))
OPEN, SHUT = "open", "shut"  # a queue that has room for everything, and one without any quota
PATIENCE = 300.0  # seconds, on a machine that does other things


def container(requests: Any = None, limits: Any = None, **fields: Any) -> Manifest:
    return {"image": "none", "resources": {"requests": requests or {}, "limits": limits or {}}, **fields}


def sidecar(cpu: str) -> Manifest:
    return container({"cpu": cpu}, restartPolicy="Always")


# name -> namespace (of its LimitRange: none, one for containers, one for pods), containers, the rest of the pod
PODS: dict[str, tuple[str, list[Manifest], Manifest]] = {
    "plain": ("free", [container({"cpu": "1", "memory": "1Gi"})], {}),
    "excluded": ("free", [container({"cpu": "1", "ex.io/gpu": "2"})], {}),
    "transformed": ("free", [container({"acme.io/mig": "3"}), container({"acme.io/b": "1"})], {}),
    "beside-its-own": ("free", [container({"acme.io/mig": "1", "acme.io/b": "2", "acme.io/credit": "7"})], {}),
    "multiplied": ("free", [container({"acme.io/mib": "100", "acme.io/b": "4"})], {}),
    "not-multiplied": ("free", [container({"acme.io/mib": "100"})], {}),
    "fraction": ("free", [container({"cpu": "0.0004"}), container({"cpu": "300m"})], {}),
    "overhead": (
        "free", [container({"cpu": "1"})],
        {"runtimeClassName": "sandbox", "initContainers": [sidecar("1"), container({"cpu": "3"})]},
    ),
    "own-overhead": ("free", [container({"cpu": "1"})], {"runtimeClassName": "sandbox", "overhead": {"cpu": "1"}}),
    "unknown-class": ("free", [container({"cpu": "1"})], {"runtimeClassName": "missing"}),
    "whole": (
        "free", [container({"cpu": "1"})], {"resources": {"requests": {"cpu": "4"}, "limits": {"memory": "2Gi"}}},
    ),
    "above-its-limit": ("free", [container({"cpu": "3"}, {"cpu": "2", "memory": "1Gi"})], {}),
    "defaulted": ("containers", [container(), container({"cpu": "1"}), container(None, {"cpu": "2"})], {}),
    "above-a-default-limit": ("containers", [container({"memory": "1500Mi"})], {}),
    "outside": (
        "containers", [container({"cpu": "1", "memory": "3Gi"}, {"memory": "3Gi"})],
        {"initContainers": [container({"cpu": "50m"})]},
    ),
    "pod-above": ("pods", [container({"cpu": "1500m", "memory": "1Gi"}), container({"cpu": "1"})], {}),
    "pod-below": ("pods", [container({"cpu": "1", "memory": "1Mi"})], {}),
    "pod-within": ("pods", [container({"cpu": "1", "memory": "1Gi"})], {}),
    "pod-of-another-resource": ("pods", [container({"cpu": "1"})], {}),
}  # fmt: skip
LIMITS = {
    "containers": {
        "type": "Container", "defaultRequest": {"cpu": "300m"}, "default": {"memory": "1Gi"},
        "max": {"cpu": "2", "memory": "2Gi"}, "min": {"cpu": "100m"},
    },
    "pods": {"type": "Pod", "max": {"cpu": "2"}, "min": {"memory": "100Mi"}},
}  # fmt: skip


def cluster_of_theirs() -> Iterator[Manifest]:
    yield manifest("ResourceFlavor", "std")
    overhead = {"podFixed": {"cpu": "250m", "memory": "10Mi"}}
    yield manifest("RuntimeClass", "sandbox", handler="h", overhead=overhead)
    for queue, units in ((OPEN, "1000000000000"), (SHUT, "0")):
        quotas = [{"name": name, "nominalQuota": units} for name in COVERED]
        flavors = [{"name": "std", "resources": quotas}]
        groups = [{"coveredResources": list(COVERED), "flavors": flavors}]
        yield manifest("ClusterQueue", queue, spec={"namespaceSelector": {}, "resourceGroups": groups})
    for namespace in ("free", *LIMITS):
        yield manifest("Namespace", namespace)
        for queue in (OPEN, SHUT):
            yield manifest("LocalQueue", queue, namespace, spec={"clusterQueue": queue})
    for namespace, entry in LIMITS.items():
        yield manifest("LimitRange", "limits", namespace, spec={"limits": [entry]})


def workloads() -> Iterator[Manifest]:
    """Each with a priority of its own: of equals Kueue tells only one why it waits."""
    for priority, (name, (namespace, containers, rest)) in enumerate(PODS.items()):
        named = [{"name": f"c{at}", **each} for at, each in enumerate(containers)]
        pod = {"restartPolicy": "Never", **deepcopy(rest), "containers": named}
        for at, each in enumerate(pod.get("initContainers", ())):
            each["name"] = f"i{at}"
        for queue in (OPEN, SHUT):
            pod_sets = [{"name": "main", "count": 2, "template": {"spec": pod}}]
            spec = {"queueName": queue, "priority": priority, "podSets": pod_sets}
            yield manifest("Workload", f"{name}-{queue}", namespace, spec=spec)


def manifest(kind: str, name: str, namespace: str = "", **fields: Any) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata, **fields}


def told(status: Manifest) -> Manifest:
    """What must be the same; quantities by value."""
    reserved: Manifest = next((one for one in status.get("conditions", ()) if one["type"] == "QuotaReserved"), {})
    assigned = (status.get("admission") or {}).get("podSetAssignments", ())
    return {
        **{field: reserved.get(field) for field in ("status", "reason", "message")},
        "charged": [by_value(one.get("resourceUsage")) for one in assigned],
        "requests": [(one["name"], by_value(one.get("resources"))) for one in status.get("resourceRequests") or ()],
    }


def by_value(quantities: Manifest | None) -> Manifest:
    return {name: exact(str(stated)) for name, stated in (quantities or {}).items()}


@pytest.fixture(scope="module")
def kueue() -> Iterator[dict[str, Manifest]]:
    """By name of the Workload: what the real Kueue makes of it."""
    with Cluster.start() as cluster, Kueue.start(cluster, configuration={"resources": RESOURCES}):
        api = cluster.api()
        for one in (*cluster_of_theirs(), *workloads()):
            api.apply(one)

        def statuses() -> dict[str, Manifest]:
            listed = api.get(KINDS["Workload"].path())["items"]
            return {one["metadata"]["name"]: told(one.get("status", {})) for one in listed}

        until(lambda: all(one["status"] for one in statuses().values()), PATIENCE, "Kueue has looked at all of them")
        yield statuses()


@pytest.fixture(scope="module")
def ours() -> dict[str, Manifest]:
    configuration = {"apiVersion": f"config.{KUEUE}/v1beta2", "kind": "Configuration", "resources": RESOURCES}
    world = World(read(configuration).core)
    for one in (*cluster_of_theirs(), *workloads()):
        answer = world.api.create(one)
        assert answer.code == 201, answer.body
    world.settle()
    world.advance(world.clock.now + 2 * REPORT_AFTER)
    refs = [Ref("Workload", one["metadata"]["namespace"], one["metadata"]["name"]) for one in workloads()]
    return {ref.name: told((world.api.get(ref).body or {}).get("status", {})) for ref in refs}


@pytest.mark.parametrize("queue", [OPEN, SHUT])
@pytest.mark.parametrize("name", PODS)
def test_both_make_the_same_of_it(ours: dict[str, Manifest], kueue: dict[str, Manifest], name: str, queue: str) -> None:
    assert ours[f"{name}-{queue}"] == kueue[f"{name}-{queue}"]
