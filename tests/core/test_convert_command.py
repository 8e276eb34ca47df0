"""`lockgate convert`: what it prints is accepted and can be played, and a bad file is told where it is bad."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.migration import SYSTEMS, Surroundings, convert
from admission.world.scenario.case import read_case
from admission.world.scenario.source import BadFile
from controller.cli.__main__ import app
from controller.cli.complaint import Complaint
from controller.cli.playing import prepared
from tests.core.test_convert import FOLDER, RUNNER, G, converted, kai, notes, quotas


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_printed_is_accepted_and_can_be_played(system: str, tmp_path: Path) -> None:
    told = RUNNER.invoke(app, ["convert", "--from", system, str(FOLDER / f"{system}.yaml"), "--namespace", "lab"])
    assert told.exit_code == 0, told.output
    ours = tmp_path / "ours.yaml"
    ours.write_text(told.stdout, encoding="utf-8")
    simulation, _ = prepared([ours])
    simulation.run(None)
    kinds = [one["kind"] for one in yaml.safe_load_all(told.stdout)]
    assert {"ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue"} <= set(kinds)
    comments = [line.removeprefix("# ") for line in told.stdout.splitlines() if line.startswith("# ")]
    assert comments == told.stderr.splitlines()
    assert len(comments) > 5


def test_a_job_of_volcano_runs_in_the_queue_that_came_of_its_own(tmp_path: Path) -> None:
    ours, job = tmp_path / "ours.yaml", tmp_path / "job.yaml"
    arguments = ["convert", "--from", "volcano", str(FOLDER / "volcano.yaml"), "--namespace", "lab"]
    ours.write_text(RUNNER.invoke(app, arguments).stdout, encoding="utf-8")
    container = {"name": "c", "image": "example.com/run:1", "resources": {"limits": {G: 6}, "requests": {"cpu": "8"}}}
    labels = {"kueue.x-k8s.io/queue-name": "train"}
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "lab", "labels": labels},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    job.write_text(yaml.safe_dump(manifest), encoding="utf-8")
    simulation, _ = prepared([ours, job])
    simulation.run(None)
    ((_, workload),) = list(simulation.workloads())
    assert workload is not None
    assert workload.admission is not None


BAD = [
    ("kai", "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\n", "spec.resources"),
    (
        "kai",
        "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {gpu: {quota: much}}}\n",
        "spec.resources.gpu.quota 'much' is not a number; write one",
    ),
    ("kai", "kind: Pod\napiVersion: v1\n", "no queues of kai"),
    ("kai", "a: [", "is not YAML"),
    ("volcano", "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: A b}\n", "metadata.name"),
    (
        "volcano",
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: {deserved: {cpu: x}}\n",
        "spec.deserved.cpu 'x' is not a quantity",
    ),
    ("yunikorn", "partitions: [{queues: [{name: other}]}]", "is beside the root"),
    ("yunikorn", "partitions: 3", "is not a list"),
    ("yunikorn", 'kind: ConfigMap\ndata: {queues.yaml: "a: ["}', "data.queues.yaml"),
    (
        "yunikorn",
        'kind: ConfigMap\ndata: {queues.yaml: "partitions: [{queues: [{name: root, queues: [{}]}]}]"}',
        "data.queues.yaml: partitions[0].queues[0].queues[0].name is missing; name the queue",
    ),
    (
        "koordinator",
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: a}\nspec: {min: {cpu: 1}}\n",
        "names cpu, which max does not",
    ),
]


@pytest.mark.parametrize(("system", "text", "said"), BAD)
def test_a_bad_file_is_told_where_it_is_bad(system: str, text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "queues.yaml"
    file.write_text(text, encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", system, str(file)])
    assert told.exit_code != 0
    assert said in str(told.exception)
    assert not told.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cluster", "cpu"], "--cluster cpu: has not the form"),
        (["--cluster", "cpu=-1"], "is negative"),
        (["--cluster", "cpu=1,cpu=2"], "given twice"),
        (["--namespace", "A"], "--namespace A"),
        (["--flavor", "A"], "--flavor A"),
    ],
)
def test_an_option_that_makes_no_sense_is_told(options: list[str], said: str) -> None:
    told = RUNNER.invoke(app, ["convert", "--from", "kai", str(FOLDER / "kai.yaml"), *options])
    assert said in str(told.exception)


def test_values_of_the_chart_of_yunikorn_hold_its_queues(tmp_path: Path) -> None:
    bare = "partitions: [{queues: [{name: root, submitacl: '*', queues: [{name: 7, resources: {max: {vcore: 2}}}]}]}]"
    for name, content in (
        ("bare", bare),
        ("values", yaml.safe_dump({"yunikornDefaults": {"queues.yaml": bare, "log.level": "INFO"}})),
        ("map", yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "data": {"default.queues.yaml": bare}})),
    ):
        file = tmp_path / f"{name}.yaml"
        file.write_text(content, encoding="utf-8")
        told = RUNNER.invoke(app, ["convert", "--from", "yunikorn", str(file)])
        made = [one["metadata"]["name"] for one in yaml.safe_load_all(told.stdout) if one["kind"] == "ClusterQueue"]
        assert made == ["7"], told.output


def test_a_scenario_with_queues_that_cannot_be_read_is_a_bad_file() -> None:
    text = (FOLDER.parents[1] / "scenarios" / "131-firm-work-of-kai-does-not-borrow.yaml").read_text(encoding="utf-8")
    with pytest.raises(BadFile) as bad:
        read_case(text.replace("quota: 2,", "quota: some,"))
    assert "Queue a: spec.resources.gpu.quota 'some' is not a number: write one" in bad.value.problems[0].message


def test_two_queues_of_one_name_and_a_circle_are_no_tree() -> None:
    twice = convert("kai", [kai("a", quota=1, limit=1), kai("a", quota=1, limit=1)], Surroundings())
    assert [fault.problem for fault in twice.faults] == ["is there twice"]
    circle = convert("kai", [kai("a", "b", quota=1, limit=1), kai("b", "a", quota=1, limit=1)], Surroundings())
    assert circle.faults[0].problem == "is its own ancestor: a below b below a"
    assert not circle.objects


def test_a_queue_whose_parent_is_nowhere_is_put_below_the_root() -> None:
    result = converted("kai", [kai("a", "gone", quota=1, limit=1)])
    assert "ClusterQueue kai/a" in quotas(result)
    assert "Queue a: parent" in notes(result)


def test_half_a_character_is_told_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "queues.json"
    half = kai("a", quota=1, limit=1)
    half["spec"]["displayName"], half["metadata"]["labels"] = "\ud800", {"name": "\ud800"}
    file.write_text(json.dumps(half), encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", "kai", str(file)])
    assert told.exit_code == 0, told.exception
    assert 'spec.displayName is "\\ud800"' in told.stderr
    users = {"name": "a", "limits": [{"users": ["\ud800"], "maxapplications": 1}]}
    file.write_text(json.dumps({"partitions": [{"queues": [{"name": "root", "queues": [users]}]}]}), encoding="utf-8")
    told = RUNNER.invoke(app, ["convert", "--from", "yunikorn", str(file)])
    assert told.exit_code == 0, told.exception


@settings(max_examples=15)
@given(
    st.sampled_from(list(SYSTEMS)), st.text(max_size=40) | st.binary(max_size=40).map(lambda raw: raw.decode("latin-1"))
)
def test_no_file_makes_the_command_break(system: str, text: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "queues.yaml"
        file.write_text(text, encoding="utf-8")
        told = RUNNER.invoke(app, ["convert", "--from", system, str(file)])
    assert isinstance(told.exception, Complaint)
