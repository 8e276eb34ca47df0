"""The controller on a real API server: Jobs are held, queued, started, preempted, and finish."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from admission.model.kinds import KINDS, KUEUE, WATCHED
from hack.cluster import Cluster
from hack.cluster.wait import until
from tests.live.controllers import (
    JOBS,
    PATIENCE,
    Controller,
    Seen,
    cluster_queue,
    controller,
    flavor,
    install_crds,
    job,
    local_queue,
    priority,
)

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def waited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Controller, str]]:
    """A cluster, its controller, and what that said before its kinds were there."""
    with Cluster.start(nodes=4) as cluster:
        cluster.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        with controller(cluster, tmp_path_factory.mktemp("controller") / "log") as running:
            until(lambda: "does not serve" in running.log.read_text(), PATIENCE, "it notices that CRDs are missing")
            before = running.readiness()
            install_crds(cluster)
            running.is_soon("leading")
            cluster.api().apply(flavor())
            yield cluster, running, before


@pytest.fixture
def seen(waited: tuple[Cluster, Controller, str]) -> Seen:
    return Seen(waited[0])


def test_it_waits_for_its_kinds_and_says_so(waited: tuple[Cluster, Controller, str]) -> None:
    _, running, before = waited
    assert before.startswith("waiting for lists of ")
    waited_for = before.removeprefix("waiting for lists of ").split(", ")
    assert {kind for kind in WATCHED if KINDS[kind].group == KUEUE} <= set(waited_for)
    assert "lockgate crds" in running.log.read_text()


def test_a_job_is_held_until_it_fits_then_runs_and_finishes(seen: Seen) -> None:
    seen.api.apply(cluster_queue("fits", "4"))
    seen.api.apply(local_queue("fits"))
    seen.api.create(JOBS, job("first", "fits", "3"))
    seen.is_soon("first", "running")
    seen.api.create(JOBS, job("second", "fits", "3", runtime="1s"))
    until(lambda: seen.queue("fits").get("pendingWorkloads") == 1, PATIENCE, "one pending")
    assert seen.state("second") == "held"
    assert seen.condition("first", "Admitted") == ("True", "Admitted")
    assert seen.queue("fits")["flavorsUsage"][0]["resources"] == [{"name": "cpu", "total": "3", "borrowed": "0"}]
    seen.api.apply(cluster_queue("fits", "6"))
    seen.is_soon("second", "finished")
    until(lambda: seen.condition("second", "Finished") == ("True", "Succeeded"), PATIENCE, "its Workload finished")
    until(lambda: seen.queue("fits").get("reservingWorkloads") == 1, PATIENCE, "its quota free")


def test_a_job_that_waits_says_why(seen: Seen) -> None:
    seen.api.apply(cluster_queue("small", "1"))
    seen.api.apply(local_queue("small"))
    seen.api.create(JOBS, job("too-big", "small", "2"))
    until(lambda: seen.condition("too-big", "QuotaReserved")[0] == "False", PATIENCE, "a word about it")
    message = next(
        one["message"] for one in seen.workload("too-big")["status"]["conditions"] if one["type"] == "QuotaReserved"
    )
    assert "cpu" in message
    assert seen.state("too-big") == "held"


def test_an_urgent_job_takes_the_place_of_another_which_comes_back(seen: Seen) -> None:
    seen.api.apply(priority("urgent", 100))
    seen.api.apply(cluster_queue("urgency", "4", preemption={"withinClusterQueue": "LowerPriority"}))
    seen.api.apply(local_queue("urgency"))
    seen.api.create(JOBS, job("patient", "urgency", "4"))
    seen.is_soon("patient", "running")
    template = seen.api.get(f"{JOBS}/patient")["spec"]["template"]
    seen.api.create(JOBS, job("hasty", "urgency", "4", runtime="2s", priority="urgent"))
    seen.is_soon("patient", "held")
    assert seen.condition("patient", "Evicted") == ("True", "Preempted")
    seen.is_soon("hasty", "finished")
    seen.is_soon("patient", "running")
    assert seen.api.get(f"{JOBS}/patient")["spec"]["template"] == template


def test_a_job_that_runs_without_leave_is_stopped(seen: Seen) -> None:
    seen.api.apply(cluster_queue("closed", "1", stopPolicy="Hold"))
    seen.api.apply(local_queue("closed"))
    seen.api.create(JOBS, job("pushy", "closed", "1", held=False))
    seen.is_soon("pushy", "held")


def test_flavors_choose_the_nodes(seen: Seen) -> None:
    seen.api.apply(cluster_queue("labelled", "4"))
    spec = {"nodeLabels": {"node.kubernetes.io/instance-type": "node"}}
    seen.api.apply({**flavor("by-label"), "spec": spec})
    queue = cluster_queue("labelled", "4")
    queue["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "by-label"
    seen.api.apply(queue)
    seen.api.apply(local_queue("labelled"))
    seen.api.create(JOBS, job("placed", "labelled", "1"))
    seen.is_soon("placed", "running")
    pod = seen.api.get(f"{JOBS}/placed")["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "node"}


def test_events_tell_people(seen: Seen) -> None:
    seen.api.apply(cluster_queue("told", "4"))
    seen.api.apply(local_queue("told"))
    seen.api.create(JOBS, job("quick", "told", "1", runtime="0s"))
    seen.is_soon("quick", "finished")

    def reasons() -> set[str]:
        events = seen.api.get("/api/v1/namespaces/default/events?limit=500")["items"]
        return {one["reason"] for one in events if one.get("reportingComponent") == "lockgate"}

    until(lambda: reasons() >= {"CreatedWorkload", "Admitted", "Started"}, PATIENCE, "the Events")


def test_a_stopped_controller_ends_well_and_another_goes_on(
    waited: tuple[Cluster, Controller, str], seen: Seen, tmp_path: Path
) -> None:
    cluster, running, _ = waited
    assert running.stop() == 0
    seen.api.apply(cluster_queue("later", "4"))
    seen.api.apply(local_queue("later"))
    seen.api.create(JOBS, job("overnight", "later", "1", runtime="0s"))
    with controller(cluster, tmp_path / "log") as another:
        another.is_soon("leading")
        seen.is_soon("overnight", "finished")
