"""Who gets the page of metrics, and over what: HTTPS with a token that RBAC lets get it, or plainly if told to."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from controller.kit.certificates import load_chain, make_authority, make_leaf
from controller.kit.probes import PLAIN
from controller.kit.serving import BadPair, Serving
from controller.kube.client import Client
from controller.kube.configuration import Settings
from controller.kube.errors import TryAgain
from controller.pages.certificate import ControllerAuthority, names
from controller.pages.fronts import fronts
from controller.pages.metrics_serving import run
from controller.pages.names import METRICS_SERVICE, SECRET
from tests.core.test_state import Desk
from tests.shell.apiserver import ApiServer
from tests.shell.test_callers import Reviewing
from tests.shell.test_metrics_page import page_of

NOW = datetime.now(UTC)
AUTHORITY = make_authority(NOW)
GOOD = {"Authorization": "Bearer good"}


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=AUTHORITY.certificate.decode())


@asynccontextmanager
async def scraper(
    client: Client, port: int, context: ssl.SSLContext | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    serving = Serving()
    serving.load(make_leaf(AUTHORITY, ["localhost", "127.0.0.1"], NOW))
    task = asyncio.create_task(run(client, page_of(Desk().state), f"127.0.0.1:{port}", serving))
    connector = aiohttp.TCPConnector(ssl=context or trusting())
    try:
        async with aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=connector) as session:
            async with asyncio.timeout(5):
                while not await _answers(port):  # noqa: ASYNC110 - a port that opens tells nobody
                    await asyncio.sleep(0.001)
            yield session
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_who_may_get_the_path_gets_the_page(unused_tcp_port: int) -> None:
    client = Reviewing({})
    async with scraper(client, unused_tcp_port) as session, session.get("/metrics", headers=GOOD) as answer:
        assert answer.status == 200
        assert "kueue_pending_workloads" in await answer.text()
    assert client.asked == [
        {"token": "good"},
        {
            "user": "ann",
            "groups": ["team"],
            "uid": "",
            "extra": {},
            "nonResourceAttributes": {"verb": "get", "path": "/metrics"},
        },
    ]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer bad"}, {"Authorization": "Basic Z29vZA=="}])
async def test_strangers_are_told_to_say_who_they_are(headers: dict[str, str], unused_tcp_port: int) -> None:
    client = Reviewing({})
    async with scraper(client, unused_tcp_port) as session, session.get("/metrics", headers=headers) as answer:
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert await answer.text() == "Unauthorized: say who you are with a bearer token that the cluster knows\n"


async def test_who_may_not_is_told_what_would_allow_it(unused_tcp_port: int) -> None:
    client = Reviewing({})
    client.allowed = False
    async with scraper(client, unused_tcp_port) as session, session.get("/metrics", headers=GOOD) as answer:
        assert answer.status == 403
        said = await answer.text()
    assert said == "Forbidden: ann may not get /metrics; the ClusterRole kueue-metrics-reader allows it\n"


async def test_nobody_gets_it_while_the_api_server_is_away(unused_tcp_port: int) -> None:
    class Away(Reviewing):
        async def call(self, method: str, path: str, **rest: Any) -> bytes:
            raise TryAgain("down")

    async with scraper(Away({}), unused_tcp_port) as session, session.get("/metrics", headers=GOOD) as answer:
        assert (answer.status, "kueue_" in await answer.text()) == (503, False)


async def test_without_tls_nothing_is_said(unused_tcp_port: int) -> None:
    async with scraper(Reviewing({}), unused_tcp_port), aiohttp.ClientSession() as plain:
        with pytest.raises(aiohttp.ClientError):
            await plain.get(f"http://127.0.0.1:{unused_tcp_port}/metrics", headers=GOOD)


async def test_a_client_certificate_of_anybody_is_no_obstacle(unused_tcp_port: int) -> None:
    """ServiceMonitors of Kueue with cert-manager present one."""
    context = trusting()
    load_chain(context, make_leaf(make_authority(NOW), ["prometheus"], NOW))
    client = Reviewing({})
    async with scraper(client, unused_tcp_port, context) as session, session.get("/metrics", headers=GOOD) as answer:
        assert answer.status == 200


async def test_both_pages_are_served_with_one_certificate_for_both_services(server: ApiServer, client: Client) -> None:
    servings = (Serving(), Serving(asks=True))
    authority = ControllerAuthority(client, "kueue-system", servings, aggregated=False)
    await authority.step()
    assert all(serving.loaded.is_set() for serving in servings)
    assert f"/api/v1/namespaces/kueue-system/secrets/{SECRET}" in server.objects
    assert f"{METRICS_SERVICE}.kueue-system.svc" in names("kueue-system")
    assert not any("apiservices" in request for request in server.requests), "no visibility API, no APIServices"


async def test_that_nothing_leads_to_the_visibility_api_is_no_warning(
    server: ApiServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    authority = ControllerAuthority(client, "kueue-system", (Serving(),), aggregated=True)
    await authority.step()
    await authority.step()
    told = [record for record in caplog.records if "no APIService leads to the visibility API" in record.getMessage()]
    assert [record.levelname for record in told] == ["INFO"]


def loops(settings: Settings) -> set[str]:
    """Of the pages over HTTPS with these settings."""

    desk = Desk()
    found = fronts(Reviewing({}), settings, desk.state, page_of(desk.state), lambda: asyncio.sleep(0))
    for loop in found.values():
        loop.close()
    return {*found}


ALONE = Settings(visibility_port=0)


@pytest.mark.parametrize(
    ("settings", "there"),
    [
        (Settings(), {"metrics", "visibility", "certificates"}),
        (ALONE, {"metrics", "certificates"}),
        (replace(ALONE, metrics_bind="0"), set()),
        (replace(ALONE, metrics_bind=f"{PLAIN}:8080"), set()),
        (Settings(metrics_bind="0"), {"visibility", "certificates"}),
    ],
)
def test_only_what_is_served_has_loops(settings: Settings, there: set[str]) -> None:
    assert loops(settings) == there


def test_given_certificates_replace_our_own_and_must_be_there_at_the_start(tmp_path: Path) -> None:
    settings = replace(ALONE, metrics_cert_dir=str(tmp_path))
    with pytest.raises(BadPair, match=rf"can't be read: .*{tmp_path}/tls.crt"):
        loops(settings)
    pair = make_leaf(AUTHORITY, ["metrics"], NOW)
    (tmp_path / "tls.crt").write_bytes(pair.certificate)
    (tmp_path / "tls.key").write_bytes(pair.key)
    assert loops(settings) == {"metrics", "certificates of metrics"}
