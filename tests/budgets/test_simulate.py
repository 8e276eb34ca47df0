"""What it costs to play a job, in CPU time of the whole command: reading, deciding, printing."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.budgets.limits import limit
from tests.budgets.traces import write

# Of all cores, on average over a day: what shared clusters report. A third more at its peak, with rushes that wait.
LOAD = 0.65


def played(folder: Path, jobs: int) -> tuple[dict[str, Any], float]:
    """The JSON of `lockgate simulate`, and the CPU seconds that the process took."""
    write(folder, jobs, LOAD)
    command = [sys.executable, "-m", "controller.cli", "simulate", str(folder), "--output", "json"]
    before = _children()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_a_sample_is_played_quickly(tmp_path: Path) -> None:
    told, seconds = played(tmp_path, 3_000)
    assert all(row["state"] == "finished" for row in told["workloads"])
    assert seconds / 3_000 * 1e6 <= limit("simulate", "sample_microseconds_per_job")


def test_the_first_example_is_played_at_once() -> None:
    example = Path(__file__).parents[2] / "examples" / "university"
    before = _children()
    subprocess.run([sys.executable, "-m", "controller.cli", "simulate", str(example)], check=True, capture_output=True)
    assert (_children() - before) * 1e3 <= limit("simulate", "example_milliseconds")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_hundred_thousand_jobs_are_played_in_a_minute(tmp_path: Path) -> None:
    told, seconds = played(tmp_path, 100_000)
    assert len(told["workloads"]) == 100_000
    assert any(row["evictions"] for row in told["workloads"])
    assert seconds <= limit("simulate", "seconds_per_100000_jobs")
