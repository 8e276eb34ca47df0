"""Scenarios that disturb the product, count its requests or want another configuration: on one of the run's own."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from admission.model.times import micro_stamp
from admission.world.scenario.case import read_case
from controller.cli.live.needs import lacking_live
from controller.cli.live.served import job_kinds
from controller.kit.clock import SYSTEM
from hack.cluster import Cluster
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.webhook_process import NAMESPACE, ROOT, lockgate

FOLDER = ROOT / "tests" / "scenarios"
FAILOVER = FOLDER / "065-failover-with-stale-follower.yaml"
STORM = FOLDER / "066-conflict-storm-and-cert-rotation.yaml"
LATE_PODS = FOLDER / "058-spark-executors-not-ready-and-dynamic.yaml"
# Those that need it, but for some with tests of their own; the others are played on an installed product.
FILES = [
    file
    for file in sorted(FOLDER.glob("*.yaml"))
    if file not in (FAILOVER, LATE_PODS) and lacking_live(read_case(file.read_text()).form)
]
SECONDS = 900  # for all of them, with a product for each configuration; four minutes on two busy cores
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LEASE = "c1f6bfd2.kueue.x-k8s.io"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start(nodes=4) as running:
        install_job_crds(running, job_kinds(read_case(file.read_text()).form for file in (*FILES, LATE_PODS)))
        yield running


def command(cluster: Cluster, *arguments: object) -> list[str]:
    live = ["test", "--live", "--own-product", f"--kubeconfig={cluster.kubeconfig}", "--output=json"]
    return [sys.executable, "-m", "controller.cli", *live, *map(str, arguments)]


def own_product(cluster: Cluster, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(cluster, *arguments), cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def played(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What is said of each case, by the name of its file."""
    assert ran.returncode in (0, 1, 3), ran.stderr
    return {Path(case["file"]).stem: case for case in json.loads(ran.stdout)["cases"]}


def installed(cluster: Cluster) -> list[str]:
    return [item["metadata"]["name"] for item in cluster.api().get(WEBHOOKS)["items"]]


@pytest.fixture(scope="module")
def outcomes(cluster: Cluster) -> dict[str, Any]:
    return played(own_product(cluster, *FILES))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenario(file: Path, outcomes: dict[str, Any]) -> None:
    found = outcomes[file.stem]
    if found["outcome"] == "unsupported":
        pytest.skip("needs " + ", ".join(found["missing"]))
    assert not found["failures"], json.dumps(found["failures"], indent=1)


def test_two_leaders_are_killed_and_two_others_follow(cluster: Cluster) -> None:
    before = [lease for lease in cluster.api().get(LEASES)["items"] if lease["metadata"]["name"] == LEASE]
    taken = sum(lease["spec"]["leaseTransitions"] + 1 for lease in before)
    found = played(own_product(cluster, FAILOVER))[FAILOVER.stem]
    assert found["outcome"] == "passed", json.dumps(found, indent=1)
    assert cluster.api().get(f"{LEASES}/{LEASE}")["spec"]["leaseTransitions"] - taken == 2


@pytest.mark.long
def test_pods_that_are_late_are_waited_for_in_real_time(cluster: Cluster) -> None:
    found = played(own_product(cluster, LATE_PODS))[LATE_PODS.stem]
    assert found["outcome"] == "passed", json.dumps(found, indent=1)


def test_a_kind_that_the_cluster_does_not_serve_is_named(cluster: Cluster, tmp_path: Path) -> None:
    """Only the case that needs it is left out."""
    file = tmp_path / "another.yaml"
    torch = "062-tfjob-odd-replicas-and-ttl.yaml"
    text = (FOLDER / torch).read_text().replace("TFJob", "XGBoostJob").replace("tfReplicaSpecs", "xgbReplicaSpecs")
    file.write_text(text)
    found = played(own_product(cluster, file))["another"]
    assert found["outcome"] == "unsupported"
    assert found["missing"] == ["CRD xgboostjobs.kubeflow.org: install it on the cluster"]


def test_its_writes_are_counted(cluster: Cluster, tmp_path: Path) -> None:
    strict = re.sub(r".*rotate-serving-cert.*\n", "", STORM.read_text()).replace("max: 60", "max: 0")
    (tmp_path / "strict.yaml").write_text(strict)
    failures = played(own_product(cluster, tmp_path / "strict.yaml"))["strict"]["failures"]
    assert [(failure["path"], failure["expected"]) for failure in failures] == [("max", 0)]
    assert failures[0]["seen"] >= 1, "to make way for the other is at least one"


def test_nothing_is_left_of_the_product(cluster: Cluster, outcomes: dict[str, Any]) -> None:
    assert outcomes
    assert not installed(cluster)
    group = "/apis/kueue.x-k8s.io/v1beta2"
    kinds = ("clusterqueues", "cohorts", "resourceflavors", "workloads", "localqueues", "admissionchecks")

    def served() -> bool:
        return all(cluster.api().answers(f"{group}/{kind}") for kind in kinds)

    def left() -> list[str]:
        return [item["metadata"]["name"] for kind in kinds for item in cluster.api().get(f"{group}/{kind}")["items"]]

    until(served, 60, "kinds that are served again without conversion")
    until(lambda: not left(), 60, f"nothing left; there is {left()}")


def test_told_to_stop_it_takes_its_product_with_it(cluster: Cluster) -> None:
    running = subprocess.Popen(command(cluster, STORM), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: bool(installed(cluster)), 60, "webhook configurations")
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    assert said.decode().strip() == "lockgate: told to stop before all cases were through"
    assert not installed(cluster)


def test_where_a_product_is_installed_or_leads_none_is_started(cluster: Cluster) -> None:
    assert lockgate(cluster, "install", "--webhook-url=https://127.0.0.1:1").returncode == 0
    ran = own_product(cluster, STORM)
    assert ran.returncode == 2
    assert "run `lockgate uninstall` first" in ran.stderr
    assert lockgate(cluster, "uninstall").returncode == 0
    now = micro_stamp(SYSTEM.now())
    lease = {"holderIdentity": "somebody", "leaseDurationSeconds": 600, "renewTime": now, "leaseTransitions": 0}
    api = cluster.api()
    api.delete(f"{LEASES}/{LEASE}")
    meta = {"name": LEASE, "namespace": NAMESPACE}
    api.create(LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": lease})
    ran = own_product(cluster, STORM)
    api.delete(f"{LEASES}/{LEASE}")
    assert ran.returncode == 2
    assert f"somebody holds the Lease {NAMESPACE}/{LEASE}" in ran.stderr
