"""Jobs with templates in other objects, while those come, change and go in a cluster where everything goes wrong."""

from random import Random

import pytest

from admission.model.kinds import Ref
from admission.world.faults import Faults
from admission.world.laws import at_rest, negative_usage
from admission.world.objects import holds
from admission.world.world import World
from tests.core.manifests.pods import Object
from tests.core.storms import KUEUE, calm, cluster_queue
from tests.core.test_templates_elsewhere import job_kind, pods, runtime, sweep

RUNTIMES = ("small", "large")
KIND, LENDER = "Sweep.v1.experiments.example", "Runtime.v1.experiments.example"


class Lab:
    """People, and the controller of Sweeps."""

    def __init__(self, faults: Faults) -> None:
        self.world = World(faults=faults)
        self.random = Random(faults.seed * 7919 + 1)  # other numbers than the storm's
        for manifest in (
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
            {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "std"}},
            cluster_queue("q", "org", 12),
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "main", "namespace": "lab"},
             "spec": {"clusterQueue": "q"}},
            bare(job_kind()),
        ):  # fmt: skip
            assert self.world.api.create(manifest).ok
        self.world.settle()

    def play(self, events: int) -> None:
        actions = (self._submit, self._lend, self._lend, self._take_back, self.finish_one, self._hold_or_release)
        for number in range(events):
            self.random.choice(actions)(number)
            self.operate()
            self.world.advance(self.world.now + self.random.choice((0.0, 0.5, 3.0, 20.0)))

    def morning_after(self) -> None:
        assert self.world.storm is not None
        self.world.storm.calm()
        self.world.api.patch(Ref("ClusterQueue", "", "q"), {"spec": {"stopPolicy": "None"}})
        for _ in range(10):
            self.operate()
            self.world.advance(self.world.now + 60)

    def sweeps(self) -> list[Object]:
        return [dict(one) for one in self.world.api.scan(KIND) if not holds(one, "Complete")]

    def lent(self) -> set[str]:
        return {one["metadata"]["name"] for one in self.world.api.scan(LENDER)}

    def workload(self, job: Object) -> Object | None:
        uid = job["metadata"]["uid"]
        return next((dict(one) for one in self.world.api.scan("Workload")
                     if one["metadata"]["ownerReferences"][0]["uid"] == uid), None)  # fmt: skip

    def _submit(self, number: int) -> None:
        job = bare(sweep(self.random.choice(RUNTIMES), replicas=self.random.randint(1, 3)))
        job["metadata"]["name"] = f"s{number}"
        del job["spec"]["suspend"]
        assert self.world.api.create(job).ok

    def _lend(self, number: int) -> None:
        name, template = self.random.choice(RUNTIMES), pods(str(self.random.randint(1, 4)))
        if name in self.lent():
            self.world.api.patch(Ref(LENDER, "lab", name), {"spec": {"template": template}})
        else:
            assert self.world.api.create(bare(runtime(name, template=template))).ok

    def _take_back(self, number: int) -> None:
        self.world.api.delete(Ref(LENDER, "lab", self.random.choice(RUNTIMES)))

    def _hold_or_release(self, number: int) -> None:
        policy = self.random.choice(("None", "None", "HoldAndDrain"))
        self.world.api.patch(Ref("ClusterQueue", "", "q"), {"spec": {"stopPolicy": policy}})

    def finish_one(self, number: int) -> None:
        running = [one for one in self.sweeps() if (one.get("status") or {}).get("active")]
        if running:
            done = {"active": 0, "conditions": [{"type": "Complete", "status": "True", "message": "done"}]}
            self._write(self.random.choice(running), done)

    def operate(self) -> None:
        for one in self.sweeps():
            wanted = 0 if one["spec"].get("suspend") else one["spec"]["replicas"]
            if (one.get("status") or {}).get("active", 0) != wanted:
                self._write(one, {"active": wanted})

    def _write(self, job: Object, status: Object) -> None:
        ref = Ref(KIND, "lab", job["metadata"]["name"])
        assert self.world.api.patch(ref, {"status": status}, subresource="status").ok


def bare(one: Object) -> Object:
    """As its author writes it."""
    kept = {key: one["metadata"][key] for key in ("name", "namespace", "labels") if key in one["metadata"]}
    return {**one, "metadata": kept}


def lives(faults: Faults, events: int) -> Lab:
    """Afterwards whoever lacks a template waits without quota, whoever runs has it; and once all are there all end."""
    lab = Lab(faults)
    lab.play(events)
    lab.morning_after()
    assert list(at_rest(lab.world)) == []
    assert list(negative_usage(lab.world)) == []
    for job in lab.sweeps():
        lacks, workload = job["spec"]["runtimeRef"] not in lab.lent(), lab.workload(job)
        if job["spec"].get("suspend") and lacks:
            assert workload is None or not holds(workload, "QuotaReserved")
        if not job["spec"].get("suspend"):
            assert workload is not None
            assert holds(workload, "Admitted")
    for _ in range(60):
        for name in RUNTIMES:
            if name not in lab.lent():
                assert lab.world.api.create(bare(runtime(name))).ok
        lab.finish_one(0)
        lab.operate()
        lab.world.advance(lab.world.now + 5)
    assert lab.sweeps() == []
    return lab


def test_in_fair_weather_everybody_ends_once_the_templates_are_there() -> None:
    assert len(list(lives(calm(1), 30).world.api.scan(KIND))) > 3


def test_in_a_storm_everybody_ends_once_the_templates_are_there() -> None:
    assert len(list(lives(Faults(2), 30).world.api.scan(KIND))) > 3


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(40))
def test_forty_long_storms(seed: int) -> None:
    lives(Faults(seed), 60)
