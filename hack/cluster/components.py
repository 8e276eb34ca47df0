"""The command line of each component. Flags only; no process is started here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hack.cluster.ports import Port

STAGES = Path(__file__).parent / "stages"
SERVICES = "10.96.0.0/16"
# What needs a cloud or a pod network, which fake nodes have not.
CONTROLLERS = "*,-nodeipam,-node-route-controller,-cloud-node-lifecycle-controller"
FAST = ("--kube-api-qps=500", "--kube-api-burst=1000")  # so that the parts under test are the slowest, not these


@dataclass(frozen=True, slots=True)
class Extra:
    """Arguments of the caller's own, put last so that they win."""

    apiserver: tuple[str, ...] = ()
    controller_manager: tuple[str, ...] = ()
    scheduler: tuple[str, ...] = ()
    kwok: tuple[str, ...] = ()
    feature_gates: str = ""

    @property
    def gates(self) -> tuple[str, ...]:
        """The same feature gates for all Kubernetes components."""
        return (f"--feature-gates={self.feature_gates}",) if self.feature_gates else ()


NOTHING = Extra()


@dataclass(frozen=True, slots=True)
class Ports:
    """One port per listener."""

    etcd: Port = field(default_factory=Port)
    peer: Port = field(default_factory=Port)
    apiserver: Port = field(default_factory=Port)
    controller_manager: Port = field(default_factory=Port)
    scheduler: Port = field(default_factory=Port)
    kwok: Port = field(default_factory=Port)


def etcd(folder: Path, ports: Ports) -> list[str]:
    """One member; nothing is worth an fsync in a cluster that is thrown away."""
    client, peer = f"http://{ports.etcd.address}", f"http://{ports.peer.address}"
    return [
        "--data-dir",
        str(folder / "etcd"),
        "--unsafe-no-fsync",
        "--quota-backend-bytes=8589934592",
        "--listen-client-urls",
        client,
        "--advertise-client-urls",
        client,
        "--listen-peer-urls",
        peer,
        "--initial-advertise-peer-urls",
        peer,
        "--initial-cluster",
        f"default={peer}",
        "--enable-grpc-gateway=true",
        "--log-level=warn",
    ]


def apiserver(pki: Path, ports: Ports, extra: Extra) -> list[str]:
    """RBAC on; users by token file; the front proxy's authority is another than the clients', or it exits at once."""
    return [
        "--etcd-servers",
        f"http://{ports.etcd.address}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--secure-port",
        str(ports.apiserver),
        "--tls-cert-file",
        f"{pki}/apiserver.crt",
        "--tls-private-key-file",
        f"{pki}/apiserver.key",
        "--client-ca-file",
        f"{pki}/ca.crt",
        "--token-auth-file",
        f"{pki}/tokens.csv",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged",
        "--service-cluster-ip-range",
        SERVICES,
        "--service-account-key-file",
        f"{pki}/sa.key",
        "--service-account-signing-key-file",
        f"{pki}/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--requestheader-client-ca-file",
        f"{pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--proxy-client-cert-file",
        f"{pki}/front-proxy.crt",
        "--proxy-client-key-file",
        f"{pki}/front-proxy.key",
        "--endpoint-reconciler-type=none",  # it would try to publish a loopback address every 10 s, and be refused
        "--enable-aggregator-routing",
        *extra.gates,
        *extra.apiserver,
    ]


def controller_manager(kubeconfig: Path, pki: Path, ports: Ports, extra: Extra) -> list[str]:
    """Every controller with a service account of its own, as webhooks see them in a real cluster."""
    return [
        "--kubeconfig",
        str(kubeconfig),
        "--leader-elect=false",
        "--use-service-account-credentials",
        "--bind-address=127.0.0.1",
        "--secure-port",
        str(ports.controller_manager),
        "--service-account-private-key-file",
        f"{pki}/sa.key",
        "--root-ca-file",
        f"{pki}/ca.crt",
        "--controllers",
        CONTROLLERS,
        *FAST,
        *extra.gates,
        *extra.controller_manager,
    ]


def scheduler(kubeconfig: Path, ports: Ports, extra: Extra) -> list[str]:
    """The stock scheduler."""
    return [
        "--kubeconfig",
        str(kubeconfig),
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--secure-port",
        str(ports.scheduler),
        *FAST,
        *extra.gates,
        *extra.scheduler,
    ]


def kwok(kubeconfig: Path, ports: Ports, extra: Extra, stages: Sequence[Path] = ()) -> list[str]:
    """It plays the kubelets of nodes annotated as fake, by our stages; it refuses to run without any."""
    files = sorted(STAGES.glob("*.yaml")) + list(stages)
    return [
        "--kubeconfig",
        str(kubeconfig),
        "--server-address",
        ports.kwok.address,
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        *(f"--config={file}" for file in files),
        *extra.kwok,
    ]
