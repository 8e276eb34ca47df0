"""Waiting for a condition: the one place here that lets time pass."""

import time
from collections.abc import Callable
from typing import TypeVar

STEP = 0.05  # seconds between two looks

T = TypeVar("T")


class TimedOut(Exception):
    """The condition did not become true in time."""


def until(look: Callable[[], T | None], seconds: float, what: str) -> T:
    """Look again and again till the answer is neither None nor false; say what was missing otherwise."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise TimedOut(f"not within {seconds:g} s: {what}")
        time.sleep(STEP)
