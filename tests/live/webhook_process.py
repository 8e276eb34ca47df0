"""The webhook server as a process on a real control plane, with the rights that `lockgate install` gives it."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hack.cluster import Cluster

ROOT = Path(__file__).parents[2]
NAMESPACE = "kueue-system"


class Webhooks:
    """One replica; it can be killed and started again on the same port."""

    def __init__(self, cluster: Cluster, log: Path, flags: Sequence[str] = ()) -> None:
        self.log = log
        self._flags = flags
        self.port = _free_port()
        self._cluster = cluster
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """As the service account, which `install` must have made."""
        kubeconfig = self._cluster.kubeconfig_for(*account(self._cluster, "lockgate-webhooks"))
        flags = [f"--kubeconfig={kubeconfig}", f"--webhook-bind=127.0.0.1:{self.port}", *self._flags]
        command = [sys.executable, "-m", "controller.cli", "webhooks", *flags, "--metrics-bind=0", "--health-bind=0"]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> int:
        """Twice told, it does not linger; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)


def account(cluster: Cluster, name: str) -> tuple[str, str]:
    """A service account that `install` made, and a token of it."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token"
    return name, cluster.api().create(path, {"spec": {}})["status"]["token"]


@contextmanager
def controller(kubeconfig: Path, log: Path) -> Iterator[Path]:
    """`lockgate controller` with these credentials; gives its log."""
    command = [sys.executable, "-m", "controller.cli", "controller", f"--kubeconfig={kubeconfig}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--metrics-bind=0", "--health-bind=0", "--visibility-bind=0"],
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    try:
        yield log
    finally:
        process.terminate()
        process.wait(30)


def lockgate(cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of ours as the cluster's administrator."""
    command = [sys.executable, "-m", "controller.cli", *arguments, f"--kubeconfig={cluster.kubeconfig}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@contextmanager
def webhooks(cluster: Cluster, log: Path, *flags: str) -> Iterator[Webhooks]:
    """Installed, running, answering; ended with the block. `flags`: that `install` has, too."""
    running = Webhooks(cluster, log, flags)
    first = lockgate(cluster, "install", f"--webhook-url={running.url}", *flags)
    assert first.returncode == 0, first.stderr
    try:
        running.start()
        second = lockgate(cluster, "install", f"--webhook-url={running.url}", "--wait=60s", *flags)
        assert second.returncode == 0, second.stderr + log.read_text()
        yield running
    finally:
        running.kill()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
