"""The webhooks' own process under attack: each review gets an answer or a 4xx, memory stays flat, nothing hangs."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml

from admission.api.crd import CONVERT_PATH
from controller.kit import metrics
from tests.shell.apiserver import ApiServer as Cluster
from tests.shell.conftest import until
from tests.webhooks.hostile import Attacker, Reply
from tests.webhooks.serving import AUTHORITY, LEAF, ApiServer, envelope, trusting, webhook_server
from tests.webhooks.test_reviews import JOB, VALIDATE
from webhooks import routes, server

ROOT = Path(__file__).parents[2]
AT_ONCE = 8  # attackers; the API server of a busy cluster has some ten reviews under way
SLOW = 50  # connections that send half a head and wait, all the while
# Between two looks the allocator may keep what a few bodies of 9 MB took that were read at the same time.
MARGIN = 32 * 2**20


class Process:
    """`python -m webhooks`, serving a certificate of the tests."""

    def __init__(self, process: asyncio.subprocess.Process, api: ApiServer) -> None:
        self._process = process
        self.api = api

    @property
    def memory(self) -> int:
        """Bytes that it has in RAM."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096

    @property
    def lives(self) -> bool:
        return self._process.returncode is None


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Process]:
    cluster = Cluster()
    cluster.served = {"v1": ["namespaces"], "kueue.x-k8s.io/v1beta2": ["localqueues"]}
    (folder / "tls.crt").write_bytes(LEAF.certificate)
    (folder / "tls.key").write_bytes(LEAF.key)
    async with cluster.running():
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(_kubeconfig(cluster.url)))
        flags = [f"--kubeconfig={kubeconfig}", f"--webhook-cert-dir={folder}", "--webhook-bind=127.0.0.1:0"]
        flags += ["--metrics-bind=0", "--health-bind=0"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "webhooks", *flags, cwd=ROOT, stderr=asyncio.subprocess.PIPE
        )
        try:
            where, log = await _answering(process)
            connector = aiohttp.TCPConnector(ssl=trusting(AUTHORITY.certificate))
            async with aiohttp.ClientSession(connector=connector) as session:
                yield Process(process, ApiServer(session, f"https://{where}"))
            log.cancel()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _kubeconfig(url: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


async def _answering(process: asyncio.subprocess.Process) -> tuple[str, "asyncio.Task[None]"]:
    """HOST:PORT from its log, and a task that reads the rest of the log away."""
    assert process.stderr is not None
    async with asyncio.timeout(60):
        async for line in process.stderr:
            said = json.loads(line)
            if said["message"] == "answering reviews":
                return said["address"], asyncio.create_task(_read_away(process.stderr))
    raise AssertionError("it ended before it answered")


async def _read_away(stream: asyncio.StreamReader) -> None:
    async for _ in stream:
        pass


async def _bombard(process: Process, times: int, seed: int) -> Counter[str]:
    """That many attacks, several at once; how many of each kind."""
    made: Counter[str] = Counter()
    rest = iter(range(times))

    async def attack(attacker: Attacker) -> None:
        for _ in rest:
            kind, reply = await attacker.attack()
            _is_right(kind, reply)
            made[kind] += 1

    await asyncio.gather(*(attack(Attacker(process.api, seed + number)) for number in range(AT_ONCE)))
    return made


def _is_right(kind: str, reply: Reply) -> None:
    if reply is None:
        assert kind in ("huge", "half closed", "gone early", "no HTTP", "odd heads"), kind
        return
    status, body = reply
    assert status == 200 or 400 <= status < 500, (kind, status, body[:300])
    if status == 200 and body:
        response = json.loads(body)["response"]
        assert response["uid"]
        if "allowed" in response:
            assert response["allowed"] in (True, False)
            assert response["allowed"] or response["status"]["code"] != 500, (kind, response)
        else:
            assert response["result"]["status"] in ("Success", "Failed")


async def _withstands(folder: Path, times: int, warm_up: int, seed: int) -> tuple[int, Counter[str]]:
    """By how many bytes it has grown, and what it withstood."""
    async with running(folder) as process:
        slow = [await _half_a_head(process.api) for _ in range(SLOW)]
        await _bombard(process, warm_up, seed)
        before = process.memory
        made = await _bombard(process, times, seed + AT_ONCE)
        grown = process.memory - before
        assert process.lives
        assert await process.api.review(VALIDATE, JOB) == {"uid": "u-1", "allowed": True}
        for writer in slow:
            writer.transport.abort()
        return grown, made


async def _half_a_head(api: ApiServer) -> asyncio.StreamWriter:
    host, _, port = api.base.removeprefix("https://").rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=trusting(AUTHORITY.certificate))
    writer.write(b"POST /validate-batch-v1-job HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    await writer.drain()
    return writer


async def test_hundreds_of_attacks_are_withstood(tmp_path: Path) -> None:
    grown, made = await _withstands(tmp_path, times=400, warm_up=300, seed=5)
    assert sum(made.values()) == 400
    assert grown < MARGIN


@pytest.mark.long
async def test_ten_thousand_attacks_are_withstood_in_the_same_memory(tmp_path: Path) -> None:
    grown, made = await _withstands(tmp_path, times=10_000, warm_up=1_000, seed=17)
    print(f"\ngrown by {grown / 2**20:.1f} MiB under {dict(made)}")
    assert sum(made.values()) == 10_000
    assert grown < MARGIN


async def test_connections_that_stay_open_keep_no_bodies(tmp_path: Path) -> None:
    large = envelope({"metadata": {"name": "a", "annotations": {"x": "y" * 7 * 2**20}}})
    async with running(tmp_path) as process, AsyncExitStack() as open_:
        before = process.memory
        for body in (large, b"{" + large, large + b" " * 2**21):  # allowed, unreadable, too large
            for _ in range(4):
                connector = aiohttp.TCPConnector(ssl=trusting(AUTHORITY.certificate))
                session = await open_.enter_async_context(aiohttp.ClientSession(connector=connector))
                assert (await ApiServer(session, process.api.base).post(VALIDATE, body))[0] in (200, 400, 413)
        assert process.memory - before < MARGIN


async def test_a_connection_that_never_finishes_its_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.5)
    async with webhook_server() as api:
        host, _, port = api.base.removeprefix("https://").rpartition(":")
        for beginning in (b"", b"GET", b"POST /validate-batch-v1-job HTTP/1.1\r\nHost: x\r\n"):
            reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting(AUTHORITY.certificate))
            writer.write(beginning)
            async with asyncio.timeout(20):
                assert await reader.read() == b""
            writer.transport.abort()


async def test_a_body_that_never_comes_is_a_timeout_and_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "SECONDS", 0.3)
    monkeypatch.setattr(server, "FINISH_SECONDS", 0.1)
    async with webhook_server() as api:
        host, _, port = api.base.removeprefix("https://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting(AUTHORITY.certificate))
        head = b"POST /validate-batch-v1-job HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        writer.write(head + b"Content-Length: 10\r\n\r\n{")
        async with asyncio.timeout(20):
            assert b" 408 " in await reader.readline()
        writer.transport.abort()


@pytest.mark.parametrize("path", ["/validate-batch-v1-job", CONVERT_PATH])
async def test_who_leaves_in_the_middle_of_a_review_is_no_fault_of_ours(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with webhook_server() as api:
        host, _, port = api.base.removeprefix("https://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting(AUTHORITY.certificate))
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n".encode())
        async with asyncio.timeout(20):
            assert b" 100 " in await reader.readline()  # from now on the body is waited for
        unread = metrics.REVIEWS.labels(path, "unreadable")
        before = unread._value.get()
        writer.transport.abort()
        await until(lambda: unread._value.get() > before or bool(caplog.records), 20)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
