"""Time for the shell: what people's clocks say, what has really passed, and waiting. Replaceable in tests.

`steady` counts the time in which the machine slept, unlike asyncio's own clock on Linux: a leader that was suspended
must find on waking that its lease has run out.
"""

import asyncio
import sys
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since 1970, UTC; may jump when somebody sets the clock."""

    def steady(self) -> float:
        """Seconds since some start; never jumps, counts suspended time."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds, at once if none are left."""


class SystemClock:
    # macOS' CLOCK_MONOTONIC already counts sleep; Linux has a clock of its own for it.
    _STEADY = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC

    def now(self) -> float:
        return time.time()

    def steady(self) -> float:
        return time.clock_gettime(self._STEADY)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


SYSTEM = SystemClock()


async def happens_within(clock: Clock, seconds: float | None, *events: asyncio.Event) -> bool:
    """Wait until one of the events is set, at most so long (None: for ever). False: the time ran out."""
    if any(event.is_set() for event in events):
        return True
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    alarm = None if seconds is None else asyncio.ensure_future(clock.sleep(seconds))
    everything = waits if alarm is None else [*waits, alarm]
    try:
        await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in everything:
            task.cancel()
    return any(event.is_set() for event in events)
