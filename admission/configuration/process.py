"""What the file says to the processes around the core: where they listen, how they elect, how fast they write.

None: the file says nothing, and the process's own default holds.
"""

from dataclasses import dataclass

from admission.configuration.fields import Section, shown
from admission.configuration.names import check_namespace
from admission.validation.syntax import subdomain_faults

CERT_DIR = "/tmp/k8s-webhook-server/serving-certs"  # Kueue's default, where manifests mount certificates of their own
METRICS_CERT_DIR = "/etc/kueue/metrics/certs"  # Kueue's, which no field can change
PLAIN = "http://"  # before an address of metrics: without TLS, to whoever asks; Kueue knows no such thing
LEASE_SECONDS, DEADLINE_SECONDS, RETRY_SECONDS = 15.0, 10.0, 2.0  # Kubernetes' own defaults
_NAMES = (("webhookServiceName", "kueue-webhook-service"), ("webhookSecretName", "kueue-webhook-server-cert"))


@dataclass(frozen=True, slots=True)
class Process:
    """Durations in seconds; addresses as host:port."""

    leader_elect: bool | None = None
    lease_name: str | None = None
    lease_namespace: str | None = None
    lease_duration: float | None = None
    renew_deadline: float | None = None
    retry_period: float | None = None
    requests_per_second: float | None = None  # below 0: without limit
    request_burst: int | None = None
    health_bind: str | None = None
    metrics_bind: str | None = None
    metrics_cert_dir: str | None = None  # None: an authority of our own
    webhook_host: str | None = None
    webhook_port: int | None = None
    webhook_cert_dir: str | None = None  # None: an authority of our own
    visibility_host: str | None = None
    visibility_port: int | None = None
    tls_min_version: str | None = None  # VersionTLS12 | VersionTLS13


def read_process(file: Section, metrics: Section) -> Process:
    """`metrics` is the section of that name, which others read on."""
    election, connection, webhook = file.part("leaderElection"), file.part("clientConnection"), file.part("webhook")
    _without_effect(file)
    if election.text("resourceLock", "leases") != "leases":
        election.wrong("resourceLock", "is not a kind of lock that exists any more", "remove it, or write leases")
    webhook_certificates, metrics_certificates = _certificates(file, webhook)
    lease_name, lease_namespace = election.text("resourceName", None), election.text("resourceNamespace", None)
    for fault in subdomain_faults(lease_name)[:1] if lease_name is not None else ():
        election.wrong("resourceName", f"{shown(lease_name)} is not a name", fault)
    check_namespace(election, "resourceNamespace", lease_namespace)
    process = Process(
        leader_elect=election.flag("leaderElect", None),
        lease_name=lease_name,
        lease_namespace=lease_namespace,
        lease_duration=election.seconds("leaseDuration", None) or None,
        renew_deadline=election.seconds("renewDeadline", None) or None,
        retry_period=election.seconds("retryPeriod", None) or None,
        requests_per_second=_rate(connection),
        request_burst=connection.whole("burst", None),
        health_bind=_health(file),
        metrics_bind=_address(metrics, "bindAddress", PLAIN),
        metrics_cert_dir=metrics_certificates,
        webhook_host=webhook.text("host", None),
        webhook_port=webhook.whole("port", None, 1, 65535),
        webhook_cert_dir=webhook_certificates,
    )
    _check_election(election, process)
    return process


def _check_election(election: Section, process: Process) -> None:
    lease, deadline = process.lease_duration or LEASE_SECONDS, process.renew_deadline or DEADLINE_SECONDS
    retry = process.retry_period or RETRY_SECONDS
    if not deadline + retry < lease:
        election.wrong(
            "leaseDuration",
            f"{lease:g}s is not longer than renewDeadline {deadline:g}s plus retryPeriod {retry:g}s",
            "make it longer, else two replicas could lead at once",
        )


def _rate(connection: Section) -> float | None:
    rate = connection.number("qps", None)
    if rate == 0:
        connection.wrong("qps", "is 0, with which nothing would ever be written", "write a rate, or -1 for no limit")
    return rate


def _address(section: Section, key: str, prefix: str = "") -> str | None:
    """HOST:PORT, which may come after the prefix, or 0 for none."""
    value = section.text(key, None)
    if value is not None and value != "0":
        host, colon, port = value.removeprefix(prefix).rpartition(":")
        if not colon or "/" in host or not port.isdigit() or int(port) > 65535:
            section.wrong(key, f"{shown(value)} is not an address", "write HOST:PORT or :PORT, or 0 for none")
            return None
    return value


def _health(file: Section) -> str | None:
    health = file.part("health")
    for key, served in (("readinessEndpointName", "readyz"), ("livenessEndpointName", "healthz")):
        if (health.text(key, served) or "").strip("/") != served:
            health.report.note((*health.path, key), f"has no effect here: the page is always /{served}")
    return _address(health, "healthProbeBindAddress")


def _certificates(file: Section, webhook: Section) -> tuple[str | None, str | None]:
    """Folders of those that others make, for webhooks and metrics."""
    folder = webhook.text("certDir", None)
    internal = file.part("internalCertManagement")
    own = internal.flag("enable", True)
    for key, name in _NAMES:
        value = internal.text(key, name)
        if own and value != name:
            faults = subdomain_faults(value)
            if faults:
                internal.wrong(key, f"{shown(value)} is not a name", faults[0])
            else:
                internal.report.note((*internal.path, key), f"has no effect here: the name is always {name}")
    return folder or (None if own else CERT_DIR), None if own else METRICS_CERT_DIR


def _without_effect(file: Section) -> None:
    file.without_effect("pprofBindAddress", "profile with py-spy instead")
    _address(file, "pprofBindAddress")
    file.without_effect("controller", "one loop reconciles every kind, and waits for its lists as long as it takes")
    controller = file.part("controller")
    for kind, workers in controller.table("groupKindConcurrency").items():
        if not isinstance(workers, int) or isinstance(workers, bool):
            path = (*controller.path, "groupKindConcurrency", kind)
            controller.report.wrong(path, f"{shown(workers)} is not a whole number", "write how many at once")
    controller.whole("cacheSyncTimeout", None, 0, 2**63 - 1)  # nanoseconds, as Go reads a bare duration
