"""Free loopback ports that stay free until their user starts.

A port asked for with bind(0) and closed again can be given to any outgoing connection before the server binds it.
So ports come from below the kernel's range for those, and the socket is held until just before the server starts.
"""

import random
import socket
from pathlib import Path

LOWEST = 15000  # below it live services people know by number
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class Port:
    """One port on 127.0.0.1, held until `release`."""

    def __init__(self) -> None:
        self._socket, self.number = _hold()

    def __str__(self) -> str:
        return str(self.number)

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.number}"

    def release(self) -> None:
        """Let go: the server that is about to start may have it. Harmless when done twice."""
        self._socket.close()

    __del__ = release  # what a failed start did not use


def _hold() -> tuple[socket.socket, int]:
    highest = int(_RANGE.read_text().split()[0]) - 1
    for _ in range(1000):
        number = random.randint(LOWEST, max(highest, LOWEST + 1000))
        candidate = socket.socket()
        try:
            candidate.bind(("127.0.0.1", number))  # no SO_REUSEADDR: two holders exclude each other
        except OSError:
            candidate.close()
            continue
        return candidate, number
    raise OSError(f"no free port between {LOWEST} and {highest}: stop some servers")
