"""What makes the API server pass the visibility API on to us: a Service, two APIServices, and who may do what."""

from typing import Any
from urllib.parse import urlsplit

from admission.published.pending import GROUP, VERSIONS
from controller.cli.roles import CONTROLLER, labelled
from controller.pages.names import VISIBILITY_SERVICE

PORT = 8082  # of the controller; Kueue's
_RBAC = "rbac.authorization.k8s.io"
# Kueue's labels: roles of people who administer or use queues are put together from them.
_VIEWERS = {
    "clusterqueues": ("pending-workloads-cq-viewer", ("batch-admin",)),
    "localqueues": ("pending-workloads-lq-viewer", ("batch-admin", "batch-user")),
}


def manifests(namespace: str, url: str | None) -> list[dict[str, Any]]:
    """`url`: https://HOST:PORT of a controller that no Service of pods leads to. The authority to trust is added by
    the controllers themselves."""
    services = [_api_service(namespace, version, _port_of(url)) for version in VERSIONS]
    return [*_viewers(), _service(namespace, url), *services]


def _service(namespace: str, url: str | None) -> dict[str, Any]:
    spec: dict[str, Any]
    if url is None:
        selector = {"app.kubernetes.io/name": "lockgate", "app.kubernetes.io/component": "controller"}
        spec = {"selector": selector, "ports": [{"name": "https", "port": 443, "targetPort": PORT}]}
    else:
        spec = {"type": "ExternalName", "externalName": urlsplit(url).hostname}
    return {"apiVersion": "v1", "kind": "Service", "metadata": labelled(VISIBILITY_SERVICE, namespace), "spec": spec}


def _port_of(url: str | None) -> int:
    return 443 if url is None else urlsplit(url).port or 443


def _api_service(namespace: str, version: str, port: int) -> dict[str, Any]:
    spec = {
        "group": GROUP,
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"namespace": namespace, "name": VISIBILITY_SERVICE, "port": port},
    }
    metadata = labelled(f"{version}.{GROUP}")
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec}


def rights(namespace: str) -> list[dict[str, Any]]:
    """Of the controller, whether others are led to it or not: to ask who calls and what they may do, and to learn what
    the front proxy looks like."""
    return [
        _binding("ClusterRoleBinding", labelled("lockgate-auth-delegator"), "system:auth-delegator", namespace),
        _binding(
            "RoleBinding",
            labelled("lockgate-visibility-auth-reader", "kube-system"),
            "extension-apiserver-authentication-reader",
            namespace,
        ),
    ]


def _binding(kind: str, metadata: dict[str, Any], role: str, namespace: str) -> dict[str, Any]:
    role_kind = "ClusterRole" if kind == "ClusterRoleBinding" else "Role"
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": role_kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": CONTROLLER, "namespace": namespace}],
    }


def _viewers() -> list[dict[str, Any]]:
    """Roles of people, which the cluster's own view, edit and admin take in."""
    made = []
    for resource, (name, audiences) in _VIEWERS.items():
        metadata = labelled(f"lockgate-{name}-role")
        metadata["labels"] |= {"rbac.kueue.x-k8s.io/role": name}
        metadata["labels"] |= {f"rbac.kueue.x-k8s.io/{audience}": "true" for audience in audiences}
        metadata["labels"] |= {f"{_RBAC}/aggregate-to-{role}": "true" for role in ("view", "edit", "admin")}
        rule = {"apiGroups": [GROUP], "resources": [f"{resource}/pendingworkloads"], "verbs": ["get", "list", "watch"]}
        made.append({"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": [rule]})
    return made
