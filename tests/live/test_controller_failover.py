"""Controllers that die, hang or contend: somebody goes on, and never is more given than there is."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hack.cluster import Cluster, Extra, etcd
from hack.cluster.wait import until
from tests.live.controllers import (
    JOBS,
    PATIENCE,
    QUICK_LEASE,
    Seen,
    cluster_queue,
    controller,
    flavor,
    install_crds,
    job,
    local_queue,
    most_reserved,
)

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes
QUOTA = 4  # cpu


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start(nodes=4, extra=Extra(apiserver=etcd.KEEP_ALL)) as running:
        running.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        install_crds(running)
        running.api().apply(flavor())
        yield running


@pytest.fixture
def seen(cluster: Cluster) -> Seen:
    return Seen(cluster)


def _queue(seen: Seen, name: str, jobs: int, runtime: str) -> list[str]:
    """A queue of QUOTA cpus and Jobs that want one each."""
    seen.api.apply(cluster_queue(name, str(QUOTA)))
    seen.api.apply(local_queue(name))
    names = [f"{name}-{number}" for number in range(jobs)]
    for one in names:
        seen.api.create(JOBS, job(one, name, "1", runtime=runtime))
    return names


def _finished(seen: Seen, names: list[str]) -> int:
    return [seen.state(name) for name in names].count("finished")


def test_a_controller_killed_again_and_again_loses_nothing_and_gives_nothing_twice(
    cluster: Cluster, seen: Seen, tmp_path: Path
) -> None:
    start = etcd.revision(cluster.etcd_endpoint) + 1
    names = _queue(seen, "killed", 16, "200ms")
    for enough in (1, 3, 6, 9, 12, 16):
        with controller(cluster, tmp_path / "log", "--no-leader-elect") as running:
            until(lambda: _finished(seen, names) >= enough, PATIENCE, f"{enough} finished")  # noqa: B023
            running.kill()
    assert most_reserved(cluster, "killed", start) == QUOTA * 1000


def test_one_of_two_leads_and_the_other_follows_when_it_is_stopped(
    cluster: Cluster, seen: Seen, tmp_path: Path
) -> None:
    with controller(cluster, tmp_path / "a", *QUICK_LEASE) as first:
        first.is_soon("leading")
        with controller(cluster, tmp_path / "b", *QUICK_LEASE) as second:
            second.is_soon("standing by")
            names = _queue(seen, "handed", 6, "0s")
            until(lambda: _finished(seen, names) == 6, PATIENCE, "all finished")
            assert "leading" not in second.log.read_text()
            assert first.stop() == 0
            second.is_soon("leading")
            more = _queue(seen, "taken", 2, "0s")
            until(lambda: _finished(seen, more) == 2, PATIENCE, "the rest finished")


def test_when_the_leader_is_killed_the_other_takes_over_without_overshoot(
    cluster: Cluster, seen: Seen, tmp_path: Path
) -> None:
    start = etcd.revision(cluster.etcd_endpoint) + 1
    with controller(cluster, tmp_path / "a", *QUICK_LEASE) as first:
        first.is_soon("leading")
        with controller(cluster, tmp_path / "b", *QUICK_LEASE) as second:
            second.is_soon("standing by")
            names = _queue(seen, "dropped", 12, "500ms")
            until(lambda: _finished(seen, names) >= 2, PATIENCE, "some finished")
            first.kill()
            until(lambda: _finished(seen, names) == 12, PATIENCE, "all finished")
            assert second.readiness() == "leading"
    assert most_reserved(cluster, "dropped", start) == QUOTA * 1000


def test_a_hanging_api_server_is_survived(cluster: Cluster, seen: Seen, tmp_path: Path) -> None:
    start = etcd.revision(cluster.etcd_endpoint) + 1
    with controller(cluster, tmp_path / "log", *QUICK_LEASE) as running:
        running.is_soon("leading")
        names = _queue(seen, "hung", 8, "200ms")
        until(lambda: _finished(seen, names) >= 1, PATIENCE, "one finished")
        cluster.signal("kube-apiserver", signal.SIGSTOP)
        try:
            running.is_soon("standing by")
        finally:
            cluster.signal("kube-apiserver", signal.SIGCONT)
        running.is_soon("leading")
        until(lambda: _finished(seen, names) == 8, PATIENCE, "all finished")
    assert most_reserved(cluster, "hung", start) == QUOTA * 1000
