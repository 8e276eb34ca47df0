"""One queue's line: order, stepping aside, coming back."""

from dataclasses import replace
from fractions import Fraction

import pytest

from admission.model.configuration import AdmissionFairSharing, Configuration
from admission.model.names import WorkloadKey
from admission.model.queues import Fungibility, Namespace, Preemption
from admission.model.selectors import LabelRule, Selector
from admission.model.workload import Condition, PodSet, Workload
from admission.rules.scheduler import Scheduler
from tests.core.lab import LOWER, Lab, admitted, held, preempted


@pytest.fixture
def lab() -> Lab:
    return Lab()


def condition(type: str, status: str, reason: str, since: float) -> dict[str, Condition]:
    return {type: Condition(type, status, reason, "", since)}


def test_priority_goes_before_age_and_age_before_uid(lab: Lab) -> None:
    lab.queue("q", cpu="1")
    lab.submit("old", "q", cpu="9")
    lab.submit("new", "q", cpu="9")
    lab.submit("important", "q", cpu="9", priority=1)
    twin = replace(lab.workloads["new"], name="twin", uid="uid-a")
    lab.scheduler.push(twin, "q", lab.now)
    assert lab.scheduler.pending("q") == ["lab/important", "lab/old", "lab/twin", "lab/new"]
    assert [lab.scheduler.position(key) for key in lab.scheduler.pending("q")] == [0, 1, 2, 3]
    assert lab.scheduler.position(WorkloadKey("lab/nobody")) is None


@pytest.mark.parametrize(
    ("reason", "falls_back"), [("PodsReadyTimeout", True), ("AdmissionCheck", True), ("Preempted", False)]
)
def test_only_its_own_failure_sends_a_workload_to_the_back(lab: Lab, reason: str, falls_back: bool) -> None:
    lab.queue("q", cpu="1")
    lab.submit("first", "q", cpu="9")
    lab.submit("second", "q", cpu="9")
    lab.edit("first", conditions=condition("Evicted", "True", reason, since=50.0))
    assert (lab.scheduler.pending("q")[0] == "lab/second") is falls_back


def test_where_usage_counts_the_line_is_told_in_the_order_in_which_it_is_served() -> None:
    lab = Lab(Scheduler(Configuration(admission_fair_sharing=AdmissionFairSharing())))
    lab.queue("q", cpu="1", usage_based=True)
    for local_queue, used in (("lab/much", 9), ("lab/little", 2), ("lab/as-little", 2)):
        known = lab.scheduler.consumption
        assert known is not None
        known.know(local_queue, Fraction(1), {"cpu": used}, lab.now)
    pods = (PodSet("main", 1, {"cpu": 1000}),)
    queues = ("much", "little", "as-little", "new", "little", "as-little", "much", "as-little")
    for number, through in enumerate(queues):
        name = f"w{number}"
        lab.workloads[name] = Workload("lab", name, name, 1, lab.now, through, pods, priority=number % 3)
        lab.scheduler.push(lab.workloads[name], "q", lab.now)
    told = lab.scheduler.pending("q")
    assert [lab.scheduler.position(key) for key in told] == [*range(8)]
    served: list[str] = []
    while len(served) < 8:
        (name,) = admitted(lab.run())
        served.append(f"lab/{name}")
        lab.finish(name)
    assert served == told
    assert served[0] == "lab/w3", "nothing was used through its LocalQueue"


def test_position_counts_parked_workloads(lab: Lab) -> None:
    lab.queue("q", cpu="4")
    lab.submit("toobig", "q", cpu="9", priority=1)
    lab.run()
    lab.submit("toobig-too", "q", cpu="8")
    assert lab.parked() == ["toobig"]
    assert lab.scheduler.position(lab.key("toobig-too")) == 1


class TestBestEffort:
    def test_who_does_not_fit_steps_aside(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("toobig", "q", cpu="5")
        lab.submit("small", "q", cpu="1")
        assert admitted(lab.run()) == ["small"]
        assert lab.parked() == ["toobig"]

    def test_equal_requests_step_aside_unseen_with_the_one_that_failed(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        for name in ("a", "b", "c"):
            lab.submit(name, "q", cpu="5")
        other = lab.submit("other", "q", cpu="6")
        run = lab.run()
        assert list(held(run)) == ["a", other], "b and c were not even looked at"
        assert lab.parked() == ["a", "b", "c", other]
        assert lab.why("c") == lab.why("a")

    def test_a_newcomer_equal_to_one_that_failed_starts_parked(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("a", "q", cpu="5")
        lab.run()
        lab.submit("b", "q", cpu="5")
        assert lab.parked() == ["a", "b"]
        lab.submit("c", "q", cpu="5", priority=7)
        assert lab.parked() == ["a", "b"], "another priority is another question"

    @pytest.mark.parametrize("apart", [2**61 - 1, 2 * (2**61 - 1), 2**64])
    def test_no_amount_is_taken_for_another_however_far_apart_they_are(self, lab: Lab, apart: int) -> None:
        """To Python's hash, numbers that are 2^61-1 apart are the same."""
        lab.queue("q", cpu="4")
        lab.submit("absurd", "q", cpu=f"{1000 + apart}m")
        lab.submit("honest", "q", cpu="1")
        assert admitted(lab.run()) == ["honest"]

    def test_equal_failures_are_forgotten_on_the_next_flush(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.runs("holder", "q", cpu="4")
        for name in ("a", "b", "c"):
            lab.submit(name, "q", cpu="2")
        lab.run()
        assert lab.parked() == ["a", "b", "c"]
        lab.finish("holder")
        assert lab.parked() == []
        assert admitted(lab.run()) == ["a", "b"]
        assert lab.parked() == ["c"]

    def test_a_release_between_two_runs_wakes_the_whole_cohort(self, lab: Lab) -> None:
        lab.cohort("top")
        lab.cohort("left", "top")
        lab.queue("a", cpu="2", cohort="left")
        lab.queue("b", cpu="2", cohort="top")
        lab.queue("c", cpu="2")
        lab.runs("holder", "a", cpu="4")
        for queue in "abc":
            lab.submit(f"waits-{queue}", queue, cpu="3")
        lab.run()
        assert lab.parked() == ["waits-a", "waits-b", "waits-c"]
        lab.finish("holder")
        assert lab.parked() == ["waits-c"], "another tree is nobody's business"

    def test_a_parked_workload_stays_parked_until_something_of_it_changes(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit("toobig", "q", cpu="5")
        lab.run()
        echo = replace(
            lab.workloads["toobig"], resource_version=9, conditions=condition("QuotaReserved", "False", "Pending", 3.0)
        )
        lab.scheduler.push(echo, "q", lab.now)
        assert lab.parked() == ["toobig"]
        assert lab.run().decisions == ()
        lab.edit("toobig", pod_sets=(PodSet("main", 1, {"cpu": 3000}),))
        assert lab.parked() == []
        assert admitted(lab.run()) == ["toobig"]

    @pytest.mark.parametrize(
        "change",
        [
            {"reclaimable": {"main": 1}},
            {"priority": 3},
            {"conditions": condition("Evicted", "False", "x", 1.0)},
            {"conditions": condition("Requeued", "True", "BackoffFinished", 1.0)},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_what_gets_a_parked_workload_another_look(self, lab: Lab, change: dict[str, object]) -> None:
        lab.queue("q", cpu="4")
        lab.submit("toobig", "q", cpu="5")
        lab.run()
        changed = replace(lab.workloads["toobig"], **change)  # type: ignore[arg-type]
        lab.workloads["toobig"] = changed
        lab.scheduler.push(changed, "q", lab.now)
        if "priority" in change or "reclaimable" in change:
            assert lab.parked() == []
        else:
            assert lab.parked() == ["toobig"], "it is asked again only to find that its equal failed"
            lab.scheduler.flush("q")
            assert lab.parked() == []

    def test_reclaimed_pods_are_not_asked_for(self, lab: Lab) -> None:
        lab.queue("q", cpu="4")
        lab.submit_pods("shrinking", "q", PodSet("main", 5, {"cpu": 1000}))
        lab.run()
        assert lab.holding() == []
        shrunk = replace(lab.workloads["shrinking"], reclaimable={"main": 2})
        lab.scheduler.push(shrunk, "q", lab.now)
        lab.run()
        assert lab.scheduler.usage("q") == {("std", "cpu"): 3000}

    def test_the_preemptor_stays_ahead_of_more_important_newcomers(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", preemption=LOWER)
        lab.submit("low", "q", cpu="4")
        lab.run()
        lab.submit("high", "q", cpu="4", priority=1)
        assert preempted(lab.run()) == [("low", "InClusterQueue")]
        lab.submit("higher", "q", cpu="4", priority=2)
        assert lab.run().decisions == ()
        assert lab.scheduler.pending("q") == ["lab/high", "lab/higher"]
        lab.stop("low")
        assert admitted(lab.run()) == ["high"]

    def test_the_place_of_a_preemptor_that_left_is_free(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", preemption=LOWER)
        lab.submit("low", "q", cpu="4")
        lab.run()
        lab.submit("high", "q", cpu="4", priority=1)
        lab.run()
        lab.submit("higher", "q", cpu="4", priority=2)
        lab.scheduler.remove(lab.key("high"))
        lab.stop("low")
        assert admitted(lab.run()) == ["higher"]

    def test_untried_flavors_bring_it_back_at_once(self, lab: Lab) -> None:
        # Stopping at the first flavor with candidates, whose preemption then fails as a whole, is no final answer.
        lab.queue(
            "q",
            {"one": {"cpu": "4"}, "two": {"cpu": "8"}},
            {"disk": {"memory": "4"}},
            preemption=LOWER,
            fungibility=Fungibility("MayStopSearch", "MayStopSearch"),
        )
        lab.runs("cpu-holder", "q", priority=0, flavor="one", cpu="2")
        lab.runs("important", "q", priority=9, flavor="disk", memory="4")
        lab.submit("both", "q", priority=5, cpu="4", memory="1")
        lab.run()
        assert lab.why("both") == (
            "WaitingForQuota",
            (
                "couldn't assign flavors to pod set main: insufficient unused quota for memory in flavor disk, "
                "1 more needed"
            ),
        ), "the second look went on with flavor two"
        assert lab.parked() == ["both"]


class TestStrict:
    def test_a_blocked_head_stays_head(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", strict_fifo=True)
        lab.submit("toobig", "q", cpu="5")
        lab.submit("small", "q", cpu="1")
        assert admitted(lab.run()) == []
        assert lab.parked() == []
        assert lab.heard["toobig"].reason == "ExceedsMaxQuota"

    def test_a_head_that_can_never_be_admitted_is_set_aside(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", strict_fifo=True)
        lab.submit_pods("wrong", "q", PodSet("main", 1, {"cpu": 1000}, problem="requests exceed limits: cpu"))
        lab.submit("right", "q", cpu="1")
        assert admitted(lab.run()) == ["right"]
        assert lab.why("wrong") == ("Misconfigured", "requests exceed limits: cpu")
        assert lab.parked() == ["wrong"]

    def test_nobody_is_sticky(self, lab: Lab) -> None:
        lab.queue("q", cpu="4", strict_fifo=True, preemption=LOWER)
        lab.submit("low", "q", cpu="4")
        lab.run()
        lab.submit("high", "q", cpu="4", priority=1)
        lab.run()
        lab.submit("higher", "q", cpu="4", priority=2)
        lab.run()
        lab.stop("low")
        assert admitted(lab.run()) == ["higher"]

    def test_the_scan_of_a_head_that_blocks_comes_to_rest(self, lab: Lab) -> None:
        lab.queue(
            "q",
            {name: {"cpu": "4"} for name in ("one", "two", "three")},
            {"disk": {"memory": "4"}},
            strict_fifo=True,
            preemption=Preemption("LowerPriority"),
            fungibility=Fungibility("MayStopSearch", "MayStopSearch"),
        )
        for flavor in ("one", "two", "three"):
            lab.runs(f"on-{flavor}", "q", flavor=flavor, cpu="4")
        lab.runs("important", "q", priority=9, flavor="disk", memory="4")
        lab.submit("both", "q", priority=5, cpu="4", memory="1")
        assert not lab.run().more
        assert lab.run().decisions == ()


def test_a_workload_may_wait_for_a_queue_that_does_not_exist_yet(lab: Lab) -> None:
    lab.flavor("std")
    lab.submit("early", "q", cpu="1")
    assert lab.run().decisions == ()
    assert lab.scheduler.waits(lab.key("early"))
    lab.queue("q", cpu="4")
    assert admitted(lab.run()) == ["early"]


def test_who_holds_quota_does_not_wait(lab: Lab) -> None:
    lab.queue("q", cpu="4")
    lab.submit("a", "q", cpu="1")
    lab.run()
    lab.scheduler.push(lab.workloads["a"], "q", lab.now)
    assert not lab.scheduler.waits(lab.key("a"))
    lab.scheduler.remove(lab.key("a"))
    assert lab.scheduler.holds(lab.key("a"))


def test_moving_to_another_queue_leaves_the_first(lab: Lab) -> None:
    lab.queue("q", cpu="1")
    lab.queue("r", cpu="4")
    lab.submit("w", "q", cpu="2")
    lab.run()
    lab.scheduler.push(lab.workloads["w"], "r", lab.now)
    assert lab.scheduler.pending("q") == []
    assert admitted(lab.run()) == ["w"]
    assert lab.scheduler.usage("r") == {("std", "cpu"): 2000}


def test_a_namespace_that_stops_matching_is_noticed_by_a_blocked_head(lab: Lab) -> None:
    lab.scheduler.put_namespace(Namespace("okay", {"team": "ok"}))
    lab.queue("q", cpu="4", strict_fifo=True, selector=Selector((LabelRule("team", "Exists", ()),)))
    lab.submit("toobig", "q", namespace="okay", cpu="5")
    lab.run()
    lab.scheduler.drop_namespace("okay")
    lab.run()
    assert lab.why("toobig") == ("Misconfigured", "Could not obtain workload namespace")
    assert lab.parked() == ["toobig"]
