"""Printing a verdict to whoever still reads: one that has left (`… | head -1`) must not change the exit code. And the
plural of what is counted in it."""

import os
import sys


def tell(text: str) -> None:
    """Print it; a reader that has left hears no more of anything."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        deafen()


def deafen() -> None:
    """Whatever is still to be written goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())


def counted(number: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
