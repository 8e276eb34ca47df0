"""Labels that a Workload takes over from its job, where the Configuration lists their keys."""

from admission.configuration import read
from admission.model.kinds import Ref
from admission.world.world import World

LISTED = ("team", "example.com/cost", "kueue.x-k8s.io/job-uid")


def labels_of_the_workload(**labels: str) -> dict[str, str]:
    file = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"labelKeysToCopy": [*LISTED]},
    }
    world = World(read(file).core)
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    made = world.api.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"namespace": "lab", "name": "train", "labels": labels},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
        }
    )
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
