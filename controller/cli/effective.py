"""Settings written out as the Configuration file would say them, whatever said them: for people, and to compare."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from admission.configuration.integrations import FRAMEWORKS
from admission.model.configuration import Configuration, Transformation
from admission.model.selectors import Selector
from controller.kube.configuration import UNLIMITED, Settings

Flat = dict[str, Any]


def effective(settings: Settings) -> dict[str, Any]:
    """JSON-shaped, in the field names of v1beta2; what is off is null."""
    return {**_core(settings.core), **_processes(settings)}


def flat(content: Mapping[str, Any], above: str = "") -> Flat:
    """Each value by its dotted path; lists stay whole."""
    found: Flat = {}
    for name, value in content.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, Mapping) and value:
            found |= flat(value, path)
        else:
            found[path] = value
    return found


def go_duration(seconds: float) -> str:
    """`1h30m`, as the file would say it; milliseconds are the finest."""
    whole, milli = divmod(round(seconds * 1000), 1000)
    parts = [(whole // 3600, "h"), (whole // 60 % 60, "m"), (whole % 60, "s"), (milli, "ms")]
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"


def _core(core: Configuration) -> dict[str, Any]:
    pods, fair, admission = core.wait_for_pods_ready, core.fair_sharing, core.admission_fair_sharing
    return {
        "namespace": core.namespace,
        "manageJobsWithoutQueueName": core.manage_jobs_without_queue_name,
        "managedJobsNamespaceSelector": _selector(core.managed_jobs_namespace_selector),
        "waitForPodsReady": pods
        and {
            "timeout": go_duration(pods.timeout),
            "recoveryTimeout": None if pods.recovery_timeout is None else go_duration(pods.recovery_timeout),
            "blockAdmission": pods.block_admission,
            "requeuingStrategy": {
                "timestamp": pods.requeuing_timestamp,
                "backoffLimitCount": pods.backoff_limit_count,
                "backoffBaseSeconds": pods.backoff_base_seconds,
                "backoffMaxSeconds": pods.backoff_max_seconds,
            },
        },
        "fairSharing": fair and {"preemptionStrategies": [*fair.preemption_strategies]},
        "admissionFairSharing": admission
        and {
            "usageHalfLifeTime": go_duration(admission.usage_half_life),
            "usageSamplingInterval": go_duration(admission.usage_sampling_interval),
            "resourceWeights": {name: float(weight) for name, weight in admission.resource_weights.items()},
        },
        "resources": {
            "quotaCheckStrategy": "IgnoreUndeclared" if core.resources.ignore_undeclared else "BlockUndeclared",
            "excludeResourcePrefixes": [*core.resources.exclude_prefixes],
            "transformations": [_transformation(one) for one in core.resources.transformations],
        },
        "objectRetentionPolicies": {
            "workloads": {
                "afterFinished": _kept(core.retention.after_finished),
                "afterDeactivatedByKueue": _kept(core.retention.after_deactivated),
            }
        },
        "integrations": {
            "frameworks": _frameworks(core.frameworks),
            "labelKeysToCopy": [*core.label_keys_to_copy],
        },
        "featureGates": core.gates.all(),
    }


def _frameworks(kinds: tuple[str, ...] | None) -> str | list[str]:
    return "all" if kinds is None else [name for name, kind in FRAMEWORKS.items() if kind in kinds]


def _processes(settings: Settings) -> dict[str, Any]:
    metrics, unlimited = settings.core.metrics, settings.requests_per_second >= UNLIMITED
    return {
        "leaderElection": {
            "leaderElect": settings.leader_elect,
            "leaseDuration": go_duration(settings.timings.lease),
            "renewDeadline": go_duration(settings.timings.deadline),
            "retryPeriod": go_duration(settings.timings.retry),
            "resourceName": settings.lease_name,
            "resourceNamespace": settings.lease_namespace or settings.core.namespace,
        },
        "clientConnection": {
            "qps": -1.0 if unlimited else settings.requests_per_second,
            "burst": settings.request_burst,
        },
        "health": {"healthProbeBindAddress": settings.health_bind},
        "metrics": {
            "bindAddress": settings.metrics_bind,
            "enableClusterQueueResources": metrics.cluster_queue_resources,
            "localQueueMetrics": {
                "enable": metrics.local_queues is not None,
                "localQueueSelector": None if metrics.local_queues is None else _selector(metrics.local_queues),
            },
        },
        "webhook": {
            "host": settings.webhook_host,
            "port": settings.webhook_port,
            "certDir": settings.webhook_cert_dir or None,
        },
        "visibilityServer": {"bindAddress": settings.visibility_host, "bindPort": settings.visibility_port},
        "tls": {"minVersion": settings.tls_min_version},
    }


def _kept(seconds: float | None) -> str | None:
    return None if seconds is None else go_duration(seconds)


def _selector(selector: Selector) -> dict[str, Any]:
    rules = [rule._asdict() for rule in selector.rules]
    return {"matchExpressions": [{**rule, "values": [*rule["values"]]} for rule in rules]} if rules else {}


def _transformation(one: Transformation) -> dict[str, Any]:
    said = asdict(one)
    outputs = {name: _quantity(value) for name, value in said["outputs"].items()}
    strategy = "Replace" if one.replace else "Retain"
    return {"input": one.input, "strategy": strategy, "multiplyBy": one.multiply_by, "outputs": outputs}


def _quantity(value: Fraction) -> str:
    """Whole, or as fine as Kubernetes can say it."""
    for scale, suffix in ((1, ""), (10**3, "m"), (10**6, "u"), (10**9, "n")):
        if (value * scale).denominator == 1:
            return f"{value * scale}{suffix}"
    return f"{float(value)}"
