"""Loops that live and die together.

A process whose reflector has died but whose lease is still renewed is worse than a dead one: so the crash, or the
unexpected end, of one loop ends all of them, and the process with its cause.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any


class LoopEnded(RuntimeError):
    """A loop that should run for ever returned."""


async def together(loops: Mapping[str, Coroutine[Any, Any, object]]) -> None:
    """Run the named loops until one fails or the caller is cancelled; then cancel and await the rest.

    Raises what the first failing loop raised, or LoopEnded.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for name, loop in loops.items():
                group.create_task(_endless(name, loop), name=name)
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        if len(failures.exceptions) > 1:
            raise
        raise first from first.__cause__


async def _endless(name: str, loop: Coroutine[Any, Any, object]) -> None:
    await loop
    raise LoopEnded(f"{name} ended although nobody stopped it")
