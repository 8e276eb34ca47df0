"""What a start costs: everything read, everybody waiting answered, in a process as large as the controller's."""

import json
import subprocess
import sys

import pytest

from tests.budgets.limits import limit
from tests.budgets.manifests import ADMITTED_OF

SAMPLE = 2_000
TRIES = 3  # others on the machine only ever make it slower, so the best try counts


def start_with(workloads: int) -> dict[str, float]:
    """See tests.budgets.start."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.budgets.start", str(workloads)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    held = workloads // ADMITTED_OF
    assert (found["admitted"], found["told"]) == (held, workloads - held)
    return found


def cpu(found: dict[str, float]) -> float:
    return found["read_seconds"] + found["decide_seconds"]


def test_a_sample_is_read_and_answered_quickly() -> None:
    found = start_with(SAMPLE)
    assert cpu(found) / SAMPLE * 1e6 <= limit("start", "sample_microseconds_per_workload")
    assert found["grown_bytes"] / SAMPLE <= limit("start", "sample_bytes_per_workload")


@pytest.mark.long
def test_a_full_cluster_is_read_and_answered_before_a_lease_would_end() -> None:
    best = float("inf")
    for _ in range(TRIES):
        found = start_with(limit("start", "workloads"))
        assert found["peak_bytes"] / 2**20 <= limit("start", "peak_mebibytes")
        best = min(best, cpu(found))
        if best <= limit("start", "cpu_seconds"):
            return
    pytest.fail(f"{best:.1f} CPU seconds at best, {limit('start', 'cpu_seconds')} allowed")
