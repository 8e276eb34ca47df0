"""A manifest applied again leaves resources translated: containers may be merged by name, or the list put back."""

from copy import deepcopy
from typing import Any

import pytest

from admission.readers.job_profile import read_job_profile
from admission.world.patches import patched
from tests.core.manifests.pods import Object
from tests.core.test_stamping import Cluster
from tests.core.test_stamping_kinds import asked

BATCH = {"kubernetes.io/batch-cpu": "1k", "kubernetes.io/batch-memory": "1Gi"}  # as the API server stores it
NATIVE = {"cpu": "1", "memory": "1Gi"}
PROFILE = {
    "metadata": {"name": "trials"},
    "spec": {"stamp": {"qosClass": "BE", "priorityClassName": "koord-batch", "resources": "TranslateToClass"}},
}
PLACES = {"Job": ("spec", "template"), "PyTorchJob": ("spec", "pytorchReplicaSpecs", "Worker", "template")}


def manifest(kind: str, resources: Object) -> Object:
    container = {"name": "main", "image": "none", "resources": resources}
    inner: Any = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    for part in reversed(PLACES[kind]):
        inner = {part: inner}
    return {"metadata": {"name": "a", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, **inner}


def container_of(kind: str, job: Object) -> Object:
    found: Any = job
    for part in PLACES[kind]:
        found = found[part]
    container: Object = found["spec"]["containers"][0]
    return container


def cluster() -> Cluster:
    made = Cluster()
    made.job_profiles = (read_job_profile(PROFILE),)
    return made


def stored(kind: str, resources: Object, kept: Object) -> Object:
    written = manifest(kind, resources)
    made: Object = patched(written, asked(kind, cluster(), written).patch)
    container_of(kind, made)["resources"] = deepcopy(kept)
    return made


@pytest.mark.parametrize("kind", list(PLACES))
@pytest.mark.parametrize("after", [{**BATCH, **NATIVE}, NATIVE], ids=["merged", "put back"])
def test_resources_applied_again_stay_translated_to_the_letter(kind: str, after: Object) -> None:
    before = stored(kind, {"requests": NATIVE}, {"requests": BATCH})
    again = deepcopy(before)
    container_of(kind, again)["resources"] = {"requests": dict(after)}
    assert patched(again, asked(kind, cluster(), again, before).patch) == before


def test_requests_that_followed_their_limits_do_not_change_either() -> None:
    before = stored("Job", {"limits": NATIVE}, {"requests": BATCH, "limits": BATCH})
    again = deepcopy(before)
    container_of("Job", again)["resources"]["limits"].update(NATIVE)
    assert patched(again, asked("Job", cluster(), again, before).patch) == before


def test_another_amount_is_translated_and_noted() -> None:
    before = stored("PyTorchJob", {"requests": NATIVE}, {"requests": BATCH})
    again = deepcopy(before)
    container_of("PyTorchJob", again)["resources"] = {"requests": {"cpu": "2", "memory": "1Gi"}}
    now = patched(again, asked("PyTorchJob", cluster(), again, before).patch)
    wanted = {"kubernetes.io/batch-cpu": "2000", "kubernetes.io/batch-memory": "1Gi"}
    assert container_of("PyTorchJob", now)["resources"] == {"requests": wanted}
    noted = now["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"]
    assert '"2000"' in noted["node.koordinator.sh/extended-resource-spec"]


def test_a_job_that_nobody_stamped_may_go_from_batch_resources_to_cpu() -> None:
    before, again = (manifest("PyTorchJob", {"requests": dict(each)}) for each in (BATCH, NATIVE))
    said = asked("PyTorchJob", Cluster(), again, before)
    assert container_of("PyTorchJob", patched(again, said.patch))["resources"] == {"requests": NATIVE}
