"""Scenario files: what is wrong with one is said with its line and a remedy; results read well and can be kept."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from admission.world.scenario.case import read_case
from admission.world.scenario.paths import MISSING, at, contains, equal_at, steps
from admission.world.scenario.runner import run_case
from admission.world.scenario.source import BadFile
from controller.cli.__main__ import main

GOOD = Path(__file__).parents[1] / "scenarios" / "018-reclaim-cohort-owned-quota.yaml"
TEXT = GOOD.read_text(encoding="utf-8")


def problems(text: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_case(text)
    return [f"{problem.line}: {problem}" for problem in caught.value.problems]


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("state: pending}", "state: waiting}", "expect[3].state: 'waiting'"),
        ("state: pending}", "sate: pending}", "expect[3].sate: is no key of this form"),
        ("op: job-stopped", "op: stop-job", "events[4]: 'stop-job' is unknown"),
        ("{t: 25, op: tick}", "{t: '25', op: tick}", "events[5].t: '25'"),
        ("{t: 25, op: tick}", "{t: true, op: tick}", "events[5].t: true"),
        ("{t: 25, op: tick}", "{t: 24, op: tick}", "no event marks t=25: add {t: 25, op: tick}"),
        ("{t: 25, op: tick}", "{t: 2, op: tick}", "t=2 goes back behind t=16"),
        ("op: job-stopped, ref: Workload/lab/scav-1", "op: job-stopped, ref: Workload/lab/x", "is Workload/lab/x"),
        ("ref: Workload/lab/paid-1}", "ref: Workload/lab/scav-1}", "Workload/lab/scav-1 exists already"),
        ("metadata: {name: scav}", "metadata: {name: scav, namespace: lab}", "a ClusterQueue has no namespace"),
        ("metadata: {name: q-paid, namespace: lab}", "metadata: {name: q-paid}", "there is no Namespace None"),
        ("metadata: {name: std}", "metadata: {labels: {a: b}}", "has neither name nor generateName"),
        ("needs: []", "needs: [pods]", "nothing in the file uses pods"),
        ("needs: []", "needs: [magic]", "needs[0]: 'magic'"),
        ("confidence: high", "confidence: high\nconfidence: high", "the key confidence is given twice"),
        ("id: C018", "id: 18", "id: 18"),
        ("area: hierarchy\n", "", "area: is missing: add it"),
        ("spec: {clusterQueue: paid}", "spec: {clusterQueue: !!python/name:os.system ''}", "has no meaning in JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, part: str) -> None:
    bad = TEXT.replace(old, new, 1)
    found = [problem for problem in problems(bad) if part in problem]
    assert found, problems(bad)
    assert 1 <= int(found[0].partition(":")[0]) <= len(bad.splitlines())


def test_the_line_is_the_one_of_the_mistake() -> None:
    bad = TEXT.replace("state: pending}", "state: waiting}")
    assert problems(bad)[0].startswith(f"{line_of(bad, 'waiting')}: ")


@pytest.mark.parametrize(
    "text",
    ["", "- a\n- b\n", "a: [", "a: b\n---\nc: d\n", "\t", "a: " + "[" * 500 + "]" * 500, "x" * 2_000_001, "a: &x [*x]"],
    ids=["empty", "list", "broken", "two documents", "tab", "deep", "huge", "recursive"],
)
def test_what_is_no_scenario_at_all_is_refused_in_words(text: str) -> None:
    assert all(len(problem) > 5 for problem in problems(text))


def with_topology(text: str) -> str:
    """The same with something that a run in memory lacks."""
    return text.replace(
        "metadata: {name: std}", "metadata: {name: std}\n    spec: {nodeLabels: {a: b}, topologyName: t}"
    )


def test_what_this_runner_lacks_is_named_from_the_file_itself() -> None:
    result = run_case(read_case(with_topology(TEXT)))
    assert result.outcome == "unsupported"
    assert result.missing == ["topology"]


def test_a_bad_config_makes_a_bad_file() -> None:
    head = "config:\n  apiVersion: config.kueue.x-k8s.io/v1beta2\n  kind: Configuration\n"
    bad = TEXT.replace("objects:\n", f"{head}  waitForPodsReady: {{timeout: soon}}\n  fairSharin: {{}}\nobjects:\n")
    duration, unknown = problems(bad)
    assert duration.startswith(f'{line_of(bad, "soon")}: config.waitForPodsReady.timeout: "soon" is not a duration: ')
    assert unknown.startswith(f"{line_of(bad, 'fairSharin:')}: config.fairSharin: is not a field of a Configuration: ")


def test_a_request_that_nobody_expects_to_be_refused_must_be_accepted() -> None:
    result = run_case(read_case(TEXT.replace("requests: {cpu: '6'}", "requests: {cpu: '-6'}", 1)))
    refused = [failure for failure in result.failures if failure.section == "events"]
    assert [failure.index for failure in refused][:1] == [0]
    assert "create Workload/lab/scav-1 was refused" in refused[0].message


@pytest.mark.parametrize(
    ("laws", "broken"),
    [
        ("{noNegativeUsage: true}", False),
        ("{maxAdmitted: {resource: cpu, quantity: '6'}}", False),
        ("{maxAdmitted: {resource: cpu, quantity: '5'}}", True),
        ("{maxWrites: {ref: Workload/lab/scav-1, count: 9, per: 100}}", False),
        ("{maxWrites: {ref: Workload/lab/scav-1, count: 1, per: 100}}", True),
        ("{noRequests: {ref: Workload/lab/paid-1, after: 20}}", False),
        ("{noRequests: {ref: Workload/lab/paid-1, after: 5}}", True),
    ],
)
def test_laws_are_watched_all_the_time(laws: str, broken: bool) -> None:
    result = run_case(read_case(f"{TEXT}always:\n  - {laws}\n"))
    assert [failure.section for failure in result.failures] == (["always"] if broken else [])


# paths


def test_paths_are_read_as_kubernetes_prints_them() -> None:
    assert steps("metadata.labels[kueue.x-k8s.io/queue-name]") == ("metadata", "labels", "kueue.x-k8s.io/queue-name")
    assert steps("spec.containers[0].image") == ("spec", "containers", 0, "image")
    assert at({"a": [{"b": 1}]}, "a[0].b") == 1
    assert at({"a": []}, "a[0].b") is MISSING


def test_amounts_compare_by_value_and_everything_else_as_json() -> None:
    assert equal_at("spec.resources.requests", {"cpu": "1"}, {"cpu": "1000m"})
    assert not equal_at("spec.resources.requests", {"cpu": "1"}, {"cpu": "1", "memory": "1"})
    assert not equal_at("spec.count", "1", 1)
    assert not equal_at("spec.suspend", 1, True)
    assert contains({"name": "a"}, [{"name": "b"}, {"name": "a", "value": "c"}])
    assert not contains("z", "abc")


# the command

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main(["test", *map(str, arguments)])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


FAILING = TEXT.replace("state: pending}", "state: finished}").replace("InCohortReclamation}", "InClusterQueue}")


def test_exit_codes_tell_what_happened(run: Run, file: Callable[[str, str], Path], tmp_path: Path) -> None:
    good = file("good.yaml", TEXT)
    unsupported = file("other.yaml", with_topology(TEXT.replace("C018", "C019")))
    assert run(good)[0] == 0
    assert run(tmp_path)[0] == 3
    failing = file("failing.yaml", FAILING.replace("C018", "C020"))
    assert run(tmp_path)[0] == 1
    assert run(good, failing, unsupported)[0] == 1
    bad = file("bad.yaml", "id: C021")
    code, out, err = run(tmp_path)
    assert (code, out) == (2, "")
    assert f"{bad}:1: area: is missing" in err
    assert "1 of 4 files are bad; nothing was run" in err


def test_a_field_that_a_kind_does_not_have_is_named(run: Run, file: Callable[[str, str], Path]) -> None:
    misspelt = file("misspelt.yaml", TEXT.replace("cohortName:", "cohort:", 1))
    code, out, err = run(misspelt)
    assert (code, out) == (2, "")
    assert "spec.cohort: is not a field that is known there: did you mean cohortName?" in err


def test_a_moment_that_never_comes_is_refused(run: Run, file: Callable[[str, str], Path]) -> None:
    code, _, err = run(file("never.yaml", re.sub(r"\{t: [0-9.]+,", "{t: .inf,", TEXT)))
    assert code == 2
    assert "inf: input should be less than or equal to 315360000" in err


def test_a_verdict_reaches_the_shell_though_nobody_reads_it(file: Callable[[str, str], Path]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "controller.cli", "test", str(file("failing.yaml", FAILING))]
    try:
        ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_one_id_belongs_to_one_file(run: Run, file: Callable[[str, str], Path], tmp_path: Path) -> None:
    file("a.yaml", TEXT)
    file("b.yaml", TEXT)
    code, _, err = run(tmp_path)
    assert code == 2
    assert "C018 is also the id of" in err


@pytest.mark.parametrize("arguments", [["/does/not/exist"], ["--live", GOOD], ["--output", "html", GOOD], []], ids=str)
def test_what_cannot_be_done_is_said_in_words(run: Run, arguments: list[object]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err


def test_a_binary_file_is_no_scenario(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    code, _, err = run(tmp_path)
    assert code == 2
    assert "UTF-8" in err


def test_a_failure_shows_expected_and_seen_and_why(run: Run, file: Callable[[str, str], Path]) -> None:
    path = file("failing.yaml", FAILING)
    _, out, _ = run(path)
    line = line_of(FAILING, "state: finished}")
    assert f"{path}:{line}: expect[3] at t=25: workload lab/scav-1" in out
    assert "expected: finished" in out
    assert "seen:     evicted" in out
    assert "Evicted=True since t=10: Preempted" in out
    assert out.endswith("0 passed, 1 failed, 0 unsupported\n")


def test_results_for_machines_say_the_same(run: Run, file: Callable[[str, str], Path]) -> None:
    path = file("failing.yaml", FAILING)
    said = json.loads(run(path, "--output", "json")[1])
    assert (said["version"], said["failed"]) == (1, 1)
    failures = said["cases"][0]["failures"]
    assert [(f["path"], f["expected"], f["seen"]) for f in failures] == [
        ("preemptionReason", "InClusterQueue", "InCohortReclamation"),
        ("state", "finished", "evicted"),
    ]
    suite = ElementTree.fromstring(run(path, "--output", "junit")[1].encode())
    assert suite.attrib["failures"] == "1"
    assert len(suite.findall("testcase/failure")) == 2


def test_rewriting_puts_in_what_was_seen_and_nothing_else(run: Run, file: Callable[[str, str], Path]) -> None:
    commented = FAILING.replace("expect:\n", "expect:  # what must be true\n")
    path = file("failing.yaml", commented)
    code, out, _ = run(path, "--rewrite")
    assert (code, "1 passed" in out) == (0, True)
    rewritten = path.read_text(encoding="utf-8")
    assert rewritten == commented.replace("state: finished}", "state: evicted}").replace(
        "InClusterQueue}", "InCohortReclamation}"
    )
    assert run(path, "--rewrite")[0] == 0
    assert path.read_text(encoding="utf-8") == rewritten
