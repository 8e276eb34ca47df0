"""The commands `lockgate simulate` and `lockgate explain`: what they print, and what they refuse in one sentence."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli.playing import prepared
from controller.cli.results import result
from tests.core.test_hostile_manifests import run
from tests.core.test_simulate import EXAMPLES, KUEUE, flavor, job, queue


def test_every_output_is_printed_and_notes_go_to_stderr() -> None:
    example = str(EXAMPLES / "university")
    for output, says in (
        ("table", "Cluster queues"),
        ("timeline", "for physics/lattice-qcd"),
        ("json", '"version": 1'),
    ):
        code, out, err = run("simulate", example, "--output", output)
        assert (code, err) == (0, "")
        assert says in out


def test_a_trace_is_played_and_its_priorities_count(tmp_path: Path) -> None:
    (tmp_path / "queues.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [flavor(), *queue("q", 1)]})
    )
    (tmp_path / "jobs.csv").write_text(
        "arrival,runtime,queue,priority,cpu,memory,gpu,count\n0,10,lab/q,,1,,,1\n1,5,lab/q,,1,,,1\n2,5,lab/q,9,1,,,1\n"
    )
    played, notes = prepared([tmp_path])
    played.run()
    starts = {row["owner"]: row["admitted"] for row in result(played)["workloads"]}
    assert starts == {"Job/lab/row-2": 0, "Job/lab/row-3": 15, "Job/lab/row-4": 10}
    assert notes == ["made the Namespace lab, which no manifest holds"]


PLACE = str(EXAMPLES / "university")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("simulate", "nowhere"), "no such file or folder"),
        (("simulate", PLACE, "--until", "soon"), "--until: 'soon' is not a duration"),
        (
            ("simulate", PLACE, "--config", f"{PLACE}/queues.yaml"),
            "must be one YAML object",
        ),
        (("explain", "grasp", PLACE), "write Kind/namespace/name"),
        (("explain", "Job/robotics/none", PLACE), "is in none of the paths"),
        (("explain", "Job/physics/lattice-qcd", PLACE, "--at", "1m"), "has not arrived by 1m0s"),
    ],
)
def test_a_command_that_cannot_be_done_ends_with_one_sentence(arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_who_started_with_fewer_pods_is_shown_with_how_many(tmp_path: Path) -> None:
    fewer = job("fewer", "q", pods=5)
    fewer["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    file = tmp_path / "jobs.json"
    items = [flavor(), *queue("q", 5), job("all", "q", pods=2), fewer, job("waits", "q")]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = run("simulate", str(file))
    assert code == 0
    pods = {cells[1]: cells[5] for line in out.splitlines() if len(cells := re.split(r" *[│|] *", line)) == 12}
    assert (pods["lab/all"], pods["lab/fewer"], pods["lab/waits"]) == ("2", "3/5", "1")


def test_one_job_is_counted_in_the_singular(tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    items = [flavor(), *queue("q", 5), job("a", "q")]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert "\n1 job until " in run("simulate", str(file))[1]


def test_queues_without_a_job_can_be_checked(tmp_path: Path) -> None:
    code, out, err = run("simulate", str(EXAMPLES / "university" / "queues.yaml"))
    assert (code, err) == (0, "")
    assert "0 jobs" in out
    bad = tmp_path / "queues.yaml"
    bad.write_text(f"apiVersion: {KUEUE}\nkind: ClusterQueue\nmetadata: {{name: q}}\nspec:\n  stopPolicy: Soon\n")
    code, out, err = run("simulate", str(bad))
    assert (code, out) == (2, "")
    assert "spec.stopPolicy" in err


def test_a_job_without_a_queue_is_explained(tmp_path: Path) -> None:
    free = job("a", "q")
    free["metadata"]["labels"] = {}
    free["metadata"]["annotations"] = {"lockgate.dev/arrival": "5m"}
    file = tmp_path / "free.json"
    file.write_text(json.dumps(free))
    code, out, _ = run("explain", "Job/lab/a", str(file))
    assert code == 0
    assert "names no queue: it runs at once and takes no quota" in " ".join(out.split())
    code, _, err = run("explain", "Job/lab/a", str(file), "--at", "1m")
    assert code == 2
    assert "has not arrived by 1m0s" in err


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (
            "integrations: {frameworks: [jobset.x-k8s.io/jobset]}",
            "is of a kind that integrations.frameworks does not list",
        ),
        (
            "managedJobsNamespaceSelector: {matchLabels: {team: a}}",
            "is in a namespace that managedJobsNamespaceSelector leaves out",
        ),
    ],
)
def test_a_job_that_the_configuration_leaves_out_is_told_so(tmp_path: Path, setting: str, why: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{setting}\n")
    file = tmp_path / "named.json"
    file.write_text(json.dumps(job("a", "q")))
    for asked in (("simulate", str(file)), ("explain", "Job/lab/a", str(file))):
        code, out, _ = run(*asked, "--config", str(config))
        assert code == 0
        assert f"{why}: it runs at once and takes no quota." in " ".join(out.split())
        assert "names no queue" not in out


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_reader_that_leaves_early_is_no_failure(output: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "controller.cli", "simulate", str(EXAMPLES / "university"), "--output", output]
    try:
        ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, "")
