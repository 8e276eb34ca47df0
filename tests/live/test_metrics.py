"""Metrics as Prometheus scrapes them from Kueue: a Service found by labels, HTTPS, and a token that RBAC lets get them.

The controller runs as the account that `lockgate install` makes, so its right to ask about tokens is tried as well.
"""

import base64
import http.client
import ssl
from collections.abc import Iterator

import pytest

from controller.cli import roles
from controller.pages.names import METRICS_READER, METRICS_SERVICE, SECRET
from hack.cluster import Cluster
from hack.cluster.ports import Port
from hack.cluster.wait import until
from tests.live.controllers import PATIENCE, controller
from tests.live.webhook_process import NAMESPACE, account, lockgate

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

RBAC = "rbac.authorization.k8s.io"
SERVICE = f"{METRICS_SERVICE}.{NAMESPACE}.svc"


class Scraper:
    """Speaks to the controller as the service accounts of Prometheus would."""

    def __init__(self, cluster: Cluster, port: Port) -> None:
        self.cluster = cluster
        self.api = cluster.api()
        self._port = port

    def account(self, name: str) -> str:
        """A new one, in the namespace default; its token."""
        metadata = {"name": name, "namespace": "default"}
        self.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        path = f"/api/v1/namespaces/default/serviceaccounts/{name}/token"
        return str(self.api.create(path, {"spec": {}})["status"]["token"])

    def scrape(self, token: str = "") -> tuple[int, str]:
        """Status and text. The certificate is checked, for the name of the Service."""
        trusted = self.api.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}")["data"]["ca.crt"]
        context = ssl.create_default_context(cadata=base64.b64decode(trusted).decode())
        connection = _ByAnotherName("127.0.0.1", self._port.number, context=context, timeout=10)
        try:
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


class _ByAnotherName(http.client.HTTPSConnection):
    """What a ServiceMonitor calls `serverName`: the name in the handshake, wherever the address is from."""

    def __init__(self, host: str, port: int, *, context: ssl.SSLContext, timeout: float) -> None:
        super().__init__(host, port, timeout=timeout)
        self._trusting = context

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._trusting.wrap_socket(self.sock, server_hostname=SERVICE)


@pytest.fixture(scope="module")
def scraper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraper]:
    port, log = Port(), tmp_path_factory.mktemp("metrics") / "log"
    with Cluster.start(nodes=1) as cluster:
        installed = lockgate(cluster, "install")
        assert installed.returncode == 0, installed.stderr
        port.release()
        kubeconfig = cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))
        with controller(cluster, log, f"--kubeconfig={kubeconfig}", f"--metrics-bind={port.address}") as running:
            running.is_soon("leading")
            until(lambda: "serving a new certificate" in log.read_text(), PATIENCE, "a certificate")
            until(lambda: "/metrics" in log.read_text(), PATIENCE, "metrics served")
            yield Scraper(cluster, port)


def test_an_account_with_kueues_role_gets_the_page_and_others_do_not(scraper: Scraper) -> None:
    allowed, forbidden = scraper.account("prometheus"), scraper.account("guest")
    scraper.api.apply(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "prometheus-metrics"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": METRICS_READER},
            "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "default"}],
        }
    )
    until(lambda: scraper.scrape(allowed)[0] == 200, PATIENCE, "the binding is known")
    assert "kueue_build_info" in scraper.scrape(allowed)[1]
    status, said = scraper.scrape(forbidden)
    assert (status, "kueue_" in said) == (403, False)
    assert "system:serviceaccount:default:guest may not get /metrics" in said
    assert [scraper.scrape(token)[0] for token in ("", "made up")] == [401, 401]


def test_service_monitors_of_kueue_find_the_service(scraper: Scraper) -> None:
    wanted = "app.kubernetes.io/component%3Dmetrics-service,app.kubernetes.io/name%3Dkueue"
    (found,) = scraper.api.get(f"/api/v1/namespaces/{NAMESPACE}/services?labelSelector={wanted}")["items"]
    assert found["metadata"]["name"] == METRICS_SERVICE
    assert [(port["name"], port["targetPort"]) for port in found["spec"]["ports"]] == [("https", 8443)]


def test_uninstalling_takes_role_and_service_away(scraper: Scraper) -> None:
    """Last: the controller goes on without its rights."""
    ran = lockgate(scraper.cluster, "uninstall")
    assert ran.returncode == 0, ran.stderr
    assert not scraper.api.answers(f"/apis/{RBAC}/v1/clusterroles/{METRICS_READER}")
    assert not scraper.api.answers(f"/api/v1/namespaces/{NAMESPACE}/services/{METRICS_SERVICE}")
