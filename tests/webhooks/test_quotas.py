"""Elastic quotas in the webhooks: judged beside what is there now, however late the watch is."""

from typing import Any

from admission.answers import Request
from admission.model.configuration import DEFAULTS
from admission.model.elastic_quota import PREFIX
from controller.kube.client import Client
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import StillClock
from webhooks.quotas import FRESH_SECONDS
from webhooks.routes import ask
from webhooks.view import ClusterView

GROUP = "/apis/scheduling.sigs.k8s.io/v1alpha1"
QUOTAS = f"{GROUP}/namespaces/lab/elasticquotas"
JUDGED = "/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota"


def _quota(name: str, **labels: str) -> dict[str, Any]:
    said = {PREFIX + key.replace("_", "-"): value for key, value in labels.items()}
    meta = {"namespace": "lab", "name": name, "labels": said}
    return {"metadata": meta, "spec": {"min": {"cpu": "1"}, "max": {"cpu": "2"}}}


async def _told(view: ClusterView, operation: str, new: Any, old: Any = None) -> str:
    said = await ask(JUDGED, Request(operation, "lab", new, old), view)  # type: ignore[arg-type]
    return said.message


async def test_a_child_is_judged_beside_the_parent_of_a_moment_ago() -> None:
    clock = StillClock()
    async with ApiServer().running() as server, Client(server.url) as client:
        server.served["scheduling.sigs.k8s.io/v1alpha1"] = ["elasticquotas"]
        view = ClusterView(client, DEFAULTS, clock)
        child = _quota("child", parent="top")
        assert "Not found" in await _told(view, "CREATE", child)
        top = await server.put(f"{QUOTAS}/top", spec=_quota("top")["spec"])
        top["metadata"]["labels"] = {f"{PREFIX}is-parent": "true"}
        clock.time += FRESH_SECONDS * 2
        assert await _told(view, "CREATE", child) == ""
        await server.remove(f"{QUOTAS}/top")
        clock.time += FRESH_SECONDS * 2
        assert "Not found" in await _told(view, "CREATE", child)
        assert len(server.requests) == 3


async def test_pods_are_asked_for_only_when_a_quota_is_to_go() -> None:
    clock = StillClock()
    async with ApiServer().running() as server, Client(server.url) as client:
        server.served |= {"scheduling.sigs.k8s.io/v1alpha1": ["elasticquotas"], "v1": ["namespaces", "pods"]}
        view = ClusterView(client, DEFAULTS, clock)
        assert await _told(view, "CREATE", _quota("leaf")) == ""
        assert [line for line in server.requests if "pods" in line] == []
        await server.put("/api/v1/namespaces/lab/pods/p")
        assert "quota has pods" in await _told(view, "DELETE", None, _quota("leaf"))
        await server.remove("/api/v1/namespaces/lab/pods/p")
        clock.time += FRESH_SECONDS * 2
        assert await _told(view, "DELETE", None, _quota("leaf")) == ""


async def test_a_cluster_without_the_kind_has_no_quotas() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        view = ClusterView(client, DEFAULTS, StillClock())
        assert await _told(view, "CREATE", _quota("leaf")) == ""
        assert not view.elastic_quotas().by_name
