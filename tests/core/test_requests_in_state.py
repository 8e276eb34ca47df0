"""Requests follow LimitRanges, RuntimeClasses and settings as long as a workload waits, and not once it holds quota."""

from typing import Any

from admission.jobs import READERS
from admission.model.configuration import Configuration, Resources
from admission.model.effects import Patch
from admission.model.kinds import Ref
from admission.model.names import WorkloadKey
from admission.state import State
from admission.state.decide import REPORT_AFTER
from tests.core.test_reports import START, cluster, writes


class Desk:
    """A State with ClusterQueue and LocalQueue q0, told in manifests."""

    def __init__(self, cpu: str, settings: Resources = Resources()) -> None:  # noqa: B008
        self.state = cluster(1, cpu, State(Configuration(resources=settings)))
        self.now, self.version = START, 10
        self.written: list[Patch] = []

    def tell(self, kind: str, name: str, namespace: str = "lab", **fields: Any) -> None:
        self.version += 1
        metadata = {
            "namespace": namespace, "name": name, "uid": name, "resourceVersion": str(self.version),
            "creationTimestamp": "1970-01-01T00:10:00Z",
        }  # fmt: skip
        self.state.observe(kind, READERS[kind]({"metadata": metadata, **fields}))

    def limit_range(self, name: str, namespace: str = "lab", **entry: Any) -> None:
        self.tell("LimitRange", name, namespace, spec={"limits": [{"type": "Container", **entry}]})

    def submit(self, name: str, count: int = 1, status: Any = None, **pod: Any) -> None:
        pod_sets = [{"name": "main", "count": count, "template": {"spec": pod}}]
        self.tell("Workload", name, spec={"queueName": "q0", "podSets": pod_sets}, status=status or {})

    def settle(self, seconds: float = 0.0) -> None:
        self.now += seconds
        self.written += [patch for kind, patch in writes(self.state, self.now) if kind == "Workload"]

    def holds(self, name: str) -> bool:
        return self.state.scheduler.holds(WorkloadKey(f"lab/{name}"))

    def why(self, name: str) -> str:
        hold = self.state.scheduler.last(WorkloadKey(f"lab/{name}"))
        return hold.message if hold is not None else ""

    def usage(self) -> int:
        return self.state.scheduler.usage("q0").get(("std", "cpu"), 0)


def container(**cpu: str) -> dict[str, Any]:
    return {"name": "c", "resources": {kind: {"cpu": units} for kind, units in cpu.items()}}


def test_a_default_that_comes_while_a_workload_waits_counts_for_it() -> None:
    desk = Desk("4")
    desk.limit_range("defaults", defaultRequest={"cpu": "3"})
    desk.submit("large", count=2, containers=[container()])
    desk.settle()
    assert not desk.holds("large")
    desk.limit_range("defaults", defaultRequest={"cpu": "2"})
    desk.settle()
    assert desk.holds("large")
    assert desk.usage() == 4000


def test_a_limit_that_goes_away_lets_in_whom_it_kept_out() -> None:
    desk = Desk("4")
    desk.limit_range("small", max={"cpu": "1"})
    desk.submit("w", containers=[container(requests="2", limits="2")])
    desk.settle()
    assert desk.why("w").endswith('Invalid value: ["cpu"]: requests must not be above the limitRange max')
    desk.state.gone(Ref("LimitRange", "lab", "small"))
    desk.settle()
    assert desk.holds("w")


def test_limits_are_those_of_the_workloads_own_namespace() -> None:
    desk = Desk("4")
    desk.limit_range("small", "elsewhere", max={"cpu": "1"})
    desk.submit("w", containers=[container(requests="2", limits="2")])
    desk.settle()
    assert desk.holds("w")


def test_an_old_fact_of_a_limit_range_changes_nothing() -> None:
    desk = Desk("4")
    desk.limit_range("x", max={"cpu": "4"})
    desk.version -= 2
    desk.limit_range("x", max={"cpu": "1"})
    desk.version += 2
    desk.submit("w", containers=[container(requests="2", limits="2")])
    desk.settle()
    assert desk.holds("w")


def test_who_holds_quota_is_charged_for_what_the_admission_says() -> None:
    desk = Desk("4")
    desk.tell("RuntimeClass", "sandbox", "", overhead={"podFixed": {"cpu": "1"}})
    desk.submit("w", containers=[container(requests="2")], runtimeClassName="sandbox")
    desk.settle()
    assert desk.usage() == 3000
    desk.tell("RuntimeClass", "sandbox", "", overhead={"podFixed": {"cpu": "2"}})
    desk.limit_range("small", max={"cpu": "1"})
    desk.settle()
    assert desk.usage() == 3000


def test_overhead_of_a_runtime_class_follows_it() -> None:
    desk = Desk("4")
    desk.submit("w", containers=[container(requests="5")], runtimeClassName="sandbox")
    desk.submit("v", containers=[container(requests="4")], runtimeClassName="sandbox")
    desk.tell("RuntimeClass", "sandbox", "", overhead={"podFixed": {"cpu": "1"}})
    desk.settle()
    assert not desk.holds("v")
    desk.state.gone(Ref("RuntimeClass", "", "sandbox"))
    desk.settle()
    assert desk.holds("v")
    assert not desk.holds("w")


def test_what_the_scheduler_saw_is_told_while_it_waits_and_cleared_with_the_reservation() -> None:
    desk = Desk("4", Resources(("acme.io/",)))
    desk.limit_range("defaults", defaultRequest={"cpu": "3"})
    desk.submit("w", count=2, containers=[{**container(), "resources": {"requests": {"acme.io/gpu": "1"}}}])
    desk.settle()
    desk.settle(REPORT_AFTER)
    (told,) = desk.written
    assert told.body["status"]["resourceRequests"] == [{"name": "main", "resources": {"cpu": "6"}}]
    assert told.body["status"]["conditions"][0]["status"] == "False"
    desk.settle(REPORT_AFTER)
    assert len(desk.written) == 1, "it says so already"
    desk.limit_range("defaults", defaultRequest={"cpu": "2"})
    desk.settle()
    assert desk.written[1].body["status"]["resourceRequests"] == []
    assert "admission" in desk.written[1].body["status"]


def test_what_was_told_before_a_restart_is_not_told_again() -> None:
    desk = Desk("4")
    desk.submit("w", containers=[container(requests="9223372036854775807")])
    desk.settle()
    desk.settle(REPORT_AFTER)
    (told,) = desk.written
    again = Desk("4")
    again.submit("w", status=told.body["status"], containers=[container(requests="9223372036854775807")])
    again.settle()
    again.settle(REPORT_AFTER)
    assert again.written == []
