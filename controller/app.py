"""The controller, put together: the only place that sees every part.

Everything runs in one event loop and one group of tasks: what crashes ends all. Reflectors, books and pages run in
every replica; the scheduler and its effects only in the leader.
"""

import asyncio
import os
import signal
import socket
import uuid
from collections.abc import Callable
from importlib.metadata import version

from admission.jobs import READERS
from admission.model.effects import Outcome
from admission.model.kinds import JOBS, WATCHED
from admission.state.state import State
from controller.books import Books
from controller.effects import Effects
from controller.kit import metrics, probes, tasks
from controller.kit.logs import Log
from controller.kube.client import Client
from controller.kube.configuration import Settings
from controller.kube.events import Recorder
from controller.kube.lease import Elector
from controller.kube.writer import Writer
from controller.pages.fronts import fronts
from controller.pages.metrics import Page
from controller.scheduler import Scheduler

log = Log("app")


async def run(settings: Settings, kubeconfig: str | None = None) -> None:
    """Until SIGTERM or SIGINT. Raises NoCredentials, and whatever a part of it crashed with."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with await Client.connect(kubeconfig) as client:
        app = App(client, settings)
        parts = asyncio.create_task(app.run(), name="controller")
        stopping = asyncio.create_task(stop.wait(), name="signals")
        await asyncio.wait([parts, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if parts.done():
            parts.result()
            return
        log.info("stopping")
        parts.cancel()
        await asyncio.wait([parts])
        if not parts.cancelled():
            parts.result()  # what broke while stopping is told, not swallowed
    log.info("stopped")


class App:
    """One replica."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._changed = asyncio.Event()
        self._state = State(settings.core)
        kinds = tuple(kind for kind in WATCHED if kind not in JOBS or kind in self._state.job_kinds)
        self._books = Books(client, self._state, READERS, self._changed, kinds=kinds, namespace=settings.core.namespace)
        self._recorder = Recorder(client)
        # The operating system's own word for this replica first, for people; the rest makes it unique for good.
        me = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
        self._elector: Elector | None = None
        if settings.leader_elect:
            namespace = settings.lease_namespace or settings.core.namespace
            self._elector = Elector(
                client, namespace, me, name=settings.lease_name, timings=settings.timings, settled=self._settled
            )
        may_send: Callable[[], bool] = self._elector.may_send if self._elector else lambda: True
        self._effects = Effects(
            client,
            Writer(client, may_send=may_send, rate=settings.requests_per_second, burst=settings.request_burst),
            self._recorder,
            kinds=self._state.job_kinds,
            report=self._report,
            look=self._books.look,
            may_send=may_send,
        )
        self._leading = False
        self._metrics = Page(self._state, role=self._role, version=version("lockgate"))
        self._scheduler = Scheduler(self._state, self._effects, self._changed, planned=self._planned)

    async def run(self) -> None:
        """For ever."""
        pages = {"/healthz": lambda: (True, "ok"), "/readyz": self._readiness}
        async with (
            probes.served(self._settings.health_bind, pages),
            probes.served(self._plain_metrics, {}, with_metrics=True, more=self._metrics.chunks),
        ):
            parts = {
                **fronts(self._client, self._settings, self._state, self._metrics, self._known),
                "books": self._keep_books(),
                "events": self._recorder.run(),
                "leader": self._elector.run(self._lead) if self._elector else self._lead(),
            }
            await tasks.together(parts)

    async def _keep_books(self) -> None:
        # Looking at the lease first makes a lone replica's first lists fresh enough to plan from: no second ones.
        if self._elector is not None:
            await self._elector.looked.wait()
        await self._books.run()

    async def _known(self) -> None:
        """Until State is complete."""
        await self._books.fresh(since=float("-inf"))

    @property
    def _plain_metrics(self) -> str:
        """Where they are served to whoever asks."""
        where = self._settings.metrics_bind
        return probes.OFF if probes.is_secured(where) else where.removeprefix(probes.PLAIN)

    async def _lead(self) -> None:
        """The work of the leader: from facts no older than its office, plan and write."""
        await self._books.fresh(since=self._elector.safe_since if self._elector else float("-inf"))
        self._state.takes_office()
        log.info("leading")
        metrics.LEADS.set(1)
        self._leading = self._metrics.recorder.counting = True
        try:
            await tasks.together({"effects": self._effects.run(), "scheduler": self._scheduler.run()})
        finally:
            self._leading = self._metrics.recorder.counting = False
            metrics.LEADS.set(0)

    def _role(self) -> str:
        if self._elector is None:
            return "standalone"
        return "leader" if self._leading else "follower"

    def _planned(self, seconds: float) -> None:
        metrics.PLAN_SECONDS.observe(seconds)
        self._metrics.recorder.planned(seconds)

    def _settled(self) -> bool:
        return self._effects.settled

    def _report(self, outcome: Outcome) -> None:
        self._state.outcome(outcome)
        self._changed.set()

    def _readiness(self) -> tuple[bool, str]:
        if not self._books.synced:
            return False, "waiting for lists of " + ", ".join(self._books.missing())
        return True, "leading" if self._leading else "standing by"
