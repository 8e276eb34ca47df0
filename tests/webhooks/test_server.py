"""The server's life: flags, readiness, and a stop that finishes what is under way."""

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest

from admission.model.kinds import Ref
from controller.kit.serving import Serving
from controller.kube.configuration import BadConfiguration
from tests.webhooks.serving import AUTHORITY, LEAF, ApiServer, StandingView, trusting
from webhooks import server
from webhooks.server import Life, configured, names
from webhooks.settings import BadSetting, Settings, parse
from webhooks.view import OwnerUnknown


def test_flags_win_over_the_configuration_file(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: from-file\n"
        "manageJobsWithoutQueueName: true\nwebhook: {host: 127.0.0.1, port: 9555}\n"
    )
    core, settings = configured(parse(["--config", str(file)]))
    assert (core.namespace, settings.webhook_bind) == ("from-file", "127.0.0.1:9555")
    assert core.manage_jobs_without_queue_name
    core, settings = configured(parse(["--config", str(file), "--namespace", "mine", "--webhook-bind", ":1"]))
    assert (core.namespace, settings.webhook_bind) == ("mine", ":1")
    assert configured(Settings())[1].webhook_bind == ":9443"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--certs", "x"], "unrecognized arguments: --certs x"),
        (["--webhook-bin", ":1"], "unrecognized arguments: --webhook-bin :1"),
        (["--webhook-bind", "nine"], "--webhook-bind: 'nine' is not an address: write HOST:PORT or :PORT"),
        (["--metrics-bind", ":x"], "--metrics-bind: ':x' is not an address"),
        (
            ["--webhook-cert-dir", "/nowhere"],
            "--webhook-cert-dir /nowhere: no such folder; it must hold tls.crt and tls.key",
        ),
    ],
)
def test_a_wrong_flag_ends_the_start_and_is_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_only_the_configuration_names_is_checked_too(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    file.write_text(head + "webhook: {certDir: /nowhere}\n")
    with pytest.raises(BadSetting, match="/nowhere: no such folder"):
        configured(Settings(config=file))
    file.write_text(head + "webhook: {certdir: /nowhere}\n")
    with pytest.raises(BadConfiguration, match=r"webhook\.certdir"):
        configured(Settings(config=file))


def test_the_certificate_is_for_the_service_and_for_this_machine() -> None:
    service = ["kueue-webhook-service.lab.svc", "kueue-webhook-service.lab.svc.cluster.local"]
    assert names("lab", ":9443") == [*service, "localhost", "127.0.0.1"]
    assert names("lab", "10.0.0.7:9443") == [*service, "localhost", "127.0.0.1", "10.0.0.7"]


async def test_it_serves_once_it_knows_enough_and_stops_after_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LINGER_SECONDS", 0.05)
    life, serving, view = Life(), Serving(), SyncedLater()
    running = asyncio.create_task(server._serve("127.0.0.1:0", view, serving, life))  # type: ignore[arg-type]
    assert life.page() == (False, "waiting for watches and certificates")
    serving.load(LEAF)
    view.synced.set()
    async with asyncio.timeout(10):
        while not life.ready:  # noqa: ASYNC110 - the server tells nobody else
            await asyncio.sleep(0)
        assert life.page() == (True, "ok")
        life.told_to_stop()
        assert life.page() == (False, "stopping")
        await running


async def test_told_to_stop_before_it_ever_served_it_just_ends() -> None:
    life = Life()
    life.told_to_stop()
    async with asyncio.timeout(10):
        await server._serve("127.0.0.1:0", SyncedLater(), Serving(), life)  # type: ignore[arg-type]
    assert not life.ready


class SlowView(StandingView):
    """Looks something up for as long as the test wants."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> None:
        if not self.go_on.is_set():
            raise OwnerUnknown(Ref("Job", namespace, name))

    async def fetch(self, missing: Exception) -> None:
        self.asked.set()
        await self.go_on.wait()


class SyncedLater(StandingView):
    def __init__(self) -> None:
        self.synced = asyncio.Event()


async def test_a_review_under_way_is_answered_before_the_server_ends() -> None:
    view, serving = SlowView(), Serving()
    serving.load(LEAF)
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "o", "uid": "1", "controller": True}
    child = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}, "ownerReferences": [reference]}, "spec": {}}
    connector = aiohttp.TCPConnector(ssl=trusting(AUTHORITY.certificate))
    async with aiohttp.ClientSession(connector=connector) as session:
        stop = asyncio.Event()

        async def serve(ready: "asyncio.Future[str]") -> None:
            async with server.answering("127.0.0.1:0", view, serving) as (host, port):
                ready.set_result(f"https://{host}:{port}")
                await stop.wait()

        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving_task = asyncio.create_task(serve(ready))
        asking = asyncio.create_task(ApiServer(session, await ready).review("/mutate-batch-v1-job", child))
        await view.asked.wait()
        stop.set()
        view.go_on.set()
        assert (await asking)["allowed"]
        await serving_task


def test_the_configuration_may_ask_for_a_newer_tls_and_set_gates(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    file.write_text(head + "tls: {minVersion: VersionTLS13}\n")
    core, settings = configured(Settings(config=file, feature_gates="PriorityBoost=true"))
    assert core.gates["PriorityBoost"]
    assert Serving(settings.tls_min_version).context.minimum_version == ssl.TLSVersion.TLSv1_3
    assert Serving().context.minimum_version == ssl.TLSVersion.TLSv1_2
