"""What a schema or webhook refuses is told once, where it is written."""

from pathlib import Path

import pytest
import yaml

from controller.cli.manifests import BadManifests, Problem
from controller.cli.playing import prepared
from controller.cli.refusals import path_of

NAMED = """# a comment takes a line
apiVersion: batch/v1
kind: Job
metadata:
  name: j
  labels:
    team: lab
    kueue.x-k8s.io/queue-name: Not_A
spec:
  template:
    spec:
      restartPolicy: {restart}
      containers:
      - name: c
        {image}
"""
QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {"name": "q"},
    "spec": {"namespaceSelector": {}, "stopPolicy": "Soon"},
}


def refused(folder: Path, text: str) -> list[Problem]:
    file = folder / "a.yaml"
    file.write_text(text)
    with pytest.raises(BadManifests) as caught:
        prepared([file])
    return list(caught.value.problems)


def test_a_webhooks_refusal_is_told_without_its_wrapping_at_the_line_of_the_field(tmp_path: Path) -> None:
    (one,) = refused(tmp_path, NAMED.format(restart="Never", image="image: i"))
    assert (one.line, one.field) == (8, "metadata.labels[kueue.x-k8s.io/queue-name]")
    assert one.problem.startswith('is refused: Invalid value: "Not_A"')
    assert "webhook" not in one.problem
    assert str(one).count(one.field) == 1


def test_several_faults_of_one_object_are_told_apart(tmp_path: Path) -> None:
    first, second = refused(tmp_path, NAMED.format(restart="Always", image="command: [x]"))
    assert (first.line, first.field) == (12, "spec.template.spec.restartPolicy")
    assert (second.line, second.field) == (14, "spec.template.spec.containers[0].image")
    assert second.problem == "is refused: Required value"
    assert (first.remedy, second.remedy) == ("mend it as the message says", "add it")


def test_a_job_whose_name_no_pod_can_carry_is_refused_though_another_of_its_shape_came_before(tmp_path: Path) -> None:
    good = NAMED.format(restart="Never", image="image: i").replace("Not_A", "a")
    (one,) = refused(tmp_path, good + "---\n" + good.replace("name: j", f"name: {'j' * 64}"))
    assert (one.document, one.field) == (2, "spec.template.labels")
    assert one.problem.endswith("must be no more than 63 bytes")


def test_of_a_field_that_is_missing_the_misspelt_one_is_named(tmp_path: Path) -> None:
    spec = {"kind": "Sweep.v1.experiments.example", "supsend": {"path": "spec.paused"}, "podSets": []}
    made = {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": {"name": "a"}, "spec": spec}
    found = {one.field: one.remedy for one in refused(tmp_path, yaml.safe_dump(made))}
    assert found["spec.suspend"] == "add it, or write suspend for supsend"


def test_in_a_list_and_a_later_document_the_line_is_found_too(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [QUEUE]}
    text = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: lab}}\n---\n{yaml.safe_dump(listed)}"
    (one,) = refused(tmp_path, text)
    assert one.document == 2
    assert one.line is not None
    assert "stopPolicy: Soon" in text.splitlines()[one.line - 1]


def test_a_field_as_kubernetes_prints_it_is_a_path() -> None:
    assert path_of("spec.containers[0].image") == ("spec", "containers", 0, "image")
    assert path_of("metadata.labels[a.b/c].x") == ("metadata", "labels", "a.b/c", "x")
    assert path_of("") == ()
