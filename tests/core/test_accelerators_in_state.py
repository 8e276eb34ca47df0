"""Quota for accelerators counts where a queue has it, whoever made them, and is in nobody's way where none has."""

from typing import Any

import pytest

from admission.explain import Explainer
from admission.jobs import JOB_KINDS, READERS
from admission.model.accelerators import ACCELERATORS, MEMORY
from admission.model.names import WorkloadKey
from admission.state import State
from admission.state.decide import REPORT_AFTER
from tests.core.test_reports import START, writes


class Room:
    """A State with ClusterQueue and LocalQueue q, of one flavor and these quotas, told in manifests."""

    def __init__(self, quotas: dict[str, str]) -> None:
        self.state, self.now, self.version = State(), START, 0
        self.tell("Namespace", "lab", "")
        self.tell("ResourceFlavor", "std", "")
        self.offer(quotas)
        self.tell("LocalQueue", "q", spec={"clusterQueue": "q"})

    def offer(self, quotas: dict[str, str]) -> None:
        resources = [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()]
        group = {"coveredResources": list(quotas), "flavors": [{"name": "std", "resources": resources}]}
        self.tell("ClusterQueue", "q", "", spec={"namespaceSelector": {}, "resourceGroups": [group]})

    def tell(self, kind: str, name: str, namespace: str = "lab", **fields: Any) -> None:
        self.version += 1
        metadata = {
            "namespace": namespace, "name": name, "uid": f"{kind}-{name}", "resourceVersion": str(self.version),
            "creationTimestamp": "1970-01-01T00:10:00Z", "finalizers": ["kueue.x-k8s.io/resource-in-use"],
        }  # fmt: skip
        self.state.observe(kind, READERS[kind]({"metadata": metadata, **fields}))

    def submit(self, name: str, requests: dict[str, str], count: int = 1, notes: Any = None) -> None:
        template = {
            "metadata": {"annotations": notes or {}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]},
        }
        pod_sets = [{"name": "main", "count": count, "template": template}]
        self.tell("Workload", name, spec={"queueName": "q", "podSets": pod_sets})

    def settle(self, seconds: float = 0.0) -> list[Any]:
        self.now += seconds
        return [patch.body["status"] for kind, patch in writes(self.state, self.now) if kind == "Workload"]

    def holds(self, name: str) -> bool:
        return self.state.scheduler.holds(WorkloadKey(f"lab/{name}"))

    def usage(self) -> dict[str, int]:
        return {resource: units for (_, resource), units in self.state.scheduler.usage("q").items() if units}

    def why(self, name: str) -> str:
        hold = self.state.scheduler.last(WorkloadKey(f"lab/{name}"))
        return hold.message if hold is not None else ""


def test_where_no_queue_has_quota_for_accelerators_nobody_is_held_up_and_nothing_is_told_of_them() -> None:
    desk = Room({"nvidia.com/gpu": "8"})
    desk.submit("small", {"nvidia.com/gpu": "2"})
    said = desk.settle()
    desk.submit("large", {"nvidia.com/gpu": "7"})
    said += [*desk.settle(), *desk.settle(REPORT_AFTER)]
    assert desk.usage() == {"nvidia.com/gpu": 2}
    assert desk.holds("small")
    assert not desk.holds("large")
    assert "lockgate.dev" not in str(said)
    assert "insufficient unused quota for nvidia.com/gpu" in desk.why("large")


def test_a_resource_of_its_own_that_no_queue_covers_still_holds_a_job_up() -> None:
    desk = Room({ACCELERATORS: "8"})
    desk.submit("w", {"nvidia.com/gpu": "2"})
    desk.settle()
    assert desk.why("w").endswith("resource nvidia.com/gpu unavailable in ClusterQueue")


def test_accelerators_of_all_vendors_are_counted_together() -> None:
    desk = Room({"nvidia.com/gpu": "100", "amd.com/gpu": "100", "habana.ai/gaudi": "100", ACCELERATORS: "16"})
    desk.submit("a", {"nvidia.com/gpu": "2"}, count=4)
    desk.submit("b", {"amd.com/gpu": "7"})
    desk.settle()
    desk.submit("c", {"habana.ai/gaudi": "2"})
    desk.settle()
    assert desk.usage()[ACCELERATORS] == 15000
    assert "insufficient unused quota for lockgate.dev/accelerators in flavor std, 1 more needed" in desk.why("c")
    desk.submit("d", {"habana.ai/gaudi": "1"})
    desk.settle()
    assert desk.usage()[ACCELERATORS] == 16000


@pytest.mark.parametrize(("quota", "admitted"), [("0.5", 1), ("500m", 1), ("1", 2), ("1.2", 2), ("1.5", 3), ("16", 4)])
def test_quota_may_be_a_part_of_a_device(quota: str, admitted: int) -> None:
    desk = Room({"cpu": "100", ACCELERATORS: quota})
    for number in range(4):
        desk.submit(f"w{number}", {"cpu": "1"}, notes={"gpu-fraction": "0.5"})
    desk.settle()
    assert sum(desk.holds(f"w{number}") for number in range(4)) == admitted


def test_memory_of_accelerators_is_quota_too_and_the_admission_says_both() -> None:
    desk = Room({"nvidia.com/gpu": "9", "nvidia.com/gpumem": "1000000", ACCELERATORS: "9", MEMORY: "20Gi"})
    desk.submit("a", {"nvidia.com/gpu": "2", "nvidia.com/gpumem": "4096"}, count=2)
    (said,) = desk.settle()
    (assigned,) = said["admission"]["podSetAssignments"]
    assert assigned["resourceUsage"][ACCELERATORS] == "4"
    assert assigned["resourceUsage"][MEMORY] == "16Gi"
    assert assigned["flavors"][MEMORY] == "std"
    desk.submit("b", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "5120"})
    desk.settle()
    assert not desk.holds("b")


def test_who_waits_is_told_what_it_comes_to_where_that_counts() -> None:
    desk = Room({"nvidia.com/gpu": "8", "nvidia.com/gpucores": "1000", ACCELERATORS: "1"})
    desk.submit("w", {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "50"}, count=3)
    desk.settle()
    (said,) = desk.settle(REPORT_AFTER)
    (told,) = said["resourceRequests"]
    assert told["resources"][ACCELERATORS] == "1500m"
    lack = str(Explainer(desk.state, desk.now).explain(WorkloadKey("lab/w")).as_json())
    assert ACCELERATORS in lack
    assert "1500m" in lack


def test_a_changed_share_is_another_workload() -> None:
    read, template = JOB_KINDS["Job"].read, {"spec": {"containers": [{"name": "c"}]}}
    half, third = (
        read({"metadata": {"name": "j"}, "spec": {"template": {**template, "metadata": {"annotations": notes}}}})
        for notes in ({"gpu-fraction": "0.5", "team": "a"}, {"gpu-fraction": "0.3", "team": "a"})
    )
    same = read(
        {
            "metadata": {"name": "j"},
            "spec": {"template": {**template, "metadata": {"annotations": {"gpu-fraction": "0.5"}}}},
        }
    )
    assert half.pod_sets[0].shape != third.pod_sets[0].shape
    assert half.pod_sets == same.pod_sets
