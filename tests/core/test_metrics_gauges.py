"""Gauges of queues and cohorts say what is so when they are asked."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from admission.model.configuration import Configuration, FairSharing
from admission.model.effects import Outcome
from admission.model.gates import Gates
from admission.model.queues import Cohort, LocalQueue
from admission.model.workload import PodSet, Workload
from admission.published import cohort_gauges, local_queue_gauges, queue_gauges
from admission.published.queues import Sample
from admission.state import State
from tests.core.lab import group
from tests.core.test_fair_admission import HOUR, Company
from tests.core.test_state import Desk


def shown(samples: Iterable[Sample], name: str) -> dict[tuple[str, ...], float]:
    return {labels: value for family, labels, value in samples if family.name == name}


def queue(desk: Desk, name: str = "cq", *, resources: bool = False) -> list[Sample]:
    return [*queue_gauges(desk.state, name, 3, resources=resources)]


def local(desk: Desk, key: str = "lab/lq", *, resources: bool = False) -> list[Sample]:
    return [*local_queue_gauges(desk.state, key, 3, resources=resources)]


@pytest.fixture
def busy() -> Desk:
    """Two of four cores are used; two workloads of three cores wait in the one LocalQueue, one in the other."""
    desk = Desk()
    desk.state.observe("LocalQueue", LocalQueue("lab", "other", "cq", resource_version=1))
    desk.submit("runs", 2)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    desk.submit("big", 3)
    desk.submit("large", 3)
    desk.plan()
    return desk


def submit_to(desk: Desk, local_queue: str, name: str, cpu: int) -> None:
    desk.version += 1
    pods = (PodSet("main", 1, {"cpu": cpu * 1000}),)
    desk.state.observe("Workload", Workload("lab", name, name, desk.version, desk.now, local_queue, pods))


def test_who_waits_is_active_or_set_aside(busy: Desk) -> None:
    assert shown(queue(busy), "pending_workloads") == {("cq", "active"): 0, ("cq", "inadmissible"): 2}
    assert shown(queue(busy), "pending_scheduling_hashes") == {("cq", "active"): 0, ("cq", "inadmissible"): 1}
    submit_to(busy, "other", "small", 1)
    assert shown(queue(busy), "pending_workloads") == {("cq", "active"): 1, ("cq", "inadmissible"): 2}
    name = "local_queue_pending_workloads"
    assert shown(local(busy), name) == {("lq", "lab", "active"): 0, ("lq", "lab", "inadmissible"): 2}
    of_other = shown(local(busy, "lab/other"), name)
    assert of_other == {("other", "lab", "active"): 1, ("other", "lab", "inadmissible"): 0}


def test_in_a_stopped_queue_nobody_is_active(busy: Desk) -> None:
    submit_to(busy, "lq", "small", 1)
    busy.version += 1
    busy.state.observe("ClusterQueue", replace(busy.queue("4"), stop_policy="Hold"))
    assert shown(queue(busy), "pending_workloads") == {("cq", "active"): 0, ("cq", "inadmissible"): 3}
    name = "local_queue_pending_workloads"
    assert shown(local(busy), name) == {("lq", "lab", "active"): 0, ("lq", "lab", "inadmissible"): 3}
    status = shown(queue(busy), "cluster_queue_status")
    assert status == {("cq", "pending"): 1, ("cq", "active"): 0, ("cq", "terminating"): 0}


def test_who_holds_quota_and_who_has_finished(busy: Desk) -> None:
    for name, value in (("reserving_active_workloads", 1), ("admitted_active_workloads", 1), ("finished_workloads", 3)):
        assert shown(queue(busy), name) == {("cq",): value}
        assert shown(local(busy), f"local_queue_{name}") == {("lq", "lab"): value}


def test_amounts_are_in_base_units_and_shown_only_where_wanted(busy: Desk) -> None:
    assert shown(queue(busy), "cluster_queue_nominal_quota") == {}
    samples = queue(busy, resources=True)
    at = ("", "cq", "std", "cpu")
    assert shown(samples, "cluster_queue_nominal_quota") == {at: 4.0}
    assert shown(samples, "cluster_queue_borrowing_limit") == {at: float("inf")}
    assert shown(samples, "cluster_queue_resource_reservation") == {at: 2.0}
    assert shown(samples, "cluster_queue_resource_usage") == {at: 2.0}
    assert shown(samples, "cluster_queue_resource_pending") == {("cq", "cpu"): 6.0}
    of_local = shown(local(busy, resources=True), "local_queue_resource_usage")
    assert of_local == {("lq", "lab", "std", "cpu"): 2.0}


def test_what_does_not_exist_has_no_series(busy: Desk) -> None:
    assert queue(busy, "nobody") == []
    assert local(busy, "lab/nobody") == []


def in_tree(state: State) -> Desk:
    """root > left > cq, with a running workload of two cores."""
    desk = Desk(state=state)
    state.observe("Cohort", Cohort("root", resource_version=1, groups=(group({"std": {"cpu": "10"}}),)))
    state.observe("Cohort", Cohort("left", resource_version=1, parent="root"))
    desk.version += 1
    state.observe("ClusterQueue", replace(desk.queue("4"), cohort="left"))
    desk.submit("runs", 2)
    for planned in desk.plan():
        desk.version += 1
        state.outcome(Outcome(planned.id, "ok", desk.version))
    return desk


def test_cohorts_add_up_what_is_below_them() -> None:
    desk = in_tree(State())
    (root,) = desk.state.scheduler.tree.roots()
    samples = [*cohort_gauges(desk.state, root)]
    assert shown(samples, "cohort_subtree_admitted_active_workloads") == {("root",): 1, ("left",): 1}
    assert shown(samples, "cohort_subtree_quota") == {("root", "std", "cpu"): 14.0, ("left", "std", "cpu"): 4.0}
    used = {("root", "std", "cpu"): 2.0, ("left", "std", "cpu"): 2.0}
    assert shown(samples, "cohort_subtree_resource_reservations") == used
    assert shown(samples, "cohort_info") == {("root", "", "root"): 1, ("left", "root", "root"): 1}
    assert shown(queue(desk), "cluster_queue_info") == {("cq", "left", "root"): 1}


def test_the_gate_of_cohorts_hides_them() -> None:
    desk = in_tree(State(Configuration(gates=Gates({"MetricsForCohorts": False}))))
    (root,) = desk.state.scheduler.tree.roots()
    assert [*cohort_gauges(desk.state, root)] == []
    assert shown(queue(desk), "cluster_queue_info") == {}


def test_shares_are_shown_where_sharing_is_fair() -> None:
    desk = in_tree(State(Configuration(fair_sharing=FairSharing())))
    desk.submit("borrows", 9)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    (root,) = desk.state.scheduler.tree.roots()
    # 7 of the 14 cores that the tree could lend are borrowed.
    assert shown(queue(desk, resources=True), "cluster_queue_weighted_share") == {("cq", "left"): 500.0}
    assert shown(queue(desk), "cluster_queue_weighted_share") == {}
    shares = shown(cohort_gauges(desk.state, root), "cohort_weighted_share")
    assert shares == {("root",): 0.0, ("left",): 500.0}
    plain = in_tree(State())
    assert shown(queue(plain, resources=True), "cluster_queue_weighted_share") == {}


def test_what_a_local_queue_is_served_by_is_shown_where_it_counts() -> None:
    """Four cores for an hour, with a half-life of an hour, of weight two."""
    company = Company(heavy="2", light="0")
    company.submit("a", "heavy", 4)
    company.pass_time(HOUR)
    name = "local_queue_admission_fair_sharing_usage"

    def used(company: Company, queue: str) -> dict[tuple[str, ...], float]:
        state = company.world.state
        assert isinstance(state, State)
        return shown(local_queue_gauges(state, f"lab/{queue}", 0, resources=False), name)

    assert used(company, "heavy") == {("heavy", "lab", "cq"): pytest.approx(1.0, rel=0.1)}
    assert used(company, "light") == {("light", "lab", "cq"): float("inf")}
    assert used(Company(usage_based=False), "heavy") == {}
    assert used(Company(configuration=Configuration()), "heavy") == {}
