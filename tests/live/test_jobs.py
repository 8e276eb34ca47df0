"""The patches by which a batch Job is started, stopped and restored, on the API server whose rules they obey."""

from collections.abc import Iterator
from typing import Any

import pytest

from admission.jobs.batch_job import forget_start, read, restore, start, suspend
from admission.jobs.workload import compose, equivalent
from admission.model.effects import PodSetInfo
from admission.model.workload import Toleration
from admission.readers.workload import read_workload
from hack.cluster import Cluster
from hack.cluster.api import Api

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

JOBS = "/apis/batch/v1/namespaces/default/jobs"

Object = dict[str, Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start(nodes=1) as cluster:
        yield cluster


def job(name: str) -> Object:
    env = [{"name": "MODE", "value": "a"}, {"name": "MODE", "value": "b"}]
    container = {
        "name": "main",
        "image": "none",
        "env": env,
        "ports": [{"containerPort": 80}],
        "resources": {"requests": {"memory": "1500M", "cpu": "0.1"}, "limits": {"memory": "2000M"}},
    }
    template = {
        "metadata": {"labels": {"team": "a"}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "tolerations": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
        },
    }
    spec = {"parallelism": 2, "completions": 2, "suspend": True, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def patched(api: Api, name: str, body: Object, subresource: str = "") -> Object:
    return api.merge(f"{JOBS}/{name}{subresource}", body)


BROUGHT = PodSetInfo(
    "main",
    2,
    node_selector={"pool": "gpu"},
    tolerations=(Toleration("gpu", "Equal", "yes", "NoSchedule"), Toleration("spot", "Exists", "", "")),
    labels={"kueue.x-k8s.io/podset": "main"},
    annotations={"kueue.x-k8s.io/workload": "w"},
)


def test_a_stopped_job_is_the_job_that_was_submitted(cluster: Cluster) -> None:
    api = cluster.api()
    submitted = api.create(JOBS, job("round-trip"))
    workload = compose("Job", submitted, "w")
    assert equivalent(read(submitted), read_workload(workload))

    running = patched(api, "round-trip", start(submitted, [BROUGHT]))
    pod = running["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"pool": "gpu"}
    assert len(pod["tolerations"]) == 2
    cluster.until(lambda: read(api.get(f"{JOBS}/round-trip")).started, "the job controller to start the job")

    assert read(patched(api, "round-trip", suspend())).stopping
    cluster.until(lambda: not read(api.get(f"{JOBS}/round-trip")).active, "its pods to go")
    patched(api, "round-trip", forget_start(), "/status")
    restored = patched(api, "round-trip", restore(api.get(f"{JOBS}/round-trip"), workload))
    assert restored["spec"] == submitted["spec"]
    assert not read(restored).stopping
    assert equivalent(read(restored), read_workload(workload))


def test_a_job_can_be_started_again(cluster: Cluster) -> None:
    api = cluster.api()
    manifest = api.create(JOBS, job("again"))
    workload = compose("Job", manifest, "w")
    for _ in range(2):
        patched(api, "again", start(api.get(f"{JOBS}/again"), [BROUGHT]))
        cluster.until(lambda: read(api.get(f"{JOBS}/again")).started, "the job controller to start the job")
        patched(api, "again", suspend())
        patched(api, "again", forget_start(), "/status")
        stopped = patched(api, "again", restore(api.get(f"{JOBS}/again"), workload))
        assert stopped["spec"] == manifest["spec"]
