"""QueuePolicies on a whole cluster, whatever goes wrong: at no revision does anybody hold more than allowed."""

from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.world.faults import Faults
from admission.world.objects import holds
from admission.world.store import Change
from admission.world.world import World
from tests.core.storms import CLUSTER, Day, calm, cluster_queue, pods

KUEUE, LOCKGATE = "kueue.x-k8s.io/v1beta2", "lockgate.dev/v1alpha1"
ADA, BOB = "ada", "bob"


def policy(name: str, target: dict[str, str], **spec: Any) -> dict[str, Any]:
    meta = {"name": name}
    return {"apiVersion": LOCKGATE, "kind": "QueuePolicy", "metadata": meta, "spec": {"target": target, **spec}}


class MostLaw:
    """Nobody ever holds quota for more than so many workloads."""

    def __init__(self, world: World, most: int) -> None:
        self.most = most
        self.broken: list[str] = []
        self.highest: dict[str, int] = {}
        self._held: dict[Ref, str] = {}
        world.api.listen(self._note)

    def _note(self, change: Change) -> None:
        if change.ref.kind != "Workload":
            return
        self._held.pop(change.ref, None)
        user = (change.new["metadata"].get("annotations") or {}).get("lockgate.dev/user", "")
        gone = change.type == "DELETED" or holds(change.new, "Finished") or not change.new["spec"].get("active", True)
        if user and not gone and holds(change.new, "QuotaReserved"):
            self._held[change.ref] = user
            count = sum(one == user for one in self._held.values())
            self.highest[user] = max(count, self.highest.get(user, 0))
            if count > self.most:
                self.broken.append(f"{user} holds {count} of {self.most} at {change.version}")


POLICED = [*CLUSTER, policy("org", {"kind": "Cohort", "name": "org"}, limits=[{"users": ["*"], "running": 2}])]


class PolicedDay(Day):
    """The same day, but everything is somebody's, and nobody may hold more than two."""

    cluster = POLICED

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.most_law = MostLaw(self.world, 2)
        create, users = self.world.api.create, ("ada", "bob", "cid")

        def by_somebody(manifest: Any, **rest: Any) -> Any:
            if "user" not in rest and manifest["kind"] in ("Job", "Workload"):
                rest["user"] = users[self._count % len(users)]
            return create(manifest, **rest)

        self.world.api.create = by_somebody  # type: ignore[method-assign]


@pytest.mark.parametrize("faults", [calm(3), Faults(4)], ids=["calm", "storm"])
def test_no_user_ever_holds_more_than_the_limit_and_everybody_ends(faults: Faults) -> None:
    day = PolicedDay(faults)
    day.play(40)
    day.evening()
    assert day.complaints == []
    assert day.most_law.broken == []
    assert max(day.most_law.highest.values()) == 2


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_storms_with_a_limit(seed: int) -> None:
    day = PolicedDay(Faults(seed))
    day.play(300)
    day.evening()
    assert (day.complaints, day.most_law.broken) == ([], [])


def lab(*more: dict[str, Any], cpu: int = 1000) -> World:
    world = World()
    queue = cluster_queue("research", "org", cpu, queueingStrategy="StrictFIFO")
    local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "main", "namespace": "lab"}}
    for manifest in (*CLUSTER[:2], queue, {**local, "spec": {"clusterQueue": "research"}}, *more):
        assert world.api.create(manifest).ok, manifest
    world.settle()
    return world


RESEARCH = {"kind": "ClusterQueue", "name": "research"}


def job(name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    meta = {"name": name, "namespace": "lab", "labels": labels, **metadata}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"suspend": True, "template": pods(1)}}


def status_of(world: World, name: str) -> Any:
    found = world.api.peek(Ref("QueuePolicy", "", name))
    assert found is not None
    return found["status"]


def stored(world: World, name: str) -> Any:
    return world.api.peek(Ref("Job", "lab", name))


def test_of_two_hundred_jobs_at_once_twenty_run_and_the_others_say_why() -> None:
    world = lab(policy("research", RESEARCH, limits=[{"users": ["*"], "running": 20}]))
    law = MostLaw(world, 20)
    for number in range(200):
        assert world.api.create(job(f"j{number}"), user=ADA).ok
    assert world.api.create(job("other"), user=BOB).ok
    world.advance(world.now + 60)
    assert (law.broken, law.highest) == ([], {ADA: 20, BOB: 1})
    workloads = world.api.list("Workload")
    told = [
        (one["reason"], one["message"])
        for workload in workloads
        for one in (workload.get("status") or {}).get("conditions", ())
        if one["type"] == "QuotaReserved" and one["status"] == "False"
    ]
    assert told == [("Pending", "ada runs 20 of 20 jobs allowed by QueuePolicy research")] * 180
    status = status_of(world, "research")
    assert [one["reason"] for one in status["conditions"]] == ["Ready"]
    use = {"name": ADA, "running": 20, "pending": 180, "resources": {"cpu": "20"}}
    assert status["users"] == [use, {"name": BOB, "running": 1, "pending": 0, "resources": {"cpu": "1"}}]
    for number in range(5):
        world.finish(Ref("Job", "lab", f"j{number}"))
    world.advance(world.now + 5)
    assert law.broken == []
    assert len([one for one in world.api.list("Workload") if holds(one, "Admitted")]) == 26  # five of them have ended


def test_who_creates_a_job_is_written_onto_it_and_its_workload_and_by_nobody_else() -> None:
    world = lab(policy("research", RESEARCH, limits=[{"users": ["*"], "running": 20}]))
    assert world.api.create(job("a", annotations={"lockgate.dev/user": "boss", "team": "x"}), user=ADA).ok
    assert stored(world, "a")["metadata"]["annotations"] == {"lockgate.dev/user": ADA, "team": "x"}
    world.settle()
    [workload] = world.api.list("Workload")
    assert workload["metadata"]["annotations"]["lockgate.dev/user"] == ADA
    ref = Ref("Job", "lab", "a")
    refused = world.api.patch(ref, {"metadata": {"annotations": {"lockgate.dev/user": "boss"}}}, user=ADA)
    assert not refused.ok
    assert "metadata.annotations[lockgate.dev/user]: Forbidden: is written by Lockgate alone" in refused.message
    assert world.api.patch(ref, {"metadata": {"annotations": None}}, user=ADA).ok
    assert stored(world, "a")["metadata"]["annotations"] == {"lockgate.dev/user": ADA}


def test_without_policies_nothing_is_written_but_what_people_write_is_not_believed() -> None:
    world = lab()
    assert world.api.create(job("a"), user=ADA).ok
    assert world.api.create(job("b", annotations={"lockgate.dev/user": "boss"}), user=ADA).ok
    assert "annotations" not in stored(world, "a")["metadata"]
    assert stored(world, "b")["metadata"]["annotations"] == {"lockgate.dev/user": ADA}


def test_an_administrator_may_say_for_whom_a_job_is() -> None:
    world = lab(policy("research", RESEARCH, limits=[{"users": ["*"], "running": 20}]))
    assert world.api.create(job("a", annotations={"lockgate.dev/user": "ada"})).ok
    assert stored(world, "a")["metadata"]["annotations"] == {"lockgate.dev/user": ADA}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"submit": {"users": ["bob"], "groups": ["staff"]}},
            "ada may not create jobs for LocalQueue main: QueuePolicy research lets users bob and groups staff",
        ),
        (
            {"limits": [{"users": ["*"], "podsPerWorkload": 3}]},
            "4 pods are more than 3, the most that QueuePolicy research allows ada",
        ),
        (
            {"limits": [{"users": ["ada"], "maxPriority": 1}]},
            "priority 2 is above 1, the highest that QueuePolicy research allows ada",
        ),
    ],
)
def test_what_is_never_allowed_is_refused_at_once(spec: dict[str, Any], told: str) -> None:
    world = lab(policy("research", RESEARCH, **spec), CLUSTER[-1])
    wanted = job("a")
    wanted["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    wanted["spec"] |= {"parallelism": 4, "completions": 4}
    refused = world.api.create(wanted, user=ADA)
    assert (refused.ok, refused.code) == (False, 403)
    assert told in refused.message
    submits = "submit" in spec
    assert world.api.create({**wanted, "metadata": {**wanted["metadata"], "name": "b"}}, user=BOB).ok == (
        submits or "maxPriority" in str(spec)
    )


def test_a_queue_that_is_full_is_closed_until_somebody_has_left() -> None:
    world = lab(policy("research", RESEARCH, maxPending=2), cpu=0)
    for name in "ab":
        assert world.api.create(job(name), user=ADA).ok
    world.advance(world.now + 15)
    refused = world.api.create(job("c"), user=BOB)
    assert "2 workloads wait, and QueuePolicy research lets 2 wait at a time: try again later" in refused.message


def test_the_longest_run_of_a_policy_ends_a_workload() -> None:
    world = lab(policy("research", RESEARCH, limits=[{"users": ["*"], "maxRuntime": "60s"}]))
    assert world.api.create(job("a"), user=ADA).ok
    world.advance(world.now + 59)
    assert holds(world.api.list("Workload")[0], "Admitted")
    world.advance(world.now + 5)
    [workload] = world.api.list("Workload")
    assert workload["spec"]["active"] is False


def test_a_policy_for_nothing_says_so_until_its_queue_is_there() -> None:
    world = lab(policy("lane", {"kind": "LocalQueue", "name": "new", "namespace": "lab"}, maxPending=9))
    conditions = status_of(world, "lane")["conditions"]
    assert [(one["status"], one["reason"]) for one in conditions] == [("False", "TargetNotFound")]
    local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "new", "namespace": "lab"}}
    assert world.api.create({**local, "spec": {"clusterQueue": "research"}}).ok
    world.settle()
    conditions = status_of(world, "lane")["conditions"]
    assert [(one["status"], one["reason"]) for one in conditions] == [("True", "Ready")]
