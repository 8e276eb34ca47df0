"""The flags of the webhook server: their names, defaults and what makes them wrong."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from admission.configuration.koordinator import BadKoordinator, read_koordinator
from controller.kit.probes import OFF, BadAddress, address

_TOKEN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class BadSetting(ValueError):
    """Names the flag, its value and the remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    kubeconfig: str | None = None
    config: Path | None = None
    feature_gates: str = ""
    webhook_bind: str = ""  # "": what the Configuration says, else Kueue's :9443
    webhook_cert_dir: Path | None = None  # None: what the Configuration says, else an authority of our own
    metrics_bind: str = ":8090"  # not the controller's, which may run beside it
    health_bind: str = ":8091"
    namespace: str = ""  # "": the Configuration's, else the pod's
    koordinator_preset: str | None = None  # None: compatible
    koordinator_bands: str | None = None  # None: Koordinator's own
    tls_min_version: str = "VersionTLS12"  # only the Configuration says it


def parse(arguments: Sequence[str]) -> Settings:
    """Ends the process with exit code 2 and a line for a person when a flag is unknown or wrong."""
    parser = argparse.ArgumentParser("lockgate webhooks", allow_abbrev=False, description="The webhook server.")
    own = Settings()
    parser.add_argument("--kubeconfig", help="credentials; else $KUBECONFIG, ~/.kube/config or the pod's account")
    parser.add_argument("--config", type=Path, help="a Kueue Configuration file")
    parser.add_argument("--feature-gates", default="", help="Name=true,…, unless the file has featureGates")
    parser.add_argument("--webhook-bind", default=own.webhook_bind, help="HOST:PORT to serve on (:9443)")
    parser.add_argument("--webhook-cert-dir", type=Path, help="folder with tls.crt and tls.key, watched for changes")
    parser.add_argument(
        "--metrics-bind", default=own.metrics_bind, help="HOST:PORT, plain HTTP, 0 for none (%(default)s)"
    )
    parser.add_argument("--health-bind", default=own.health_bind, help="HOST:PORT, 0 for none (%(default)s)")
    parser.add_argument("--koordinator-preset", help="compatible or strict (compatible)")
    parser.add_argument("--koordinator-bands", help="priorities of Koordinator's classes, like Prod=9000-9999,…")
    parser.add_argument("--namespace", default="", help="where the Service and the Secret live")
    settings = Settings(**vars(parser.parse_args(arguments)))
    try:
        check(settings)
    except BadSetting as error:
        parser.error(str(error))
    return settings


def check(settings: Settings) -> None:
    """Raises BadSetting."""
    for flag, value in (("metrics", settings.metrics_bind), ("health", settings.health_bind)):
        if value != OFF:
            _address(f"--{flag}-bind", value)
    if settings.webhook_bind:
        _address("--webhook-bind", settings.webhook_bind)
    try:
        read_koordinator(settings.koordinator_preset, settings.koordinator_bands)
    except BadKoordinator as error:
        raise BadSetting(str(error)) from error
    folder = settings.webhook_cert_dir
    if folder is not None and not folder.is_dir():
        raise BadSetting(f"--webhook-cert-dir {folder}: no such folder; it must hold tls.crt and tls.key")


def pod_namespace() -> str:
    """The namespace of the pod this runs in, or ""."""
    try:
        return _TOKEN_NAMESPACE.read_text().strip()
    except OSError:
        return ""


def _address(flag: str, value: str) -> None:
    try:
        address(value)
    except BadAddress as error:
        raise BadSetting(f"{flag}: {error}") from error
