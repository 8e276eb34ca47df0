"""What the two processes may do, and nothing more: accounts, roles and bindings as manifests."""

from collections.abc import Iterable
from typing import Any

from admission.answers.configurations import JOB_KINDS, QUEUE_KINDS, SECRET
from admission.api.crd import CONVERTED, crd_name
from admission.model.job_kind import AGGREGATE_LABEL
from admission.model.kinds import COUNTED, JOBS, KINDS, KUEUE, LOCKGATE, SINGLE, WATCHED, Kind
from admission.published.pending import GROUP, VERSIONS
from controller.pages.names import SECRET as CONTROLLER_SECRET

Rule = dict[str, Any]

CONTROLLER, WEBHOOKS = "lockgate-controller", "lockgate-webhooks"
DESCRIBED = "lockgate-job-kinds"  # what people's ClusterRoles add to, for the kinds of their JobKinds
_RBAC = "rbac.authorization.k8s.io"
_WATCH = ("list", "watch")


def manifests(namespace: str) -> list[dict[str, Any]]:
    """Accounts in `namespace`, what they may do in the cluster, and what only there."""
    made = []
    webhooks = [*_secret(), *_single()]
    for name, wide, narrow in ((CONTROLLER, _controller(), _lease()), (WEBHOOKS, _webhooks(), webhooks)):
        made.append(_object("v1", "ServiceAccount", name, namespace))
        made.append({**_object(f"{_RBAC}/v1", "ClusterRole", name), "rules": wide})
        made.append(_binding("ClusterRoleBinding", "ClusterRole", name, namespace))
        made.append({**_object(f"{_RBAC}/v1", "Role", name, namespace), "rules": narrow})
        made.append(_binding("RoleBinding", "Role", name, namespace))
    return [*made, *_described(namespace)]


def _described(namespace: str) -> list[dict[str, Any]]:
    """A role without rules of its own: Kubernetes fills in those of the ClusterRoles that have the label."""
    chosen = {"matchLabels": {AGGREGATE_LABEL: "true"}}
    role = {
        **_object(f"{_RBAC}/v1", "ClusterRole", DESCRIBED),
        "aggregationRule": {"clusterRoleSelectors": [chosen]},
    }
    return [role, _binding("ClusterRoleBinding", "ClusterRole", DESCRIBED, namespace, (CONTROLLER, WEBHOOKS))]


def labelled(name: str, namespace: str = "") -> dict[str, Any]:
    """Metadata of an object of ours."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "labels": {"app.kubernetes.io/name": "lockgate"},
    }


def _controller() -> list[Rule]:
    """Everything is read by lists and watches; jobs and Workloads singly too, where a write ended in doubt."""
    watched = [KINDS[name] for name in (*WATCHED, *COUNTED) if name not in SINGLE]
    return [
        *(
            _may(_WATCH, group, *(kind.plural for kind in watched if kind.group == group))
            for group in dict.fromkeys(kind.group for kind in watched)
        ),
        _may(("create", "patch"), "", "events"),
        *jobs_of_kinds(KINDS[name] for name in JOBS),
        _may(("patch",), "batch", "jobs/status"),
        _may(("get", "create", "patch", "delete"), KUEUE, "workloads"),
        _may(("create",), KUEUE, "localqueues"),
        _may(("patch",), KUEUE, "admissionchecks", "clusterqueues", "resourceflavors"),
        _may(("patch",), KUEUE, "clusterqueues/status", "cohorts/status", "localqueues/status", "workloads/status"),
        _may(("patch",), KINDS["ElasticQuota"].group, "elasticquotas", "elasticquotas/status"),
        _may(("patch",), LOCKGATE, "jobkinds/status", "jobprofiles/status", "queuepolicies/status"),
        {
            **_may(("get", "patch"), "apiregistration.k8s.io", "apiservices"),
            "resourceNames": [f"{version}.{GROUP}" for version in VERSIONS],
        },
    ]


def jobs_of_kinds(kinds: Iterable[Kind]) -> list[Rule]:
    """What it takes, besides watching, to start and stop jobs of these kinds."""
    return [
        rule
        for group, names in _by_group(kinds)
        for rule in (
            _may(("get", "patch", "delete"), group, *names),
            # Some clusters guard who may make an object own something.
            _may(("update",), group, *(f"{name}/finalizers" for name in names)),
        )
    ]


def _by_group(kinds: Iterable[Kind]) -> Iterable[tuple[str, list[str]]]:
    """Groups, and the plurals of those of the kinds that are in each."""
    plurals: dict[str, list[str]] = {}
    for kind in kinds:
        plurals.setdefault(kind.group, []).append(kind.plural)
    return plurals.items()


def _webhooks() -> list[Rule]:
    configurations = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    ours = {"resourceNames": [JOB_KINDS, QUEUE_KINDS]}
    converted = {"resourceNames": [crd_name(kind) for kind in CONVERTED]}
    return [
        _may(("get",), KUEUE, "workloadpriorityclasses"),  # whether there is a default one, and what policies allow
        _may(("list",), "", "pods"),  # whether any names an elastic quota that is to go
        _may(_WATCH, KINDS["ElasticQuota"].group, "elasticquotas"),
        _may(_WATCH, "", "namespaces"),
        _may(_WATCH, KUEUE, "clusterqueues", "cohorts", "localqueues"),
        _may(_WATCH, LOCKGATE, *(KINDS[name].plural for name in ("JobKind", "JobProfile", "QueuePolicy"))),
        *(
            _may(_WATCH, KINDS[kind].group, KINDS[kind].plural)
            for kind in ("ClusterColocationProfile", "PriorityClass")
        ),
        *(_may(("get",), group, *plurals) for group, plurals in _by_group(KINDS[name] for name in JOBS)),
        {**_may(("get", "patch"), "admissionregistration.k8s.io", *configurations), **ours},
        {**_may(("get", "patch"), "apiextensions.k8s.io", "customresourcedefinitions"), **converted},
    ]


def _lease() -> list[Rule]:
    leases = _may(("get", "create", "update"), "coordination.k8s.io", "leases")
    templates = _may(("get",), KUEUE, "localqueues")  # from which profiles have others made
    return [leases, templates, *_secret(CONTROLLER_SECRET), *_single()]


def _single() -> list[Rule]:
    """Kinds of which one object is read."""
    return [
        {**_may(_WATCH, KINDS[kind].group, KINDS[kind].plural), "resourceNames": [name]}
        for kind, name in SINGLE.items()
    ]


def _secret(name: str = SECRET) -> list[Rule]:
    # Creating cannot be limited to a name: the object has none when the rule is asked.
    return [_may(("create",), "", "secrets"), {**_may(("get", "update"), "", "secrets"), "resourceNames": [name]}]


def _may(verbs: Iterable[str], group: str, *resources: str) -> Rule:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _binding(kind: str, role: str, name: str, namespace: str, accounts: Iterable[str] = ()) -> dict[str, Any]:
    """`accounts`: when they are not called like the role."""
    subjects = [{"kind": "ServiceAccount", "name": one, "namespace": namespace} for one in accounts or (name,)]
    return {
        **_object(f"{_RBAC}/v1", kind, name, namespace if kind == "RoleBinding" else ""),
        "roleRef": {"apiGroup": _RBAC, "kind": role, "name": name},
        "subjects": subjects,
    }


def _object(api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": labelled(name, namespace)}
