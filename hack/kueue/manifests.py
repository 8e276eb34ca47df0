"""Kueue's own manifests, changed where a cluster without a pod network needs it: webhooks by URL on loopback.

What would run in pods (the Deployment, its Services, the visibility API behind one of them) is left out.
"""

import base64
import subprocess
from typing import Any

import yaml

from hack.cluster.errors import HackError, tail
from hack.cluster.pki import Pair
from hack.cluster.wheels import KUBECTL, command
from hack.kueue.module import sources

NAMESPACE = "kueue-system"
ACCOUNT = "kueue-controller-manager"
SECRET = "kueue-webhook-server-cert"
SERVICE = "kueue-webhook-service"
IN_PODS = ("Deployment", "Service", "APIService", "ConfigMap")
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def manifests(server: str, ca: Pair, serving: Pair, *, webhooks: bool) -> list[dict[str, Any]]:
    """Everything to apply, in an order that works: names and kinds first, webhooks last."""
    items = [item for item in _kustomized() if item["kind"] not in IN_PODS]
    if not webhooks:
        items = [item for item in items if item["kind"] not in WEBHOOKS]
    for item in items:
        match item["kind"]:
            case "CustomResourceDefinition":
                _point(item["spec"].get("conversion", {}).get("webhook"), server, ca)
            case "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration":
                for webhook in item["webhooks"]:
                    _point(webhook, server, ca)
            case "Secret":
                item["data"] = _secret(ca, serving)
    return sorted(items, key=_rank)


def _kustomized() -> list[dict[str, Any]]:
    argv = [str(command(KUBECTL)), "kustomize", str(sources() / "config" / "default")]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise HackError(f"kubectl kustomize failed on Kueue's manifests:\n{tail(ran.stderr)}\n  needs kubectl 1.27+")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # 26,000 lines: the C one takes a second, the other ten
    return [item for item in yaml.load_all(ran.stdout, loader) if item]


def _point(webhook: dict[str, Any] | None, server: str, ca: Pair) -> None:
    """Call this webhook at the manager's own address instead of through a Service."""
    if webhook:
        path = webhook["clientConfig"]["service"]["path"]
        webhook["clientConfig"] = {"url": server + path, "caBundle": _text(ca.certificate_pem)}


def _secret(ca: Pair, serving: Pair) -> dict[str, str]:
    """What Kueue's certificate rotation looks for; it finds nothing to renew."""
    return {
        "ca.crt": _text(ca.certificate_pem),
        "ca.key": _text(ca.key_pem),
        "tls.crt": _text(serving.certificate_pem),
        "tls.key": _text(serving.key_pem),
    }


def _rank(item: dict[str, Any]) -> int:
    kind = item["kind"]
    return 0 if kind == "Namespace" else 2 if kind in WEBHOOKS else 1


def _text(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
