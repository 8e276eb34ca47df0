"""What the API server is told about our webhooks, as manifests: one pair for the queue kinds, one for job kinds.

The blast radius is kept small here. A job that names no queue is never stopped by our absence: its entry is `Ignore`
and only looks whether the namespace has a default queue. What the rules would let pass anyway is left out by
matchConditions, so that it costs the API server a comparison instead of a call.
"""

from collections.abc import Callable, Mapping
from typing import Any

from admission.answers.hooks import HOOKS, Hook
from admission.model.configuration import Configuration
from admission.model.names import QUEUE_NAME, WORKLOAD_ANNOTATION
from admission.model.selectors import LabelRule, Selector

SERVICE = "kueue-webhook-service"  # the names that Kueue's own manifests and Configuration use
SECRET = "kueue-webhook-server-cert"
QUEUE_KINDS, JOB_KINDS = "lockgate-queue-kinds", "lockgate-job-kinds"
TIMEOUT_SECONDS = 5  # an answer takes a millisecond; a write should not hang for longer than a person waits

ClientConfig = Callable[[str], dict[str, Any]]  # path -> clientConfig
Condition = tuple[str, str]  # name, CEL

# Namespaces that must work before we do, and without us.
_SYSTEM = ("kube-node-lease", "kube-public", "kube-system")

_LABELS = "(has({0}.metadata.labels) ? {0}.metadata.labels : {{}})"
_ANNOTATIONS = "(has({0}.metadata.annotations) ? {0}.metadata.annotations : {{}})"
_NEAR = (
    "has({0}.spec.template.metadata) && has({0}.spec.template.metadata.annotations) && "
    "{0}.spec.template.metadata.annotations.exists(name, name.startsWith('kueue.x-k8s.io/podset-'))"
)
_PODS = "[{0}.spec.parallelism, has({0}.spec.completions) ? {0}.spec.completions : -1]"
_SUSPENDED = "(has({0}.spec.suspend) && {0}.spec.suspend)"
_CREATES = "request.operation == 'CREATE'"
_NAMES_QUEUE = f"has({{0}}.metadata.labels) && '{QUEUE_NAME}' in {{0}}.metadata.labels"
_STARTED = (
    "has(object.spec.template.metadata) && has(object.spec.template.metadata.annotations) && "
    f"'{WORKLOAD_ANNOTATION}' in object.spec.template.metadata.annotations"
)

_ALIVE: Condition = ("is-not-being-deleted", "!has(object.metadata.deletionTimestamp)")
_QUEUED: Condition = ("names-a-queue", _NAMES_QUEUE.format("object"))
_UNQUEUED: Condition = ("names-no-queue", f"!({_NAMES_QUEUE.format('object')})")
_EVER_QUEUED: Condition = (
    "names-or-named-a-queue",
    f"({_NAMES_QUEUE.format('object')}) || (oldObject != null && {_NAMES_QUEUE.format('oldObject')})",
)
_IS_NEW_OR_RELEASED: Condition = (
    "is-new-or-released-by-hand",
    f"{_CREATES} || ({_SUSPENDED.format('oldObject')} && !{_SUSPENDED.format('object')} && !({_STARTED}))",
)
_JOB_CHANGED: Condition = (
    "changes-what-is-checked",
    " || ".join(
        (
            _CREATES,
            *(f"{part.format('object')} != {part.format('oldObject')}" for part in (_LABELS, _ANNOTATIONS, _PODS)),
            f"({_NEAR.format('object')})",
        )
    ),
)
_SPEC = "(has({0}.spec) ? {0}.spec : {{}})"
_SPEC_DIFFERS = f"{_SPEC.format('object')} != {_SPEC.format('oldObject')}"
_ANNOTATIONS_DIFFER = f"{_ANNOTATIONS.format('object')} != {_ANNOTATIONS.format('oldObject')}"
_SPEC_CHANGED: Condition = ("changes-its-spec", f"{_CREATES} || {_SPEC_DIFFERS}")
# A request for the object itself has no such key at all, and CEL fails on what is missing.
_OF_STATUS = "(has(request.subResource) && request.subResource == 'status')"
_WORKLOAD_CHANGED: Condition = (
    "changes-what-is-checked",
    f"{_CREATES} || {_OF_STATUS} || {_SPEC_DIFFERS} || {_ANNOTATIONS_DIFFER}",
)


def by_service(namespace: str, ca_bundle: str = "", port: int = 443) -> ClientConfig:
    """`ca_bundle` in base64, as the API server wants it; empty leaves what is there to whoever owns it."""

    def config(path: str) -> dict[str, Any]:
        service = {"namespace": namespace, "name": SERVICE, "path": path, "port": port}
        return {"service": service, **({"caBundle": ca_bundle} if ca_bundle else {})}

    return config


def by_url(base: str, ca_bundle: str = "") -> ClientConfig:
    """For clusters that can't route to Services: `https://host:port`."""

    def config(path: str) -> dict[str, Any]:
        return {"url": base.rstrip("/") + path, **({"caBundle": ca_bundle} if ca_bundle else {})}

    return config


def webhook_configurations(client: ClientConfig, configuration: Configuration) -> tuple[dict[str, Any], ...]:
    """The Mutating- and ValidatingWebhookConfigurations, in the order in which they should be applied."""
    return tuple(
        _configuration(verb, name, webhooks)
        for name, entries in ((QUEUE_KINDS, _queue_entries), (JOB_KINDS, _job_entries))
        for verb in ("validate", "mutate")
        if (
            webhooks := [entry for hook in HOOKS if hook.verb == verb for entry in entries(hook, client, configuration)]
        )
    )


def _configuration(verb: str, name: str, webhooks: list[dict[str, Any]]) -> dict[str, Any]:
    kind = "MutatingWebhookConfiguration" if verb == "mutate" else "ValidatingWebhookConfiguration"
    labels = {"app.kubernetes.io/name": "lockgate", "app.kubernetes.io/component": "webhooks"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": labels},
        "webhooks": webhooks,
    }


def _queue_entries(hook: Hook, client: ClientConfig, configuration: Configuration) -> list[dict[str, Any]]:
    if hook.group == "batch":
        return []
    if hook.verb == "mutate":
        if hook.kind == "Workload" and configuration.gates["PartialAdmission"]:
            return []  # it would have nothing to do
        return [_entry(hook, client, ())]
    return [_entry(hook, client, (_ALIVE, _WORKLOAD_CHANGED if hook.kind == "Workload" else _SPEC_CHANGED))]


def _job_entries(hook: Hook, client: ClientConfig, configuration: Configuration) -> list[dict[str, Any]]:
    if hook.group != "batch":
        return []
    outside = LabelRule("kubernetes.io/metadata.name", "NotIn", tuple(sorted({*_SYSTEM, configuration.namespace})))
    everywhere = _selector(Selector((outside,)))
    managed = _selector(Selector((outside, *configuration.managed_jobs_namespace_selector.rules)))
    without = configuration.manage_jobs_without_queue_name
    if hook.verb == "validate":
        return [_entry(hook, client, (_ALIVE, _EVER_QUEUED, _JOB_CHANGED), namespaceSelector=everywhere)]
    queued = _entry(hook, client, (_ALIVE, _QUEUED, _IS_NEW_OR_RELEASED), namespaceSelector=everywhere)
    unqueued = _entry(
        hook,
        client,
        (_ALIVE, _UNQUEUED, _IS_NEW_OR_RELEASED if without else ("is-new", _CREATES)),
        name=f"unqueued.{hook.name}",
        namespaceSelector=managed,
        failurePolicy="Fail" if without else "Ignore",
    )
    return [queued, unqueued]


def _entry(hook: Hook, client: ClientConfig, conditions: tuple[Condition, ...], **more: Any) -> dict[str, Any]:
    scope = "Namespaced" if hook.kind in ("Job", "Workload") else "Cluster"
    rule = {
        "apiGroups": [hook.group],
        "apiVersions": [hook.version],
        "operations": list(hook.operations),
        "resources": list(hook.resources),
        "scope": scope,
    }
    entry: dict[str, Any] = {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client(hook.path),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "rules": [rule],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    if conditions:
        entry["matchConditions"] = [{"name": name, "expression": rule} for name, rule in conditions]
    if hook.verb == "mutate":
        entry["reinvocationPolicy"] = "IfNeeded"
    return {**entry, **more}


def _selector(selector: Selector) -> Mapping[str, Any]:
    rules = [
        {"key": rule.key, "operator": rule.operator, **({"values": list(rule.values)} if rule.values else {})}
        for rule in selector.rules
    ]
    return {"matchExpressions": rules}
