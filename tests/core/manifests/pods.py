"""Pod templates at random, and what a pod of one asks for as anybody would add it up; what every family builds on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

Object = dict[str, Any]

# Quantities as people write them, with what they mean: cpu in milli, all else in its base unit.
AMOUNTS: Mapping[str, Mapping[Any, int]] = {
    "cpu": {"100m": 100, "1": 1000, 2: 2000, "1.5": 1500},
    "memory": {"64Mi": 64 << 20, "1Gi": 1 << 30, "1G": 10**9},
    "nvidia.com/gpu": {"1": 1, 8: 8},
}


@dataclass(frozen=True, slots=True)
class Pods:
    """Equal pods that the operator will make: what one pod set of the Workload must stand for."""

    name: str
    count: int
    requests: Mapping[str, int]  # of one pod, without what is zero


class Sample(NamedTuple):
    """A job that is held, as the API server keeps it, and the pods that it is for, in the order of its pod sets."""

    manifest: Object
    pods: tuple[Pods, ...]


def metadata(**fields: Any) -> Object:
    """Of a job that names a queue."""
    return {
        "name": "train",
        "namespace": "lab",
        "uid": "u-1",
        "resourceVersion": "7",
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
        **fields,
    }


# Drawn whole, not field by field: a draw costs more than a law.
words = st.sampled_from(["pool", "zone", "team"])
maps: st.SearchStrategy[dict[str, str]] = st.sampled_from(
    [{}, {"pool": "a"}, {"zone": "b"}, {"pool": "b", "team": "a"}]
)
tolerations: st.SearchStrategy[list[dict[str, str]]] = st.sampled_from(
    [[], [{"key": "pool"}], [{"key": "zone", "effect": "NoSchedule"}], [{"key": "team"}, {"key": "team"}]]
)
resources: st.SearchStrategy[Object] = st.sampled_from(
    [
        {},
        {"requests": {}},
        {"requests": {"cpu": "100m", "memory": "64Mi"}},
        {"requests": {"cpu": 2, "memory": "1G"}},
        {"requests": {"nvidia.com/gpu": 8}},
        {"limits": {"cpu": "1.5", "memory": "1Gi", "nvidia.com/gpu": "1"}},
        {"requests": {"cpu": "1"}, "limits": {"cpu": 2, "memory": "1Gi"}},
    ]
)


def containers(prefix: str, least: int, most: int, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Object]]:
    """Containers of one pod, each with a name of its own; `fields`: what else one may say."""
    one = st.fixed_dictionaries({"image": st.just("none"), "resources": resources}, optional=dict(fields))
    return st.lists(one, min_size=least, max_size=most).map(
        lambda drawn: [{"name": f"{prefix}{position}", **each} for position, each in enumerate(drawn)]
    )


_env = st.just([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])
pod_specs = st.fixed_dictionaries(
    {"containers": containers("c", 1, 2, env=_env)},
    optional={
        "initContainers": containers("first", 0, 2, restartPolicy=st.just("Always")),
        "nodeSelector": maps,
        "tolerations": tolerations,
        "schedulingGates": st.just([{"name": "g"}]),
        "priorityClassName": words,
        "futureKnob": maps,
    },
)
templates = st.fixed_dictionaries(
    {"spec": pod_specs},
    optional={"metadata": st.fixed_dictionaries({}, optional={"labels": maps, "annotations": maps})},
)


def requests_of(template: Mapping[str, Any]) -> dict[str, int]:
    """What one pod of a drawn template asks for: its containers and sidecars together, or an init container beside the
    sidecars before it, whichever is more."""
    spec = template["spec"]
    running: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            running = total(running, _stated(container))
        else:
            peak = _most(peak, total(running, _stated(container)))
    for container in spec["containers"]:
        running = total(running, _stated(container))
    return {name: amount for name, amount in _most(peak, running).items() if amount}


def total(*each: Mapping[str, int]) -> dict[str, int]:
    """The sum of amounts by resource."""
    return {name: sum(one.get(name, 0) for one in each) for name in _names(each)}


def _most(*each: Mapping[str, int]) -> dict[str, int]:
    return {name: max(one.get(name, 0) for one in each) for name in _names(each)}


def _names(each: Iterable[Mapping[str, int]]) -> list[str]:
    return sorted({name for one in each for name in one})


def _stated(container: Object) -> dict[str, int]:
    # A limit without a request is one: Kubernetes fills it in.
    stated = {**container["resources"].get("limits", {}), **container["resources"].get("requests", {})}
    return {name: AMOUNTS[name][value] for name, value in stated.items()}
