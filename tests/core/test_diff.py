"""`lockgate diff`: what other queues would have meant for the same jobs, and for the queues."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from admission.world.comparison import Comparison, compare
from admission.world.stories import Arrival
from tests.core.test_hostile_manifests import run
from tests.core.test_simulate import EXAMPLES, Manifest, flavor, job, priority, queue, simulation

RECLAIM = {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}


def under(before: list[Manifest], after: list[Manifest], *arrivals: Arrival, until: float | None = None) -> Comparison:
    return compare(simulation(before, arrivals), simulation(after, arrivals), until)


def changes(found: Comparison) -> dict[str, tuple[str, ...]]:
    return {change.job.name: change.changes for change in found.jobs if change.changes}


def test_the_same_queues_make_no_difference() -> None:
    found = under([flavor(), *queue("a", 2)], [flavor(), *queue("a", 2)], Arrival(0, 5, job("x", "a")))
    assert not found.different
    assert changes(found) == {}


def test_more_quota_starts_a_job_earlier_and_less_never() -> None:
    small, large = [flavor(), *queue("a", 2)], [flavor(), *queue("a", 4)]
    arrivals = [Arrival(0, 10, job("first", "a", "2")), Arrival(1, 10, job("second", "a", "2"))]
    found = under(small, large, *arrivals, Arrival(0, 1, job("huge", "a", "3")))
    assert changes(found) == {"second": ("earlier",), "huge": ("nowStarts",)}
    assert {change.job.name: (change.before.started, change.after.started) for change in found.jobs} == {
        "first": (0, 0),
        "second": (10, 1),
        "huge": (None, 11),
    }
    back = under(large, small, *arrivals, Arrival(0, 1, job("huge", "a", "3")))
    assert changes(back) == {"second": ("later",), "huge": ("neverStarts",)}


def test_who_is_preempted_and_who_ends_later_for_it() -> None:
    kind = [flavor(), *queue("a", 2, "all"), *queue("b", 2, "all")]
    strict = [flavor(), *queue("a", 2, "all", **RECLAIM), *queue("b", 2, "all")]
    found = under(kind, strict, Arrival(0, 100, job("borrower", "b", "4")), Arrival(10, 20, job("owner", "a", "2")))
    assert changes(found) == {"borrower": ("preemptedMore", "endsLater"), "owner": ("earlier",)}
    a, b = found.queues["a"], found.queues["b"]
    assert [side.preemptions for side in b if side] == [0, 1]
    assert [side.wait_mean for side in a if side] == [90, 0]


def test_use_is_told_over_the_time_of_both_sides_as_parts_of_the_quota() -> None:
    found = under(
        [flavor(), *queue("a", 2)], [flavor(), *queue("a", 4)],
        Arrival(0, 10, job("first", "a", "2")), Arrival(0, 10, job("second", "a", "2")),
    )  # fmt: skip
    assert found.until == 20
    before, after = found.queues["a"]
    assert before is not None
    assert after is not None
    fr = ("std", "cpu")
    assert (before.use[fr].nominal, before.use[fr].mean, before.use[fr].peak) == (2000, 2000, 2000)
    assert (after.use[fr].nominal, after.use[fr].mean, after.use[fr].peak) == (4000, 2000, 4000)
    assert (before.wait_mean, before.wait_p95, after.wait_mean, after.wait_p95) == (5, 10, 0, 0)


def test_what_is_held_at_the_end_is_held_until_the_end() -> None:
    found = under([flavor(), *queue("a", 2)], [flavor(), *queue("a", 2)], Arrival(50, None, job("x", "a")), until=100)
    before, _ = found.queues["a"]
    assert before
    assert before.use[("std", "cpu")].mean == 500


def test_queues_that_one_side_lacks_and_jobs_that_move() -> None:
    def lab_queue(target: str) -> Manifest:
        kind = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue"}
        return {**kind, "metadata": {"namespace": "lab", "name": "jobs"}, "spec": {"clusterQueue": target}}

    found = under(
        [flavor(), *queue("a", 2), lab_queue("a")],
        [flavor(), *queue("b", 2), lab_queue("b")],
        Arrival(0, 1, job("x", "jobs")),
    )
    assert changes(found) == {"x": ("elsewhere",)}
    assert {name: (before is None, after is None) for name, (before, after) in found.queues.items()} == {
        "a": (False, True),
        "b": (True, False),
    }


def test_jobs_without_a_name_are_matched_by_their_order() -> None:
    nameless = job("", "a", "2")
    nameless["metadata"] = {**nameless["metadata"], "generateName": "x-"}
    del nameless["metadata"]["name"]
    found = under(
        [flavor(), *queue("a", 2)],
        [flavor(), priority("p", 1), *queue("b", 1), *queue("a", 2)],
        Arrival(0, 1, nameless),
        Arrival(0, 2, nameless),
    )
    assert [change.changes for change in found.jobs] == [(), ()]


class TestCommand:
    @pytest.fixture
    def paths(self, tmp_path: Path) -> tuple[str, str, str]:
        files = {
            "before.yaml": [flavor(), *queue("a", 2)],
            "after.yaml": [flavor(), *queue("a", 4)],
            "jobs.yaml": [job("first", "a", "2"), job("second", "a", "2")],
        }
        for one in files["jobs.yaml"]:
            one["metadata"]["annotations"] = {"lockgate.dev/runtime": "10s"}
        for name, content in files.items():
            (tmp_path / name).write_text(yaml.safe_dump_all(content))
        return str(tmp_path / "before.yaml"), str(tmp_path / "after.yaml"), str(tmp_path / "jobs.yaml")

    def test_exit_codes_are_those_of_diff(self, paths: tuple[str, str, str]) -> None:
        before, after, jobs = paths
        assert run("diff", before, before, jobs)[0] == 0
        assert run("diff", before, after, jobs)[0] == 1
        assert run("diff", before, "nowhere", jobs)[0] == 2

    def test_the_json_is_a_promise(self, paths: tuple[str, str, str]) -> None:
        code, out, _ = run("diff", *paths, "--output", "json")
        said: dict[str, Any] = json.loads(out)
        assert code == 1
        assert [*said] == ["version", "until", "different", "summary", "workloads", "clusterQueues"]
        assert (said["version"], said["until"], said["different"]) == (1, 20, True)
        assert {name: count for name, count in said["summary"].items() if count} == {"jobs": 2, "earlier": 1}
        second = said["workloads"][1]
        assert (second["kind"], second["namespace"], second["name"], second["changes"]) == (
            "Job",
            "lab",
            "second",
            ["earlier"],
        )
        assert second["after"] == {
            "state": "finished",
            "arrived": 0,
            "started": 0,
            "finished": 10,
            "evictions": 0,
            "preemptions": 0,
            "clusterQueue": "a",
            "flavors": {"main": {"cpu": "std"}},
            "problem": "",
        }
        assert said["clusterQueues"] == [
            {
                "name": "a",
                "before": {
                    "use": [
                        {
                            "flavor": "std",
                            "resource": "cpu",
                            "nominal": "2",
                            "peak": "2",
                            "meanShare": 1.0,
                            "peakShare": 1.0,
                        }
                    ],
                    "started": 2,
                    "neverStarted": 0,
                    "preemptions": 0,
                    "waitMean": 5,
                    "waitP95": 10,
                },
                "after": {
                    "use": [
                        {
                            "flavor": "std",
                            "resource": "cpu",
                            "nominal": "4",
                            "peak": "4",
                            "meanShare": 0.5,
                            "peakShare": 1.0,
                        }
                    ],
                    "started": 2,
                    "neverStarted": 0,
                    "preemptions": 0,
                    "waitMean": 0,
                    "waitP95": 0,
                },
            }
        ]

    def test_people_see_what_differs_and_a_sum(self, paths: tuple[str, str, str]) -> None:
        _, out, _ = run("diff", *paths)
        assert "lab/second" in out
        assert "lab/first" not in out
        assert "2 jobs until 20s: 1 starts earlier, 1 as before." in out

    def test_settings_may_be_what_differs(self, paths: tuple[str, str, str], tmp_path: Path) -> None:
        config = tmp_path / "config.yaml"
        head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        config.write_text(head + "resources: {excludeResourcePrefixes: [cpu]}\n")
        before, _, jobs = paths
        assert run("diff", before, before, jobs, "--config", str(config))[0] == 0
        code, _, err = run("diff", before, before, jobs, "--config", str(config), "--config-after", str(config))
        assert (code, "--config is for both sides" in err) == (2, True)

    def test_jobs_of_one_side_alone_are_refused(self, paths: tuple[str, str, str]) -> None:
        _, after, jobs = paths
        code, _, err = run("diff", jobs, after, jobs)
        assert code == 2
        assert "holds Job/lab/first: jobs must be the same on both sides" in err


def test_equal_input_gives_equal_output_whatever_the_hash_seed(tmp_path: Path) -> None:
    university = EXAMPLES / "university"
    after = tmp_path / "queues.yaml"
    text = (university / "queues.yaml").read_text()
    after.write_text(
        text.replace('{name: nvidia.com/gpu, nominalQuota: "4"}', "{name: nvidia.com/gpu, nominalQuota: 1}")
    )
    paths = [str(university / "queues.yaml"), str(after), str(university / "jobs.yaml")]
    _, here, _ = run("diff", *paths, "--output", "json")
    there = subprocess.run(
        [sys.executable, "-m", "controller.cli", "diff", *paths, "--output", "json"],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert there.stdout == here
    assert json.loads(here)["different"]
