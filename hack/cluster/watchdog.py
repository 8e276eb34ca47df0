"""Ends a cluster when the process that started it is gone, however it went (SIGKILL too).

It reads a pipe whose other end only that process holds. End of file means it is gone; the word `keep` means the
cluster is to stay. Not PR_SET_PDEATHSIG: that fires when the starting *thread* ends, and test runners use threads.
"""

import contextlib
import subprocess
import sys
from pathlib import Path

from hack.cluster import state

KEEP = b"keep"


class Watchdog:
    """The starting process's side of the pipe."""

    def __init__(self, folder: Path) -> None:
        program = f"from {__name__} import main; main({str(folder)!r})"
        self._child = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # it must not hold open a pipe somebody reads to its end
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Send it away: the cluster is gone already, or is to stay."""
        self._child.communicate(KEEP)


def main(folder: str) -> None:
    """Wait for the word or the end."""
    if sys.stdin.buffer.read() == KEEP:
        return
    with contextlib.suppress(FileNotFoundError):  # ended in the meantime
        state.load(Path(folder)).end()
