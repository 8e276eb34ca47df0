"""One process of the product that we started, and what it says of itself."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

STOP_SECONDS = 20.0  # to finish its requests and give its lease back; Kubernetes itself gives a pod 30
LAST_WORDS = 2000  # characters of the log that tell why it ended


class Ended(RuntimeError):
    """A process of the product has ended although nobody stopped it."""


class Replica:
    """`part` is `controller` or `webhooks`; its health page is on loopback, its output goes to `log`."""

    def __init__(self, part: str, flags: Sequence[str], log: Path) -> None:
        self.log = log
        self._health = f"127.0.0.1:{free_port()}"
        # By module name, as in `lockgate all`.
        command = [sys.executable, "-m", "controller.cli", part, *flags, "--metrics-bind=0"]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*command, f"--health-bind={self._health}"],
                stdout=output,
                stderr=output,
                start_new_session=True,  # a Ctrl-C reaches us alone, and we end it in order
            )

    def role(self) -> str:
        """What /readyz says: `leading`, `standing by`, `ok`; "" while it is not ready. Raises Ended."""
        try:
            with urllib.request.urlopen(f"http://{self._health}/readyz", timeout=5) as answer:
                said: str = answer.read().decode().strip()
                return said
        except OSError:  # refused, or a 503
            self.check()
            return ""

    def check(self) -> None:
        """Raises Ended."""
        code = self._process.poll()
        if code is not None:
            words = self.log.read_text(errors="replace")[-LAST_WORDS:]
            raise Ended(f"a process of the product ended with exit code {code}; its last words: {words}")

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """As a machine dies: no time for anything."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """As Kubernetes would. Webhooks that are told twice don't linger."""
        for _ in range(2 if self._process.args[3] == "webhooks" else 1):  # type: ignore[index]
            if self.runs:
                self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


def free_port() -> int:
    """A port on loopback that nobody uses at this moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
