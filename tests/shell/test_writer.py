"""What the writer reports is what the answer proves, and no more."""

import asyncio

import pytest
from aiohttp import web

from admission.model.effects import Result
from admission.model.kinds import Ref
from admission.reconcile.requests import Request
from controller.kube import client as client_module
from controller.kube import writer as module
from controller.kube.client import Client
from controller.kube.writer import Answer, Writer
from tests.shell.apiserver import ApiServer, status
from tests.shell.conftest import JOBS, StillClock

JOB = Ref("Job", "ns", "a")
SUSPEND = Request("patch", JOB, {"spec": {"suspend": True}})


async def test_a_write_that_succeeds_tells_the_new_version(server: ApiServer, client: Client) -> None:
    await server.put(f"{JOBS}/a", spec={"suspend": False})
    assert await Writer(client).write(SUSPEND) == Answer("ok", server.version)
    assert server.objects[f"{JOBS}/a"]["spec"] == {"suspend": True}
    assert server.requests[-1] == f"PATCH {JOBS}/a?fieldManager=kueue"


async def test_creating_and_deleting(server: ApiServer, client: Client) -> None:
    made = await Writer(client).write(Request("create", JOB, {"metadata": {"name": "a", "namespace": "ns"}}))
    assert made == Answer("ok", server.version)
    again = await Writer(client).write(Request("create", JOB, {"metadata": {"name": "a", "namespace": "ns"}}))
    assert again.result == "conflict"
    assert await Writer(client).write(Request("delete", JOB, {"propagationPolicy": "Background"})) == Answer("ok")
    assert server.objects == {}


async def test_an_outdated_write_is_a_conflict(server: ApiServer, client: Client) -> None:
    await server.put(f"{JOBS}/a")
    outdated = Request("patch", JOB, {"metadata": {"resourceVersion": "7"}, "spec": {}})
    assert (await Writer(client).write(outdated)).result == "conflict"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (400, "refused"),
        (403, "refused"),
        (404, "gone"),
        (409, "conflict"),
        (422, "refused"),
        (500, "unknown"),
        (504, "unknown"),
    ],
)
async def test_what_an_answer_proves(server: ApiServer, client: Client, code: int, result: Result) -> None:
    server.faults.append(web.json_response(status(code, "No", "no such luck"), status=code))
    answer = await Writer(client).write(SUSPEND)
    assert answer == Answer(result, message="no such luck")
    assert len(server.requests) == 1


async def test_a_webhook_that_does_not_answer_proves_that_nothing_was_written(
    server: ApiServer, client: Client
) -> None:
    """Admission stands before storage."""
    words = 'Internal error occurred: failed calling webhook "vworkload.kb.io": connection refused'
    server.faults.append(web.json_response(status(500, "InternalError", words), status=500))
    assert (await Writer(client).write(SUSPEND)).result == "refused"


async def test_a_lost_reply_is_unknown_and_the_write_is_not_repeated(server: ApiServer, client: Client) -> None:
    await server.put(f"{JOBS}/a")
    server.lose_replies = True
    assert (await Writer(client).write(SUSPEND)).result == "unknown"
    assert len(server.requests) == 1


async def test_no_answer_in_time_is_unknown(server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CALL_SECONDS", 0.05)
    server.deaf.clear()
    assert (await Writer(client).write(SUSPEND)).result == "unknown"


async def test_a_server_that_sheds_load_is_asked_again_when_it_says(
    server: ApiServer, client: Client, clock: StillClock
) -> None:
    await server.put(f"{JOBS}/a")
    server.faults.append(web.Response(status=429, headers={"Retry-After": "7"}))
    writing = asyncio.create_task(Writer(client, clock=clock).write(SUSPEND))
    await clock.pass_by(6.9)
    assert len(server.requests) == 1
    await clock.pass_by(0.2)
    assert (await writing).result == "ok"


async def test_a_server_that_is_not_there_is_waited_for(clock: StillClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    server = ApiServer()
    async with server.running():
        await server.put(f"{JOBS}/a")
    async with Client(server.url) as client:
        writing = asyncio.create_task(Writer(client, clock=clock).write(SUSPEND))
        await clock.pass_by(1)
        async with server.running():
            await clock.pass_by(20)
            assert (await writing).result == "ok"


async def test_who_may_not_send_sends_nothing(server: ApiServer, client: Client) -> None:
    assert (await Writer(client, may_send=lambda: False).write(SUSPEND)).result == "aborted"
    assert server.requests == []


async def test_leave_is_asked_for_again_when_only_the_sending_is_left(server: ApiServer, client: Client) -> None:
    leave = [True]
    assert (await Writer(client, may_send=lambda: bool(leave and leave.pop())).write(SUSPEND)).result == "aborted"
    assert server.requests == []


async def test_the_rate_is_kept(server: ApiServer, client: Client, clock: StillClock) -> None:
    await server.put(f"{JOBS}/a")
    writer = Writer(client, clock=clock, rate=10, burst=3)
    writing = asyncio.gather(*(writer.write(SUSPEND) for _ in range(13)))
    await clock.pass_by(0)
    assert len(server.requests) == 3
    await clock.pass_by(0.5)
    assert len(server.requests) == 8
    await clock.pass_by(0.5)
    assert {answer.result for answer in await writing} == {"ok"}
