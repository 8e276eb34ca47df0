"""A RayJob through the whole product on a real API server with KubeRay's CRDs; KubeRay itself is played by the test, in
the words that it has in memory, too."""

from collections.abc import Iterator
from typing import Any

import pytest

from admission.model.kinds import KINDS, Ref, kind_of
from admission.world import ray_operator as kuberay
from admission.world.objects import ref_of
from controller.cli import roles
from hack.cluster import Api, Cluster
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.controllers import PATIENCE, QUICK_LEASE, controller
from tests.live.webhook_process import account, webhooks

# Every kind goes through its life in test_job_kinds; what is here is the rest that is told of these.
pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

Object = dict[str, Any]
NOW = "2026-01-02T03:04:05Z"
API = "kueue.x-k8s.io/v1beta2"
JOB = KINDS["RayJob"].path("lab", "train")
WORKLOADS = KINDS["Workload"].path("lab")
QUOTAS = [{"name": "cpu", "nominalQuota": "4"}, {"name": "memory", "nominalQuota": "4Gi"}]
QUEUES: list[Object] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
    {
        "apiVersion": API,
        "kind": "ResourceFlavor",
        "metadata": {"name": "std"},
        "spec": {"nodeLabels": {"pool": "std"}},
    },
    {
        "apiVersion": API,
        "kind": "ClusterQueue",
        "metadata": {"name": "team"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [
                {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "std", "resources": QUOTAS}]}
            ],
        },
    },
    {
        "apiVersion": API,
        "kind": "LocalQueue",
        "metadata": {"name": "main", "namespace": "lab"},
        "spec": {"clusterQueue": "team"},
    },
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Of a cluster that serves Ray's kinds, on which the product runs with the rights that it is installed with."""
    folder = tmp_path_factory.mktemp("ray")
    with Cluster.start() as cluster:
        install_job_crds(cluster, ["RayJob", "RayCluster"])
        with webhooks(cluster, folder / "webhooks.log"):
            kubeconfig = cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))
            with controller(cluster, folder / "controller.log", f"--kubeconfig={kubeconfig}", *QUICK_LEASE) as running:
                running.is_soon("leading")
                for manifest in QUEUES:
                    cluster.api().apply(manifest)
                yield cluster.api()


def ray_job() -> Object:
    pod = {"containers": [{"name": "ray", "image": "ray:2", "resources": {"requests": {"cpu": "1"}}}]}
    workers = {"groupName": "w", "replicas": 2, "rayStartParams": {}, "template": {"spec": pod}}
    cluster = {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": pod}}, "workerGroupSpecs": [workers]}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": "train", "namespace": "lab", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
        "spec": {"entrypoint": "python -c pass", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster},
    }


def path(ref: Ref) -> str:
    return kind_of(ref.kind).path(ref.namespace, ref.name)


def suspended(api: Api) -> bool:
    return bool(api.get(JOB)["spec"].get("suspend"))


def reserved(workload: Object) -> str:
    conditions = workload.get("status", {}).get("conditions", [])
    return next((str(one["status"]) for one in conditions if one["type"] == "QuotaReserved"), "")


def says(api: Api, status: Object | None) -> Object:
    return api.merge(f"{JOB}/status", {"status": status})


def test_a_job_is_queued_once_with_all_that_it_makes_and_is_itself_again_when_stopped(api: Api) -> None:
    held = api.create(KINDS["RayJob"].path("lab"), ray_job())
    assert held["spec"]["suspend"] is True
    until(lambda: not suspended(api), PATIENCE, "the job started")
    running = api.get(JOB)
    head = running["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    submitter = running["spec"]["submitterPodTemplate"]["spec"]
    assert head["nodeSelector"] == submitter["nodeSelector"] == {"pool": "std"}
    assert submitter["containers"][0]["image"] == "ray:2"

    running = says(api, kuberay.running(running, NOW))
    children = kuberay.children(running)
    for child in children:
        made = api.create(kind_of(ref_of(child).kind).path("lab"), child)
        assert not made["spec"].get("suspend"), made["kind"]
    assert [one["kind"] for one in children] == ["RayCluster", "Job"]
    (workload,) = api.get(WORKLOADS)["items"]
    assert [(one["name"], one["count"]) for one in workload["spec"]["podSets"]] == [
        ("head", 1),
        ("w", 2),
        ("submitter", 1),
    ]

    here = f"{WORKLOADS}/{workload['metadata']['name']}"
    api.merge(here, {"spec": {"active": False}})
    until(lambda: suspended(api), PATIENCE, "the job held")
    assert reserved(api.get(here)) == "True"  # its pods are still there
    stopped = says(api, kuberay.stopped(running, NOW))
    assert stopped["spec"] == held["spec"]
    for child in children:
        api.delete(path(ref_of(child)))
    until(lambda: reserved(api.get(here)) == "False", PATIENCE, "its quota given back")

    api.merge(here, {"spec": {"active": True}})
    until(lambda: not suspended(api), PATIENCE, "the job started again")
    running = says(api, kuberay.running(api.get(JOB), NOW))
    says(api, kuberay.finished(running, NOW))
    until(
        lambda: any(one["type"] == "Finished" for one in api.get(here)["status"]["conditions"]),
        PATIENCE,
        "the job's Workload finished",
    )
