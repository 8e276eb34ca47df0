"""The loop plans when something changed, when it is time, and never far ahead of what is written."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from admission.model.effects import Plan
from controller.effects import Effects
from controller.scheduler import GATHER_SECONDS, Scheduler
from tests.shell.conftest import StillClock


class Brain:
    """Answers with the plans that a test lays out, then with empty ones."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self.asked: list[float] = []

    def plan(self, now: float, budget: int) -> Plan:
        self.asked.append(now)
        return self.plans.pop(0) if self.plans else Plan(())


class Sink(Effects):
    """Takes plans; has room when a test says so."""

    def __init__(self) -> None:
        self.taken: list[Plan] = []
        self.roomy = asyncio.Event()
        self.roomy.set()

    def take(self, plan: Plan) -> None:
        self.taken.append(plan)

    async def room(self, limit: int) -> None:
        await self.roomy.wait()


class Loop:
    def __init__(self, clock: StillClock) -> None:
        self.clock = clock
        self.brain = Brain()
        self.sink = Sink()
        self.changed = asyncio.Event()
        self.scheduler = Scheduler(self.brain, self.sink, self.changed, clock=clock)

    async def passes(self, seconds: float) -> int:
        """How often it plans meanwhile."""
        before = len(self.brain.asked)
        await self.clock.pass_by(seconds)
        return len(self.brain.asked) - before


@pytest.fixture
async def loop(clock: StillClock) -> AsyncIterator[Loop]:
    loop = Loop(clock)
    task = asyncio.create_task(loop.scheduler.run())
    assert await loop.passes(0) == 1
    yield loop
    task.cancel()
    await asyncio.wait([task])


async def test_nothing_changes_and_nothing_is_planned(loop: Loop) -> None:
    assert await loop.passes(3600) == 0


async def test_news_that_come_together_make_one_plan(loop: Loop) -> None:
    for _ in range(5):
        loop.changed.set()
        await asyncio.sleep(0)
    assert await loop.passes(GATHER_SECONDS) == 1
    assert await loop.passes(3600) == 0


async def test_it_wakes_when_the_plan_says(loop: Loop) -> None:
    loop.brain.plans = [Plan((), wake_at=loop.clock.now() + 60)]
    loop.changed.set()
    assert await loop.passes(1) == 1
    assert await loop.passes(58) == 0
    assert await loop.passes(2) == 1
    assert loop.brain.asked[-1] == pytest.approx(loop.clock.now(), abs=1)


async def test_more_is_asked_for_at_once(loop: Loop) -> None:
    loop.brain.plans = [Plan((), more=True), Plan((), more=True)]
    loop.changed.set()
    assert await loop.passes(GATHER_SECONDS) == 3


async def test_it_does_not_run_ahead_of_the_writers(loop: Loop) -> None:
    loop.sink.roomy.clear()
    loop.brain.plans = [Plan((), more=True)]
    loop.changed.set()
    assert await loop.passes(60) == 1
    loop.sink.roomy.set()
    assert await loop.passes(0) == 1
