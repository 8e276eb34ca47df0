"""`lockgate all`: both processes from one command, on a cluster that `lockgate install` prepared."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hack.cluster import Cluster
from hack.cluster.wait import until
from tests.live.controllers import JOBS, PATIENCE, ROOT, Seen, cluster_queue, flavor, job, local_queue

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


def _lockgate(cluster: Cluster, *words: str) -> list[str]:
    return [sys.executable, "-m", "controller.cli", *words, f"--kubeconfig={cluster.kubeconfig}"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, "subprocess.Popen[bytes]"]]:
    """A cluster with everything installed, and the parent of the two processes."""
    log = tmp_path_factory.mktemp("all") / "log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{free.getsockname()[1]}"
    ports = ["--metrics-bind=0", "--health-bind=0", "--visibility-bind=0"]
    ports += ["--webhook-metrics-bind=0", "--webhook-health-bind=0"]
    with Cluster.start(nodes=1) as cluster, log.open("wb") as output:
        cluster.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        command = _lockgate(cluster, "all", f"--webhook-bind={where}", *ports)
        parent = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
        try:
            install = _lockgate(cluster, "install", f"--webhook-url=https://{where}", "--wait=60s")
            subprocess.run(install, cwd=ROOT, check=True)
            until(lambda: '"leading"' in log.read_text(), PATIENCE, "the controller leading")
            yield cluster, parent
        finally:
            parent.terminate()
            parent.wait(30)


def test_a_job_as_users_write_it_is_held_and_runs_when_it_fits(
    both: tuple[Cluster, "subprocess.Popen[bytes]"],
) -> None:
    seen = Seen(both[0])
    for item in (flavor(), cluster_queue("team", "2"), local_queue("team")):
        seen.api.apply(item)
    seen.api.create(JOBS, job("one", "team", "2", runtime="2s", held=False))
    seen.api.create(JOBS, job("two", "team", "2", runtime="0s", held=False))
    assert "held" in (seen.state("one"), seen.state("two"))
    seen.is_soon("one", "finished")
    seen.is_soon("two", "finished")


def test_when_one_of_the_two_dies_the_other_and_the_parent_end(
    both: tuple[Cluster, "subprocess.Popen[bytes]"],
) -> None:
    _, parent = both
    children = [int(pid) for pid in _children(parent.pid)]
    assert len(children) == 2
    os.kill(children[0], signal.SIGKILL)
    assert parent.wait(60) != 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
