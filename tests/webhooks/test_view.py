"""What the webhooks know of the cluster: queues and namespaces as they change, owners by one GET at most."""

import asyncio
from dataclasses import replace
from typing import Any

from admission.answers import Request
from admission.model.configuration import DEFAULTS
from admission.model.gates import Gates
from controller.kit.tasks import together
from controller.kube.client import Client
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import StillClock, until
from webhooks.routes import ask
from webhooks.view import MOST_OWNERS, OWNER_SECONDS, ClusterView, OwnerUnknown

QUEUES = "/apis/kueue.x-k8s.io/v1beta2/namespaces/lab/localqueues"
JOBS = "/apis/batch/v1/namespaces/lab/jobs"
QUEUE = {"kueue.x-k8s.io/queue-name": "q"}


def _child(owner: str, uid: str) -> dict[str, Any]:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": uid, "controller": True}
    return {"metadata": {"labels": QUEUE, "ownerReferences": [reference]}, "spec": {}}


async def _held(view: ClusterView, child: dict[str, Any]) -> bool:
    said = await ask("/mutate-batch-v1-job", Request("CREATE", "lab", child), view)
    assert said.allowed
    return bool(said.patch)


def _reads(server: ApiServer) -> int:
    return sum(request.startswith(f"GET {JOBS}/") for request in server.requests)


async def test_queues_and_namespaces_are_followed() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        server.served["kueue.x-k8s.io/v1beta2"] = ["localqueues"]
        await server.put(f"{QUEUES}/default", spec={"clusterQueue": "team"})
        await server.put("/api/v1/namespaces/lab")
        view = ClusterView(client, DEFAULTS)
        assert view.namespace_labels("lab") is None
        watching = asyncio.create_task(together(view.watches()))
        await view.synced.wait()
        assert view.namespace_labels("lab") == {}
        assert view.local_queue("lab", "default") is not None
        await server.remove(f"{QUEUES}/default")
        await until(lambda: view.local_queue("lab", "default") is None)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_an_owner_is_fetched_once_and_remembered_for_its_other_children() -> None:
    clock = StillClock()
    async with ApiServer().running() as server, Client(server.url) as client:
        owner = await server.put(f"{JOBS}/parent", uid="1")
        owner["metadata"]["labels"] = QUEUE
        view = ClusterView(client, DEFAULTS, clock)
        for _ in range(3):
            assert not await _held(view, _child("parent", "1"))
        assert _reads(server) == 1
        clock.time += OWNER_SECONDS + 1
        assert not await _held(view, _child("parent", "1"))
        assert _reads(server) == 2


async def test_owners_of_every_kind_are_fetched_where_their_kind_is_kept() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        path = "/apis/ray.io/v1/namespaces/lab/rayjobs/parent"
        owner = await server.put(path, uid="1")
        owner["metadata"]["labels"] = QUEUE
        view = ClusterView(client, DEFAULTS, StillClock())
        child = _child("parent", "1")
        child["metadata"]["ownerReferences"][0] |= {"apiVersion": "ray.io/v1alpha1", "kind": "RayJob"}
        assert not await _held(view, child)
        assert server.requests == [f"GET {path}"]


async def test_an_owner_that_does_not_exist_manages_nothing_and_is_not_asked_for_again() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        view = ClusterView(client, DEFAULTS, StillClock())
        assert await _held(view, _child("gone", "1"))
        assert await _held(view, _child("gone", "1"))
        assert _reads(server) == 1


async def test_a_priority_class_is_fetched_once_too() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        classes = "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses"
        await server.put(f"{classes}/default")
        view = ClusterView(client, replace(DEFAULTS, gates=Gates({"WorkloadPriorityClassDefaulting": True})))
        for _ in range(2):
            said = await ask("/mutate-batch-v1-job", Request("CREATE", "lab", {"metadata": {}, "spec": {}}), view)
            assert said.patch[0]["value"] == {"kueue.x-k8s.io/priority-class": "default"}
        assert server.requests == [f"GET {classes}/default"]


async def test_kinds_that_are_no_jobs_of_ours_are_never_read() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        view = ClusterView(client, DEFAULTS, StillClock())
        assert view.owner("lab", "serving.acme.io/v1", "ModelJob", "m") is None
        assert view.owner("lab", "acme.io/v1", "Job", "m") is None
        assert server.requests == []


async def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        view = ClusterView(client, DEFAULTS, StillClock())
        for number in range(MOST_OWNERS + 1):
            view._owners[_ref(view, f"j{number}")] = (1000.0, None)
        await view.fetch(OwnerUnknown(_ref(view, "last")))
        assert len(view._owners) == MOST_OWNERS
        assert _ref(view, "j0") not in view._owners


def _ref(view: ClusterView, name: str) -> Any:
    try:
        view.owner("lab", "batch/v1", "Job", name)
    except OwnerUnknown as missing:
        return missing.ref
    raise AssertionError(f"{name} is known")
