"""The visibility API behind a real API server: kubectl and Kueue's own kueuectl see who waits where.

The controller runs as the account that `lockgate install` makes, so its rights are tried as well.
"""

import http.client
import json
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.cli import aggregation, roles
from hack.cluster import Cluster, Refused
from hack.cluster.components import Extra
from hack.cluster.gobuild import build_all
from hack.cluster.ports import Port
from hack.cluster.wait import until
from hack.cluster.wheels import KUBECTL, command
from hack.kueue import module
from tests.live.controllers import (
    JOBS,
    PATIENCE,
    Seen,
    cluster_queue,
    controller,
    flavor,
    install_crds,
    job,
    local_queue,
    priority,
)

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes, and kueuectl

NAMESPACE = "kueue-system"
GROUP = "/apis/visibility.kueue.x-k8s.io"
CLUSTER_QUEUE = f"{GROUP}/v1beta2/clusterqueues/crowded/pendingworkloads"
LOCAL_QUEUE = f"{GROUP}/v1beta2/namespaces/default/localqueues/crowded/pendingworkloads"
# A Service of no pods leads to this machine only by its name, which the API server follows without this flag.
BY_NAME = Extra(apiserver=("--enable-aggregator-routing=false",))


class Site:
    """A cluster whose queue `crowded` has one workload that runs and three that wait."""

    def __init__(self, cluster: Cluster, port: Port) -> None:
        self.cluster = cluster
        self.port = port
        self.api = cluster.api()

    def waiting(self, path: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.api.get(path)["items"]
        return items

    def jobs(self, path: str) -> list[str]:
        """In order, by the name of the job."""
        return [one["metadata"]["ownerReferences"][0]["name"] for one in self.waiting(path)]

    def kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = [str(command(KUBECTL)), f"--kubeconfig={self.cluster.kubeconfig}", *arguments]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    def directly(self, path: str, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Past the API server: status and Status object."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port.number, context=context, timeout=10)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    port = Port()
    folder = tmp_path_factory.mktemp("controller")
    with Cluster.start(nodes=1, users=("guest", "reader"), extra=BY_NAME) as cluster:
        install_crds(cluster)
        api = cluster.api()
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        led = aggregation.manifests(NAMESPACE, f"https://{port.address}")
        for manifest in (*roles.manifests(NAMESPACE), *aggregation.rights(NAMESPACE), *led):
            api.apply(manifest)
        port.release()
        flags = [f"--kubeconfig={_as_installed(cluster)}", f"--visibility-bind={port.address}"]
        with controller(cluster, folder / "log", *flags) as running:
            running.is_soon("leading")
            found = Site(cluster, port)
            until(lambda: _available(found), PATIENCE, "the API server passes requests on")
            _crowd(found)
            yield found


def _as_installed(cluster: Cluster) -> Path:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{roles.CONTROLLER}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    return cluster.kubeconfig_for("installed", cluster.api().create(path, request)["status"]["token"])


def _available(site: Site) -> bool:
    services = site.api.get("/apis/apiregistration.k8s.io/v1/apiservices")["items"]
    ours = [one for one in services if "visibility" in one["metadata"]["name"]]
    conditions = [each for one in ours for each in one.get("status", {}).get("conditions", [])]
    return len(ours) == 2 and [each["status"] for each in conditions] == ["True", "True"]


def _crowd(site: Site) -> None:
    seen = Seen(site.cluster)
    site.api.apply(flavor())
    site.api.apply(priority("urgent", 100))
    site.api.apply(priority("usual", 50))
    site.api.apply(cluster_queue("crowded", "2"))
    for name in ("crowded", "beside"):
        site.api.apply({**local_queue("crowded"), "metadata": {"name": name, "namespace": "default"}})
    site.api.create(JOBS, job("runs", "crowded", "2"))
    seen.is_soon("runs", "running")
    site.api.create(JOBS, job("first", "crowded", "2", priority="usual"))
    until(lambda: len(site.waiting(CLUSTER_QUEUE)) == 1, PATIENCE, "one waits")
    site.api.create(JOBS, job("elsewhere", "beside", "1"))
    site.api.create(JOBS, job("hasty", "crowded", "1", priority="urgent"))
    until(lambda: len(site.waiting(CLUSTER_QUEUE)) == 3, PATIENCE, "three wait")


def test_kubectl_shows_who_waits_in_a_cluster_queue_in_order(site: Site) -> None:
    ran = site.kubectl("get", "--raw", CLUSTER_QUEUE)
    assert ran.returncode == 0, ran.stderr
    summary = json.loads(ran.stdout)
    assert (summary["kind"], summary["apiVersion"]) == ("PendingWorkloadsSummary", "visibility.kueue.x-k8s.io/v1beta2")
    shown = [
        (one["metadata"]["ownerReferences"][0]["name"], one["priority"], one["localQueueName"])
        for one in summary["items"]
    ]
    assert shown == [("hasty", 100, "crowded"), ("first", 50, "crowded"), ("elsewhere", 0, "beside")]
    places = [(one["positionInClusterQueue"], one["positionInLocalQueue"]) for one in summary["items"]]
    assert places == [(0, 0), (1, 1), (2, 0)]


def test_a_local_queue_shows_its_own_with_their_places_in_both(site: Site) -> None:
    assert site.jobs(LOCAL_QUEUE) == ["hasty", "first"]
    beside = LOCAL_QUEUE.replace("/crowded/", "/beside/")
    (only,) = site.waiting(beside)
    assert (only["positionInClusterQueue"], only["positionInLocalQueue"]) == (2, 0)


def test_offset_and_limit_cut_a_piece_out(site: Site) -> None:
    assert site.jobs(f"{CLUSTER_QUEUE}?offset=1&limit=1") == ["first"]
    assert site.jobs(f"{CLUSTER_QUEUE}?offset=-3&limit=-1") == []
    assert site.jobs(f"{LOCAL_QUEUE}?offset=1") == ["first"]
    assert site.jobs(f"{LOCAL_QUEUE}?offset=7") == []


def test_numbers_are_int64_and_everything_else_is_a_bad_request(site: Site) -> None:
    assert site.jobs(f"{CLUSTER_QUEUE}?offset={2**63 - 1}&limit={2**63 - 1}") == []
    for wrong in (f"limit={2**63}", "limit=many", "offset=1.5"):
        with pytest.raises(Refused, match="is not a whole number that fits 64 bits") as refusal:
            site.api.get(f"{CLUSTER_QUEUE}?{wrong}")
        assert refusal.value.status == 400


def test_both_versions_say_the_same(site: Site) -> None:
    older = CLUSTER_QUEUE.replace("v1beta2", "v1beta1")
    assert site.api.get(older)["apiVersion"] == "visibility.kueue.x-k8s.io/v1beta1"
    assert site.waiting(older) == site.waiting(CLUSTER_QUEUE)


@pytest.mark.parametrize("path", [CLUSTER_QUEUE, LOCAL_QUEUE])
def test_a_queue_that_does_not_exist_is_not_found(site: Site, path: str) -> None:
    with pytest.raises(Refused, match="not found") as refusal:
        site.api.get(path.replace("/crowded/", "/nobody/"))
    assert refusal.value.status == 404


def test_kubectl_discovers_it_without_complaint(site: Site) -> None:
    def versions() -> set[str]:
        ran = site.kubectl("api-versions")
        assert (ran.returncode, ran.stderr) == (0, "")
        return set(ran.stdout.split())

    ours = {f"visibility.kueue.x-k8s.io/{version}" for version in ("v1beta1", "v1beta2")}
    until(lambda: ours <= versions(), PATIENCE, "both versions discovered")
    assert site.api.get(GROUP)["preferredVersion"]["version"] == "v1beta2"
    root = f"apis/{GROUP.removeprefix('/apis/')}/v1beta2"
    until(lambda: root in site.api.get("/openapi/v3")["paths"], PATIENCE, "its schema published")
    schemas = site.api.get(f"/openapi/v3/{root}")["components"]["schemas"]
    assert any(name.endswith("PendingWorkloadsSummary") for name in schemas)


def test_what_may_be_seen_is_for_rbac_to_say(site: Site) -> None:
    guest = site.cluster.api("guest")
    with pytest.raises(Refused, match="forbidden") as refusal:
        guest.get(CLUSTER_QUEUE)
    assert refusal.value.status == 403
    viewer = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "reader", "namespace": "default"},
        "roleRef": viewer,
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    }
    site.api.apply(binding)
    reader = site.cluster.api("reader")
    until(lambda: reader.answers(LOCAL_QUEUE), PATIENCE, "people who may view a namespace see its queues")
    assert not reader.answers(CLUSTER_QUEUE)


def test_past_the_api_server_only_tokens_are_believed(site: Site) -> None:
    impostor = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    for headers in ({}, impostor, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}):
        status, said = site.directly(CLUSTER_QUEUE, headers)
        assert (status, said["kind"], said["reason"]) == (401, "Status", "Unauthorized"), headers
    guest = {"Authorization": f"Bearer {site.cluster.tokens['guest']}"}
    status, said = site.directly(CLUSTER_QUEUE, guest)
    assert (status, said["reason"]) == (403, "Forbidden")
    status, said = site.directly(CLUSTER_QUEUE, {"Authorization": f"Bearer {site.cluster.token}"})
    assert (status, len(said["items"])) == (200, 3)


def test_kueues_own_command_line_shows_places_in_local_queues(site: Site) -> None:
    binary = build_all(module.ALL)[module.KUEUECTL.name]
    argv = [str(binary), f"--kubeconfig={site.cluster.kubeconfig}", "list", "workload", "--status=pending"]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = {row.split()[2]: row.split() for row in ran.stdout.splitlines()[1:]}
    assert {name: row[row.index("PENDING") + 1] for name, row in rows.items()} == {
        "hasty": "0",
        "first": "1",
        "elsewhere": "0",
    }
