"""Runs the Kueue manager on a cluster, as the service account and with the rights its manifests give it."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import Request, urlopen

import yaml

from hack.cluster import Api, Cluster, Refused, Usage
from hack.cluster.bringup import healthy
from hack.cluster.gobuild import build_all
from hack.cluster.pki import authority, leaf
from hack.cluster.ports import Port
from hack.kueue import manifests, module
from hack.kueue.manifests import ACCOUNT, NAMESPACE, SECRET, SERVICE

COMPONENT = "kueue"
GROUP = "/apis/kueue.x-k8s.io/v1beta2"
TOKEN_SECONDS = 24 * 3600


class Kueue:
    """A running manager. Ends with `stop` or with its cluster."""

    def __init__(self, cluster: Cluster, metrics_url: str = "") -> None:
        self.cluster = cluster
        self.metrics_url = metrics_url

    @classmethod
    def start(
        cls,
        cluster: Cluster,
        *,
        webhooks: bool = True,
        configuration: Mapping[str, Any] | None = None,
        flags: tuple[str, ...] = (),
    ) -> Self:
        """Build it if missing, install it, start it, wait until it is ready.

        `configuration` is laid over the settings Kueue ships (lists replace lists); without webhooks it sees
        nothing before it is stored, which is how its benchmark runs it.
        """
        binary = build_all(module.ALL)[module.MANAGER.name]
        health, metrics, hook = Port(), Port(), Port()
        folder = cluster.folder / COMPONENT
        ca = authority("kueue-ca")  # the name its rotation checks
        serving = leaf(ca, SERVICE, (f"{SERVICE}.{NAMESPACE}.svc", "127.0.0.1", "localhost"))
        serving.write(folder, "tls")

        api = cluster.api()
        for item in manifests.manifests(f"https://{hook.address}", ca, serving, webhooks=webhooks):
            api.apply(item)
        cluster.until(lambda: api.answers(f"{GROUP}/workloads"), "Kueue's kinds served")

        token = _token(api)
        settings = _settings(folder, health, metrics, hook, configuration or {})
        for port in (health, metrics, hook):
            port.release()
        kubeconfig = cluster.kubeconfig_for(COMPONENT, token)
        cluster.add(COMPONENT, [str(binary), "--kubeconfig", str(kubeconfig), "--config", str(settings), *flags])
        cluster.until(lambda: healthy(f"http://{health.address}/readyz"), "the Kueue manager ready")
        return cls(cluster, f"https://{metrics.address}/metrics")

    @property
    def pid(self) -> int:
        """The manager's process."""
        return self.cluster.component(COMPONENT).pid

    def usage(self) -> Usage:
        """The manager's CPU and memory so far."""
        return self.cluster.usage()[COMPONENT]

    def metrics(self) -> str:
        """What it serves to Prometheus; its certificate is its own, signed by nobody."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        request = Request(self.metrics_url, headers={"Authorization": f"Bearer {self.cluster.token}"})
        with urlopen(request, timeout=30, context=context) as answer:
            return str(answer.read().decode())

    def stop(self) -> None:
        """End the manager and take its webhooks away, so that the cluster goes on without it; its objects stay."""
        api = self.cluster.api()
        for kind in manifests.WEBHOOKS:
            name = f"kueue-{kind.removesuffix('WebhookConfiguration').lower()}-webhook-configuration"
            try:
                api.delete(f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}s/{name}")
            except Refused as error:
                if error.status != 404:
                    raise
        self.cluster.remove(COMPONENT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _token(api: Api) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
    wish = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    return str(api.create(path, wish)["status"]["token"])


def _settings(folder: Path, health: Port, metrics: Port, hook: Port, wanted: Mapping[str, Any]) -> Path:
    """Kueue's shipped settings with our addresses, then the caller's wishes.

    Its certificate rotation stays on although there is nothing to rotate: without it the manager reads the
    certificate of its metrics from a folder under /etc, which takes root. The visibility server is off for the
    same reason: it writes to a folder of its own at the root.
    """
    settings = yaml.safe_load(module.shipped_configuration().read_text())
    ours = {
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": health.address},
        "metrics": {"bindAddress": metrics.address},
        "webhook": {"host": "127.0.0.1", "port": hook.number, "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET},
        "featureGates": {"VisibilityOnDemand": False},
    }
    path = folder / "configuration.yaml"
    path.write_text(yaml.safe_dump(_over(_over(settings, ours), wanted)))
    return path


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`top` laid over `base`, mapping by mapping."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = _over(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
