"""What the API server is told about our webhooks, as manifests: one pair for the queue kinds, one for job kinds.

The blast radius is kept small here. A job that names no queue is never stopped by our absence: its entry is `Ignore`
and only looks whether the namespace has a default queue. Entries of kinds that a cluster does not serve do nothing, so
all that are built in stand there from the start; those of described kinds are added while the webhooks run.
"""

from collections.abc import Callable, Mapping
from typing import Any

from admission.answers import conditions
from admission.answers.conditions import Condition
from admission.answers.hooks import DESCRIBED, HOOKS, POD_HOOKS, Hook, Verb, job_hooks
from admission.jobs.descriptor import Descriptor
from admission.jobs.registry import JobKinds
from admission.model.configuration import Configuration
from admission.model.kinds import KINDS, kind_of
from admission.model.selectors import LabelRule, Selector

SERVICE = "kueue-webhook-service"  # the names that Kueue's own manifests and Configuration use
SECRET = "kueue-webhook-server-cert"
QUEUE_KINDS, JOB_KINDS = "lockgate-queue-kinds", "lockgate-job-kinds"
TIMEOUT_SECONDS = 5  # an answer takes a millisecond; a write should not hang for longer than a person waits

CONFIGURATION_KINDS: Mapping[Verb, str] = {
    "mutate": "MutatingWebhookConfiguration",
    "validate": "ValidatingWebhookConfiguration",
}
_VERBS: tuple[Verb, ...] = ("validate", "mutate")

ClientConfig = Callable[[str], dict[str, Any]]  # path -> clientConfig

# Namespaces that must work before we do, and without us.
_SYSTEM = ("kube-node-lease", "kube-public", "kube-system")


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
    """The Mutating- and ValidatingWebhookConfigurations of what is built in, in the order in which they should be
    applied."""
    kinds = JobKinds(configuration.frameworks)
    made = []
    for verb in _VERBS:
        queues = [each for hook in HOOKS if hook.verb == verb for each in _queue_entries(hook, client, configuration)]
        made.append(_configuration(verb, QUEUE_KINDS, queues))
    for verb in _VERBS:
        jobs = [each for kind in kinds for each in _job_entries(verb, kind, kinds[kind], client, configuration)]
        made.append(_configuration(verb, JOB_KINDS, jobs))
    return tuple(each for each in made if each["webhooks"])


def described_entries(
    verb: Verb, kinds: JobKinds, client: ClientConfig, configuration: Configuration
) -> list[dict[str, Any]]:
    """What the configuration of job kinds lacks for those kinds that are described and not built in."""
    described = [kind for kind in kinds if kind not in KINDS]
    return [each for kind in described for each in _job_entries(verb, kind, kinds[kind], client, configuration)]


def pod_entries(verb: Verb, client: ClientConfig, configuration: Configuration) -> list[dict[str, Any]]:
    """What it lacks while the cluster has something that is about plain Pods. Once is enough: a profile that was
    applied is not to be matched with its own labels."""
    hook = next(each for each in POD_HOOKS if each.verb == verb)
    where = _selector(Selector((asked_about(configuration),)))
    if verb == "mutate":
        return [_entry(hook, client, (conditions.ALIVE,), namespaceSelector=where, reinvocationPolicy="Never")]
    return [_entry(hook, client, (conditions.ALIVE, conditions.POD_CHANGED), namespaceSelector=where)]


def comes_and_goes(name: str) -> bool:
    """Whether a webhook of this name is one of `described_entries` or `pod_entries`, now or earlier."""
    return name.endswith(f".{DESCRIBED}") or any(name == hook.name for hook in POD_HOOKS)


def _configuration(verb: Verb, name: str, webhooks: list[dict[str, Any]]) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "lockgate", "app.kubernetes.io/component": "webhooks"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": CONFIGURATION_KINDS[verb],
        "metadata": {"name": name, "labels": labels},
        "webhooks": webhooks,
    }


def _queue_entries(hook: Hook, client: ClientConfig, configuration: Configuration) -> list[dict[str, Any]]:
    if hook.of_jobs or hook in POD_HOOKS:
        return []
    if hook.verb == "mutate":
        if hook.kind == "Workload" and configuration.gates["PartialAdmission"]:
            return []  # it would have nothing to do
        return [_entry(hook, client, ())]
    if hook.kind == "ElasticQuota":
        return [_entry(hook, client, (conditions.QUOTA_ALIVE, conditions.QUOTA_CHANGED))]
    changed = conditions.WORKLOAD_CHANGED if hook.kind == "Workload" else conditions.SPEC_CHANGED
    return [_entry(hook, client, (conditions.ALIVE, changed))]


def _job_entries(
    verb: Verb, kind: str, descriptor: Descriptor, client: ClientConfig, configuration: Configuration
) -> list[dict[str, Any]]:
    everywhere = _selector(Selector((asked_about(configuration),)))
    managed = _selector(Selector((asked_about(configuration), *configuration.managed_jobs_namespace_selector.rules)))
    without = configuration.manage_jobs_without_queue_name
    hook = next(each for each in job_hooks(kind) if each.verb == verb)
    if verb == "validate":
        whom = () if without else (conditions.EVER_QUEUED,)
        return [_entry(hook, client, (conditions.ALIVE, *whom, conditions.changed(kind)), namespaceSelector=everywhere)]
    released = conditions.new_or_released(kind, descriptor.hold)
    queued = _entry(hook, client, (conditions.ALIVE, conditions.QUEUED, released), namespaceSelector=everywhere)
    unqueued = _entry(
        hook,
        client,
        (conditions.ALIVE, conditions.UNQUEUED, released if without else conditions.NEW),
        name=f"unqueued.{hook.name}",
        namespaceSelector=managed,
        failurePolicy="Fail" if without else "Ignore",
    )
    return [queued, unqueued]


def asked_about(configuration: Configuration) -> LabelRule:
    """Of the namespaces whose jobs and pods pass through here."""
    return LabelRule("kubernetes.io/metadata.name", "NotIn", tuple(sorted({*_SYSTEM, configuration.namespace})))


def _entry(hook: Hook, client: ClientConfig, matching: tuple[Condition, ...], **more: Any) -> dict[str, Any]:
    scope = "Namespaced" if hook.of_jobs or kind_of(hook.kind).namespaced else "Cluster"
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
    if matching:
        entry["matchConditions"] = [{"name": name, "expression": rule} for name, rule in matching]
    if hook.verb == "mutate":
        entry["reinvocationPolicy"] = "IfNeeded"
    return {**entry, **more}


def _selector(selector: Selector) -> Mapping[str, Any]:
    rules = [
        {"key": rule.key, "operator": rule.operator, **({"values": list(rule.values)} if rule.values else {})}
        for rule in selector.rules
    ]
    return {"matchExpressions": rules}
