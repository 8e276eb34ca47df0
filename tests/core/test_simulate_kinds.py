"""`lockgate simulate`, `explain` and `diff` with jobs of every kind, as users have them on disk."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli.__main__ import main
from controller.cli.manifests import BadManifests
from controller.cli.playing import prepared
from controller.cli.results import result
from tests.core.test_simulate import flavor, queue

JOB_KINDS = Path(__file__).parents[2] / "examples" / "job-kinds"
QUEUE = {"kueue.x-k8s.io/queue-name": "q"}


def pods(cpu: str = "1") -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}]}}


def of_kind(api_version: str, kind: str, name: str, spec: dict[str, Any], **meta: Any) -> dict[str, Any]:
    metadata = {"namespace": "lab", "name": name, "labels": QUEUE, **meta}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


RAY = {
    "headGroupSpec": {"template": pods()},
    "workerGroupSpecs": [{"groupName": "w", "replicas": 2, "template": pods()}],
}
KINDS = [
    of_kind(
        "ray.io/v1",
        "RayJob",
        "tune",
        {"shutdownAfterJobFinishes": True, "rayClusterSpec": RAY, "submitterPodTemplate": pods("500m")},
    ),
    of_kind("ray.io/v1", "RayCluster", "interactive", RAY),
    of_kind("kubeflow.org/v1", "PyTorchJob", "torch", {"pytorchReplicaSpecs": {"Worker": {"template": pods()}}}),
    of_kind("kubeflow.org/v2beta1", "MPIJob", "mpi", {"mpiReplicaSpecs": {"Launcher": {"template": pods()}}}),
    of_kind(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "set",
        {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"template": pods()}}}]},
    ),
    of_kind(
        "sparkoperator.k8s.io/v1beta2",
        "SparkApplication",
        "spark",
        {
            "type": "Python",
            "mode": "cluster",
            "image": "i:1",
            "mainApplicationFile": "local:///a.py",
            "driver": {"cores": 1, "memory": "1g"},
            "executor": {"cores": 2, "instances": 2, "memory": "1g"},
        },
    ),
]
COUNTS = {
    "RayJob/lab/tune": {"head": 1, "w": 2, "submitter": 1},
    "RayCluster/lab/interactive": {"head": 1, "w": 2},
    "PyTorchJob/lab/torch": {"worker": 1},
    "MPIJob/lab/mpi": {"launcher": 1},
    "JobSet/lab/set": {"w": 2},
    "SparkApplication/lab/spark": {"driver": 1, "executor": 2},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, *manifests: dict[str, Any], cpu: int = 100, memory: bool = True) -> list[Path]:
    queues = queue("q", cpu)
    if memory:
        group = queues[0]["spec"]["resourceGroups"][0]
        group["coveredResources"].append("memory")
        group["flavors"][0]["resources"].append({"name": "memory", "nominalQuota": "100Gi"})
    file = folder / "all.yaml"
    file.write_text(yaml.safe_dump_all([flavor(), *queues, *manifests]), encoding="utf-8")
    return [file]


def played(paths: list[Path]) -> tuple[dict[str, Any], list[str]]:
    simulation, notes = prepared(paths)
    simulation.run()
    return {row["owner"]: row for row in result(simulation)["workloads"]}, notes


def code(*arguments: str) -> int:
    """Of the command when it ends."""
    try:
        return main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)


def runs(seconds: int) -> dict[str, Any]:
    return {"annotations": {"lockgate.dev/runtime": f"{seconds}s"}}


def test_jobs_of_every_kind_are_counted_and_started(folder: Path) -> None:
    rows, _ = played(write(folder, *KINDS))
    assert {owner: row["counts"] for owner, row in rows.items()} == COUNTS
    assert {row["state"] for row in rows.values()} == {"admitted"}


def test_a_job_that_ends_makes_room_for_one_of_another_kind(folder: Path) -> None:
    first = of_kind("ray.io/v1", "RayCluster", "first", RAY, **runs(60))
    second = of_kind("kubeflow.org/v1", "JAXJob", "second", {"jaxReplicaSpecs": {"Worker": {"template": pods("3")}}})
    rows, _ = played(write(folder, first, second, cpu=3, memory=False))
    assert rows["RayCluster/lab/first"]["state"] == "finished"
    assert rows["JAXJob/lab/second"]["admitted"] == 60


def test_a_kind_that_a_job_kind_describes_is_queued_wherever_the_two_are_written(folder: Path) -> None:
    mxjob = of_kind(
        "kubeflow.org/v1", "MXJob", "mx", {"mxReplicaSpecs": {"Worker": {"replicas": 3, "template": pods()}}}
    )
    rows, notes = played([*write(folder, mxjob), JOB_KINDS / "mxjob.yaml"])
    assert rows["MXJob.v1.kubeflow.org/lab/mx"]["counts"] == {"worker": 3}
    assert not any("MXJob" in note for note in notes)


def test_a_kind_that_can_only_be_deleted_does_not_come_back_from_an_eviction(folder: Path) -> None:
    notes = {"ci.example.com/cpu": "2", "ci.example.com/memory": "1Gi"}
    run = of_kind("tekton.dev/v1", "PipelineRun", "ci", {}, annotations=notes)
    urgent = of_kind(
        "kubeflow.org/v1", "JAXJob", "urgent", {"jaxReplicaSpecs": {"Worker": {"template": pods("2")}}},
        labels={**QUEUE, "kueue.x-k8s.io/priority-class": "high"},
        annotations={"lockgate.dev/arrival": "10s", "lockgate.dev/runtime": "10s"},
    )  # fmt: skip
    high = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "high"},
        "value": 9,
    }
    paths = [*write(folder, run, urgent, high, cpu=2), JOB_KINDS / "pipelinerun.yaml"]
    text = paths[0].read_text(encoding="utf-8")
    paths[0].write_text(
        text.replace(
            "namespaceSelector: {}", "namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority}"
        ),
        encoding="utf-8",
    )
    rows, _ = played(paths)
    assert rows["JAXJob/lab/urgent"]["admitted"] == 10
    pipeline = rows["PipelineRun.v1.tekton.dev/lab/ci"]
    assert pipeline["evictions"] == 1
    assert "stopped by deleting" in pipeline["message"]


def test_who_names_a_queue_in_a_kind_that_nobody_knows_is_told_of_job_kinds(folder: Path) -> None:
    sweep = of_kind("experiments.example/v1", "Sweep", "s", {})
    _, notes = played(write(folder, sweep, KINDS[2]))
    (note,) = (note for note in notes if "Sweep" in note)
    assert "describe it by a JobKind" in note


def test_what_a_queued_job_makes_is_not_played_beside_it(folder: Path) -> None:
    """As `kubectl get -o yaml` has it."""
    job = {**KINDS[0], "metadata": {**KINDS[0]["metadata"], "uid": "u-1"}}
    owner = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "tune", "uid": "u-1", "controller": True}
    cluster = of_kind("ray.io/v1", "RayCluster", "tune-x", RAY, uid="u-2", ownerReferences=[owner])
    stale = of_kind("ray.io/v1", "RayCluster", "other", RAY, ownerReferences=[{**owner, "uid": "gone"}])
    rows, notes = played(write(folder, job, cluster, stale))
    assert set(rows) == {"RayJob/lab/tune", "RayCluster/lab/other"}
    assert any("skipped RayCluster/lab/tune-x, which RayJob/lab/tune makes" in note for note in notes)


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (of_kind("ray.io/v1", "RayCluster", "r", {"workerGroupSpecs": [{"groupName": "w", "replicas": "$N"}]}),
         'spec.workerGroupSpecs[0].replicas "$N" is a string, not a whole number'),
        (of_kind("kubeflow.org/v1", "TFJob", "t", {"tfReplicaSpecs": {"Worker": {"replicas": "$N"}}}),
         'spec.tfReplicaSpecs.Worker.replicas "$N" is a string'),
        (of_kind("jobset.x-k8s.io/v1", "JobSet", "j", {}),
         '/v1" is a version of JobSet that is not read; write jobset.x-k8s.io/v1alpha2, the version that clusters'),
        (of_kind("ray.io/v1", "RayJob", "r", {"rayClusterSpec": RAY, "clusterSelector": {"a": "b"},
                                              "shutdownAfterJobFinishes": True}), "spec.clusterSelector"),
    ],
    ids=["text for a number", "the same deeper", "another version", "two clusters"],
)  # fmt: skip
def test_what_a_cluster_would_refuse_is_refused_with_its_place(
    folder: Path, manifest: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadManifests) as caught:
        prepared(write(folder, manifest))
    assert says in str(caught.value)


def test_an_older_version_that_clusters_still_serve_is_read_as_the_present_one(folder: Path) -> None:
    older = of_kind("ray.io/v1alpha1", "RayCluster", "r", RAY)
    rows, _ = played(write(folder, older))
    assert rows["RayCluster/lab/r"]["state"] == "admitted"


def test_a_key_that_is_given_twice_is_refused(folder: Path) -> None:
    paths = write(folder, KINDS[0])
    text = paths[0].read_text(encoding="utf-8")
    paths[0].write_text(
        text.replace("shutdownAfterJobFinishes: true", "shutdownAfterJobFinishes: true\n  shutdownAfterJobFinishes: 1"),
        encoding="utf-8",
    )
    with pytest.raises(BadManifests, match="shutdownAfterJobFinishes"):
        prepared(paths)


def test_the_wait_of_a_job_of_any_kind_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mxjob = of_kind("kubeflow.org/v1", "MXJob", "mx", {"mxReplicaSpecs": {"Worker": {"template": pods("9")}}})
    paths = [*map(str, write(folder, mxjob, KINDS[1], cpu=2)), str(JOB_KINDS / "mxjob.yaml")]
    for what in ("RayCluster/lab/interactive", "MXJob/lab/mx"):
        assert code("explain", what, *paths, "--output", "json") == 0
        assert "cpu" in json.loads(capsys.readouterr().out)["sentence"]
    assert code("explain", "ClusterQueue/lab/q", *paths) == 2


def test_jobs_of_any_kind_may_not_come_with_the_queues_that_are_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write(folder, KINDS[2])
    assert code("diff", str(paths[0]), str(paths[0]), str(paths[0])) == 2
    assert "holds PyTorchJob/lab/torch" in capsys.readouterr().err
