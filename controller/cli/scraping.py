"""What lets Prometheus scrape the controllers as it scraped Kueue: the role that its account is bound to, and the
Service that a ServiceMonitor written for Kueue looks for."""

from typing import Any

from controller.cli.roles import labelled
from controller.pages.names import METRICS_PORT, METRICS_READER, METRICS_SERVICE

# By these, in one way of installing Kueue or another, its ServiceMonitors find the Service.
_LABELS = {
    "app.kubernetes.io/name": "kueue",
    "app.kubernetes.io/component": "metrics-service",
    "control-plane": "controller-manager",
}


def reader() -> dict[str, Any]:
    """Bindings to Kueue's role of this name go on working."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": labelled(METRICS_READER),
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    }


def service(namespace: str) -> dict[str, Any]:
    metadata = labelled(METRICS_SERVICE, namespace)
    selector = {"app.kubernetes.io/name": "lockgate", "app.kubernetes.io/component": "controller"}
    port = {"name": "https", "port": METRICS_PORT, "protocol": "TCP", "targetPort": METRICS_PORT}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata, "labels": _LABELS},
        "spec": {"selector": selector, "ports": [port]},
    }
