"""Rotation with real handshakes: replicas, a Secret and caBundles kept in step while reviews keep coming."""

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from admission.answers import by_url, webhook_configurations
from admission.answers.configurations import SECRET
from admission.api.crd import CONVERT_PATH, CONVERTED, crd_name, definitions
from admission.model.configuration import DEFAULTS
from controller.kit.certificates import Pair, make_authority, make_leaf, split
from controller.kit.keyring import SETTLE, Keyring, from_secret, to_secret
from controller.kit.serving import BadPair, Files, Serving
from controller.kube.client import Client
from controller.kube.errors import ApiError
from tests.webhooks.loopback import Stored, loopback
from tests.webhooks.serving import AUTHORITY, JSON, LEAF, ApiServer, envelope, trusting, webhook_server
from webhooks.rotation import OwnAuthority

NAMESPACE, NAMES = "kueue-system", ["localhost", "127.0.0.1"]
SECRET_PATH = f"/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}"
GROUP = "/apis/admissionregistration.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JOB = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {}}


class MovableClock:
    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return datetime.now(UTC).timestamp() + self.ahead

    def steady(self) -> float:
        return self.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def _install(stored: Stored) -> None:
    at = by_url("https://127.0.0.1:1")
    for manifest in webhook_configurations(at, DEFAULTS):
        stored.put(f"{GROUP}/{manifest['kind'].lower()}s/{manifest['metadata']['name']}", manifest)
    for manifest in definitions(at(CONVERT_PATH)):
        stored.put(f"{CRDS}/{manifest['metadata']['name']}", manifest)


def _bundles(stored: Stored) -> list[list[bytes]]:
    """What each webhook of each configuration, and each one that converts, is trusted by."""
    asked = [
        webhook["clientConfig"]
        for path, obj in stored.objects.items()
        if path.startswith(GROUP)
        for webhook in obj["webhooks"]
    ]
    asked += [
        obj["spec"]["conversion"]["webhook"]["clientConfig"]
        for path, obj in stored.objects.items()
        if path.startswith(CRDS) and "conversion" in obj["spec"]
    ]
    return [split(base64.b64decode(config.get("caBundle", ""))) for config in asked]


def _ring(stored: Stored) -> Keyring:
    ring = from_secret(stored.objects[SECRET_PATH]["data"])
    assert ring is not None
    return ring


def _aging(stored: Stored) -> Keyring:
    """An authority that is due, a leaf that is not."""
    now = datetime.now(UTC)
    authority = make_authority(now - timedelta(days=3650 - 729))
    ring = Keyring((authority.certificate,), authority, make_leaf(authority, NAMES, now))
    metadata = {"name": SECRET, "namespace": NAMESPACE}
    stored.put(SECRET_PATH, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": to_secret(ring)})
    return ring


async def test_the_first_start_fills_secret_and_every_ca_bundle() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        _install(stored)
        serving = Serving()
        await OwnAuthority(client, NAMESPACE, NAMES, serving).step()
        assert serving.loaded.is_set()
        assert len(_bundles(stored)) > len(CONVERTED)
        assert all(bundle == list(_ring(stored).trusted) for bundle in _bundles(stored))


async def test_a_definition_that_somebody_else_installed_is_left_alone() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        _install(stored)
        path = f"{CRDS}/{crd_name('Workload')}"
        foreign = {**stored.objects[path], "metadata": {"name": crd_name("Workload"), "labels": {}}}
        before = stored.put(path, foreign)
        await OwnAuthority(client, NAMESPACE, NAMES, Serving()).step()
        assert stored.objects[path] == before


async def test_two_replicas_that_start_together_share_one_keyring() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        _install(stored)
        replicas = [OwnAuthority(client, NAMESPACE, NAMES, Serving()) for _ in range(4)]
        rings = await asyncio.gather(*(replica.step() for replica in replicas))
        assert len({ring.leaf for ring in rings}) == 1
        assert all(list(rings[0].trusted) == bundle for bundle in _bundles(stored))


async def test_configurations_that_are_installed_later_are_filled_at_the_next_look() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        authority = OwnAuthority(client, NAMESPACE, NAMES, Serving())
        await authority.step()
        _install(stored)
        await authority.step()
        assert all(bundle == list(_ring(stored).trusted) for bundle in _bundles(stored))


async def test_a_deleted_secret_is_written_again_with_what_is_being_served() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        authority = OwnAuthority(client, NAMESPACE, NAMES, Serving())
        before = await authority.step()
        del stored.objects[SECRET_PATH]
        assert await authority.step() == before
        assert _ring(stored) == before


async def test_an_api_server_that_is_away_changes_nothing() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        serving = Serving()
        authority = OwnAuthority(client, NAMESPACE, NAMES, serving)
        before = await authority.step()
        stored.down = True
        with pytest.raises(ApiError):
            await authority.step()
        stored.down = False
        assert await authority.step() == before


async def test_rotation_of_the_authority_under_load_loses_no_review() -> None:
    clock, rotated = MovableClock(), asyncio.Event()
    async with loopback() as (stored, url), Client(host=url) as client:
        _install(stored)
        old = _aging(stored)
        servings = [Serving(), Serving()]
        replicas = [OwnAuthority(client, NAMESPACE, NAMES, serving, clock) for serving in servings]
        for replica in replicas:
            await replica.step()
        async with webhook_server(serving=servings[0]) as one, webhook_server(serving=servings[1]) as two:
            served: list[asyncio.Queue[int]] = [asyncio.Queue() for _ in range(4)]
            async with asyncio.timeout(60), asyncio.TaskGroup() as callers:
                for server, count in zip((one, two), served, strict=False):
                    callers.create_task(_call(server, stored, count, rotated))
                for server, count in zip((one, two), served[2:], strict=True):
                    callers.create_task(_keep_calling(server, stored, count, rotated))
                for _ in range(6):
                    for replica in replicas:
                        await replica.step()
                        await _more(served)
                    clock.ahead += SETTLE.total_seconds()
                rotated.set()
        new = _ring(stored)
        assert new.authority != old.authority
        assert new.leaf != old.leaf


async def _call(server: ApiServer, stored: Stored, served: asyncio.Queue[int], until: asyncio.Event) -> None:
    """Reviews, each over a new connection that trusts what the first caBundle holds at that moment."""
    while not until.is_set():
        connector = aiohttp.TCPConnector(ssl=trusting(*_bundles(stored)[0]), force_close=True)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.post(server.base + "/validate-batch-v1-job", data=envelope(JOB), headers=JSON) as answer,
        ):
            served.put_nowait(answer.status)


async def _keep_calling(server: ApiServer, stored: Stored, served: asyncio.Queue[int], until: asyncio.Event) -> None:
    """Reviews over one connection, as API servers send most of theirs: it outlives the certificate it began with."""
    connector = aiohttp.TCPConnector(ssl=trusting(*_bundles(stored)[0]), limit=1)
    async with aiohttp.ClientSession(connector=connector) as session:
        while not until.is_set():
            url = server.base + "/validate-batch-v1-job"
            async with session.post(url, data=envelope(JOB), headers=JSON) as answer:
                served.put_nowait(answer.status)


async def _more(served: list[asyncio.Queue[int]]) -> None:
    """Wait until every caller was served twice more: one of the two reviews at least began after now."""
    for statuses in served:
        for _ in range(statuses.qsize() + 2):
            assert await statuses.get() == 200


async def test_provided_files_are_reloaded_once_they_fit(tmp_path: Path) -> None:
    def write(pair: Pair) -> None:
        (tmp_path / "tls.crt").write_bytes(pair.certificate)
        (tmp_path / "tls.key").write_bytes(pair.key)

    write(LEAF)
    serving = Serving()
    files = Files(tmp_path, serving)
    assert files.step()
    renewed = make_leaf(AUTHORITY, ["127.0.0.1"], datetime.now(UTC))
    (tmp_path / "tls.crt").write_bytes(renewed.certificate)
    with pytest.raises(BadPair):  # the key is still the old one
        files.step()
    async with webhook_server(serving=serving) as api:
        response: dict[str, Any] = await api.review("/validate-batch-v1-job", JOB)
        assert response["allowed"]
    write(renewed)
    assert files.step()
    assert not files.step()
    async with webhook_server(serving=serving) as api:
        assert (await api.review("/validate-batch-v1-job", JOB))["allowed"]
