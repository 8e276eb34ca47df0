"""What is counted of a Workload's life: each happening once, with the waits that Kueue would count."""

from dataclasses import replace
from typing import Any

import pytest

from admission.model.workload import CheckState, Condition, PriorityClassRef, Workload
from admission.published import Recorder
from admission.published.families import FAMILIES, Family
from tests.core.lab import LOWER
from tests.core.test_state import Desk

BY_NAME = {family.name: family for family in FAMILIES}


class Counted(Desk):
    """A desk with a recorder beside it."""

    def __init__(self, **desk: Any) -> None:
        super().__init__(**desk)
        self.recorder = Recorder(self.state)
        self.recorder.counting = True
        self.state.tell(self.recorder.told)

    def count(self, name: str, *labels: str) -> int:
        return self.recorder.tally.counters.get(BY_NAME[name], {}).get(labels, 0)

    def seconds(self, name: str, *labels: str) -> list[float]:
        """The sum of what was observed, once per observation: [] for none."""
        found = self.recorder.tally.histograms.get(BY_NAME[name], {}).get(labels)
        return [] if found is None else [found.sum / sum(found.counts)] * sum(found.counts)

    def admit(self, name: str, cpu: int = 1, wait: float = 0.0) -> None:
        self.submit(name, cpu)
        for planned in self.plan(wait):
            self.answer(planned, "ok")

    def becomes(self, name: str, type: str, status: str, reason: str = "Because", **changes: Any) -> None:
        """News of the workload, with one more condition, a second later."""
        self.now += 1
        self.version += 1
        known = self.of(name)
        conditions = {**known.conditions, type: Condition(type, status, reason, "", self.now)}
        told = replace(known, resource_version=self.version, conditions=conditions, **changes)
        self.state.observe("Workload", told)

    def everything(self) -> dict[Family, dict[tuple[str, ...], int]]:
        return {family: dict(series) for family, series in self.recorder.tally.counters.items()}


def test_an_admission_is_counted_with_its_wait_for_both_queues() -> None:
    desk = Counted()
    desk.admit("a", wait=7.0)
    for kind in ("quota_reserved", "admitted"):
        assert desk.count(f"{kind}_workloads_total", "cq", "") == 1
        assert desk.count(f"local_queue_{kind}_workloads_total", "lq", "lab", "") == 1
    assert desk.seconds("quota_reserved_wait_time_seconds", "cq", "") == [7.0]
    assert desk.seconds("admission_wait_time_seconds", "cq", "") == [7.0]
    assert desk.seconds("local_queue_admission_wait_time_seconds", "lq", "lab", "") == [7.0]
    assert desk.seconds("admission_checks_wait_time_seconds", "cq", "") == []


@pytest.mark.parametrize("first", ["answer", "echo"])
def test_neither_the_echo_of_a_write_nor_a_second_telling_counts_again(first: str) -> None:
    desk = Counted()
    desk.submit("a", 1)
    (planned,) = desk.plan()
    assert desk.everything() == {}, "what is only planned has not happened"
    after = replace(desk.of("a"), resource_version=desk.version + 1)
    if first == "echo":
        desk.state.observe("Workload", after)
        desk.answer(planned, "ok")
    else:
        desk.answer(planned, "ok")
        desk.state.observe("Workload", after)
    desk.state.observe("Workload", replace(after, resource_version=desk.version + 5))
    assert desk.count("admitted_workloads_total", "cq", "") == 1


def test_a_refused_write_has_not_happened() -> None:
    desk = Counted()
    desk.submit("a", 1)
    (planned,) = desk.plan()
    desk.answer(planned, "refused")
    assert desk.everything() == {}


def test_a_follower_counts_nothing_but_knows_what_has_finished() -> None:
    desk = Counted()
    desk.recorder.counting = False
    desk.admit("a")
    desk.becomes("a", "Finished", "True")
    assert desk.everything() == {}
    assert desk.recorder.finished == {"lab/lq": 1}
    desk.state.gone(desk.of("a").ref)
    assert desk.recorder.finished == {}


def test_an_end_is_counted_with_how_long_it_ran() -> None:
    desk = Counted()
    desk.admit("a")
    desk.now += 99
    desk.becomes("a", "Finished", "True")
    assert desk.count("finished_workloads_total", "cq", "") == 1
    assert desk.seconds("execution_time_seconds", "cq", "") == [100.0]


def test_waiting_for_checks_is_told_apart() -> None:
    desk = Counted()
    workload = desk.submit("a", 1)
    (planned,) = desk.plan(3.0)
    desk.answer(planned, "ok")
    reserved = {name: one for name, one in desk.of("a").conditions.items() if name != "Admitted"}
    before = replace(desk.of("a"), conditions=reserved, checks=(CheckState("c", "Ready", 0.0, ""),))
    admitted = Condition("Admitted", "True", "Admitted", "", desk.now + 20)
    recorder = Recorder(desk.state)
    recorder.counting = True
    recorder.told(workload, before)
    recorder.told(before, replace(before, conditions={**reserved, "Admitted": admitted}))
    waits = recorder.tally.histograms[BY_NAME["admission_checks_wait_time_seconds"]]
    assert [histogram.sum for histogram in waits.values()] == [20.0]
    assert [one.sum for one in recorder.tally.histograms[BY_NAME["admission_wait_time_seconds"]].values()] == [23.0]


def test_ready_pods_are_timed_from_queueing_and_from_admission_the_first_time_only() -> None:
    desk = Counted()
    desk.admit("a", wait=4.0)
    desk.now += 9
    desk.becomes("a", "PodsReady", "True", "Started")
    desk.becomes("a", "PodsReady", "False", "WaitForRecovery")
    desk.becomes("a", "PodsReady", "True", "Recovered")
    assert desk.seconds("ready_wait_time_seconds", "cq", "") == [14.0]
    assert desk.seconds("admitted_until_ready_wait_time_seconds", "cq", "") == [10.0]


def test_an_eviction_is_counted_by_reason_and_once_for_the_first() -> None:
    desk = Counted()
    desk.admit("a")
    timed_out = ("PodsReadyTimeout", "WaitForStart")
    desk.becomes("a", "Evicted", "True", timed_out[0], evictions=((*timed_out, 1),))
    desk.becomes("a", "Evicted", "False", evictions=((*timed_out, 1),))
    desk.becomes("a", "Evicted", "True", timed_out[0], evictions=((*timed_out, 2),))
    assert desk.count("evicted_workloads_total", "cq", *timed_out, "") == 2
    assert desk.count("local_queue_evicted_workloads_total", "lq", "lab", *timed_out, "") == 2
    assert desk.count("evicted_workloads_once_total", "cq", *timed_out, "") == 1


def test_time_from_ready_to_eviction_and_from_eviction_to_release() -> None:
    desk = Counted()
    desk.admit("a")
    desk.becomes("a", "PodsReady", "True", "Started")
    desk.now += 29
    desk.becomes("a", "Evicted", "True", "ClusterQueueStopped", evictions=(("ClusterQueueStopped", "", 1),))
    desk.now += 4
    desk.becomes("a", "QuotaReserved", "False", "Pending", admission=None)
    assert desk.seconds("pods_ready_to_evicted_time_seconds", "cq", "ClusterQueueStopped", "") == [30.0]
    assert desk.seconds("workload_eviction_latency_seconds", "cq", "ClusterQueueStopped") == [5.0]


def test_a_preemption_names_the_queue_of_the_preemptor() -> None:
    desk = Counted(preemption=LOWER)
    desk.admit("low", cpu=4)
    desk.submit("high", 4, priority=9)
    (planned,) = desk.plan()
    assert desk.count("preempted_workloads_total", "cq", "InClusterQueue") == 0
    desk.answer(planned, "ok")
    assert desk.count("preempted_workloads_total", "cq", "InClusterQueue") == 1
    assert desk.count("evicted_workloads_total", "cq", "Preempted", "", "") == 1


def test_waits_start_anew_when_it_is_sent_back_and_class_is_a_label() -> None:
    desk = Counted()
    requeued = Condition("Requeued", "True", "Preempted", "", desk.now + 50)
    workload = desk.submit("a", 1)
    desk.version += 1
    ref = PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "urgent")
    changed: Workload = replace(
        workload, resource_version=desk.version, conditions={"Requeued": requeued}, priority_class=ref
    )
    desk.state.observe("Workload", changed)
    for planned in desk.plan(60.0):
        desk.answer(planned, "ok")
    assert desk.seconds("quota_reserved_wait_time_seconds", "cq", "urgent") == [10.0]


def test_cycles_are_counted_by_whether_they_admitted_somebody() -> None:
    desk = Counted(cpu="1")
    desk.submit("fits", 1)
    desk.submit("waits", 1)
    desk.plan()
    desk.recorder.planned(0.5)
    desk.recorder.planned(0.5)
    assert desk.count("admission_attempts_total", "success") == 1
    assert desk.count("admission_attempts_total", "inadmissible") == 1
    assert desk.seconds("admission_attempt_duration_seconds", "success") == [0.25]


def test_every_family_is_named_once_and_says_what_it_is() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    for family in FAMILIES:
        assert family.help.endswith("."), family.name
        assert (family.type == "counter") == family.name.endswith("_total"), family.name
        assert bool(family.edges) == (family.type == "histogram"), family.name
