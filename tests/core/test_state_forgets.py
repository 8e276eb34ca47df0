"""A controller runs for years while teams, queues and jobs come and go: nothing stays in State of what is gone."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from admission.model.configuration import AdmissionFairSharing, Configuration, FairSharing, WaitForPodsReady
from admission.model.kinds import Ref
from admission.world.world import World
from tests.core.clusters import API, workload

EVERYTHING_ON = Configuration(
    fair_sharing=FairSharing(),
    admission_fair_sharing=AdmissionFairSharing(usage_half_life=60.0),
    wait_for_pods_ready=WaitForPodsReady(block_admission=True),
)
ROUNDS = 3


def entries(root: object) -> dict[str, int]:
    """How many entries each container has that `root` reaches through objects of ours, by the way to it."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    line: list[tuple[str, object]] = [("state", root)]
    while line:
        path, here = line.pop()
        if id(here) in seen or isinstance(here, str | bytes | int | float | Fraction | type) or callable(here):
            continue
        seen.add(id(here))
        if isinstance(here, dict | list | tuple | set | frozenset):
            found[path] = found.get(path, 0) + len(here)
            line += [(f"{path}[]", each) for each in (here.values() if isinstance(here, dict) else here)]
        elif type(here).__module__.startswith("admission."):
            line += [(f"{path}.{name}", value) for name, value in fields(here)]
    return found


def fields(here: object) -> Iterator[tuple[str, object]]:
    yield from getattr(here, "__dict__", {}).items()
    for kind in type(here).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(here, name):
                yield name, getattr(here, name)


def objects(team: str) -> list[dict[str, Any]]:
    """All that a team brings along; its first workload is admitted, the second waits."""
    flavor = {"name": f"f-{team}", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
    queue = {
        "cohortName": f"c-{team}",
        "namespaceSelector": {},
        "resourceGroups": groups,
        "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
    }
    limits = [{"type": "Container", "max": {"cpu": "4"}}]
    scheduling = {"overhead": {"podFixed": {"cpu": "1m"}}, "handler": "runc"}
    waits = [workload(f"{team}-{number}", f"q-{team}", 1, number) for number in range(2)]
    for each in waits:
        each["metadata"]["namespace"] = team
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}},
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": _in(team, "nothing"), "spec": {"limits": []}},
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": _in(team, "limits"), "spec": {"limits": limits}},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": team}, **scheduling},
        {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": team}, "value": 1},
        {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": f"f-{team}"}},
        {"apiVersion": API, "kind": "Cohort", "metadata": {"name": f"c-{team}"}, "spec": {}},
        {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": f"cq-{team}"}, "spec": queue},
        {
            "apiVersion": API,
            "kind": "LocalQueue",
            "metadata": _in(team, f"q-{team}"),
            "spec": {"clusterQueue": f"cq-{team}"},
        },
        *waits,
    ]


def _in(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "name": name}


def come_and_go(world: World, team: str) -> None:
    made = objects(team)
    for manifest in made:
        answer = world.api.create(manifest)
        assert answer.code == 201, answer.message
        world.advance(world.now + 2)
    running = Ref("Workload", team, f"{team}-0")
    body = world.api.get(running).body or {}
    assert body["status"]["admission"]["clusterQueue"] == f"cq-{team}"
    world.operators.ready(running)
    world.advance(world.now + 400)
    for manifest in reversed(made):
        meta = manifest["metadata"]
        world.api.delete(Ref(manifest["kind"], meta.get("namespace", ""), meta["name"]))
        world.advance(world.now + 2)
    world.advance(world.now + 4000)


def test_state_forgets_whatever_is_gone() -> None:
    world = World(EVERYTHING_ON, pods_stop_after=1.0)
    sizes = []
    for number in range(ROUNDS):
        come_and_go(world, f"team{number}")
        left = [kind for kind in ("Workload", "ClusterQueue", "LocalQueue", "Cohort") if world.api.list(kind)]
        assert not left, left
        sizes.append(entries(world.state))
    first, last = sizes[1], sizes[-1]
    grown = {path: (first.get(path, 0), size) for path, size in last.items() if size > first.get(path, 0)}
    assert not grown
