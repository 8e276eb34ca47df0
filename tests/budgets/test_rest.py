"""What a plan costs a controller at rest: nearly nothing, and no more because much is running."""

import time
from dataclasses import replace

import pytest

from admission.model.effects import EmitEvent, Outcome
from admission.model.queues import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    LocalQueue,
    Namespace,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
)
from admission.model.selectors import EVERYTHING
from admission.model.workload import Admission, Condition, PodSet, PodSetAssignment, Workload
from admission.state.state import State
from tests.budgets.limits import limit

QUEUES, COHORTS = 30, 5
SINCE, NOW = 1_767_600_000.0, 1_767_600_100.0
FINISHES = 20


class Cluster:
    """So many admitted workloads, which use every quota up, and one that waits in each queue for more than one frees.

    Writes succeed at once, and their echoes never come.
    """

    def __init__(self, admitted: int) -> None:
        self.state, self.now, self.version = State(), NOW, admitted + 1000
        self.state.observe("Namespace", Namespace("crowd"))
        self.state.observe("ResourceFlavor", ResourceFlavor("standard"))
        for number in range(COHORTS):
            self.state.observe("Cohort", Cohort(f"cohort-{number}", parent="company"))
        for number in range(QUEUES):
            units = 1000 * len(range(number, admitted, QUEUES))
            quotas = (FlavorQuotas("standard", {"cpu": Quota(units)}),)
            queue = ClusterQueue(
                f"queue-{number}",
                cohort=f"cohort-{number % COHORTS}",
                groups=(ResourceGroup(("cpu",), quotas),),
                namespace_selector=EVERYTHING,
                preemption=Preemption("Never", "Never"),
            )
            self.state.observe("ClusterQueue", queue)
            self.state.observe("LocalQueue", LocalQueue("crowd", queue.name, queue.name))
            self.state.observe("Workload", _workload(f"waiting-{number}", queue.name, 1_000_000))
        self.running = [_running(number) for number in range(admitted)]
        for workload in self.running:
            self.state.observe("Workload", workload)
        self.come_to_rest()

    def plan(self) -> tuple[float, bool]:
        """CPU seconds of one, and whether there was anything to do."""
        began = time.process_time()
        plan = self.state.plan(self.now)
        seconds = time.process_time() - began
        for planned in plan.effects:
            if not isinstance(planned.effect, EmitEvent):
                self.version += 1
                self.state.outcome(Outcome(planned.id, "ok", self.version))
        return seconds, plan.more or bool(plan.effects)

    def come_to_rest(self) -> None:
        busy = True
        while busy:
            self.now += 10  # whatever is written with a delay is due
            _, busy = self.plan()

    def finish(self, workload: Workload) -> float:
        """CPU seconds from the news to the plan that follows from it."""
        self.version += 1
        ended = {**workload.conditions, "Finished": Condition("Finished", "True", "Succeeded", "", self.now)}
        news = replace(workload, resource_version=self.version, conditions=ended)
        began = time.process_time()
        self.state.observe("Workload", news)
        told = time.process_time() - began
        planned, _ = self.plan()
        assert not self.state.scheduler.holds(workload.key)
        self.come_to_rest()
        return told + planned


def _workload(name: str, queue: str, units: int) -> Workload:
    return Workload("crowd", name, f"uid-of-{name}", 1, SINCE, queue, (PodSet("main", 1, {"cpu": units}),))


def _running(number: int) -> Workload:
    queue = f"queue-{number % QUEUES}"
    assignment = PodSetAssignment("main", {"cpu": "standard"}, {"cpu": 1000}, 1)
    held = {kind: Condition(kind, "True", kind, "", SINCE) for kind in ("QuotaReserved", "Admitted")}
    asked = _workload(f"running-{number:05}", queue, 1000)
    return replace(asked, admission=Admission(queue, (assignment,)), conditions=held)


def finishing(admitted: int) -> float:
    """CPU seconds of a finish, the cheapest of some: whatever else runs on the machine only makes it dearer."""
    cluster = Cluster(admitted)
    return min(cluster.finish(workload) for workload in cluster.running[:FINISHES])


def test_a_plan_with_nothing_to_do_costs_next_to_nothing() -> None:
    cluster = Cluster(10_000)
    seconds, busy = min(cluster.plan() for _ in range(10))
    assert not busy
    assert seconds * 1e6 < limit("rest", "idle_plan_microseconds")


def test_a_finish_costs_the_same_however_many_run() -> None:
    few, many = finishing(1_000), finishing(10_000)
    if many / few > limit("rest", "growth_of_a_finish"):
        pytest.fail(f"{few * 1e6:.0f} us with 1,000 admitted, {many * 1e6:.0f} us with 10,000")
