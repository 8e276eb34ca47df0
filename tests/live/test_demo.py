"""The demo keeps its word: what it shows a newcomer happens, and nothing of it stays behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hack.cluster.wait import until

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

ROOT = Path(__file__).parents[2]
UNIVERSITY = (sys.executable, "-m", "hack.demo", "examples/university")


def processes_of(demo: int) -> list[str]:
    """What runs for the cluster of a demo, by its pid: every part carries the cluster's folder in its environment."""
    mark = f"/test-{demo}-".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # gone meanwhile, or another user's
            continue
    return found


def test_the_example_goes_as_simulate_foretold() -> None:
    # Half a second for a minute: the fastest at which a pod's start, some 0.3 s, is still short against a job.
    demo = subprocess.Popen([*UNIVERSITY, "--minute=500ms"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    told, _ = demo.communicate(timeout=600)
    assert demo.returncode == 0, told
    lines = told.splitlines()
    for word in ("held", "admitted", "running", "preempted", "finished"):
        assert any(f"  {word:<9}" in line for line in lines), f"nobody was {word}:\n{told}"
    assert any("COHORT" in line and "PENDING WORKLOADS" in line for line in lines)
    assert any("RESERVED IN" in line and "ADMITTED" in line for line in lines)
    assert "robotics/whole-cluster-benchmark still waits" in told
    assert processes_of(demo.pid) == []


def _hears_interruptions() -> None:
    """A shell that starts us in the background has its children ignore SIGINT, and theirs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_no_process(interruption: signal.Signals) -> None:
    demo = subprocess.Popen(
        UNIVERSITY,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hears_interruptions,  # noqa: PLW1509 - it only sets a signal, and no other thread runs here
    )
    try:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "lockgate controller" in line:
                break
        until(lambda: any("controller.cli" in argv for argv in processes_of(demo.pid)), 60, "the controller started")
        demo.send_signal(interruption)
        _, complaint = demo.communicate(timeout=60)
    finally:
        demo.kill()
        demo.communicate()
    assert demo.returncode == 130, complaint
    assert "Traceback" not in complaint
    assert processes_of(demo.pid) == []
