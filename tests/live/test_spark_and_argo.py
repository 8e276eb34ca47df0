"""A SparkApplication and an Argo Workflow through the whole product on a real API server with their operators' CRDs.

The operators are played by the test, in the words that they have in memory, too."""

from collections.abc import Iterator
from typing import Any

import pytest

from admission.model.kinds import KINDS
from admission.model.names import JOB_UID
from admission.world import argo_operator, spark_operator
from admission.world.operator import Operator
from controller.cli import roles
from hack.cluster import Api, Cluster
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.controllers import PATIENCE, QUICK_LEASE, controller
from tests.live.test_ray import NOW, QUEUES, WORKLOADS, reserved
from tests.live.webhook_process import account, webhooks

# Every kind goes through its life in test_job_kinds; what is here is the rest that is told of these.
pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

Object = dict[str, Any]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Of a cluster that serves both kinds, on which the product runs with the rights that it is installed with."""
    folder = tmp_path_factory.mktemp("spark")
    with Cluster.start() as cluster:
        install_job_crds(cluster, ["SparkApplication", "Workflow"])
        with webhooks(cluster, folder / "webhooks.log"):
            kubeconfig = cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))
            with controller(cluster, folder / "controller.log", f"--kubeconfig={kubeconfig}", *QUICK_LEASE) as running:
                running.is_soon("leading")
                for manifest in QUEUES:
                    cluster.api().apply(manifest)
                yield cluster.api()


class Job:
    """One job, and the one Workload that it has. `status`: the part of the path at which its operator writes."""

    def __init__(self, api: Api, manifest: Object, operator: Operator, status: str) -> None:
        self._api, self.operator = api, operator
        kind, name = KINDS[manifest["kind"]], manifest["metadata"]["name"]
        self._path, self._status = kind.path("lab", name), status
        self.held = api.create(kind.path("lab"), manifest)

    def now(self) -> Object:
        return self._api.get(self._path)

    def suspended(self) -> bool:
        return bool(self.now()["spec"].get("suspend"))

    def says(self, status: Object | None) -> Object:
        return self._api.merge(self._path + self._status, {"status": status})

    def workload(self) -> Object:
        uid = self.held["metadata"]["uid"]
        found = [one for one in self._api.get(WORKLOADS)["items"] if one["metadata"]["labels"].get(JOB_UID) == uid]
        (mine,) = found
        return dict(mine)

    def activate(self, active: bool) -> None:
        self._api.merge(f"{WORKLOADS}/{self.workload()['metadata']['name']}", {"spec": {"active": active}})


def application() -> Object:
    role = {"cores": 1, "memory": "512m", "serviceAccount": "spark"}
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "pi", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {
            "type": "Scala",
            "mode": "cluster",
            "sparkVersion": "3.5.3",
            "mainApplicationFile": "local:///pi.jar",
            "nodeSelector": {"disk": "ssd"},
            "driver": role,
            "executor": {**role, "instances": 2},
        },
    }


def workflow() -> Object:
    pod = {"image": "none", "resources": {"requests": {"cpu": "1", "memory": "100Mi"}}}
    pods = [{"name": "a", "container": pod}, {"name": "b", "container": pod, "nodeSelector": {"disk": "ssd"}}]
    calls = [{"name": "one", "template": "a"}, {"name": "two", "template": "b"}]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "nightly", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {"entrypoint": "main", "templates": [{"name": "main", "steps": [calls]}, *pods]},
    }


def lives(job: Job) -> None:
    """From its first start over an eviction to its end."""
    assert job.held["spec"]["suspend"] is True
    until(lambda: not job.suspended(), PATIENCE, "the job started")
    running = job.says(job.operator.running(job.now(), NOW))

    job.activate(False)
    until(job.suspended, PATIENCE, "the job held")
    assert reserved(job.workload()) == "True"  # its pods are still there
    stopped = job.says(job.operator.stopped(job.now(), NOW))
    assert stopped["spec"] == job.held["spec"]
    assert stopped["metadata"].get("annotations") == job.held["metadata"].get("annotations")
    until(lambda: reserved(job.workload()) == "False", PATIENCE, "its quota given back")

    job.activate(True)
    until(lambda: not job.suspended(), PATIENCE, "the job started again")
    again = job.says(job.operator.running(job.now(), NOW))
    assert again["spec"] == running["spec"]
    job.says(job.operator.finished(again, NOW))
    until(
        lambda: any(one["type"] == "Finished" for one in job.workload()["status"]["conditions"]),
        PATIENCE,
        "the job's Workload finished",
    )


def test_a_spark_application_has_its_selector_back_when_it_is_stopped(api: Api) -> None:
    job = Job(api, application(), spark_operator, "/status")
    until(lambda: not job.suspended(), PATIENCE, "the job started")
    spec = job.now()["spec"]
    assert "nodeSelector" not in spec
    assert spec["driver"]["nodeSelector"] == spec["executor"]["nodeSelector"] == {"disk": "ssd", "pool": "std"}
    counted = [(one["name"], one["count"]) for one in job.workload()["spec"]["podSets"]]
    assert counted == [("driver", 1), ("executor", 2)]
    lives(job)


def test_a_workflow_has_its_templates_back_when_it_is_stopped(api: Api) -> None:
    """Argo keeps its status beside the spec, not in a subresource."""
    job = Job(api, workflow(), argo_operator, "")
    until(lambda: not job.suspended(), PATIENCE, "the job started")
    spec = job.now()["spec"]
    assert spec["nodeSelector"] == {"pool": "std"}
    assert spec["templates"][2]["nodeSelector"] == {"disk": "ssd", "pool": "std"}
    (main,) = job.workload()["spec"]["podSets"]
    assert main["template"]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2", "memory": "200Mi"}
    lives(job)
