"""What the API server tells reaches State: in order, once, and without manifests that nobody can read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from admission.model.kinds import Ref
from controller.books import Books
from controller.kit.clock import SYSTEM
from controller.kube.client import Client
from controller.kube.errors import Faulty
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import JOBS, until

NAMESPACES = "/api/v1/namespaces"
JOB = Ref("Job", "ns", "a")


class Memory:
    """Stands where State stands, and writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None:
        self.told.append(f"{kind} {value}" + " read" * read)

    def gone(self, ref: Ref, resource_version: int | None = None, *, read: bool = False) -> None:
        self.told.append(f"{ref.kind} {ref.name} gone" + " read" * read)


def _name(manifest: dict[str, Any]) -> str:
    name: str = manifest["metadata"]["name"]
    if manifest.get("broken"):
        raise KeyError("spec")
    return name


class Desk:
    """Books at work."""

    def __init__(self, client: Client) -> None:
        self.memory = Memory()
        self.changed = asyncio.Event()
        readers = {"Namespace": _name, "Job": _name}
        self.books = Books(client, self.memory, readers, self.changed, kinds=("Namespace", "Job"))

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Desk"]:
        task = asyncio.create_task(self.books.run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
async def desk(server: ApiServer, client: Client) -> AsyncIterator[Desk]:
    await server.put(f"{JOBS}/a")
    await server.put(f"{NAMESPACES}/ns")
    async with Desk(client).open() as desk:
        await until(lambda: desk.books.synced)
        yield desk


async def test_first_lists_come_in_the_order_of_the_kinds(desk: Desk) -> None:
    assert desk.memory.told == ["Namespace ns", "Job a"]
    assert desk.changed.is_set()


async def test_news_and_ends_are_told(server: ApiServer, desk: Desk) -> None:
    await server.put(f"{JOBS}/b")
    await server.remove(f"{JOBS}/a")
    await until(lambda: desk.memory.told[2:] == ["Job b", "Job a gone"])


async def test_an_object_that_nobody_can_read_stops_nobody_else(server: ApiServer, desk: Desk) -> None:
    await server.put(f"{JOBS}/b", broken=True)
    await server.put(f"{JOBS}/c")
    await until(lambda: desk.memory.told[2:] == ["Job c"])


async def test_a_kind_that_is_missing_is_named_and_waited_for(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("controller.kube.reflector.MISSING_WAIT", 0.01)
    jobs = server.served.pop("batch/v1")
    async with Desk(client).open() as desk:
        await until(lambda: "does not serve" in caplog.text)
        assert desk.books.missing() == ["Job"]
        server.served["batch/v1"] = jobs
        await until(lambda: desk.books.synced)
    assert caplog.text.count("does not serve") == 1


async def test_a_doubt_is_settled_by_a_read(server: ApiServer, desk: Desk) -> None:
    await desk.books.look(JOB)
    await server.remove(f"{JOBS}/a")
    await until(lambda: "Job a gone" in desk.memory.told)
    await desk.books.look(JOB)
    assert desk.memory.told[2:] == ["Job a read", "Job a gone", "Job a gone read"]
    server.faults.append(web.Response(status=503))
    with pytest.raises(Faulty):
        await desk.books.look(JOB)


async def test_lists_older_than_the_office_are_asked_for_again(server: ApiServer, desk: Desk) -> None:
    lists = len([request for request in server.requests if "limit=" in request])
    await desk.books.fresh(since=float("-inf"))
    assert len([request for request in server.requests if "limit=" in request]) == lists
    await desk.books.fresh(since=SYSTEM.steady())
    assert len([request for request in server.requests if "limit=" in request]) == lists + 2
    assert desk.memory.told == ["Namespace ns", "Job a"]  # nothing had changed, so nothing is told again
    await server.put(f"{JOBS}/b")
    await until(lambda: desk.memory.told[2:] == ["Job b"])
