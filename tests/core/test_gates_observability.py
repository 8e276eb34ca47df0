"""UnadmittedWorkloadsObservability: with the gate conditions and metrics tell one reason of waiting from another."""

from typing import Any

import pytest

from admission.model.configuration import Configuration, WaitForPodsReady
from admission.model.gates import Gates
from admission.model.kinds import Ref
from admission.published import Recorder
from admission.reconcile import transitions, unadmitted
from admission.state import State
from tests.core.clusters import Cluster, Plan, QueuePlan
from tests.core.test_simulate import job
from tests.core.test_workload_life import holding, reason, state

FINE, COARSE = True, False
either = pytest.mark.parametrize("on", [FINE, COARSE])
NO_RESERVATION = ("False", "NoReservation", "The workload has no reservation")


def cluster(on: bool, cpu: int = 2, **configuration: Any) -> Cluster:
    plan = Plan((QueuePlan("", cpu, None, None, False, "LowerPriority", "Never", "Never"),), 0)
    gates = Gates({"UnadmittedWorkloadsObservability": on})
    return Cluster(plan, configuration=Configuration(**{"gates": gates, "wait_for_pods_ready": None, **configuration}))


def says(made: Cluster, ref: Ref, condition: str) -> tuple[str, str, str] | None:
    """Status, reason and message."""
    found = made.world.api.peek(ref)
    assert found is not None
    for one in found["status"].get("conditions") or ():
        if one["type"] == condition:
            return one["status"], one["reason"], one["message"]
    return None


def edit(made: Cluster, ref: Ref, spec: dict[str, Any]) -> None:
    answer = made.world.api.patch(ref, {"spec": spec})
    assert answer.code == 200, answer.message
    made.pass_time(10)


@either
def test_who_waits_for_quota_says_so(on: bool) -> None:
    made = cluster(on)
    made.submit(0, 2, 0)
    waits, never = made.submit(0, 1, 0), made.submit(0, 3, 0)
    made.pass_time(10)
    for ref, fine in ((waits, "WaitingForQuota"), (never, "ExceedsMaxQuota")):
        told = says(made, ref, "QuotaReserved")
        assert told is not None
        assert told[:2] == ("False", fine if on else "Pending")
        assert says(made, ref, "Admitted") == (NO_RESERVATION if on else None)


@either
def test_who_is_queued_nowhere_is_told_apart_from_who_is_stopped(on: bool) -> None:
    made = cluster(on)
    edit(made, Ref("ClusterQueue", "", "q0"), {"stopPolicy": "Hold"})
    stopped = made.submit(0, 1, 0)
    made.pass_time(10)
    told = says(made, stopped, "QuotaReserved")
    assert told == ("False", "Suspended" if on else "Inadmissible", "ClusterQueue q0 is inactive")
    edit(made, stopped, {"queueName": "gone"})
    told = says(made, stopped, "QuotaReserved")
    assert told == ("False", "Misconfigured" if on else "Inadmissible", "LocalQueue gone doesn't exist")


@either
def test_who_was_preempted_is_to_be_looked_at_again(on: bool) -> None:
    made = cluster(on)
    made.create(job("victim", "q0", "2"))
    made.pass_time(10)
    victim = Ref("Workload", "lab", made.workloads()[0]["metadata"]["name"])
    assert says(made, victim, "Admitted") == ("True", "Admitted", "The workload is admitted")
    seen: list[str] = []
    made.world.subscribe("Workload", lambda change: seen.extend(_reasons(change.new, victim)))
    made.submit(0, 2, priority=9)
    made.pass_time(10)
    assert ("PendingEvaluation" if on else "Pending") in seen
    assert ("Pending" in seen) is not on
    admitted = says(made, victim, "Admitted")
    assert admitted is not None
    assert admitted[1] == "NoReservation"


def _reasons(manifest: Any, ref: Ref) -> list[str]:
    if manifest["metadata"]["name"] != ref.name:
        return []
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return [one["reason"] for one in conditions if one["type"] == "QuotaReserved" and one["status"] == "False"]


@either
def test_who_waits_for_the_pods_of_others_says_so(on: bool) -> None:
    made = cluster(on, wait_for_pods_ready=WaitForPodsReady(block_admission=True))
    made.submit(0, 1, priority=1)
    second = made.submit(0, 1, 0)
    made.pass_time(10)
    told = says(made, second, "QuotaReserved")
    message = "waiting for all admitted workloads to be in PodsReady condition"
    assert told == ("False", "WaitingForPodsReady" if on else "Waiting", message)


@either
def test_who_was_deactivated_says_so(on: bool) -> None:
    made = cluster(on)
    ref = made.submit(0, 3, 0)
    made.pass_time(10)
    edit(made, ref, {"active": False})
    told = says(made, ref, "QuotaReserved")
    assert told is not None
    assert told[1] == ("Deactivated" if on else "Pending")


@either
def test_who_is_not_admitted_is_counted_by_reason(on: bool) -> None:
    made = cluster(on)
    recorder = Recorder(state_of(made))
    state_of(made).tell(recorder.told)
    runs, waits = made.submit(0, 2, 1), made.submit(0, 1, 0)
    made.world.settle()
    assert shown(made, recorder) == ({("q0", "NoReservation", "PendingEvaluation"): 1} if on else {})
    made.submit(0, 3, 0)
    made.pass_time(10)
    why = {("q0", "NoReservation", "WaitingForQuota"): 1, ("q0", "NoReservation", "ExceedsMaxQuota"): 1}
    assert shown(made, recorder) == (why if on else {})
    twin = {("q0", "lab", *labels): count for labels, count in why.items()}
    assert shown(made, recorder, "local_queue_unadmitted_workloads") == (twin if on else {})
    made.world.finish(runs)
    made.pass_time(10)
    assert shown(made, recorder) == ({("q0", "NoReservation", "ExceedsMaxQuota"): 1} if on else {})
    assert says(made, waits, "Admitted") == ("True", "Admitted", "The workload is admitted")


def state_of(made: Cluster) -> State:
    assert isinstance(made.world.state, State)
    return made.world.state


def shown(made: Cluster, recorder: Recorder, name: str = "unadmitted_workloads") -> dict[tuple[str, ...], float]:
    samples = recorder.unadmitted.gauges(state_of(made), lambda key: True)
    return {labels: value for family, labels, value in samples if family.name == name}


def test_who_waits_for_checks_says_so_and_who_lost_its_quota_says_only_that() -> None:
    waits = holding(state("a", "Pending"))
    told = unadmitted.spelled_out(waits, 1010.0)
    assert reason(told, "Admitted") == ("False", "UnsatisfiedAdmissionChecks")
    assert told.conditions["Admitted"].message == "The workload has not all checks ready"
    assert unadmitted.spelled_out(told, 1020.0) is told
    left = transitions.unreserve(holding(state("a", "Pending"), admitted=True), "Pending", "", 1010.0)
    assert reason(left, "Admitted") == ("False", "NoReservationUnsatisfiedChecks")
    assert reason(unadmitted.spelled_out(left, 1010.0), "Admitted") == ("False", "NoReservation")
