"""The webhook server: everything put together, until it is told to stop.

Nothing is answered before the watches are complete: an API server that finds nobody applies its failure policy, one
that is told something wrong believes it.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from admission.answers.configurations import SERVICE
from admission.configuration.koordinator import read_koordinator
from admission.model.configuration import Configuration
from controller.kit.logs import Log
from controller.kit.probes import address, served
from controller.kit.serving import Files, Serving
from controller.kit.tasks import together
from controller.kube.client import Client
from controller.kube.configuration import read_settings
from webhooks.entries import Entries
from webhooks.rotation import OwnAuthority
from webhooks.routes import FetchingView, application
from webhooks.settings import Settings, check, pod_namespace
from webhooks.view import ClusterView

# After the signal to stop: as long as endpoints of a Service take to be withdrawn everywhere. New connections come
# until then, and each would be a refused write.
LINGER_SECONDS = 5.0
FINISH_SECONDS = 5.0  # for reviews under way, above the time a review may take
IDLE_SECONDS = 120.0  # above the API server's 90: it closes idle connections, never we under a request

log = Log("webhooks")


@dataclass
class Life:
    """Where the server is in its life; `/readyz` tells it."""

    ready: bool = False
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)

    def told_to_stop(self) -> None:
        """The first signal drains, the second does not wait."""
        (self.at_once if self.stop.is_set() else self.stop).set()

    def page(self) -> tuple[bool, str]:
        if self.stop.is_set():
            return False, "stopping"
        return self.ready, "ok" if self.ready else "waiting for watches and certificates"


async def run(settings: Settings) -> None:
    """Until SIGTERM or SIGINT. Raises BadConfiguration, BadSetting, NoCredentials, OSError, and what ends a loop."""
    core, settings = configured(settings)
    life, serving = Life(), Serving(settings.tls_min_version)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, life.told_to_stop)
    async with await Client.connect(settings.kubeconfig) as client:
        view = ClusterView(client, core)
        certificates = certificates_for(settings, client, core.namespace, serving)
        pages = {"/healthz": lambda: (True, "ok"), "/readyz": life.page}
        loops = {
            **view.watches(),
            "keep certificates": certificates.run(),
            "keep webhooks that come and go": Entries(client, view).run(),
        }
        async with served(settings.health_bind, pages), served(settings.metrics_bind, {}, with_metrics=True):
            background = asyncio.create_task(together(loops))
            front = asyncio.create_task(_serve(settings.webhook_bind, view, serving, life))
            try:
                await asyncio.wait((background, front), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (front, background):
                    task.cancel()
                ended = await asyncio.gather(front, background, return_exceptions=True)
            for outcome in ended:
                if isinstance(outcome, Exception):
                    raise outcome


def configured(settings: Settings) -> tuple[Configuration, Settings]:
    """What the Configuration file says; flags win over it. Raises BadConfiguration, BadSetting."""
    file = read_settings(
        settings.config, feature_gates=settings.feature_gates, namespace=settings.namespace, home=pod_namespace()
    )
    folder = settings.webhook_cert_dir or (Path(file.webhook_cert_dir) if file.webhook_cert_dir else None)
    bind = settings.webhook_bind or f"{file.webhook_host}:{file.webhook_port}"
    settings = replace(settings, webhook_bind=bind, webhook_cert_dir=folder, tls_min_version=file.tls_min_version)
    check(settings)
    koordinator = read_koordinator(settings.koordinator_preset, settings.koordinator_bands)
    return replace(file.core, koordinator=koordinator), settings


def certificates_for(settings: Settings, client: Client, namespace: str, serving: Serving) -> OwnAuthority | Files:
    """Provided files are loaded here, so that a bad pair ends the start and not the first handshake."""
    if settings.webhook_cert_dir is None:
        return OwnAuthority(client, namespace, names(namespace, settings.webhook_bind), serving)
    files = Files(settings.webhook_cert_dir, serving)
    files.step()
    return files


def names(namespace: str, bind: str) -> Sequence[str]:
    """Whom the API server may call us: the Service, or this machine where no Service is routed."""
    host = address(bind)[0]
    service = [f"{SERVICE}.{namespace}.svc", f"{SERVICE}.{namespace}.svc.cluster.local"]
    return [*service, "localhost", "127.0.0.1", *({host} - {"0.0.0.0", "::", "localhost", "127.0.0.1"})]


@asynccontextmanager
async def answering(bind: str, view: FetchingView, serving: Serving) -> AsyncIterator[tuple[str, int]]:
    """Serve reviews while inside; gives host and port. On leaving, what is under way is finished."""
    runner = web.AppRunner(
        application(view), access_log=None, keepalive_timeout=IDLE_SECONDS, shutdown_timeout=FINISH_SECONDS
    )
    await runner.setup()
    try:
        host, port = address(bind)
        await web.TCPSite(runner, host, port, ssl_context=serving.context).start()
        where: Any = runner.addresses[0]
        log.info("answering reviews", address=f"{where[0]}:{where[1]}")
        yield where[0], where[1]
    finally:
        await runner.cleanup()


async def _serve(bind: str, view: ClusterView, serving: Serving, life: Life) -> None:
    if not await _first(life.stop, view.synced, serving.loaded):
        return
    async with answering(bind, view, serving):
        life.ready = True
        await life.stop.wait()
        log.info("stopping", linger_seconds=LINGER_SECONDS)
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                await life.at_once.wait()
        except TimeoutError:
            pass


async def _first(stop: asyncio.Event, *needed: asyncio.Event) -> bool:
    """Wait until all of `needed` are set; False if told to stop before."""
    told = asyncio.ensure_future(stop.wait())
    ready = asyncio.gather(*(event.wait() for event in needed))
    try:
        await asyncio.wait((told, ready), return_when=asyncio.FIRST_COMPLETED)
        return not stop.is_set()
    finally:
        told.cancel()
        ready.cancel()
