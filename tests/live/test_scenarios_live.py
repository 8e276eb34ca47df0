"""The same scenario files that hold in memory hold on a real API server, with the product as two processes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from admission.world.scenario.case import read_case
from controller.cli.live.served import job_kinds
from hack.cluster import Cluster
from hack.cluster.ports import Port
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.controllers import controller
from tests.live.webhook_process import ROOT, lockgate, webhooks

FOLDER = ROOT / "tests" / "scenarios"
# It says nothing of who submits its RayJob. KubeRay's CRD then says that a pod does, for which its quota has no room.
UNSERVED = FOLDER / "064-rayjob-validation-failed-holds-quota.yaml"
FILES = [file for file in sorted(FOLDER.glob("*.yaml")) if file != UNSERVED]
SECONDS = 240  # for all of them side by side; about a minute and a half on two idle cores

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    logs = tmp_path_factory.mktemp("product")
    with Cluster.start(nodes=4) as running:
        install_job_crds(running, job_kinds(read_case(file.read_text()).form for file in FILES))
        with (
            webhooks(running, logs / "webhooks"),
            controller(running, logs / "controller") as leader,
        ):
            leader.is_soon("leading")
            yield running


def lockgate_test(cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "controller.cli", "test", "--live", f"--kubeconfig={cluster.kubeconfig}"]
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.fixture(scope="module")
def outcomes(cluster: Cluster) -> dict[str, Any]:
    """What a run of all of them says of each, by the name of the file."""
    ran = lockgate_test(cluster, "--output=json", str(FOLDER))
    assert ran.returncode in (0, 1, 3), ran.stderr
    return {Path(case["file"]).stem: case for case in json.loads(ran.stdout)["cases"]}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenario(file: Path, outcomes: dict[str, Any]) -> None:
    found = outcomes[file.stem]
    if found["outcome"] == "unsupported":
        pytest.skip("needs " + ", ".join(found["missing"]))
    assert not found["failures"], json.dumps(found["failures"], indent=1)


def test_a_live_run_fails_in_the_words_of_the_file_and_leaves_nothing_behind(cluster: Cluster, tmp_path: Path) -> None:
    right = (FOLDER / "076-queue-without-guarantee-preempts.yaml").read_text()
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(right.replace("workload: lab/n, state: pending", "workload: lab/n, state: finished"))
    assert wrong.read_text() != right
    ran = lockgate_test(cluster, str(wrong))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "workload lab/n\n    state\n      expected: finished\n      seen:     " in ran.stdout
    api, group = cluster.api(), "/apis/kueue.x-k8s.io/v1beta2"

    def left() -> list[str]:
        kinds = ("clusterqueues", "cohorts", "resourceflavors", "workloads", "localqueues")
        return [item["metadata"]["name"] for kind in kinds for item in api.get(f"{group}/{kind}")["items"]]

    until(lambda: not left(), 60, f"nothing left; there is {left()}")


def test_cases_that_need_a_configuration_run_on_a_product_that_has_it(tmp_path: Path) -> None:
    file = FOLDER / "049-default-queue-in-excluded-namespace.yaml"
    config = tmp_path / "configuration.yaml"
    config.write_text(yaml.safe_dump(yaml.safe_load(file.read_text())["config"]))
    with Cluster.start(nodes=1) as cluster:
        hook = Port()
        install = ("install", f"--config={config}", f"--webhook-url=https://{hook.address}")
        assert lockgate(cluster, *install).returncode == 0
        hook.release()
        flags = [f"--kubeconfig={cluster.kubeconfig}", f"--config={config}", "--metrics-bind=0", "--health-bind=0"]
        python = {"PYTHONPATH": str(ROOT)}
        for part, more in (("webhooks", [f"--webhook-bind={hook.address}"]), ("controller", ["--visibility-bind=0"])):
            cluster.add(part, [sys.executable, "-m", "controller.cli", part, *flags, *more], python)
        assert lockgate(cluster, *install, "--wait=60s").returncode == 0
        ran = lockgate_test(cluster, f"--config={config}", str(file))
        assert ran.returncode == 0, ran.stdout + ran.stderr
