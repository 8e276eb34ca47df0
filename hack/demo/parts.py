"""Lockgate on a cluster as a user would run it: installed, then two processes with an account of their own each."""

import os
import subprocess
import sys
from collections.abc import Mapping

from hack.cluster import Cluster, HackError
from hack.cluster.bringup import healthy
from hack.cluster.errors import tail
from hack.cluster.ports import Port
from hack.cluster.wheels import KUBECTL, command

NAMESPACE = "kueue-system"
CONTROLLER, WEBHOOKS = "lockgate-controller", "lockgate-webhooks"  # component, and the account `install` makes for it
LOCKGATE = (sys.executable, "-m", "controller.cli")


def install(cluster: Cluster, url: str, *flags: str) -> None:
    """`lockgate install`, as the cluster's administrator."""
    _run([*LOCKGATE, "install", f"--kubeconfig={cluster.kubeconfig}", f"--webhook-url={url}", *flags])


def start_webhooks(cluster: Cluster, port: Port) -> None:
    """The process that answers the API server; returns before it answers."""
    port.release()
    start(cluster, WEBHOOKS, "webhooks", f"--webhook-bind={port.address}", "--metrics-bind=0", "--health-bind=0")


def start_controller(cluster: Cluster, *flags: str) -> None:
    """The process that decides; returns when it leads."""
    health = Port()
    health.release()
    binds = ("--metrics-bind=0", "--visibility-bind=0", f"--health-bind={health.address}")
    start(cluster, CONTROLLER, "controller", *binds, *flags)
    cluster.until(lambda: healthy(f"http://{health.address}/readyz"), "the controller ready")


def start(cluster: Cluster, name: str, process: str, *flags: str) -> None:
    """One process of ours, as its service account."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token"
    token = cluster.api().create(path, {"spec": {"expirationSeconds": 24 * 3600}})["status"]["token"]
    config = cluster.kubeconfig_for(name, token)
    cluster.add(name, [*LOCKGATE, process, f"--kubeconfig={config}", *flags])


def kubectl(cluster: Cluster, *arguments: str, manifest: str | None = None) -> str:
    """kubectl's output; HackError with its complaint."""
    environment = {"KUBECONFIG": str(cluster.kubeconfig), "KUBECACHEDIR": str(cluster.folder / "kubectl")}
    return _run([str(command(KUBECTL)), *arguments], manifest, environment)


def _run(argv: list[str], given: str | None = None, env: Mapping[str, str] = {}) -> str:
    ran = subprocess.run(argv, input=given, capture_output=True, text=True, check=False, env={**os.environ, **env})
    if ran.returncode:
        raise HackError(f"{' '.join(argv)}:\n{tail(ran.stderr or ran.stdout)}")
    return ran.stdout
