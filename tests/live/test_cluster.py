"""The clusters other live tests stand on: real, side by side, and gone without a trace."""

import datetime
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hack.cluster import Cluster, Extra, Pool, Refused, StartFailed, etcd, pools, processes
from hack.cluster.wait import until

ROOT = Path(__file__).parents[2]
JOBS = "/apis/batch/v1/namespaces/default/jobs"
PODS = "/api/v1/namespaces/default/pods"
PATIENCE = 60

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Cluster, Cluster]]:
    gpu = Pool("gpu", 2, {"nvidia.com/gpu": "8"}, {"team": "vision"})

    def start(_: int) -> Cluster:
        return Cluster.start(pools=[gpu], users=["alice:devs"], extra=Extra(apiserver=etcd.KEEP_ALL))

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(start, range(2))
    with first, second:
        yield first, second


@pytest.fixture
def cluster(pair: tuple[Cluster, Cluster]) -> Cluster:
    return pair[0]


def job(name: str, *, gpus: int = 0, **notes: str) -> dict[str, Any]:
    """A Job of two pods; notes are annotations its pods obey: `runtime`, `exit_code`."""
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {"name": "main", "image": "none", "resources": {"limits": limits}}
    annotations = {f"lockgate.dev/{key.replace('_', '-')}": value for key, value in notes.items()}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    spec = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def until_it_is(condition: str, cluster: Cluster, name: str) -> None:
    def seen() -> bool:
        status = cluster.api().get(f"{JOBS}/{name}").get("status", {})
        return condition in {item["type"] for item in status.get("conditions", []) if item["status"] == "True"}

    until(seen, PATIENCE, f"job {name} {condition}")


def pods(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = cluster.api().get(f"{PODS}?labelSelector=job-name={name}")["items"]
    return items


def running(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    return [pod for pod in pods(cluster, name) if pod["status"]["phase"] == "Running"]


def hack(*arguments: str) -> str:
    argv = [sys.executable, "-m", "hack.cluster", *arguments]
    return subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def test_a_job_with_gpus_runs_for_its_run_time_on_each_of_two_clusters(pair: tuple[Cluster, Cluster]) -> None:
    for cluster in pair:
        cluster.api().create(JOBS, job("train", gpus=8, runtime="2s"))
    for cluster in pair:
        until_it_is("Complete", cluster, "train")
        ran = pods(cluster, "train")
        assert {pod["spec"]["nodeName"] for pod in ran} == {"gpu-0", "gpu-1"}  # 8 GPUs each: one pod a node
        for pod in ran:
            end = pod["status"]["containerStatuses"][0]["state"]["terminated"]
            start, finish = (datetime.datetime.fromisoformat(end[key]) for key in ("startedAt", "finishedAt"))
            assert (finish - start).total_seconds() >= 2


def test_clusters_side_by_side_do_not_see_each_others_objects(pair: tuple[Cluster, Cluster]) -> None:
    first, second = pair
    first.api().create(JOBS, job("only-here", runtime="0s"))
    with pytest.raises(Refused, match="404"):
        second.api().get(f"{JOBS}/only-here")


def test_a_pod_that_asks_more_gpus_than_any_node_has_waits(cluster: Cluster) -> None:
    cluster.api().create(JOBS, job("too-big", gpus=9))

    def unschedulable() -> bool:
        found = [item for pod in pods(cluster, "too-big") for item in pod["status"].get("conditions", [])]
        return any(item.get("reason") == "Unschedulable" for item in found)

    until(unschedulable, PATIENCE, "the scheduler's verdict")
    assert not running(cluster, "too-big")


def test_a_pod_fails_with_the_exit_code_it_is_told(cluster: Cluster) -> None:
    cluster.api().create(JOBS, job("broken", runtime="0s", exit_code="3"))
    until_it_is("Failed", cluster, "broken")


def test_a_deleted_pod_is_seen_to_end_before_it_goes(cluster: Cluster) -> None:
    api, path = cluster.api(), f"{PODS}/held"
    template = job("unused")["spec"]["template"]
    meta = {"name": "held", "finalizers": ["lockgate.dev/held"]}  # so that its last state can be looked at
    api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]})
    until(lambda: api.get(path)["status"]["phase"] == "Running", PATIENCE, "it running")
    api.delete(path)
    until(lambda: api.get(path)["status"]["phase"] == "Failed", PATIENCE, "it stopped")
    api.merge(path, {"metadata": {"finalizers": None}})
    until(lambda: not api.answers(path), PATIENCE, "it gone")


def test_a_user_is_who_the_token_says_and_has_no_rights_by_default(cluster: Cluster) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    seen = cluster.api("alice").create("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert seen["status"]["userInfo"]["username"] == "alice"
    assert "devs" in seen["status"]["userInfo"]["groups"]
    with pytest.raises(Refused, match="403"):
        cluster.api("alice").get(JOBS)


def test_etcd_tells_every_write_of_an_object_in_order(cluster: Cluster) -> None:
    start = etcd.revision(cluster.etcd_endpoint) + 1
    cluster.api().create(JOBS, job("audited", runtime="0s"))
    until_it_is("Complete", cluster, "audited")
    cluster.api().delete(f"{JOBS}/audited?propagationPolicy=Background")
    story = list(etcd.history(cluster.etcd_endpoint, "/registry/jobs/default/audited", start))
    assert story[0].created
    assert story[0].json["kind"] == "Job"
    assert story[-1].deleted
    assert [event.revision for event in story] == sorted({event.revision for event in story})


def test_the_cost_of_each_component_is_measured(cluster: Cluster) -> None:
    used = cluster.usage()
    assert set(used) == {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
    assert all(usage.cpu_seconds > 0 and usage.peak_bytes >= usage.resident_bytes > 2**20 for usage in used.values())


def test_an_api_server_that_crashed_comes_back_with_its_objects(pair: tuple[Cluster, Cluster]) -> None:
    cluster = pair[1]
    cluster.api().create(JOBS, job("before-the-crash", runtime="0s"))
    cluster.restart("kube-apiserver")
    assert cluster.api().get(f"{JOBS}/before-the-crash")["kind"] == "Job"
    until_it_is("Complete", cluster, "before-the-crash")


def test_a_start_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="unknown flag: --no-such-flag"):
        Cluster.start("broken", extra=Extra(apiserver=("--no-such-flag",)), folder=tmp_path)
    assert not processes.marked(tmp_path / "broken")
    assert not list(tmp_path.iterdir())


def test_a_cluster_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, signal; from pathlib import Path; from hack.cluster import Cluster;"
        f"Cluster.start('orphan', folder=Path({str(tmp_path)!r})); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert ran.returncode == -signal.SIGKILL
    until(lambda: not list(tmp_path.iterdir()), PATIENCE, "its folder gone")
    assert not processes.marked(tmp_path / "orphan")


def test_up_returns_with_the_cluster_running_and_down_leaves_no_process(tmp_path: Path) -> None:
    where = ("--name", "one", "--dir", str(tmp_path))
    pool = "name=cpu,count=2,cpu=16,label=team=x,taint=only=batch:NoSchedule"
    kubeconfig = Path(hack("up", *where, "--pool", pool).strip())
    assert kubeconfig.exists()
    assert hack("list", "--dir", str(tmp_path)).startswith("one\tup\thttps://127.0.0.1:")
    assert f"export KUBECONFIG={kubeconfig}\n" in hack("env", *where)
    cluster = Cluster.open("one", tmp_path)
    assert cluster.api().get("/api/v1/nodes/cpu-1")["status"]["allocatable"]["cpu"] == "16"
    started = [cluster.component(name) for name in cluster.usage()]
    assert len(started) == 5
    hack("down", *where)
    assert not any(process.alive for process in started)
    assert not processes.marked(tmp_path / "one")
    assert not list(tmp_path.iterdir())


def test_a_pid_that_now_belongs_to_another_process_is_left_alone() -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with bystander:
        impostor = processes.Process("etcd", bystander.pid, processes.identify("etcd", bystander.pid).started - 1)
        impostor.send(signal.SIGKILL)
        bystander.communicate(b"\n")
    assert bystander.returncode == 0


def test_a_pool_is_read_from_one_line_of_text() -> None:
    pool = pools.parse("name=gpu,count=2,cpu=64,gpu=nvidia.com/gpu=8,label=zone=a,taint=gpu=yes:NoSchedule")
    assert pool.node_names == ["gpu-0", "gpu-1"]
    assert pool.resources == {"cpu": "64", "nvidia.com/gpu": "8"}
    assert pool.labels == {"zone": "a"}
    assert pool.taints == ({"key": "gpu", "value": "yes", "effect": "NoSchedule"},)
