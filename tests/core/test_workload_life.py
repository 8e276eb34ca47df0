"""What happens to one Workload between its queue and its end: checks, back-off, late pods, retention."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from admission.model.configuration import Configuration, Retention, WaitForPodsReady
from admission.model.effects import Delete, Patch, StartJob
from admission.model.gates import Gates
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.queues import (
    AdmissionCheck,
    CheckRule,
    ClusterQueue,
    LocalQueue,
    Namespace,
    PriorityClass,
    ResourceFlavor,
)
from admission.model.selectors import EVERYTHING
from admission.model.workload import (
    Admission,
    CheckState,
    Condition,
    PodSet,
    PodSetAssignment,
    PodSetUpdate,
    PriorityClassRef,
    Workload,
)
from admission.reconcile import transitions
from admission.reconcile.job import reconcile_job
from admission.reconcile.wishes import NOTHING, Wishes
from admission.reconcile.workload import reconcile_workload
from admission.rules.scheduler import Scheduler
from admission.state.objects import Objects
from admission.state.profiles import Profiles
from admission.state.slots import Slot
from admission.state.timers import Timers
from tests.core.lab import group

FLAVORS = Admission("cq", (PodSetAssignment("main", {"cpu": "spot"}, {"cpu": 4000}, 4),))
QUICK = WaitForPodsReady(timeout=60, recovery_timeout=30, backoff_base_seconds=10, backoff_max_seconds=25)


def slot(value: Any) -> Slot[Any]:
    made: Slot[Any] = Slot()
    made.observe(value)
    return made


@dataclass
class Bench:
    """One queue with two flavors, whatever checks a test wants, one workload that is looked at again and again."""

    checks: tuple[CheckRule, ...] = ()
    configuration: Configuration = field(default_factory=Configuration)
    now: float = 1000.0
    stop_policy: str = "None"

    def view(self) -> Objects:
        objects = Objects(self.configuration, Scheduler(), Profiles(Timers()))
        offers = group({"spot": {"cpu": "4"}, "steady": {"cpu": "4"}})
        queue = ClusterQueue(
            "cq", groups=(offers,), namespace_selector=EVERYTHING, checks=self.checks, stop_policy=self.stop_policy
        )
        objects.cluster_queues["cq"] = slot(queue)
        objects.local_queues["lab/lq"] = slot(LocalQueue("lab", "lq", "cq"))
        objects.namespaces["lab"] = Namespace("lab")
        for name in ("spot", "steady"):
            objects.flavors[name] = slot(ResourceFlavor(name, node_labels={"pool": name}))
        for rule in self.checks:
            objects.admission_checks[rule.name] = slot(AdmissionCheck(rule.name, active=True))
        return objects

    def look(self, workload: Workload) -> Wishes:
        return reconcile_workload(self.view(), workload, self.now)

    def step(self, workload: Workload) -> Workload:
        """The workload after one look that must have changed its status."""
        after = self.look(workload).workload
        assert after is not None
        return after


def waiting(**more: Any) -> Workload:
    return Workload("lab", "w", "uid-w", 1, 900.0, "lq", (PodSet("main", 4, {"cpu": 1000}),), **more)


def holding(*states: CheckState, admitted: bool = False, since: float = 1000.0, **more: Any) -> Workload:
    return transitions.reserve(waiting(checks=states, **more), FLAVORS, since, admit=admitted)


def state(name: str, word: str, message: str = "", **more: Any) -> CheckState:
    return CheckState(name, word, 1000.0, message, **more)


def words(workload: Workload) -> dict[str, str]:
    return {check.name: check.state for check in workload.checks}


def reason(workload: Workload, condition: str) -> tuple[str, str]:
    found = workload.conditions[condition]
    return found.status, found.reason


# --- checks


def test_a_workload_that_waits_shows_the_checks_that_hold_for_every_flavor() -> None:
    bench = Bench((CheckRule("audit"), CheckRule("all", ("steady", "spot")), CheckRule("spot-only", ("spot",))))
    assert words(bench.step(waiting())) == {"all": "Pending", "audit": "Pending"}


def test_one_that_has_just_come_shows_them_later_since_its_reservation_may_be_faster() -> None:
    bench = Bench((CheckRule("audit"),))
    assert bench.look(replace(waiting(), created=bench.now)) == Wishes(wake_at=bench.now + 5)


def test_once_it_has_flavors_it_must_pass_their_checks_and_no_others() -> None:
    bench = Bench((CheckRule("audit"), CheckRule("spot-only", ("spot",)), CheckRule("steady-only", ("steady",))))
    assert words(bench.step(holding(state("gone", "Ready")))) == {"audit": "Pending", "spot-only": "Pending"}


def test_it_is_admitted_once_all_of_them_are_ready() -> None:
    bench = Bench((CheckRule("a"), CheckRule("b")))
    assert bench.look(holding(state("a", "Ready"), state("b", "Pending"))) == NOTHING
    wishes = bench.look(holding(state("a", "Ready"), state("b", "Ready")))
    assert wishes.workload is not None
    assert wishes.workload.admitted
    assert [event.reason for event in wishes.events] == ["Admitted"]


def test_a_check_taken_from_the_queue_admits_who_waited_only_for_it() -> None:
    after = Bench((CheckRule("a"),)).step(holding(state("a", "Ready"), state("b", "Pending")))
    assert after.admitted
    assert words(after) == {"a": "Ready"}


def test_a_check_added_to_the_queue_leaves_who_is_admitted_alone_but_for_its_entry() -> None:
    after = Bench((CheckRule("a"), CheckRule("b"))).step(holding(state("a", "Ready"), admitted=True))
    assert after.admitted
    assert not after.evicted
    assert words(after) == {"a": "Ready", "b": "Pending"}


def test_retry_evicts_starts_all_checks_anew_and_waits_as_long_as_it_was_told() -> None:
    bench = Bench((CheckRule("a"), CheckRule("b")))
    held = holding(state("a", "Ready", updates=(PodSetUpdate("main"),)), state("b", "Retry", "busy", requeue_after=60))
    after = bench.step(held)
    assert reason(after, "Evicted") == ("True", "AdmissionCheck")
    assert after.conditions["Evicted"].message == 'Evicted due to AdmissionCheck in Retry state: "b" (busy)'
    assert words(after) == {"a": "Pending", "b": "Pending"}
    first, second = after.checks
    assert (first.retry_count, first.updates) == (None, ())
    assert (second.retry_count, second.requeue_after) == (1, 60)
    assert (after.requeue_at, after.requeue_count) == (1060.0, 0)
    left = transitions.requeue_after_stop(after, 1002.0)
    bench.now = 1003
    assert bench.look(left) == Wishes(wake_at=1060.0)
    bench.now = 1060
    back = bench.step(left)
    assert reason(back, "Requeued") == ("True", "BackoffFinished")
    assert back.requeue_at is None


def test_the_later_of_two_back_offs_counts() -> None:
    held = holding(state("a", "Retry", requeue_after=60), requeue_at=2000.0)
    assert Bench((CheckRule("a"),)).step(held).requeue_at == 2000.0


def test_retries_are_counted_for_the_check_that_asked_for_them() -> None:
    held = holding(state("a", "Retry", retry_count=2), state("b", "Pending", retry_count=5))
    after = Bench((CheckRule("a"), CheckRule("b"))).step(held)
    assert [check.retry_count for check in after.checks] == [3, 5]


def test_a_retry_that_comes_after_the_quota_was_given_back_does_not_hold_it_for_ever() -> None:
    after = Bench((CheckRule("a"),)).step(waiting(checks=(state("a", "Retry", requeue_after=30),)))
    assert words(after) == {"a": "Pending"}
    assert after.requeue_at == 1030.0


def test_rejected_deactivates_it_and_names_every_check_that_did() -> None:
    bench = Bench((CheckRule("a"), CheckRule("b")))
    wishes = bench.look(holding(state("b", "Rejected"), state("a", "Rejected", "no"), admitted=True))
    assert wishes.workload is not None
    target = wishes.workload.conditions["DeactivationTarget"]
    assert (target.status, target.reason) == ("True", "AdmissionCheck")
    assert target.message == 'AdmissionChecks in Rejected state: "a" (no); "b"'
    assert [(event.type, event.reason) for event in wishes.events] == [("Warning", "AdmissionCheckRejected")]
    (effect,) = bench.look(wishes.workload).effects
    assert isinstance(effect, Patch)
    assert effect.body == {"spec": {"active": False}}
    evicted = bench.step(replace(wishes.workload, active=False))
    assert reason(evicted, "Evicted") == ("True", "DeactivatedDueToAdmissionCheck")
    assert "DeactivationTarget" not in evicted.conditions
    assert evicted.evictions == (("Deactivated", "AdmissionCheck", 1),)


def test_one_that_was_deactivated_keeps_only_the_checks_that_hold_for_every_flavor() -> None:
    bench = Bench((CheckRule("audit", ("spot",)), CheckRule("budget")))
    gone = replace(waiting(checks=(state("audit", "Pending"), state("budget", "Pending"))), active=False)
    evicted = transitions.evict(gone, "Deactivated", "The workload is deactivated", bench.now)
    assert words(bench.step(evicted)) == {"budget": "Pending"}


def test_in_a_stopped_local_queue_nothing_is_shown_or_queued_again() -> None:
    """Its ClusterQueue may go on: until the LocalQueue does, the workload belongs to none."""
    bench = Bench((CheckRule("audit"),))
    view = bench.view()
    view.local_queues["lab/lq"] = slot(LocalQueue("lab", "lq", "cq", stop_policy="Hold"))
    stopped = Condition("Requeued", "False", "ClusterQueueStopped", "", 950.0)
    for workload in (waiting(), waiting(conditions={"Requeued": stopped})):
        assert reconcile_workload(view, workload, bench.now) == NOTHING
    assert reason(bench.step(waiting(conditions={"Requeued": stopped})), "Requeued") == (
        "True",
        "ClusterQueueRestarted",
    )


def test_one_that_was_deactivated_follows_its_class_all_the_same() -> None:
    bench = Bench()
    view = bench.view()
    view.workload_priority_classes["high"] = PriorityClass("high", 7)
    ref = PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")
    gone = replace(waiting(priority_class=ref), active=False)
    assert reconcile_workload(view, gone, bench.now).effects == (Patch(gone.ref, {"spec": {"priority": 7}}),)


def test_one_that_is_preempted_while_it_is_being_deactivated_can_be_activated_again() -> None:
    bench = Bench((CheckRule("a"),))
    refused = bench.step(holding(state("a", "Rejected"), admitted=True))
    left = transitions.requeue_after_stop(transitions.preempt(refused, "InClusterQueue", "", 1000.0), 1001.0)
    forgiven = bench.step(replace(left, active=False))
    assert "DeactivationTarget" not in forgiven.conditions
    assert bench.look(replace(forgiven, active=False)) == NOTHING


@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_queue_that_stops_takes_back_what_has_not_started(policy: str) -> None:
    after = Bench((CheckRule("a"),), stop_policy=policy).step(holding(state("a", "Pending")))
    assert reason(after, "QuotaReserved") == ("False", "Inadmissible")
    assert after.admission is None


def test_only_a_draining_queue_evicts_what_runs() -> None:
    assert Bench(stop_policy="Hold").look(holding(admitted=True)).workload is None
    after = Bench(stop_policy="HoldAndDrain").step(holding(admitted=True))
    assert reason(after, "Evicted") == ("True", "ClusterQueueStopped")


# --- gates


def test_a_gated_workload_says_so_until_the_gate_is_cleared() -> None:
    bench = Bench()
    told = bench.step(waiting(gated_by="acme.io/review"))
    assert reason(told, "QuotaReserved") == ("False", "AdmissionGated")
    assert bench.look(told) == NOTHING
    cleared = bench.look(replace(told, gated_by=""))
    assert cleared.workload is not None
    assert reason(cleared.workload, "QuotaReserved") == ("False", "Pending")
    assert [event.reason for event in cleared.events] == ["AdmissionGateCleared"]


# --- pods that are not ready


def not_ready(cause: str, since: float = 1000.0) -> dict[str, Condition]:
    return {"PodsReady": Condition("PodsReady", "False", cause, "", since)}


def late(cause: str, **more: Any) -> Workload:
    held = holding(admitted=True, **more)
    return replace(held, conditions={**held.conditions, **not_ready(cause)})


def test_pods_that_do_not_get_ready_in_time_cost_the_workload_its_place_for_a_while() -> None:
    bench = Bench(configuration=Configuration(wait_for_pods_ready=QUICK), now=1059)
    assert bench.look(late("WaitForStart")) == Wishes(wake_at=1060.0)
    bench.now = 1060
    after = bench.step(late("WaitForStart"))
    assert reason(after, "Evicted") == ("True", "PodsReadyTimeout")
    assert after.evictions == (("PodsReadyTimeout", "WaitForStart", 1),)
    assert (after.requeue_count, after.requeue_at) == (1, 1070.0)


def test_each_time_it_waits_twice_as_long_up_to_the_most() -> None:
    bench = Bench(configuration=Configuration(wait_for_pods_ready=QUICK), now=2000)
    delays = [bench.step(late("WaitForStart", requeue_count=n)).requeue_at for n in (0, 1, 2, 3, 500)]
    assert delays == [2010.0, 2020.0, 2025.0, 2025.0, 2025.0]


def test_a_pod_that_fails_later_has_its_own_time_to_recover() -> None:
    bench = Bench(configuration=Configuration(wait_for_pods_ready=QUICK), now=1030)
    after = bench.step(late("WaitForRecovery"))
    assert after.evictions == (("PodsReadyTimeout", "WaitForRecovery", 1),)
    for_ever = Configuration(wait_for_pods_ready=replace(QUICK, recovery_timeout=None))
    assert Bench(configuration=for_ever, now=9999).look(late("WaitForRecovery")) == NOTHING


def test_after_too_many_times_it_is_deactivated() -> None:
    limited = Configuration(wait_for_pods_ready=replace(QUICK, backoff_limit_count=2))
    bench = Bench(configuration=limited, now=2000)
    assert not bench.step(late("WaitForStart", requeue_count=1)).is_true("DeactivationTarget")
    after = bench.step(late("WaitForStart", requeue_count=2))
    assert reason(after, "DeactivationTarget") == ("True", "RequeuingLimitExceeded")


def test_nobody_is_timed_when_waiting_for_pods_is_off() -> None:
    assert Bench(configuration=Configuration(wait_for_pods_ready=None), now=9e9).look(late("WaitForStart")) == NOTHING


# --- retention


def test_a_finished_workload_is_kept_as_long_as_configured() -> None:
    done = replace(transitions.finish(waiting(), True, "", 1000.0), finalizers=("kueue.x-k8s.io/resource-in-use",))
    assert Bench().look(done) == NOTHING
    bench = Bench(configuration=Configuration(retention=Retention(after_finished=50)), now=1049)
    assert bench.look(done) == Wishes(wake_at=1050.0)
    bench.now = 1050
    (first,) = bench.look(done).effects
    assert isinstance(first, Patch)
    assert first.body["metadata"]["finalizers"] == []
    (second,) = bench.look(replace(done, finalizers=())).effects
    assert second == Delete(done.ref, done.uid)


def job(**more: Any) -> Job:
    pods = (PodSet("main", 4, {"cpu": 1000}),)
    return Job(Ref("Job", "lab", "j"), "uid-j", 7, 900.0, pods, queue_name="lq", **more)


def of_job(workload: Workload, view: Objects) -> Workload:
    owned = replace(workload, owner=job().ref, owner_uid="uid-j", owned=True)
    if "PodsReady" not in owned.conditions and view.configuration.wait_for_pods_ready is not None:
        owned = transitions.not_started(owned, 1000.0)  # said in the write that reserved its quota
    view.workloads[owned.key] = slot(owned)
    view.index(owned.key, owned)
    return owned


def test_a_job_that_was_deactivated_for_its_author_is_deleted_when_configured() -> None:
    bench = Bench(configuration=Configuration(retention=Retention(after_deactivated=50)), now=1040)
    evicted = transitions.evict(waiting(active=False), "Deactivated", "", 1000.0, cause="AdmissionCheck")
    view = bench.view()
    of_job(evicted, view)
    assert reconcile_job(view, job(suspended=True), bench.now) == Wishes(wake_at=1050.0)
    assert reconcile_job(view, job(suspended=True), 1050.0).effects == (Delete(job().ref, "uid-j"),)
    by_hand = transitions.evict(waiting(active=False), "Deactivated", "", 1000.0)
    of_job(by_hand, view)
    assert reconcile_job(view, job(suspended=True), 1050.0) == NOTHING


# --- what a job and its Workload tell each other


def test_checks_add_to_the_pods_what_their_controllers_ask_for() -> None:
    bench, view = Bench((CheckRule("a"),)), Bench((CheckRule("a"),)).view()
    update = PodSetUpdate("main", labels=(("rack", "r1"),), node_selector=(("zone", "z1"),))
    of_job(holding(state("a", "Ready", updates=(update,)), admitted=True), view)
    (effect,) = reconcile_job(view, job(suspended=True), bench.now).effects
    assert isinstance(effect, StartJob)
    (info,) = effect.infos
    assert info.node_selector == {"pool": "spot", "zone": "z1"}
    assert info.labels["rack"] == "r1"


def test_a_check_that_contradicts_the_flavor_ends_the_workload_with_a_sentence() -> None:
    view = Bench((CheckRule("a"),)).view()
    update = PodSetUpdate("main", node_selector=(("pool", "steady"),))
    of_job(holding(state("a", "Ready", updates=(update,)), admitted=True), view)
    after = reconcile_job(view, job(suspended=True), 1000.0).workload
    assert after is not None
    assert reason(after, "Finished") == ("True", "FailedToStart")
    assert "nodeSelector[pool]='steady', but it is 'spot' already" in after.conditions["Finished"].message


def test_readiness_follows_the_pods_through_a_failure_and_back() -> None:
    view = Bench().view()
    workload = of_job(transitions.not_started(holding(admitted=True), 1000.0), view)

    def told(now: float, *, ready: bool) -> Workload | None:
        after = reconcile_job(view, job(pods_ready=ready, active=True), now).workload
        return of_job(after, view) if after is not None else None

    assert told(1001.0, ready=False) is None
    seen = [told(now, ready=ready) for now, ready in ((1002.0, True), (1003.0, False), (1004.0, True))]
    assert [reason(one, "PodsReady") for one in seen if one is not None] == [
        ("True", "Started"),
        ("False", "WaitForRecovery"),
        ("True", "Recovered"),
    ]
    assert workload.conditions["PodsReady"].reason == "WaitForStart"


def test_pods_that_a_job_needs_no_more_are_given_back_and_never_asked_for_again() -> None:
    view = Bench(configuration=Configuration(wait_for_pods_ready=None)).view()
    of_job(holding(admitted=True), view)
    after = reconcile_job(view, job(active=True, reclaimable={"main": 9}), 1000.0).workload
    assert after is not None
    assert after.reclaimable == {"main": 4}
    of_job(after, view)
    assert reconcile_job(view, job(active=True, reclaimable={"main": 1}), 1000.0).workload is None


def test_without_the_gate_a_job_keeps_all_its_pods() -> None:
    off = Configuration(wait_for_pods_ready=None, gates=Gates({"ReclaimablePods": False}))
    view = Bench(configuration=off).view()
    of_job(holding(admitted=True), view)
    assert reconcile_job(view, job(active=True, reclaimable={"main": 2}), 1000.0) == NOTHING


def test_the_words_of_checks_that_are_awaited_reach_the_author_of_the_job() -> None:
    view = Bench((CheckRule("a"), CheckRule("b"))).view()
    of_job(holding(state("a", "Pending", "room by noon"), state("b", "Ready", "fine")), view)
    (event,) = reconcile_job(view, job(suspended=True), 1000.0).events
    assert (event.ref.kind, event.reason, event.message) == ("Job", "UpdatedAdmissionCheck", "a: room by noon")
