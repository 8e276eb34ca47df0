"""The quota law on a real control plane: two replicas contend, the leader is killed or hangs again and again, and an
auditor who reads etcd's own story finds nothing. He does find what a faulty controller does.
"""

import os
import queue
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest

from hack.cluster import Cluster, Extra, etcd
from hack.cluster.etcd import Event
from tests.live.auditor import Auditor
from tests.live.controllers import QUICK_LEASE, install_crds
from tests.live.crowd import Crowd, tree

ROOT = Path(__file__).parents[2]
STALLED = 60.0  # seconds without news of any Workload: four times what a change of leaders takes

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster.start(extra=Extra(apiserver=etcd.KEEP_ALL)) as running:
        running.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        install_crds(running)
        yield running


class Replicas:
    """Controllers as processes; whoever leads can be killed, or put to sleep and woken when another leads."""

    def __init__(self, cluster: Cluster, module: str, count: int, flags: tuple[str, ...]) -> None:
        self.kills = self.sleeps = 0
        self.asleep = ""
        self._cluster = cluster
        self._argv = [sys.executable, "-m", module, "controller", f"--kubeconfig={cluster.kubeconfig}"]
        self._argv += ["--metrics-bind=0", "--health-bind=0", "--visibility-bind=0", *flags]
        self._names: list[str] = []
        self._started = 0
        for _ in range(count):
            self.start()

    def start(self) -> None:
        self._started += 1
        name = f"controller-{self._started}"
        self._cluster.add(name, self._argv, {"PYTHONPATH": str(ROOT)})
        self._names.append(name)

    def of(self, holder: str) -> str:
        """The replica that calls itself so in the Lease; "" if it is gone."""
        pid = int(holder.split("_")[1])
        return next((name for name in self._names if self._cluster.component(name).pid == pid), "")

    def kill(self, name: str) -> None:
        """At once, and another one begins."""
        self._cluster.remove(name)
        self._names.remove(name)
        self.kills += 1
        self.start()

    def sleep(self, name: str) -> None:
        self._cluster.signal(name, signal.SIGSTOP)
        self.asleep = name
        self.sleeps += 1

    def wake(self) -> None:
        """It goes on where it was, in the middle of whatever it was about to write."""
        self._cluster.signal(self.asleep, signal.SIGCONT)
        self.asleep = ""

    def logs(self) -> str:
        """The last that each said."""
        return "\n".join(self._cluster.log(name).read_text()[-2000:] for name in self._names)

    def check(self) -> None:
        """None of them ended by itself."""
        for name in self._names:
            assert self._cluster.component(name).alive, self._cluster.log(name).read_text()[-3000:]


class Chaos:
    """Strikes the leader at moments that a seed draws, counted in its admissions: always in the middle of its work."""

    def __init__(self, replicas: Replicas, strikes: int, every: int, seed: int) -> None:
        self._replicas = replicas
        self._random = random.Random(seed)
        self._left = strikes
        self._every = every
        self._struck = ""  # the leader that was struck last
        self._next = 0
        self._draw(0)

    @property
    def over(self) -> bool:
        return not self._left and not self._replicas.asleep

    def _draw(self, admissions: int) -> None:
        self._next = admissions + self._random.randint(1, max(1, 2 * self._every - 1))

    def act(self, auditor: Auditor) -> None:
        leader = auditor.leaders[-1] if auditor.leaders else ""
        if leader in ("", self._struck):
            self._draw(auditor.admissions)  # counted from the first admission of the next one
            return
        if auditor.admissions < self._next or not self._replicas.of(leader):
            return
        if self._replicas.asleep:
            self._replicas.wake()
            self._draw(auditor.admissions)
            return
        if not self._left:
            return
        self._left -= 1
        self._struck = leader
        # One in five only sleeps until another has led for a while: then two believe that they lead.
        if self._left % 5 == 2:
            self._replicas.sleep(self._replicas.of(leader))
        else:
            self._replicas.kill(self._replicas.of(leader))


def follow(cluster: Cluster, start: int) -> "queue.SimpleQueue[Event | None]":
    """The stream from a revision on, read by a thread of its own until nobody writes any more."""
    told: queue.SimpleQueue[Event | None] = queue.SimpleQueue()

    def read() -> None:
        try:
            for event in etcd.follow(cluster.etcd_endpoint, start, STALLED):
                told.put(event)
        except (OSError, ValueError, HTTPException):
            pass  # the cluster is gone, or silent
        told.put(None)

    threading.Thread(target=read, daemon=True).start()
    return told


@dataclass
class Run:
    auditor: Auditor
    crowd: Crowd
    replicas: Replicas
    seconds: float

    def __str__(self) -> str:
        a, r = self.auditor, self.replicas
        return (
            f"{self.crowd.finished} workloads, {a.admissions} admissions ({a.stillborn} of them evicted in the same "
            f"write), {a.evictions} evictions, {a.revisions} revisions audited; {r.kills} kills, {r.sleeps} sleeping "
            f"leaders, {len(a.leaders)} terms of office; {self.seconds:.0f} s"
        )


def run(
    cluster: Cluster,
    total: int,
    strikes: int = 0,
    *,
    module: str = "controller.cli",
    replicas: int = 2,
    flags: tuple[str, ...] = QUICK_LEASE,
    enough: int = sys.maxsize,
) -> Run:
    """Run a crowd to its end, or until the auditor has found `enough`."""
    seed = int(os.environ.get("LOCKGATE_SEED", "1"))
    told = follow(cluster, etcd.revision(cluster.etcd_endpoint) + 1)
    for manifest in tree():
        cluster.api().apply(manifest)
    began = time.monotonic()
    crew = Replicas(cluster, module, replicas, flags)
    auditor, crowd = Auditor(), Crowd(cluster, total, seed)
    chaos = Chaos(crew, strikes, total // max(1, 2 * strikes), seed)
    heard = time.monotonic()
    while not (crowd.done and chaos.over) and len(auditor.findings) < enough:
        now = time.monotonic()
        due = crowd.next_due()
        try:
            event = told.get(timeout=0.25 if due is None else max(0.0, min(due - now, 0.25)))
        except queue.Empty:
            event = None
        else:
            assert event is not None, "etcd told nothing more"
            auditor.read(event)
            crowd.hear(event, time.monotonic())
            if event.key.startswith("/registry/kueue.x-k8s.io/"):
                heard = time.monotonic()
        if time.monotonic() - heard > STALLED:
            so_far = Run(auditor, crowd, crew, time.monotonic() - began)
            pytest.fail(f"nothing happens: {so_far}\n{auditor.findings}\n{crowd.open()}\n{crew.logs()}")
        crowd.act(time.monotonic(), more=not chaos.over)
        chaos.act(auditor)
        crew.check()
    crowd.close()
    if enough == sys.maxsize:
        auditor.close()
    return Run(auditor, crowd, crew, time.monotonic() - began)


def test_no_quota_is_overrun_while_leaders_are_killed(cluster: Cluster) -> None:
    done = run(cluster, total=200, strikes=4)  # each costs a quarter of a minute
    print(done)
    assert done.auditor.findings == []
    assert done.auditor.admissions >= 200
    assert done.auditor.evictions > 0
    assert (done.replicas.kills, done.replicas.sleeps) == (3, 1)


@pytest.mark.long
@pytest.mark.timeout(3600)  # each change of leaders takes a quarter of a minute
def test_no_quota_is_overrun_during_fifty_kills(cluster: Cluster) -> None:
    done = run(cluster, total=2000, strikes=63)
    print(done)
    assert done.auditor.findings == []
    assert done.auditor.admissions >= 2000
    assert done.auditor.evictions > 50
    assert done.replicas.kills >= 50


def test_the_auditor_finds_what_a_faulty_controller_admits(cluster: Cluster) -> None:
    done = run(
        cluster, total=200, module="tests.live.mutant_controller", replicas=1, flags=("--no-leader-elect",), enough=1
    )
    assert "overshoots" in done.auditor.findings[0], done.auditor.findings
