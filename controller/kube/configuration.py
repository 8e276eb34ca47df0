"""What Kueue's Configuration means to our processes, with their own defaults where it says nothing."""

from dataclasses import dataclass, field
from pathlib import Path

from admission.configuration import Note, Process, Reading
from admission.model.configuration import Configuration
from controller.kit.configuration import BadConfiguration, read_file
from controller.kube.lease import NAME, Timings
from controller.kube.writer import BURST, RATE

__all__ = ["BadConfiguration", "Settings", "read_settings", "settings_of"]

UNLIMITED = 1e9  # requests a second, for a negative rate


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
    metrics_bind: str = ":8443"  # HTTPS, unless it begins with http://
    metrics_cert_dir: str = ""  # "": an authority of our own
    visibility_host: str = "0.0.0.0"
    visibility_port: int = 8082
    tls_min_version: str = "VersionTLS12"
    notes: tuple[Note, ...] = ()  # what is right and has no effect


def read_settings(path: Path | None, *, feature_gates: str = "", namespace: str = "", home: str = "") -> Settings:
    """As `read_file`. Raises BadConfiguration."""
    return settings_of(read_file(path, feature_gates=feature_gates, namespace=namespace, home=home))


def settings_of(reading: Reading) -> Settings:
    usual, said = Settings(), reading.process
    return Settings(
        core=reading.core,
        leader_elect=usual.leader_elect if said.leader_elect is None else said.leader_elect,
        lease_name=said.lease_name or usual.lease_name,
        lease_namespace=said.lease_namespace or usual.lease_namespace,
        timings=Timings(
            lease=said.lease_duration or usual.timings.lease,
            deadline=said.renew_deadline or usual.timings.deadline,
            retry=said.retry_period or usual.timings.retry,
        ),
        requests_per_second=_rate(said),
        request_burst=said.request_burst or usual.request_burst,
        health_bind=said.health_bind or usual.health_bind,
        webhook_host=said.webhook_host or usual.webhook_host,
        webhook_port=said.webhook_port or usual.webhook_port,
        webhook_cert_dir=said.webhook_cert_dir or usual.webhook_cert_dir,
        metrics_bind=said.metrics_bind or usual.metrics_bind,
        metrics_cert_dir=said.metrics_cert_dir or usual.metrics_cert_dir,
        visibility_host=said.visibility_host or usual.visibility_host,
        visibility_port=said.visibility_port or usual.visibility_port,
        tls_min_version=said.tls_min_version or usual.tls_min_version,
        notes=reading.notes,
    )


def _rate(said: Process) -> float:
    if said.requests_per_second is None:
        return RATE
    return said.requests_per_second if said.requests_per_second > 0 else UNLIMITED
