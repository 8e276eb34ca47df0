"""What the shell's tests share: a loopback API server, a client for it, and a clock that stands still."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable

import pytest

from controller.kube.client import Client
from tests.shell.apiserver import ApiServer

JOBS = "/apis/batch/v1/namespaces/ns/jobs"


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as running:
        yield running


@pytest.fixture
async def client(server: ApiServer) -> AsyncIterator[Client]:
    async with Client(server.url) as made:
        yield made


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Let the loop run until the condition holds; fails when it does not come to hold."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is anything, and no event tells it
            await asyncio.sleep(0.001)


class StillClock:
    """Time passes only when a test says so, and never while `busy`."""

    def __init__(self, busy: Callable[[], bool] = lambda: False) -> None:
        self.time = 1000.0
        self._busy = busy
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []

    def now(self) -> float:
        return 1_700_000_000 + self.time

    def steady(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (self.time + seconds, next(self._numbers), woken))
        await woken.wait()

    def jump(self, seconds: float) -> None:
        """The machine slept: time has passed and nobody was woken on the way."""
        self.time += seconds
        self._wake()

    async def pass_by(self, seconds: float) -> None:
        """Time passes, everybody wakes when due and does what it does then."""
        end = self.time + seconds
        await self._quiet()
        while self._sleepers and self._sleepers[0][0] <= end:
            self.time = max(self.time, self._sleepers[0][0])
            self._wake()
            await self._quiet()
        self.time = end

    async def _quiet(self) -> None:
        """Let everybody who is awake come to rest, requests included."""
        for _ in range(3):
            for _ in range(20):
                await asyncio.sleep(0)
            while self._busy():  # noqa: ASYNC110 - aiohttp tells nobody when its connections are idle
                await asyncio.sleep(0.0002)

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self.time:
            heapq.heappop(self._sleepers)[2].set()


@pytest.fixture
def clock(client: Client) -> StillClock:
    return StillClock(busy=lambda: bool(client._session.connector and client._session.connector._acquired))
