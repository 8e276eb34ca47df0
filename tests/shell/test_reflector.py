"""A reflector misses nothing, whatever happens to its watch."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from controller.kube import reflector as module
from controller.kube.client import Client
from controller.kube.reflector import Changed, Delta, Gone, Missing, Reflector, Synced
from tests.shell.apiserver import ApiServer, status
from tests.shell.conftest import JOBS, until


class Listener:
    """Runs a reflector and writes down what it tells, one word per delta."""

    def __init__(self, client: Client) -> None:
        self.reflector = Reflector(client, "Job")
        self.told: list[str] = []
        self._task = asyncio.create_task(self._listen())

    async def hears(self, *words: str) -> None:
        with contextlib.suppress(TimeoutError):
            await until(lambda: len(self.told) >= len(words) or self._task.done())
        if self._task.done():
            self._task.result()
        assert self.told == list(words)
        self.told.clear()

    async def restart(self) -> None:
        await self.stop()
        self._task = asyncio.create_task(self._listen())

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _listen(self) -> None:
        async for delta in self.reflector.deltas():
            self.told.append(_word(delta))


def _word(delta: Delta) -> str:
    match delta:
        case Changed(ref, manifest, version):
            assert manifest["kind"] == "Job"
            assert manifest["apiVersion"] == "batch/v1"
            assert version == int(manifest["metadata"]["resourceVersion"])
            return f"{ref.name}={manifest.get('is', '')}"
        case Gone(ref, _):
            return f"{ref.name} gone"
        case Synced():
            return "synced"
        case Missing():
            return "missing"


@pytest.fixture
async def listener(server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(module, "MISSING_WAIT", 0.01)
    await server.put(f"{JOBS}/a", **{"is": "1"})
    await server.put(f"{JOBS}/b", **{"is": "1"})
    listener = Listener(client)
    await listener.hears("a=1", "b=1", "synced")
    yield listener
    await listener.stop()


def _watches(server: ApiServer) -> list[str]:
    return [request for request in server.requests if "watch=1" in request]


def _lists(server: ApiServer) -> list[str]:
    return [request for request in server.requests if "limit=" in request]


async def test_changes_and_deletions_are_told_as_they_happen(server: ApiServer, listener: Listener) -> None:
    await server.put(f"{JOBS}/a", **{"is": "2"})
    await server.remove(f"{JOBS}/b")
    await server.put(f"{JOBS}/c", **{"is": "1"})
    await listener.hears("a=2", "b gone", "c=1")


async def test_a_long_list_comes_in_pages(server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    for name in "abcde":
        await server.put(f"{JOBS}/{name}")
    listener = Listener(client)
    await listener.hears("a=", "b=", "c=", "d=", "e=", "synced")
    assert len(_lists(server)) == 3
    await listener.stop()


async def test_a_list_whose_snapshot_expired_begins_again(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    for name in "abc":
        await server.put(f"{JOBS}/{name}")
    server.faults.append(server._list(_Query(JOBS, limit="2")))  # type: ignore[arg-type]
    server.faults.append(web.json_response(status(410, "Expired"), status=410))
    listener = Listener(client)
    await listener.hears("a=", "b=", "c=", "synced")
    await listener.stop()


class _Query:
    def __init__(self, path: str, **query: str) -> None:
        self.path, self.query = path, query


async def test_a_dropped_stream_resumes_where_it_was(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    await server.drop_streams()
    await server.put(f"{JOBS}/a", **{"is": "2"})
    await listener.hears("a=2")
    assert len(_lists(server)) == 1


async def test_an_expired_watch_lists_again_and_tells_only_the_difference(
    server: ApiServer, listener: Listener
) -> None:
    await until(lambda: bool(server.streams))
    server.deaf.clear()
    await server.drop_streams()
    await server.remove(f"{JOBS}/b")
    await server.put(f"{JOBS}/c", **{"is": "1"})
    server.history.clear()
    server.compact()
    server.deaf.set()
    await listener.hears("c=1", "b gone", "synced")
    assert len(_lists(server)) == 2


async def test_an_expiry_told_inside_the_stream_lists_again(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    async with server.news:
        server.version += 1
        server.history.append((server.version, "ERROR", f"{JOBS}/x", status(410, "Expired")))
        server.news.notify_all()
    await listener.hears("synced")


async def test_a_namesake_made_while_away_is_told_as_another_object(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    server.deaf.clear()
    await server.drop_streams()
    await server.remove(f"{JOBS}/a")
    await server.put(f"{JOBS}/a", uid="another", **{"is": "new"})
    server.history.clear()
    server.compact()
    server.deaf.set()
    await listener.hears("a gone", "a=new", "synced")


async def test_bookmarks_move_the_point_of_resumption(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    await server.bookmark()
    await until(lambda: listener.reflector._at == server.version)
    before = len(_watches(server))
    await server.drop_streams()
    await until(lambda: len(_watches(server)) > before)
    assert f"resourceVersion={server.version}" in _watches(server)[-1]


async def test_a_half_open_stream_is_noticed(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WATCH_SECONDS", (0, 0))
    monkeypatch.setattr(module, "SLACK_SECONDS", 0.05)
    listener = Listener(client)
    await listener.hears("synced")
    await until(lambda: len(_watches(server)) > 2)
    await server.put(f"{JOBS}/a", **{"is": "late"})
    await listener.hears("a=late")
    await listener.stop()


async def test_a_failing_server_is_asked_again(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    server.faults += [web.json_response(status(code, "No"), status=code) for code in (500, 429, 403)]
    await server.drop_streams()
    await server.put(f"{JOBS}/a", **{"is": "2"})
    await listener.hears("a=2")


async def test_a_kind_that_is_not_served_is_waited_for(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MISSING_WAIT", 0.01)
    served: Any = server.served.pop("batch/v1")
    listener = Listener(client)
    await until(lambda: "missing" in listener.told)
    server.served["batch/v1"] = served
    await until(lambda: listener.told[-1] == "synced")
    await listener.stop()


async def test_a_stray_not_found_tells_nobody_gone(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    server.faults += [web.json_response(status(404, "NotFound"), status=404)]
    await server.drop_streams()
    await listener.hears("synced")


async def test_a_kind_that_vanishes_takes_its_objects_along(server: ApiServer, listener: Listener) -> None:
    await until(lambda: bool(server.streams))
    del server.served["batch/v1"]
    server.faults += [web.json_response(status(404, "NotFound"), status=404)]
    await server.drop_streams()
    await until(lambda: "missing" in listener.told)
    assert listener.told[:2] == ["a gone", "b gone"]


async def test_starting_over_lists_anew_and_tells_the_difference(server: ApiServer, listener: Listener) -> None:
    before = listener.reflector.listed_from
    await listener.stop()
    await server.remove(f"{JOBS}/a")
    await listener.restart()
    await listener.hears("a gone", "synced")
    assert listener.reflector.listed_from > before


async def test_what_a_read_told_of_is_told_gone_by_a_list_that_lacks_it(
    server: ApiServer, client: Client, listener: Listener
) -> None:
    """It came and went while nobody watched."""
    await listener.stop()
    made = await server.put(f"{JOBS}/c")
    assert listener.reflector.heard_of(made)
    await server.remove(f"{JOBS}/c")
    await listener.restart()
    await listener.hears("c gone", "synced")


async def test_a_read_that_comes_after_the_word_of_an_end_is_no_news(server: ApiServer, listener: Listener) -> None:
    made = await server.put(f"{JOBS}/c", **{"is": "1"})
    await server.remove(f"{JOBS}/c")
    await listener.hears("c=1", "c gone")
    await server.put(f"{JOBS}/a", **{"is": "2"})
    await listener.hears("a=2")
    assert not listener.reflector.heard_of(made)
