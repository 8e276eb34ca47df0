"""Admission fair sharing: LocalQueues of one ClusterQueue are served by what they have used, before priorities."""

from typing import Any

from admission.model.configuration import AdmissionFairSharing, Configuration
from admission.model.gates import Gates
from admission.model.kinds import Ref
from admission.world.world import World
from tests.core.clusters import API, is_true, workload

HOUR = 3600.0
SETTINGS = AdmissionFairSharing(usage_half_life=HOUR, usage_sampling_interval=300.0)
USAGE_BASED = Configuration(admission_fair_sharing=SETTINGS, wait_for_pods_ready=None)


class Company:
    """One ClusterQueue of so many cores, with LocalQueues `heavy` and `light`."""

    def __init__(
        self,
        cores: int = 4,
        configuration: Configuration = USAGE_BASED,
        usage_based: bool = True,
        preempts: str = "Never",
        **weights: str,
    ) -> None:
        self.world = World(configuration, pods_stop_after=1.0)
        self.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        self.make({"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "std"}})
        flavor = {"name": "std", "resources": [{"name": "cpu", "nominalQuota": str(cores)}]}
        mode = "UsageBasedAdmissionFairSharing" if usage_based else "NoAdmissionFairSharing"
        spec = {
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": preempts},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
            "admissionScope": {"admissionMode": mode},
        }
        self.make({"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": spec})
        for name in ("heavy", "light"):
            spec = {"clusterQueue": "cq", "fairSharing": {"weight": weights.get(name, "1")}}
            meta = {"name": name, "namespace": "lab"}
            self.make({"apiVersion": API, "kind": "LocalQueue", "metadata": meta, "spec": spec})
        self.world.settle()

    def make(self, manifest: dict[str, Any]) -> None:
        answer = self.world.api.create(manifest)
        assert answer.code == 201, answer.body

    def submit(self, name: str, queue: str, cpu: int, priority: int = 0) -> Ref:
        self.make(workload(name, queue, cpu, priority))
        self.world.settle()
        return Ref("Workload", "lab", name)

    def together(self, *submitted: tuple[str, str, int, int]) -> None:
        """They meet in one cycle."""
        self.world.pause(True)
        for one in submitted:
            self.submit(*one)
        self.world.pause(False)
        self.world.settle()

    def pass_time(self, seconds: float) -> None:
        self.world.advance(self.world.now + seconds)

    def running(self) -> set[str]:
        found = self.world.api.list("Workload", "lab")
        return {one["metadata"]["name"] for one in found if is_true(one, "Admitted") and not is_true(one, "Finished")}

    def consumed(self, queue: str) -> Any:
        body = self.world.api.get(Ref("LocalQueue", "lab", queue)).body or {}
        standing = body.get("status", {}).get("fairSharing", {}).get("admissionFairSharingStatus", {})
        return standing.get("consumedResources")


def test_who_has_used_less_is_served_first_whatever_its_priority() -> None:
    company = Company()
    first = company.submit("first", "heavy", 4)
    company.pass_time(HOUR)
    company.together(("urgent", "heavy", 4, 100), ("modest", "light", 4, 0))
    company.world.finish(first)
    company.world.settle()
    assert company.running() == {"modest"}


def test_elsewhere_priority_decides() -> None:
    for company in (
        Company(usage_based=False),
        Company(configuration=Configuration(wait_for_pods_ready=None)),
        Company(
            configuration=Configuration(
                admission_fair_sharing=SETTINGS, wait_for_pods_ready=None, gates=Gates({"AdmissionFairSharing": False})
            )
        ),
    ):
        first = company.submit("first", "heavy", 4)
        company.pass_time(HOUR)
        company.together(("urgent", "heavy", 4, 100), ("modest", "light", 4, 0))
        company.world.finish(first)
        company.world.settle()
        assert company.running() == {"urgent"}
        assert company.consumed("heavy") is None


def test_each_admission_counts_at_once_so_that_queues_take_turns() -> None:
    company = Company(cores=4)
    company.together(*[(f"h{n}", "heavy", 1, 9) for n in range(4)], *[(f"l{n}", "light", 1, 0) for n in range(4)])
    assert company.running() == {"h0", "h1", "l0", "l1"}


def test_a_local_queue_of_twice_the_weight_gets_twice_as_much() -> None:
    company = Company(cores=6, heavy="2")
    company.together(*[(f"h{n}", "heavy", 1, 0) for n in range(6)], *[(f"l{n}", "light", 1, 0) for n in range(6)])
    assert sum(name.startswith("h") for name in company.running()) == 4


def test_a_local_queue_of_weight_zero_comes_last() -> None:
    company = Company(cores=1, light="0")
    first = company.submit("first", "heavy", 1)
    company.pass_time(HOUR)
    company.together(("h", "heavy", 1, 0), ("l", "light", 1, 9))
    company.world.finish(first)
    company.world.settle()
    assert company.running() == {"h"}


def test_consumption_nears_what_is_used_and_halves_when_nothing_is() -> None:
    company = Company()
    first = company.submit("first", "heavy", 4)
    company.pass_time(1)
    # Four cores for five minutes of a half-life of an hour: 4 x (1 - 0.5^(1/12)).
    assert abs(float_of(company.consumed("heavy")["cpu"]) - 0.2245) < 0.0001
    company.pass_time(HOUR)
    # The penalty of five minutes, then an hour of four cores: half of what there is to come.
    assert 1.9 < float_of(company.consumed("heavy")["cpu"]) < 2.2
    company.pass_time(9 * HOUR)
    assert 3.9 < float_of(company.consumed("heavy")["cpu"]) < 4
    company.world.finish(first)
    company.world.settle()
    before = float_of(company.consumed("heavy")["cpu"])
    company.pass_time(HOUR)
    assert abs(float_of(company.consumed("heavy")["cpu"]) - before / 2) < 0.15  # within one sample


def test_a_new_leader_goes_on_from_the_status() -> None:
    company = Company()
    first = company.submit("first", "heavy", 4)
    company.pass_time(HOUR)
    before = company.consumed("heavy")
    company.world.start_product()
    company.world.settle()
    assert company.consumed("heavy") == before
    company.together(("urgent", "heavy", 4, 100), ("modest", "light", 4, 0))
    company.world.finish(first)
    company.world.settle()
    assert company.running() == {"modest"}


def test_of_its_own_queue_the_one_whose_local_queue_has_used_most_is_preempted() -> None:
    company = Company(cores=4, preempts="LowerPriority")
    company.submit("old", "heavy", 2)
    company.pass_time(HOUR)
    company.submit("new", "light", 2)  # the later reservation, and so without this rule the first to go
    company.pass_time(10)
    company.submit("urgent", "light", 2, priority=5)
    company.pass_time(5)
    assert company.running() == {"new", "urgent"}


def test_a_refused_admission_leaves_no_penalty_behind() -> None:
    company = Company(cores=1)
    company.submit("blocker", "heavy", 1)
    waiting = company.submit("waiting", "light", 1)
    company.world.api.delete(waiting)
    company.world.settle()
    ledger = company.world.state.scheduler.consumption  # type: ignore[attr-defined]
    assert ledger.standing("lab/light")[1] == 0
    assert ledger.standing("lab/heavy")[1] > 0


def test_nothing_used_and_nothing_left_over_is_not_written_again_and_again() -> None:
    company = Company()
    company.pass_time(10)
    writes = len(company.world.writes)
    company.pass_time(10 * HOUR)
    assert len(company.world.writes) == writes


def float_of(quantity: str) -> float:
    for suffix, size in (("n", 1e-9), ("u", 1e-6), ("m", 1e-3)):
        if quantity.endswith(suffix):
            return float(quantity[:-1]) * size
    return float(quantity)
