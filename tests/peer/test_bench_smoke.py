"""The benchmark against the real Kueue runs to its end and counts what it says it counts. It says nothing of speed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hack.bench import mix
from hack.bench.__main__ import SMOKE_SCALE
from hack.kueue import generator_yaml

pytestmark = pytest.mark.timeout(3600)  # the first run on a machine builds Kubernetes and Kueue

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `make bench-peer-smoke` writes."""
    out = tmp_path_factory.mktemp("bench") / "bench.json"
    command = [sys.executable, "-m", "hack.bench", "--smoke", f"--out={out}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_both_finish_every_workload(told: dict[str, Any]) -> None:
    total = mix.read(generator_yaml(), SMOKE_SCALE).total
    assert {one["contestant"]: one["workloads"] for one in told["results"]} == {"kueue": total, "lockgate": total}


def test_every_kind_of_workload_waits_some_time_for_its_admission(told: dict[str, Any]) -> None:
    for one in told["results"]:
        assert set(one["admission"]) == {"small", "medium", "large"}
        for kind, admission in one["admission"].items():
            assert 0 < admission["mean"] <= admission["longest"] < one["wall"], (one["contestant"], kind)
            # Stamps are whole seconds, and both ends are cut off.
            assert abs(admission["mean"] - admission["stamped_mean"]) < admission["mean"] + 2, (one["contestant"], kind)


def test_who_wrote_what_is_told_apart(told: dict[str, Any]) -> None:
    for one in told["results"]:
        driver, controller = one["driver_writes"], one["writes"]
        assert driver["create"] == driver["finish"] == one["workloads"]
        assert driver["release"] == one["evictions"]
        assert all(number > 0 for number in controller.values()), controller  # nothing was subtracted twice
        statuses = sum(number for what, number in controller.items() if what.startswith("workloads/status"))
        assert statuses >= one["workloads"] + one["evictions"]  # each was admitted, again after each eviction
        assert not any("DELETE" in what for what in controller)


def test_what_it_cost_is_measured_for_every_process(told: dict[str, Any]) -> None:
    for one in told["results"]:
        assert set(one["cpu"]) == {"kube-apiserver", "etcd", "controller", "driver"}
        assert all(seconds > 0 for seconds in one["cpu"].values()), one["cpu"]
        assert set(one["peak_memory"]) == {"kube-apiserver", "etcd", "controller"}
