"""Webhooks on a real API server: it finds and trusts them, and calls them only where they have something to say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hack.cluster import Api, Cluster, Refused
from hack.cluster.wait import until
from tests.live.controllers import JOBS, KUEUE, cluster_queue, flavor, job, local_queue
from tests.live.webhook_process import NAMESPACE, Webhooks, account, controller, lockgate, webhooks

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
WORKLOADS = f"{KUEUE}/namespaces/default/workloads"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Webhooks]]:
    with Cluster.start() as cluster, webhooks(cluster, tmp_path_factory.mktemp("webhooks") / "log") as server:
        yield cluster, server


@pytest.fixture
def api(running: tuple[Cluster, Webhooks]) -> Api:
    return running[0].api()


def _queued(name: str, **metadata: Any) -> dict[str, Any]:
    made = job(name, "team", "1", held=False)
    made["metadata"] |= {"namespace": "default", **metadata}
    return made


def _unqueued(name: str) -> dict[str, Any]:
    made = _queued(name)
    del made["metadata"]["labels"]
    return made


def test_a_job_that_names_a_queue_is_created_suspended(api: Api) -> None:
    assert api.create(JOBS, _queued("held"))["spec"]["suspend"] is True


def test_a_job_without_a_queue_is_left_alone(api: Api) -> None:
    created = api.create(JOBS, _unqueued("free"))
    assert created["spec"]["suspend"] is False
    assert QUEUE_LABEL not in created["metadata"].get("labels", {})


def test_a_job_gets_the_default_queue_of_its_namespace(api: Api) -> None:
    api.create("/api/v1/namespaces", {"metadata": {"name": "lab"}})
    default = local_queue("default")
    default["metadata"]["namespace"] = "lab"
    api.create(f"{KUEUE}/namespaces/lab/localqueues", default)
    path = "/apis/batch/v1/namespaces/lab/jobs?dryRun=All"

    def stamped() -> bool:  # the webhooks hear of the queue by a watch
        made = _unqueued("defaulted")
        made["metadata"]["namespace"] = "lab"
        found = api.create(path, made)
        labels = found["metadata"].get("labels", {})
        return bool(found["spec"]["suspend"]) and labels.get(QUEUE_LABEL) == "default"

    until(stamped, 30, "a job of the namespace is labelled and held")


def test_system_namespaces_are_never_touched(api: Api) -> None:
    for namespace in ("kube-system", NAMESPACE):
        made = _queued("system")
        made["metadata"]["namespace"] = namespace
        created = api.create(f"/apis/batch/v1/namespaces/{namespace}/jobs?dryRun=All", made)
        assert created["spec"]["suspend"] is False


def test_a_manifest_applied_again_does_not_start_a_waiting_job(api: Api) -> None:
    assert api.apply(_queued("again"))["spec"]["suspend"] is True
    assert api.apply(_queued("again"))["spec"]["suspend"] is True
    assert api.merge(f"{JOBS}/again", {"spec": {"suspend": False}})["spec"]["suspend"] is True


def test_the_product_itself_can_start_a_job(api: Api) -> None:
    api.create(JOBS, _queued("started"))
    mark = {"metadata": {"annotations": {"kueue.x-k8s.io/workload": "job-started-12345"}}}
    started = api.merge(f"{JOBS}/started", {"spec": {"suspend": False, "template": mark}})
    assert started["spec"]["suspend"] is False


def test_the_queue_of_a_running_job_cannot_change_nor_go_away(api: Api) -> None:
    api.create(JOBS, _queued("moves"))
    assert api.merge(f"{JOBS}/moves", {"metadata": {"labels": {QUEUE_LABEL: "other"}}})
    mark = {"metadata": {"annotations": {"kueue.x-k8s.io/workload": "job-moves-12345"}}}
    api.merge(f"{JOBS}/moves", {"spec": {"suspend": False, "template": mark}})
    for queue in ("third", None):
        with pytest.raises(Refused, match=r"queue-name.*field is immutable"):
            api.merge(f"{JOBS}/moves", {"metadata": {"labels": {QUEUE_LABEL: queue}}})
    with pytest.raises(Refused, match="cannot be added to a non-suspended workload"):
        api.merge(f"{JOBS}/moves", {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "high"}}})
    assert api.merge(f"{JOBS}/moves", {"metadata": {"annotations": {"note": "fine"}}})


def test_a_wrong_cluster_queue_is_refused_with_all_that_is_wrong(api: Api) -> None:
    wrong = cluster_queue("wrong", "-1")
    wrong["spec"]["resourceGroups"][0]["flavors"].append(
        wrong["spec"]["resourceGroups"][0]["flavors"][0] | {"name": "b"}
    )
    wrong["spec"]["resourceGroups"][0]["flavors"][1]["resources"] = [{"name": "memory", "nominalQuota": "1"}]
    wrong["spec"]["fairSharing"] = {"weight": "-1"}
    with pytest.raises(Refused) as refusal:
        api.create(f"{KUEUE}/clusterqueues", wrong)
    said = str(refusal.value)
    assert 'admission webhook \\"vclusterqueue.kb.io\\" denied the request' in said
    path = "spec.resourceGroups[0].flavors"
    assert f"{path}[0].resources[0].nominalQuota: Invalid value" in said
    assert f"{path}[1].resources[0].name: Invalid value" in said
    assert "must match the name in coveredResources" in said


def test_queues_and_flavors_get_the_finalizer_and_can_be_edited_and_deleted(api: Api) -> None:
    for path, made in (("clusterqueues", cluster_queue("team", "4")), ("resourceflavors", flavor("kept"))):
        created = api.create(f"{KUEUE}/{path}", made)
        assert created["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]
        where = f"{KUEUE}/{path}/{made['metadata']['name']}"
        api.merge(where, {"metadata": {"annotations": {"note": "fine"}}})
        api.delete(where)
        api.merge(where, {"metadata": {"finalizers": None}})
        assert not api.answers(where)


def test_workload_status_can_be_written_unless_it_contradicts_itself(api: Api) -> None:
    containers = [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "2"}}}]
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": containers, "restartPolicy": "Never"}}}
    made: dict[str, Any] = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"queueName": "team", "podSets": [pod_set]},
    }
    api.create(WORKLOADS, made)
    stamp = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "QuotaReserved", "message": ""}
    reserved = {"type": "QuotaReserved", "status": "True", **stamp}
    status = f"{WORKLOADS}/w/status"
    with pytest.raises(Refused, match=r"status\.admission: Required value"):
        api.merge(status, {"status": {"conditions": [reserved]}})
    usage = {"name": "main", "count": 1, "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "2"}}
    admission = {"clusterQueue": "team", "podSetAssignments": [usage]}
    api.merge(status, {"status": {"conditions": [reserved], "admission": admission}})
    with pytest.raises(Refused, match=r"status\.admission: Invalid value.*field is immutable"):
        api.merge(status, {"status": {"admission": {"clusterQueue": "other"}}})
    pod_set["count"] = 2
    with pytest.raises(Refused, match=r"spec.podSets\[0\]: Invalid value.*field is immutable"):
        api.merge(f"{WORKLOADS}/w", {"spec": made["spec"]})
    containers[0]["resources"] = {"requests": {"cpu": "-1"}}
    with pytest.raises(Refused, match=r"containers\[0\].resources.requests\[cpu\]: Invalid value"):
        api.create(WORKLOADS, {**made, "metadata": {"name": "credit", "namespace": "default"}})
    api.merge(status, {"status": {"conditions": [], "admission": None}})
    api.delete(f"{WORKLOADS}/w")


def test_the_controller_can_do_its_work_with_the_rights_it_is_given(
    running: tuple[Cluster, Webhooks], tmp_path: Path
) -> None:
    cluster, _ = running
    api = cluster.api()
    api.apply(flavor())
    api.apply(cluster_queue("works", "4"))
    api.apply(local_queue("works"))
    with controller(cluster.kubeconfig_for(*account(cluster, "lockgate-controller")), tmp_path / "log") as log:
        api.create(JOBS, job("works", "works", "1", held=False))
        until(lambda: not api.get(f"{JOBS}/works")["spec"]["suspend"], 60, f"the job is started; {log.read_text()}")
        status = f"{KUEUE}/clusterqueues/works"
        until(lambda: api.get(status).get("status", {}).get("admittedWorkloads") == 1, 60, "the queue counts it")
        events = "/api/v1/namespaces/default/events"
        until(lambda: {"Started", "Admitted"} <= {item["reason"] for item in api.get(events)["items"]}, 60, "events")
        api.delete(f"{JOBS}/works?propagationPolicy=Background")
        until(lambda: "job-works" not in str(api.get(WORKLOADS)["items"]), 60, "the Workload goes with its job")
        assert "forbidden" not in log.read_text()


def test_while_the_webhooks_are_away_only_jobs_that_name_a_queue_wait(running: tuple[Cluster, Webhooks]) -> None:
    cluster, server = running
    api = cluster.api()
    api.create(JOBS, _queued("before"))
    server.kill()
    try:
        created = api.create(JOBS, _unqueued("meanwhile"))
        assert created["spec"]["suspend"] is False
        with pytest.raises(Refused, match="failed calling webhook"):
            api.create(JOBS, _queued("stopped"))
        api.merge(f"{JOBS}/before", {"metadata": {"finalizers": []}})
        api.merge(f"{JOBS}/before/status", {"status": {"ready": 0}})
        api.delete(f"{JOBS}/before")
    finally:
        server.start()
    until(lambda: _accepted(api, _queued("stopped")), 60, "the webhooks answer again")


def _accepted(api: Api, made: dict[str, Any]) -> bool:
    try:
        return bool(api.create(f"{JOBS}?dryRun=All", made))
    except Refused:
        return False


def test_installing_again_changes_nothing_and_uninstalling_removes_the_webhooks(
    running: tuple[Cluster, Webhooks],
) -> None:
    cluster, server = running
    api = cluster.api()

    def configurations() -> list[dict[str, Any]]:
        kinds = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
        return [item["webhooks"] for kind in kinds for item in api.get(f"{CONFIGURATIONS}/{kind}")["items"]]

    before = configurations()
    assert len(before) == 4
    assert lockgate(cluster, "install", f"--webhook-url={server.url}").returncode == 0
    assert configurations() == before
    assert lockgate(cluster, "uninstall").returncode == 0
    assert configurations() == []
    assert api.get(f"{KUEUE}/resourceflavors")["kind"] == "ResourceFlavorList"
    assert server.stop() == 0
