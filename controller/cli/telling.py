"""Printing a verdict to whoever still reads: one that has left (`… | head -1`) must not change the exit code."""

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
