"""What the two processes may do, and nothing more: accounts, roles and bindings as manifests."""

from collections.abc import Iterable
from typing import Any

from admission.answers.configurations import JOB_KINDS, QUEUE_KINDS, SECRET
from admission.api.crd import CONVERTED, crd_name
from admission.model.gates import DEFAULTS, Gates
from admission.model.kinds import KINDS, KUEUE
from admission.published.pending import GROUP, VERSIONS
from admission.stamping.job import DEFAULT_PRIORITY_CLASS
from controller.pages.visibility_names import SECRET as VISIBILITY_SECRET

Rule = dict[str, Any]

CONTROLLER, WEBHOOKS = "lockgate-controller", "lockgate-webhooks"
_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "update", "patch", "delete")


def manifests(namespace: str, gates: Gates = DEFAULTS) -> list[dict[str, Any]]:
    """Accounts in `namespace`, what they may do in the cluster, and what only there."""
    made = []
    for name, wide, narrow in ((CONTROLLER, _controller(), _lease()), (WEBHOOKS, _webhooks(gates), _secret())):
        made.append(_object("v1", "ServiceAccount", name, namespace))
        made.append({**_object(f"{_RBAC}/v1", "ClusterRole", name), "rules": wide})
        made.append(_binding("ClusterRoleBinding", "ClusterRole", name, namespace))
        made.append({**_object(f"{_RBAC}/v1", "Role", name, namespace), "rules": narrow})
        made.append(_binding("RoleBinding", "Role", name, namespace))
    return made


def labelled(name: str, namespace: str = "") -> dict[str, Any]:
    """Metadata of an object of ours."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "labels": {"app.kubernetes.io/name": "lockgate"},
    }


def _controller() -> list[Rule]:
    queues = [kind.plural for kind in KINDS.values() if kind.group == KUEUE]
    return [
        _may(_READ, "", "limitranges", "namespaces"),
        _may(_READ, "node.k8s.io", "runtimeclasses"),
        _may(("create", "patch"), "", "events"),
        _may(_READ, "scheduling.k8s.io", "priorityclasses"),
        _may((*_READ, "update", "patch", "delete"), "batch", "jobs"),
        _may(("update", "patch"), "batch", "jobs/status", "jobs/finalizers"),
        _may((*_READ, *_WRITE), KUEUE, *queues),
        _may(("update", "patch"), KUEUE, *(f"{plural}/status" for plural in queues)),
        _may(("update",), KUEUE, *(f"{plural}/finalizers" for plural in queues)),
        {
            **_may(("get", "patch"), "apiregistration.k8s.io", "apiservices"),
            "resourceNames": [f"{version}.{GROUP}" for version in VERSIONS],
        },
    ]


def _webhooks(gates: Gates) -> list[Rule]:
    configurations = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    ours = {"resourceNames": [JOB_KINDS, QUEUE_KINDS]}
    converted = {"resourceNames": [crd_name(kind) for kind in CONVERTED]}
    default_class = {**_may(("get",), KUEUE, "workloadpriorityclasses"), "resourceNames": [DEFAULT_PRIORITY_CLASS]}
    return [
        *([default_class] if gates["WorkloadPriorityClassDefaulting"] else ()),
        _may(_READ, "", "namespaces"),
        _may(_READ, KUEUE, "localqueues"),
        _may(("get",), "batch", "jobs"),
        {**_may(("get", "patch"), "admissionregistration.k8s.io", *configurations), **ours},
        {**_may(("get", "patch"), "apiextensions.k8s.io", "customresourcedefinitions"), **converted},
    ]


def _lease() -> list[Rule]:
    return [_may(("get", "create", "update", "patch"), "coordination.k8s.io", "leases"), *_secret(VISIBILITY_SECRET)]


def _secret(name: str = SECRET) -> list[Rule]:
    # Creating cannot be limited to a name: the object has none when the rule is asked.
    return [_may(("create",), "", "secrets"), {**_may(("get", "update"), "", "secrets"), "resourceNames": [name]}]


def _may(verbs: Iterable[str], group: str, *resources: str) -> Rule:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _binding(kind: str, role: str, name: str, namespace: str) -> dict[str, Any]:
    return {
        **_object(f"{_RBAC}/v1", kind, name, namespace if kind == "RoleBinding" else ""),
        "roleRef": {"apiGroup": _RBAC, "kind": role, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }


def _object(api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": labelled(name, namespace)}
