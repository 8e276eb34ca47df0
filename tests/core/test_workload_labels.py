"""What a Workload takes over from labels of its job: those whose keys the Configuration lists, and what some mean."""

from dataclasses import replace

from admission.configuration import read
from admission.model.configuration import DEFAULTS
from admission.model.kinds import Ref
from admission.world.world import World

LISTED = ("team", "example.com/cost", "kueue.x-k8s.io/job-uid")


def waiting_job(**labels: str) -> dict[str, object]:
    """There is no queue in which it could be started."""
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": "lab", "name": "train", "labels": labels},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def labels_of_the_workload(**labels: str) -> dict[str, str]:
    file = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"labelKeysToCopy": [*LISTED]},
    }
    world = World(read(file).core)
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    made = world.api.create(waiting_job(**labels))
    assert made.ok, made
    world.settle()
    (workload,) = world.api.list("Workload")
    job = world.api.get(Ref("Job", "lab", "train")).body
    assert job is not None
    uid = job["metadata"]["uid"]
    found: dict[str, str] = workload["metadata"]["labels"]
    assert found.pop("kueue.x-k8s.io/job-uid") == uid, "no label of the job takes the place of ours"
    return found


def test_listed_labels_are_copied_and_no_others() -> None:
    labels = {"team": "a", "stage": "x", "kueue.x-k8s.io/job-uid": "forged", "kueue.x-k8s.io/queue-name": "main"}
    assert labels_of_the_workload(**labels) == {"team": "a"}


def test_a_job_without_them_gives_none() -> None:
    assert labels_of_the_workload(**{"kueue.x-k8s.io/queue-name": "main"}) == {}


QUEUE, LONGEST = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/max-exec-time-seconds"


def spec_once_the_label_is_gone(label: str) -> dict[str, object]:
    """Of the Workload of a job that waits, which is written no more than needed."""
    world = World(replace(DEFAULTS, manage_jobs_without_queue_name=True))
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    world.api.create(waiting_job(**{QUEUE: "main", LONGEST: "90"}))
    world.settle()
    world.api.patch(Ref("Job", "lab", "train"), {"metadata": {"labels": {label: None}}})
    world.settle()
    (workload,) = world.api.list("Workload")
    spec: dict[str, object] = workload["spec"]
    return spec


def test_a_job_that_leaves_its_queue_while_it_waits_takes_its_workload_along() -> None:
    spec = spec_once_the_label_is_gone(QUEUE)
    assert "queueName" not in spec
    assert spec["maximumExecutionTimeSeconds"] == 90


def test_a_job_that_has_no_longest_time_any_more_has_a_workload_without_one() -> None:
    spec = spec_once_the_label_is_gone(LONGEST)
    assert "maximumExecutionTimeSeconds" not in spec
    assert spec["queueName"] == "main"
