"""The client tells success from failure, and never waits for ever."""

import asyncio
import socket
from pathlib import Path

import pytest
from aiohttp import web

from admission.model.kinds import Ref
from controller.kube.client import Client, NoCredentials
from controller.kube.errors import (
    ApiError,
    Conflict,
    Expired,
    Faulty,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
    TooMany,
    Unreachable,
)
from tests.shell.apiserver import ApiServer, status
from tests.shell.conftest import JOBS

PATH = f"{JOBS}/a"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (400, Refused),
        (401, Forbidden),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Expired),
        (422, Invalid),
        (429, TooMany),
        (500, Faulty),
        (503, Faulty),
    ],
)
async def test_every_status_that_is_an_error_raises(
    server: ApiServer, client: Client, code: int, error: type[ApiError]
) -> None:
    server.faults.append(web.json_response(status(code, "Because", "it is so"), status=code))
    with pytest.raises(error, match="it is so") as caught:
        await client.call("PATCH", PATH, body=b"{}")
    assert type(caught.value) is error
    assert (caught.value.status, caught.value.reason) == (code, "Because")


async def test_a_redirect_is_not_followed(server: ApiServer, client: Client) -> None:
    server.faults.append(web.Response(status=302, headers={"Location": "http://elsewhere.invalid/"}))
    with pytest.raises(Refused, match="HTTP 302"):
        await client.call("GET", PATH)


async def test_an_error_page_of_a_proxy_is_an_error_with_its_text(server: ApiServer, client: Client) -> None:
    server.faults.append(web.Response(status=502, text="<html>bad gateway</html>"))
    with pytest.raises(Faulty, match="bad gateway"):
        await client.call("GET", PATH)


async def test_a_shedding_server_says_when_to_come_back(server: ApiServer, client: Client) -> None:
    server.faults.append(web.Response(status=429, headers={"Retry-After": "7"}))
    with pytest.raises(TooMany) as caught:
        await client.call("GET", PATH)
    assert caught.value.after == 7


async def test_a_hanging_server_is_given_up_and_may_have_acted(server: ApiServer, client: Client) -> None:
    server.deaf.clear()
    with pytest.raises(Unreachable) as caught:
        await client.call("PATCH", PATH, body=b"{}", within=0.05)
    assert caught.value.sent


async def test_a_refused_connection_was_never_sent() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Client(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(Unreachable) as caught:
            await client.call("PATCH", PATH, body=b"{}")
    assert not caught.value.sent


async def test_a_lost_reply_may_have_been_acted_on(server: ApiServer, client: Client) -> None:
    await server.put(PATH)
    server.lose_replies = True
    with pytest.raises(Unreachable) as caught:
        await client.call("PATCH", PATH, body=b"{}")
    assert caught.value.sent


async def test_a_silent_stream_is_given_up(server: ApiServer, client: Client) -> None:
    async def listen() -> None:
        async with client.lines(JOBS, {"watch": "1", "resourceVersion": 100}, quiet=0.05) as lines:
            await anext(lines)

    with pytest.raises(Unreachable):
        await listen()


async def test_a_large_object_comes_through_a_stream_in_one_line(server: ApiServer, client: Client) -> None:
    await server.put(PATH, data="x" * 1_500_000)
    async with client.lines(JOBS, {"watch": "1", "resourceVersion": 100}, quiet=5) as lines:
        line = await anext(lines)
    assert len(line) > 1_500_000


async def test_an_object_is_read_by_its_reference(server: ApiServer, client: Client) -> None:
    await server.put(PATH, spec={"suspend": True})
    assert (await client.get(Ref("Job", "ns", "a")))["spec"] == {"suspend": True}


async def test_a_kubeconfig_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    for content in (None, "", "nonsense: [", "contexts: []", "- 1"):
        file = tmp_path / "config"
        if content is not None:
            file.write_text(content)
        with pytest.raises(NoCredentials, match=str(file)):
            await Client.connect(str(file))


async def test_a_token_of_a_kubeconfig_is_sent(server: ApiServer, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "{server.url}"}}}}]
users: [{{name: u, user: {{token: sesame}}}}]
"""
    )
    async with await Client.connect(str(file)) as client:
        assert await client._authorization() == {"Authorization": "Bearer sesame"}


async def test_many_calls_at_once_share_one_client(server: ApiServer, client: Client) -> None:
    await server.put(PATH)
    await asyncio.gather(*(client.call("GET", PATH) for _ in range(100)))
    assert len(server.requests) == 100
