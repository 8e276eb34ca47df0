"""docs/add-a-job-kind.md, step by step, on a real API server: a kind that nobody has heard of, without a restart.

Both processes run with the rights that `lockgate install` gives them; the kind's own operator is played by the test.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli import roles
from hack.cluster import Api, Cluster, Refused
from hack.cluster.wait import until
from tests.live.controllers import PATIENCE, QUICK_LEASE, controller
from tests.live.webhook_process import account, webhooks

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

Object = dict[str, Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "render"
RENDERS = "/apis/film.example/v1/namespaces/film/renders"
JOB_KIND = "/apis/lockgate.dev/v1alpha1/jobkinds/render"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/film/workloads"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Of a cluster on which the product runs and knows nothing of Renders."""
    folder = tmp_path_factory.mktemp("tutorial")
    with Cluster.start() as cluster, webhooks(cluster, folder / "webhooks.log"):
        kubeconfig = cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))
        with controller(cluster, folder / "controller.log", f"--kubeconfig={kubeconfig}", *QUICK_LEASE) as running:
            running.is_soon("leading")
            yield cluster.api()


def _apply(api: Api, file: str) -> None:
    for document in yaml.safe_load_all((EXAMPLE / file).read_text()):
        api.apply(document)


def _reason(api: Api) -> str:
    """Of the JobKind's condition Active."""
    conditions = api.get(JOB_KIND).get("status", {}).get("conditions", [])
    return next((str(one["reason"]) for one in conditions if one["type"] == "Active"), "")


def _is_soon(api: Api, reason: str) -> None:
    until(lambda: _reason(api) == reason, PATIENCE, f"condition Active with reason {reason}")


def _paused(api: Api, name: str) -> object:
    return api.get(f"{RENDERS}/{name}")["spec"].get("paused")


def test_the_tutorial(api: Api) -> None:
    _apply(api, "job-kind.yaml")
    _is_soon(api, "Forbidden")  # an API server tells nobody what it serves before it knows their rights
    _apply(api, "crd.yaml")
    _apply(api, "rights.yaml")
    _is_soon(api, "Ready")

    _apply(api, "queues.yaml")
    _apply(api, "jobs.yaml")
    until(lambda: _paused(api, "scene-1") is False, PATIENCE, "scene-1 started")
    layers = api.get(f"{RENDERS}/scene-1")["spec"]["layers"]
    assert [one["worker"]["spec"]["nodeSelector"] for one in layers] == [{"pool": "farm"}] * 2
    assert _paused(api, "scene-2") is True  # 11 of 9 cores that are left
    waiting = api.get(WORKLOADS)["items"]
    assert {one["metadata"]["ownerReferences"][0]["name"] for one in waiting} == {"scene-1", "scene-2"}

    api.merge(f"{RENDERS}/scene-1/status", {"status": {"phase": "Done"}})
    until(lambda: _paused(api, "scene-2") is False, PATIENCE, "scene-2 started")


def test_a_render_that_is_let_go_by_hand_stays_held(api: Api) -> None:
    """Whoever applies a manifest again does not jump the queue."""
    _apply(api, "queues.yaml")
    job: Object = next(yaml.safe_load_all((EXAMPLE / "jobs.yaml").read_text()))
    job["metadata"]["name"] = "greedy"
    job["spec"]["layers"][0]["workers"] = 100
    job["spec"]["paused"] = False
    assert api.create(RENDERS, job)["spec"]["paused"] is True
    assert api.merge(f"{RENDERS}/greedy", {"spec": {"paused": False}})["spec"]["paused"] is True


def test_a_job_kind_that_cannot_be_meant_is_refused(api: Api) -> None:
    wrong = yaml.safe_load((EXAMPLE / "job-kind.yaml").read_text())
    wrong["metadata"]["name"] = "wrong"
    wrong["spec"] |= {"suspend": {"path": "spec..paused"}, "startd": wrong["spec"].pop("started")}
    with pytest.raises(Refused) as refused:
        api.create(JOB_KIND.removesuffix("/render"), wrong)
    assert "spec.suspend.path" in str(refused.value)
    assert "did you mean started?" in str(refused.value)
