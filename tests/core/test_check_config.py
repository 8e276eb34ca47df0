"""`lockgate check-config`: good files with what they change, bad ones with everything that is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.cli.__main__ import main
from controller.cli.effective import go_duration

HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    def run(text: str, *options: str) -> tuple[int, str]:
        file = tmp_path / "config.yaml"
        file.write_text(HEAD + text)
        try:
            code = main(["check-config", str(file), *options])
        except SystemExit as end:
            code = int(end.code or 0)
        return code, capsys.readouterr().out

    return run


def _json(check: Check, text: str, *options: str) -> tuple[int, dict[str, Any]]:
    code, out = check(text, "--output", "json", *options)
    return code, json.loads(out)


def test_a_file_of_defaults_changes_nothing(check: Check) -> None:
    code, said = _json(check, "waitForPodsReady: {timeout: 1800s}")
    assert code == 0
    assert (said["valid"], said["changed"], said["notes"]) == (True, [], [])
    assert said["settings"]["waitForPodsReady"]["timeout"] == "30m"


def test_what_differs_is_told_beside_its_default(check: Check) -> None:
    code, said = _json(
        check,
        "namespace: home\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\npprofBindAddress: ':1'\n"
        "resources: {transformations: [{input: a, outputs: {cpu: 250m, b: 1.5u, c: 2Gi}}]}\n"
        "clientConnection: {qps: -1}\n",
        "--feature-gates",
        "DisableWaitForPodsReady=true",
    )
    assert code == 0
    changed = {one["field"]: (one["value"], one["default"]) for one in said["changed"]}
    outputs = changed.pop("resources.transformations")[0][0]["outputs"]
    assert outputs == {"cpu": "250m", "b": "1500n", "c": str(2 * 2**30)}
    assert changed.pop("waitForPodsReady")[0] is None
    assert changed == {
        "namespace": ("home", "kueue-system"),
        "fairSharing.preemptionStrategies": (["LessThanInitialShare"], None),
        "featureGates.DisableWaitForPodsReady": (True, False),
        "clientConnection.qps": (-1, 300),
    }
    assert [note["field"] for note in said["notes"]] == ["pprofBindAddress"]


def test_which_kinds_of_jobs_are_managed_is_told(check: Check) -> None:
    _, said = _json(check, "integrations: {frameworks: [batch/job, pod, kubeflow.org/mpijob]}\n")
    assert said["changed"] == [
        {"field": "integrations.frameworks", "value": ["kubeflow.org/mpijob", "batch/job"], "default": "all"}
    ]


def test_people_read_the_same(check: Check) -> None:
    code, out = check("waitForPodsReady: {timeout: 90s}\npprofBindAddress: ':1'\n")
    assert code == 0
    assert "  waitForPodsReady.timeout          1m30s  (default 30m)" in out.splitlines()
    assert "  pprofBindAddress: has no effect here: profile with py-spy instead" in out.splitlines()


def test_everything_that_is_wrong_is_told_with_line_and_remedy(check: Check) -> None:
    text = "fairSharing: {}\nwaitForPodsReady: {timeuot: 5m}\n"
    code, out = check(text)
    assert code == 2
    assert [line.partition(": ")[0].rpartition(":")[2] for line in out.splitlines()[:2]] == ["3", "4"]
    code, said = _json(check, text)
    assert code == 2
    assert not said["valid"]
    assert said["problems"][1] == {
        "field": "waitForPodsReady.timeuot",
        "line": 4,
        "problem": "is not a field of waitForPodsReady",
        "remedy": "did you mean timeout?",
    }


def test_what_cannot_be_read_is_one_fault(check: Check) -> None:
    code, said = _json(check, "a: [")
    assert code == 2
    assert len(said["problems"]) == 1


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (90, "1m30s"), (5400, "1h30m"), (0.25, "250ms"), (90061.5, "25h1m1s500ms")]
)
def test_durations_are_written_as_the_file_would(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text
