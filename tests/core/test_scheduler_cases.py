"""Scenarios that other schedulers got wrong, played on the scheduler alone."""

import pytest

from admission.model.queues import Fungibility, Namespace, Preemption
from admission.model.selectors import LabelRule, Selector
from admission.model.workload import PodSet
from tests.core.lab import LOWER, NEXT, RECLAIM_ANY, Lab, admitted, preempted


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_a_queue_reclaims_quota_that_its_cohort_owns(lab: Lab) -> None:
    lab.cohort("org")
    lab.cohort("assured", "org", {"std": {"cpu": "6"}})
    lab.queue("paid", cpu="0", cohort="assured", preemption=RECLAIM_ANY)
    lab.queue("scav", cpu="0", cohort="org")
    lab.submit("scav-1", "scav", cpu="6", priority=50)
    assert admitted(lab.run()) == ["scav-1"]
    lab.submit("paid-1", "paid", cpu="6")
    assert preempted(lab.run()) == [("scav-1", "InCohortReclamation")]
    lab.stop("scav-1")
    lab.run()
    assert lab.holding() == ["paid-1"]


def test_of_two_flavors_to_borrow_the_nearer_one_wins(lab: Lab) -> None:
    gpu = "acme.io/gpu"
    lab.flavor("gen-x", {"gen": "x"})
    lab.flavor("gen-y", {"gen": "y"})
    lab.cohort("hq", "", {"gen-x": {gpu: "3"}, "gen-y": {gpu: "0"}})
    lab.cohort("lab-co", "hq", {"gen-x": {gpu: "4"}, "gen-y": {gpu: "6"}})
    lab.queue(
        "q1",
        {"gen-x": {gpu: "2"}, "gen-y": {gpu: "2"}},
        cohort="lab-co",
        preemption=Preemption("LowerPriority", "Any"),
        fungibility=NEXT,
    )
    lab.submit_pods("fill-x", "q1", PodSet("main", 1, {gpu: 6}, node_selector=(("gen", "x"),)))
    lab.submit_pods("fill-y", "q1", PodSet("main", 1, {gpu: 2}, node_selector=(("gen", "y"),)))
    lab.run()
    assert lab.flavor_of("fill-x") == {gpu: "gen-x"}
    assert lab.flavor_of("fill-y") == {gpu: "gen-y"}
    lab.submit("probe", "q1", gpu="1")
    lab.run()
    assert lab.flavor_of("probe") == {gpu: "gen-y"}


def test_a_flavor_is_matched_by_its_own_label_keys_only(lab: Lab) -> None:
    lab.flavor("one", {"zone": "a"})
    lab.flavor("two", {"zone": "b", "rack": "k"})
    lab.queue("c", {"one": {"cpu": "4"}, "two": {"cpu": "4"}})
    lab.submit_pods("pick", "c", PodSet("main", 1, {"cpu": 2000}, node_selector=(("zone", "a"), ("rack", "g"))))
    lab.submit_pods("nomatch", "c", PodSet("main", 1, {"cpu": 1000}, node_selector=(("zone", "b"), ("rack", "g"))))
    lab.submit_pods("free", "c", PodSet("main", 1, {"cpu": 1000}, node_selector=(("disk", "ssd"),)))
    lab.run()
    assert lab.flavor_of("pick") == {"cpu": "one"}
    assert lab.flavor_of("free") == {"cpu": "one"}
    reason, message = lab.why("nomatch")
    assert reason == "NoMatchingFlavor"
    assert "flavor one doesn't match node affinity, flavor two doesn't match node affinity" in message


@pytest.mark.parametrize(
    ("preference", "low_is_evicted"), [("PreemptionOverBorrowing", True), ("BorrowingOverPreemption", False)]
)
def test_preference_means_what_it_says(lab: Lab, preference: str, low_is_evicted: bool) -> None:
    lab.queue(
        "q",
        {"od": {"cpu": "4+0"}, "spot": {"cpu": "0+4"}},
        cohort="co",
        preemption=LOWER,
        fungibility=Fungibility("TryNextFlavor", "TryNextFlavor", preference),
    )
    lab.queue("lend", {"od": {"cpu": "0"}, "spot": {"cpu": "4"}}, cohort="co")
    lab.submit("low", "q", cpu="4", priority=-5)
    lab.run()
    assert lab.flavor_of("low") == {"cpu": "od"}
    lab.submit("high", "q", cpu="4", priority=5)
    run = lab.run()
    if low_is_evicted:
        assert preempted(run) == [("low", "InClusterQueue")]
        lab.stop("low")
        lab.run()
        assert lab.flavor_of("high") == {"cpu": "od"}
    else:
        assert preempted(run) == []
        assert lab.flavor_of("high") == {"cpu": "spot"}
        assert lab.scheduler.borrowed("q") == {("spot", "cpu"): 4000}


def test_a_lender_keeps_what_it_does_not_lend_and_reclaims_the_rest(lab: Lab) -> None:
    lab.queue("prod", cpu="10-4", cohort="co", preemption=RECLAIM_ANY)
    lab.queue("dev", cpu="10", cohort="co")
    lab.submit("dev-14", "dev", cpu="14")
    lab.submit("dev-1", "dev", cpu="1")
    lab.run()
    assert lab.holding() == ["dev-14"]
    assert lab.scheduler.borrowed("dev") == {("std", "cpu"): 4000}
    lab.submit("prod-6", "prod", cpu="6")
    assert preempted(lab.run()) == []
    assert lab.holding() == ["dev-14", "prod-6"]
    lab.submit("prod-3", "prod", cpu="3")
    assert preempted(lab.run()) == [("dev-14", "InCohortReclamation")]
    lab.stop("dev-14")
    lab.run()
    assert lab.holding() == ["dev-1", "prod-6", "prod-3"]


def test_a_preemptor_is_not_overtaken_while_its_victim_stops(lab: Lab) -> None:
    lab.queue("c4", cpu="4", preemption=LOWER)
    lab.submit("low", "c4", cpu="4")
    lab.run()
    lab.submit("toobig", "c4", cpu="9", priority=5)
    lab.run()
    lab.submit("high", "c4", cpu="4", priority=3)
    assert preempted(lab.run()) == [("low", "InClusterQueue")]
    for _ in range(3):
        lab.scheduler.flush("c4")
        assert preempted(lab.run()) == []
    assert lab.scheduler.position(lab.key("high")) == 0
    lab.stop("low")
    lab.run()
    assert lab.holding() == ["high"]
    assert lab.scheduler.pending("c4") == ["lab/toobig", "lab/low"]


def test_a_pending_head_does_not_keep_another_queue_from_reclaiming(lab: Lab) -> None:
    policy = Preemption("LowerPriority", "Any")
    lab.queue("e", cpu="3", cohort="duo", strict_fifo=True, preemption=policy)
    lab.queue("f", cpu="3", cohort="duo", strict_fifo=True, preemption=policy)
    lab.submit("e-all", "e", cpu="6", priority=2)
    lab.run()
    lab.submit("e-wait", "e", cpu="2", priority=1)
    lab.run()
    lab.submit("f-claim", "f", cpu="2", priority=-1)
    assert preempted(lab.run()) == [("e-all", "InCohortReclamation")]
    lab.stop("e-all")
    lab.run()
    assert lab.holding() == ["f-claim"], "e-all heads its StrictFIFO queue again, and e-wait waits behind it"


def test_a_workload_of_another_namespace_is_no_head(lab: Lab) -> None:
    scheduler = lab.scheduler
    scheduler.put_namespace(Namespace("stray"))
    scheduler.put_namespace(Namespace("okay", {"team": "ok"}))
    lab.queue("strict", cpu="4", strict_fifo=True, selector=Selector((LabelRule("team", "In", ("ok",)),)))
    lab.submit("outsider", "strict", namespace="stray", priority=10, cpu="2")
    lab.submit("member", "strict", namespace="okay", cpu="2")
    lab.run()
    assert lab.holding() == ["member"]
    assert lab.why("outsider") == ("Misconfigured", "workload namespace doesn't match ClusterQueue selector")
    assert lab.parked() == ["outsider"]
    scheduler.put_namespace(Namespace("stray", {"team": "ok"}))
    lab.run()
    assert lab.holding() == ["outsider", "member"]


@pytest.mark.parametrize(("policy", "borrower_runs"), [("Any", True), ("LowerPriority", False)])
def test_idle_quota_is_lent_only_if_its_owner_can_always_take_it_back(
    lab: Lab, policy: str, borrower_runs: bool
) -> None:
    lab.queue("g", cpu="4", cohort="co", strict_fifo=True, preemption=Preemption(reclaim_within_cohort=policy))
    lab.queue("be", cpu="0", cohort="co")
    lab.submit("g1", "g", cpu="2")
    lab.submit("g2", "g", cpu="4")
    lab.run()
    lab.submit("b1", "be", cpu="2")
    lab.run()
    assert lab.holding() == (["g1", "b1"] if borrower_runs else ["g1"])
    assert lab.scheduler.borrowed("be") == ({("std", "cpu"): 2000} if borrower_runs else {})


def test_zero_of_a_resource_that_the_queue_does_not_cover_is_ignored(lab: Lab) -> None:
    gpu = "acme.io/gpu"
    lab.queue("nogpu", {"std": {"cpu": "4"}})
    lab.queue("withgpu", {"std": {"cpu": "4", gpu: "2"}})
    lab.submit("z", "nogpu", cpu="2", gpu="0")
    lab.submit("nz", "nogpu", cpu="1", gpu="1")
    lab.submit("zc", "withgpu", cpu="1", gpu="0")
    lab.run()
    assert lab.flavor_of("z") == {"cpu": "std"}
    assert lab.flavor_of("zc") == {"cpu": "std", gpu: "std"}
    assert "resource acme.io/gpu unavailable in ClusterQueue" in lab.why("nz")[1]


def test_quota_of_a_resource_no_longer_listed_stays_used_until_its_holder_leaves(lab: Lab) -> None:
    gpu = "acme.io/gpu"
    lab.queue("taker", {"std": {"cpu": "2", gpu: "0"}}, cohort="yard")
    lab.queue("lender", {"std": {"cpu": "2", gpu: "4"}}, cohort="yard")
    lab.submit("g1", "taker", cpu="1", gpu="4")
    lab.run()
    lab.queue("taker", {"std": {"cpu": "2"}}, cohort="yard")
    lab.submit("g2", "lender", cpu="1", gpu="4")
    lab.run()
    assert lab.holding() == ["g1"]
    lab.finish("g1")
    lab.run()
    assert lab.holding() == ["g2"]


def test_nothing_is_borrowed_from_a_queue_that_is_gone(lab: Lab) -> None:
    lab.queue("lender", cpu="12", cohort="bay")
    lab.queue("taker", cpu="0", cohort="bay")
    lab.scheduler.drop_cluster_queue("lender")
    lab.submit("ghost", "taker", cpu="6")
    lab.run()
    assert lab.holding() == []
    assert lab.why("ghost")[0] == "ExceedsMaxQuota"
    lab.queue("lender", cpu="12", cohort="bay")
    lab.run()
    assert lab.scheduler.borrowed("taker") == {("std", "cpu"): 6000}
