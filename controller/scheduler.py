"""The loop of the leader: wait until something changed, ask the core for a plan, hand it over.

No rule about quota lives here, and nothing awaits between asking and handing over.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from admission.model.effects import Plan
from controller.effects import Effects
from controller.kit import metrics
from controller.kit.clock import SYSTEM, Clock, happens_within

BUDGET = 256  # effects of a plan: some 50 ms of core time, so that the lease is renewed and newcomers are seen
AHEAD = 512  # effects planned but not answered: about two seconds of writing; what lies further ahead would be stale
GATHER_SECONDS = 0.01  # news come in bursts; one plan for all of them costs less than one for each


class Planner(Protocol):
    """The part of State that decides."""

    def plan(self, now: float, budget: int) -> Plan: ...


class Scheduler:
    """`changed` is set by whoever tells State something; `planned` hears how many seconds of CPU each plan took."""

    def __init__(
        self,
        state: Planner,
        effects: Effects,
        changed: asyncio.Event,
        *,
        planned: Callable[[float], None] = metrics.PLAN_SECONDS.observe,
        clock: Clock = SYSTEM,
    ) -> None:
        self._state = state
        self._effects = effects
        self._changed = changed
        self._planned = planned
        self._clock = clock

    async def run(self) -> None:
        """For ever, while in office."""
        while True:
            self._changed.clear()
            now = self._clock.now()
            began = time.process_time()
            plan = self._state.plan(now, BUDGET)
            self._planned(time.process_time() - began)
            metrics.PLAN_EFFECTS.inc(len(plan.effects))
            self._effects.take(plan)
            await self._effects.room(AHEAD)
            if plan.more:
                await asyncio.sleep(0)
                continue
            left = None if plan.wake_at is None else max(0.0, plan.wake_at - self._clock.now())
            if await happens_within(self._clock, left, self._changed):
                await self._clock.sleep(GATHER_SECONDS)
