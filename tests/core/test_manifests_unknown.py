"""What a kind does not have is told, not dropped: a plan made with a misspelt field would be another plan."""

from pathlib import Path

import pytest
import yaml

from controller.cli.manifests import BadManifests, Problem, load
from controller.cli.unknown import unknown_fields
from controller.kit.documents import read_yaml

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    spec: {containers: [{name: c, image: i}], restartPolicy: Never}
"""


def told(folder: Path, text: str) -> list[Problem]:
    file = folder / "a.yaml"
    file.write_text(text)
    with pytest.raises(BadManifests) as caught:
        load([file])
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "line", "field", "remedy"),
    [
        (QUEUE + "  cohort: x\n", 7, "spec.cohort", "did you mean cohortName?"),
        (QUEUE + "  bogusField: 1\n", 7, "spec.bogusField", "remove it"),
        (QUEUE + "  preemption:\n    withinClusterQueu: Never\n", 8, "spec.preemption.withinClusterQueu",
         "did you mean withinClusterQueue?"),
        (QUEUE + "  resourceGroups:\n  - coveredResource: [cpu]\n", 8, "spec.resourceGroups[0].coveredResource",
         "did you mean coveredResources?"),
        (QUEUE + "specs: {}\n", 7, "specs", "did you mean spec?"),
    ],
)  # fmt: skip
def test_a_field_that_a_kind_does_not_have_is_told_with_its_line_and_the_nearest_name(
    tmp_path: Path, text: str, line: int, field: str, remedy: str
) -> None:
    (problem,) = told(tmp_path, text)
    assert (problem.document, problem.line, problem.field, problem.remedy) == (1, line, field, remedy)


def test_a_job_a_pod_template_and_a_status_may_hold_what_this_version_does_not_know() -> None:
    assert not list(unknown_fields("Job", yaml.safe_load(JOB + "  paralelism: 3\n")))
    status = next(read_yaml(QUEUE + "status: {ofAnotherVersion: 1}\n")).content
    assert not list(unknown_fields("ClusterQueue", status))
    workload = {"spec": {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"bogus": 1}}}]}}
    assert not list(unknown_fields("Workload", workload))


def test_a_misspelt_annotation_of_ours_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(JOB.replace("name: j", "name: j, annotations: {lockgate.dev/runtme: 5m, other.dev/x: y}"))
    (note,) = load([file]).notes
    assert "Job/default/j has the annotation lockgate.dev/runtme" in note
    assert "did you mean lockgate.dev/runtime?" in note
    file.write_text(JOB.replace("name: j", "name: j, annotations: {lockgate.dev/tint: 5m}"))
    assert "does not read: remove it" in load([file]).notes[0]


@pytest.mark.parametrize("name", ["min-resources", "before-start"])
def test_an_annotation_that_counts_or_that_we_have_left_there_is_not_remarked_on(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(JOB.replace("name: j", f"name: j, annotations: {{lockgate.dev/{name}: x}}"))
    assert load([file]).notes == []
    file.write_text(JOB.replace("name: j", f"name: j, annotations: {{lockgate.dev/{name}s: x}}"))
    assert f"did you mean lockgate.dev/{name}?" in load([file]).notes[0]
