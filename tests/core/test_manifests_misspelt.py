"""A misspelt field of a job is dropped by a real API server, with a warning: a simulation goes on, and says so."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli.manifests import load
from controller.cli.misspelt import oddities
from controller.kit.documents import dotted

EXAMPLES = Path(__file__).parents[2] / "examples"
POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}


def job(kind: str, version: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "j", **metadata}, "spec": spec}


def batch(**spec: Any) -> dict[str, Any]:
    return job("Job", "batch/v1", {"template": POD, **spec})


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {**POD["spec"], "containers": [{"name": "c", "image": "i", **(container or {})}], **spec}}


def training(**spec: Any) -> dict[str, Any]:
    return job("TFJob", "kubeflow.org/v1", {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": POD}}, **spec})


@pytest.mark.parametrize(
    ("manifest", "field", "meant"),
    [
        (batch(parallelizm=3), "spec.parallelizm", "parallelism"),
        (batch(bogus=3), "spec.bogus", ""),
        (batch(template=pod({"resource": {}})), "spec.template.spec.containers[0].resource", "resources"),
        (
            batch(template=pod({"resources": {"request": {"cpu": "1"}}})),
            "spec.template.spec.containers[0].resources.request",
            "requests",
        ),
        (batch(template=pod(nodeSelectors={})), "spec.template.spec.nodeSelectors", "nodeSelector"),
        (batch(template=pod(tolerations=[{"kee": "a"}])), "spec.template.spec.tolerations[0].kee", ""),
        (job("Job", "batch/v1", {"template": POD}, lables={}), "metadata.lables", "labels"),
        (training(replicaSpec={}), "spec.replicaSpec", "tfReplicaSpecs"),
        (training(runPolicies={"suspend": True}), "spec.runPolicies", "runPolicy"),
        (
            training(tfReplicaSpecs={"Worker": {"replica": 2, "template": POD}}),
            "spec.tfReplicaSpecs.Worker.replica",
            "replicas",
        ),
        (
            job("RayCluster", "ray.io/v1", {"headGroupSpec": {"template": POD}, "workerGroupSpec": []}),
            "spec.workerGroupSpec",
            "workerGroupSpecs",
        ),
        (
            job("JobSet", "jobset.x-k8s.io/v1alpha2",
                {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": POD, "paralelism": 2}}}]}),
            "spec.replicatedJobs[0].template.spec.paralelism",
            "parallelism",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_field_that_looks_misspelt_is_noted_with_what_may_have_been_meant(
    tmp_path: Path, manifest: dict[str, Any], field: str, meant: str
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump(manifest))
    (note,) = load([file]).notes
    start = f'{manifest["kind"]}/default/j has the unknown field "{field}"'
    line = next(
        at for at, text in enumerate(file.read_text().splitlines(), 1) if field.rpartition(".")[2] + ":" in text
    )
    assert note == f"{start}{f': did you mean {meant}?' if meant else ''} ({file}, line {line})"


def test_what_many_jobs_have_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    jobs = [batch(parallelizm=3) for _ in range(5)]
    for number, one in enumerate(jobs):
        one["metadata"] = {"name": f"j{number}"}
    file.write_text(yaml.safe_dump_all(jobs))
    (note,) = load([file]).notes
    assert note.startswith("Job/default/j0 has the unknown field")
    assert note.endswith("; and 4 more like it")


def test_a_job_whose_name_is_to_be_generated_is_called_by_what_it_begins_with(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump({**batch(parallelizm=3), "metadata": {"generateName": "train-"}}))
    (note,) = load([file]).notes
    assert note.startswith("Job/default/train-* has the unknown field")


def test_what_an_operator_may_have_beside_what_is_read_passes() -> None:
    assert not [*oddities("TFJob", training(successPolicy="AllWorkers", enableDynamicWorker=True))]
    assert not [*oddities("Sweep.v1.example.com", {**batch(parallelizm=1), "specs": {}})]


def test_of_the_examples_those_are_remarked_on_that_show_a_field_in_the_wrong_place() -> None:
    found: dict[str, list[str]] = {}
    for file in EXAMPLES.rglob("*.yaml"):
        documents = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one and "kind" in one]
        odd = [dotted(each.path) for one in documents for each in oddities(one["kind"], one)]
        found |= {file.stem: odd} if odd else {}
    assert found == {
        "u06-tfjob-workers-only": ["spec.tfReplicaSpecs.Worker.template.spec.metadata"],
        "u11-jobset-misplaced-policy": ["spec.replicatedJobs[0].template.podFailurePolicy"],
    }
