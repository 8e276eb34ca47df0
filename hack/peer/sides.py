"""The two that are compared, each started on a control plane of its own as its own manifests say."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import yaml

from hack.bench.run import IDLE, INFLIGHT
from hack.cluster import Cluster
from hack.cluster.ports import Port
from hack.demo import parts
from hack.kueue import Kueue
from hack.peer.settings import FILES, HEAD


@dataclass(frozen=True, slots=True)
class Side:
    """`settling`: it says only after some seconds why somebody waits."""

    name: str
    settling: bool
    start: Callable[[Cluster, str], None]


def _kueue(cluster: Cluster, settings: str) -> None:
    Kueue.start(cluster, configuration=FILES[settings])


def _lockgate(cluster: Cluster, settings: str) -> None:
    flags = []
    if FILES[settings]:
        path = cluster.folder / "configuration.yaml"
        path.write_text(yaml.safe_dump({**HEAD, **FILES[settings]}))
        flags = [f"--config={path}"]
    port = Port()
    url = f"https://{port.address}"
    parts.install(cluster, url)
    parts.start_webhooks(cluster, port)
    parts.start_controller(cluster, *flags)
    parts.install(cluster, url, "--wait=60s")


KUEUE = Side("kueue", settling=False, start=_kueue)
LOCKGATE = Side("lockgate", settling=True, start=_lockgate)


@contextmanager
def running(side: Side, settings: str) -> Iterator[Cluster]:
    """A control plane with this side on it."""
    with Cluster.start(extra=INFLIGHT) as cluster:
        side.start(cluster, settings)
        for component in IDLE:
            cluster.remove(component)
        yield cluster
