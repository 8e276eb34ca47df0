"""Who is measured, and how each is started: as its own manifests say, with an account of its own and no webhooks."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from admission.api import crd
from controller.cli import roles
from hack.cluster import Cluster
from hack.cluster.bringup import healthy
from hack.cluster.ports import Port
from hack.kueue import Kueue

NAMESPACE = "kueue-system"


@dataclass(frozen=True, slots=True)
class Contestant:
    """`component` is its process in the cluster."""

    name: str
    component: str
    start: Callable[[Cluster, tuple[str, ...]], None]


def _kueue(cluster: Cluster, flags: tuple[str, ...]) -> None:
    """The real manager with the settings it ships: 300 requests a second, bursts of 500."""
    Kueue.start(cluster, webhooks=False, flags=flags)


def _lockgate(cluster: Cluster, flags: tuple[str, ...]) -> None:
    """Our controller with the settings it ships, leader election included."""
    api = cluster.api()
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for manifest in (*crd.definitions(), *roles.manifests(NAMESPACE)):
        api.apply(manifest)
    cluster.until(lambda: api.answers("/apis/kueue.x-k8s.io/v1beta2/workloads"), "our kinds served")
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{roles.CONTROLLER}/token"
    token = api.create(account, {"spec": {"expirationSeconds": 24 * 3600}})["status"]["token"]
    health = Port()
    health.release()
    binds = ("--metrics-bind=0", "--visibility-bind=0", f"--health-bind={health.address}")
    config = cluster.kubeconfig_for(roles.CONTROLLER, token)
    argv = [sys.executable, "-m", "controller.cli", "controller", f"--kubeconfig={config}", *binds, *flags]
    cluster.add("lockgate", argv)
    cluster.until(lambda: healthy(f"http://{health.address}/readyz"), "the controller ready")


KUEUE = Contestant("kueue", "kueue", _kueue)
LOCKGATE = Contestant("lockgate", "lockgate", _lockgate)
