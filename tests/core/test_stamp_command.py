"""`lockgate stamp`: what is printed, for whom, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from controller.cli.__main__ import app
from controller.cli.complaint import Complaint
from tests.core.test_job_profile import profile

EXAMPLE = Path(__file__).parents[2] / "examples" / "stamping"
RUNNER = CliRunner()


def run(*arguments: str, code: int = 0) -> str:
    result = RUNNER.invoke(app, ["stamp", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def of_the_example(*arguments: str) -> dict[str, Any]:
    printed = run(
        "-f", f"{EXAMPLE}/tenants.yaml", "--profiles", f"{EXAMPLE}/profiles.yaml", "--output=json", *arguments
    )
    return {one["object"]: one for one in json.loads(printed)["objects"]}


def written(folder: Path, name: str, *objects: Any) -> str:
    path = folder / name
    path.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    return str(path)


def bare_job(**labels: str) -> dict[str, Any]:
    metadata = {"name": "j", "namespace": "lab", "labels": labels}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def test_the_five_tenants_of_the_example_get_what_the_page_says() -> None:
    found = of_the_example()
    assert list(found) == [
        "Pods of Deployment/shop/frontend",
        "SparkApplication/nightly/sessions",
        "Pods of StatefulSet/adhoc/presto-worker",
        "TFJob/vision/detector",
        "PyTorchJob/speech/transcriber",
    ]
    queues = [one["stamped"]["metadata"]["labels"].get("kueue.x-k8s.io/queue-name") for one in found.values()]
    classes = [one["stamped"]["metadata"]["labels"]["koordinator.sh/qosClass"] for one in found.values()]
    assert queues == [None, "etl", None, "training", "training"]
    assert classes == ["LS", "BE", "LS", "LSR", "BE"]
    assert all(not one["refused"] for one in found.values())
    pod = found["Pods of Deployment/shop/frontend"]["stamped"]["spec"]
    assert (pod["priorityClassName"], pod["priority"]) == ("koord-prod", 9500)
    trial = found["PyTorchJob/speech/transcriber"]
    requests = trial["stamped"]["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    assert requests["resources"]["requests"]["kubernetes.io/batch-cpu"] == "4000"
    assert [line["rule"] for line in trial["lines"] if line["field"].startswith("metadata.labels[koord")] == [
        "JobProfile trials"
    ]
    assert {one["rule"]: one["why"] for one in trial["skipped"]}["JobProfile sql"].startswith("spec.match.kinds")


def test_the_difference_is_shown_with_who_made_it_and_who_did_not(tmp_path: Path) -> None:
    rules = written(tmp_path, "rules.yaml", profile(), profile("night", match={"users": ["bot-*"]}))
    printed = run("-f", written(tmp_path, "job.yaml", bare_job()), "--profiles", rules, "--as", "ada")
    assert "+    kueue.x-k8s.io/queue-name: etl" in printed
    assert "  JobProfile etl: metadata.labels[kueue.x-k8s.io/queue-name]: etl\n" in printed
    assert "  Lockgate: spec.suspend: true\n" in printed
    assert "  JobProfile night does not match: spec.match.users: ada is none of bot-*\n" in printed


def test_users_and_groups_are_those_that_are_named(tmp_path: Path) -> None:
    rules = written(tmp_path, "rules.yaml", profile(match={"users": ["ada"], "groups": ["data-*"]}))
    file = written(tmp_path, "job.yaml", bare_job())
    assert "+" in run("-f", file, "--profiles", rules, "--as", "ada", "--as-group", "staff", "--as-group", "data-eng")
    assert "  stays as it is\n" in run("-f", file, "--profiles", rules, "--as", "ada", "--as-group", "staff")


def test_what_would_be_refused_is_told_and_ends_with_1(tmp_path: Path) -> None:
    job = bare_job(**{"kueue.x-k8s.io/queue-name": "Not A Name"})
    rules = written(tmp_path, "rules.yaml", profile())
    printed = run("-f", written(tmp_path, "job.yaml", job), "--profiles", rules, code=1)
    assert "  refused: metadata.labels" in printed


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (profile(percent=101), "document 1: spec.percent Invalid value: 101"),
        ({"kind": "JobProfile"}, "apiVersion is missing"),
        ("text", "is not an object"),
    ],
)
def test_broken_files_are_named_by_document_field_and_remedy(tmp_path: Path, rules: Any, said: str) -> None:
    with pytest.raises(Complaint, match=said):
        run("-f", written(tmp_path, "job.yaml", bare_job()), "--profiles", written(tmp_path, "rules.yaml", rules))


def test_a_file_without_jobs_and_a_run_without_profiles_are_complained_of(tmp_path: Path) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    rules = written(tmp_path, "rules.yaml", profile())
    with pytest.raises(Complaint, match="there is no job and no Pod in it"):
        run("-f", written(tmp_path, "config.yaml", config), "--profiles", rules)
    with pytest.raises(Complaint, match="name either --profiles"):
        run("-f", rules)
    with pytest.raises(Complaint, match="there is no such file or folder"):
        run("-f", str(tmp_path / "nothing.yaml"), "--profiles", rules)
