"""Two-phase admission on a real API server, with AdmissionCheck controllers of somebody else's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hack.cluster import Cluster
from hack.cluster.wait import until
from tests.live.check_controller import serve
from tests.live.controllers import (
    JOBS,
    KUEUE,
    PATIENCE,
    Seen,
    cluster_queue,
    controller,
    flavor,
    install_crds,
    job,
    local_queue,
)

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    with Cluster.start(nodes=2) as cluster:
        cluster.api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}})
        install_crds(cluster)
        with controller(cluster, tmp_path_factory.mktemp("controller") / "log") as running:
            running.is_soon("leading")
            cluster.api().apply(flavor())
            yield Seen(cluster)


def check(name: str) -> dict[str, object]:
    spec = {"controllerName": f"acme.io/{name}"}
    metadata = {"name": name}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": metadata, "spec": spec}


@contextmanager
def at_work(seen: Seen, name: str, wishes: dict[str, str]) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(seen.cluster, name, wishes, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def states(seen: Seen, job: str) -> dict[str, str]:
    return {one["name"]: one["state"] for one in seen.workload(job).get("status", {}).get("admissionChecks", [])}


def test_a_workload_goes_through_every_state_of_its_checks(seen: Seen) -> None:
    rules = [{"name": "audit"}, {"name": "budget", "onFlavors": ["default"]}]
    seen.api.apply(cluster_queue("checked", "4", admissionChecksStrategy={"admissionChecks": rules}))
    seen.api.apply(local_queue("checked"))
    seen.api.create(JOBS, job("careful", "checked", "3"))

    until(lambda: active(seen) == ("False", "AdmissionCheckNotFound"), PATIENCE, "the queue misses its checks")
    for name in ("audit", "budget"):
        seen.api.apply(check(name))
    until(lambda: active(seen) == ("False", "AdmissionCheckInactive"), PATIENCE, "nobody is at work on them")

    audit: dict[str, str] = {}
    budget: dict[str, str] = {}
    with at_work(seen, "audit", audit), at_work(seen, "budget", budget):
        until(lambda: active(seen) == ("True", "Ready"), PATIENCE, "the queue admits")
        until(lambda: states(seen, "careful") == {"audit": "Pending", "budget": "Pending"}, PATIENCE, "both wait")
        until(lambda: seen.condition("careful", "QuotaReserved")[0] == "True", PATIENCE, "quota is reserved")
        assert seen.state("careful") == "held"

        audit["careful"] = "Ready"
        until(lambda: states(seen, "careful")["audit"] == "Ready", PATIENCE, "one has passed")
        assert seen.condition("careful", "Admitted") == ("", "")

        budget["careful"] = "Retry"
        until(lambda: evictions(seen, "careful").get("AdmissionCheck", 0) >= 2, PATIENCE, "evicted again and again")
        assert seen.state("careful") == "held"

        budget["careful"] = "Ready"
        seen.is_soon("careful", "running")
        notes = seen.api.get(f"{JOBS}/careful")["spec"]["template"]["metadata"]["annotations"]
        assert (notes["acme.io/audit"], notes["acme.io/budget"]) == ("passed", "passed")

        seen.api.apply(cluster_queue("checked", "4", admissionChecksStrategy={"admissionChecks": rules[:1]}))
        until(lambda: states(seen, "careful") == {"audit": "Ready"}, PATIENCE, "a check taken away is forgotten")
        assert seen.state("careful") == "running"

        audit["reckless"] = "Rejected"
        seen.api.create(JOBS, job("reckless", "checked", "1"))
        until(lambda: seen.condition("reckless", "Evicted")[1] == "DeactivatedDueToAdmissionCheck", PATIENCE, "ended")
        assert seen.workload("reckless")["spec"]["active"] is False
        assert seen.state("reckless") == "held"
        until(lambda: seen.queue("checked").get("reservingWorkloads") == 1, PATIENCE, "its quota is free")

        audit["reckless"] = "Ready"
        workload = seen.workload("reckless")["metadata"]
        seen.api.merge(f"{KUEUE}/namespaces/default/workloads/{workload['name']}", {"spec": {"active": True}})
        seen.is_soon("reckless", "running")


def active(seen: Seen) -> tuple[str, str]:
    conditions = seen.queue("checked").get("conditions", [])
    return next(((one["status"], one["reason"]) for one in conditions if one["type"] == "Active"), ("", ""))


def evictions(seen: Seen, job: str) -> dict[str, int]:
    counted = seen.workload(job).get("status", {}).get("schedulingStats", {}).get("evictions", [])
    return {one["reason"]: one["count"] for one in counted}
