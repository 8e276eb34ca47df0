"""Kueue's Configuration file, as far as it means something here.

A key that would do nothing is an error: whoever sets it expects an effect. Keys and defaults are Kueue's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from admission.model.configuration import Configuration
from admission.model.durations import BadDuration, duration
from admission.model.selectors import read_selector
from controller.kube.lease import NAME, Timings
from controller.kube.writer import BURST, RATE


class BadConfiguration(ValueError):
    """The message names file, key and remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the file says: to the core, and to the processes around it."""

    core: Configuration = field(default_factory=Configuration)
    leader_elect: bool = True
    lease_name: str = NAME
    lease_namespace: str = ""  # "": the core's namespace
    timings: Timings = field(default_factory=Timings)
    requests_per_second: float = RATE
    request_burst: int = BURST
    health_bind: str = ":8081"
    webhook_host: str = ""
    webhook_port: int = 9443
    webhook_cert_dir: str = ""  # "": an authority of our own
    metrics_bind: str = ":8080"  # plain HTTP; Kueue's :8443 is HTTPS with its own authorisation


def read_settings(path: Path) -> Settings:
    """Raises BadConfiguration."""
    try:
        content = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadConfiguration(f"{path}: {_unreadable(error)}") from error
    if not isinstance(content, dict):
        raise BadConfiguration(f"{path}: must be one YAML object of kind Configuration")
    try:
        return _settings(_Keys(content))
    except (ValueError, TypeError) as error:
        raise BadConfiguration(f"{path}: {error}") from error


def _unreadable(error: Exception) -> str:
    """In one line: a parser's own message has half a dozen."""
    if isinstance(error, ComposerError) and error.context == "expected a single document in the stream":
        return "holds several documents; must be one YAML object of kind Configuration"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"cannot be read: line {error.problem_mark.line + 1} is not YAML: {error.problem}"
    return f"cannot be read: {' '.join(str(error).split())}"


class _Keys:
    """A mapping that is taken apart key by key; what is left over at the end is unknown."""

    def __init__(self, content: Any, where: str = "") -> None:
        if content is not None and not isinstance(content, Mapping):
            raise ValueError(f"{where or 'the file'} must be a mapping, not {type(content).__name__}")
        self._left = dict(content or {})
        self._where = where

    def take(self, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        value = self._left.pop(key, None)
        if value is None:
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"{self._name(key)}: {value!r} is not a {_KIND_NAMES[kind]}")
        return value

    def seconds(self, key: str, default: float) -> float:
        text = self.take(key, str, None)
        try:
            return default if text is None else duration(text)
        except BadDuration as error:
            raise ValueError(f"{self._name(key)}: {error}") from error

    def part(self, key: str) -> "_Keys":
        return _Keys(self._left.pop(key, None), self._name(key))

    def end(self) -> None:
        if self._left:
            keys = ", ".join(self._name(key) for key in sorted(map(str, self._left)))
            raise ValueError(f"{keys}: unknown, or without effect in this version; remove it")

    def _name(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key


# The job kinds of this version, by Kueue's names for them. Kueue manages none that is not listed.
FRAMEWORKS = ("batch/job",)

_KIND_NAMES: Mapping[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "whole number",
    (int, float): "number",
    dict: "mapping",
    list: "list",
}


def _settings(keys: _Keys) -> Settings:
    kind = keys.take("kind", str, "Configuration")
    version = keys.take("apiVersion", str, "config.kueue.x-k8s.io/v1beta2")
    if kind != "Configuration" or not version.startswith("config.kueue.x-k8s.io/"):
        raise ValueError(f"is a {version} {kind}, not a config.kueue.x-k8s.io Configuration")
    usual = Settings()
    core = replace(
        usual.core,
        namespace=keys.take("namespace", str, usual.core.namespace),
        manage_jobs_without_queue_name=keys.take("manageJobsWithoutQueueName", bool, False),
    )
    selector = keys.take("managedJobsNamespaceSelector", dict, None)
    if selector is not None:
        read = read_selector(selector)
        assert read is not None, "only null selects nothing"
        core = replace(core, managed_jobs_namespace_selector=read)
    lease, connection = keys.part("leaderElection"), keys.part("clientConnection")
    health, metrics, webhook = keys.part("health"), keys.part("metrics"), keys.part("webhook")
    settings = Settings(
        core=core,
        leader_elect=lease.take("leaderElect", bool, usual.leader_elect),
        lease_name=lease.take("resourceName", str, usual.lease_name),
        lease_namespace=lease.take("resourceNamespace", str, ""),
        timings=Timings(
            lease=lease.seconds("leaseDuration", usual.timings.lease),
            deadline=lease.seconds("renewDeadline", usual.timings.deadline),
            retry=lease.seconds("retryPeriod", usual.timings.retry),
        ),
        requests_per_second=float(connection.take("qps", (int, float), usual.requests_per_second)),
        request_burst=connection.take("burst", int, usual.request_burst),
        health_bind=health.take("healthProbeBindAddress", str, usual.health_bind),
        metrics_bind=metrics.take("bindAddress", str, usual.metrics_bind),
        webhook_host=webhook.take("host", str, usual.webhook_host),
        webhook_port=webhook.take("port", int, usual.webhook_port),
        webhook_cert_dir=webhook.take("certDir", str, usual.webhook_cert_dir),
    )
    integrations = keys.part("integrations")
    frameworks = integrations.take("frameworks", list, list(FRAMEWORKS))
    missing = [str(name) for name in frameworks if name not in FRAMEWORKS]
    if missing or not frameworks:
        known = ", ".join(FRAMEWORKS)
        raise ValueError(f"integrations.frameworks: {missing or 'nothing'}: this version has {known}; list just that")
    for part in (lease, connection, health, metrics, webhook, integrations, keys):
        part.end()
    return settings
