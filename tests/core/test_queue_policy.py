"""Limits per user and group, minimum run times, budgets and work that is not preempted, as the scheduler keeps them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from admission.api.crd import schema_of
from admission.model.decisions import Evict
from admission.readers.queue_policy import policy_errors, read_queue_policy
from admission.rules.scheduler import Run
from controller.cli.__main__ import app
from tests.core.lab import LOWER, RECLAIM_ANY, Lab, admitted, preempted

ROOT = Path(__file__).parents[2]


class Office(Lab):
    """A lab whose people have names."""

    def policy(self, name: str, target: str = "ClusterQueue/a", **spec: Any) -> None:
        kind, _, rest = target.partition("/")
        namespace, _, called = rest.rpartition("/")
        where = {"kind": kind, "name": called, **({"namespace": namespace} if namespace else {})}
        wire = {"metadata": {"name": name}, "spec": {"target": where, **spec}}
        assert policy_errors(wire) == []
        self.scheduler.policies.put(read_queue_policy(wire))

    def by(self, user: str, name: str, queue: str = "a", *, groups: tuple[str, ...] = (), **asked: Any) -> str:
        """Somebody submits a job."""
        labels = asked.pop("labels", ())
        self.submit(name, queue, **asked)
        self.workloads[name] = replace(self.workloads[name], user=user, groups=groups, labels=labels)
        self.scheduler.remove(self.key(name))
        self.scheduler.push(self.workloads[name], queue, self.now)
        return name

    def run_until(self, time: float) -> Run:
        self.now = time - 1
        return self.run()


@pytest.fixture
def office() -> Office:
    office = Office()
    office.queue("a", cpu="100")
    return office


def test_each_user_runs_as_many_jobs_as_the_policy_allows_and_the_next_says_who_and_how_many(office: Office) -> None:
    office.policy("research", limits=[{"users": ["*"], "running": 2}])
    for number in range(4):
        office.by("ada", f"ada{number}", cpu="1")
    office.by("bob", "bob0", cpu="1")
    assert admitted(office.run()) == ["ada0", "ada1", "bob0"]
    assert office.why("ada2") == ("LimitReached", "ada runs 2 of 2 jobs allowed by QueuePolicy research")
    office.finish("ada0")
    assert admitted(office.run()) == ["ada2"]


def test_in_a_strict_queue_the_surplus_holds_nobody_up(office: Office) -> None:
    office.queue("a", cpu="100", strict_fifo=True)
    office.policy("research", limits=[{"users": ["ada"], "running": 1}])
    for name in ("ada0", "ada1"):
        office.by("ada", name, cpu="1")
    office.by("bob", "bob0", cpu="1")
    assert admitted(office.run()) == ["ada0", "bob0"]
    assert office.parked() == ["ada1"]


def test_a_group_has_its_limit_altogether_and_every_row_counts(office: Office) -> None:
    office.policy(
        "research",
        limits=[{"users": ["*"], "resources": {"cpu": "6"}}, {"groups": ["students"], "resources": {"cpu": "8"}}],
    )
    office.by("ada", "ada0", groups=("students",), cpu="5")
    office.by("bob", "bob0", groups=("students",), cpu="4")
    office.by("cid", "cid0", cpu="7")
    office.by("dot", "dot0", groups=("students",), cpu="3")
    assert admitted(office.run()) == ["ada0", "dot0"]
    why = "group students uses 8 of 8 cpu allowed by QueuePolicy research, and this asks for 4"
    office.policy("research", limits=[{"groups": ["students"], "resources": {"cpu": "8"}}])
    assert admitted(office.run()) == ["cid0"]
    assert office.why("bob0") == ("LimitReached", why)


def test_two_queues_of_one_cohort_share_the_limit_of_its_policy_within_one_cycle() -> None:
    office = Office()
    office.cohort("org")
    office.queue("a", cpu="10", cohort="org")
    office.queue("b", cpu="10", cohort="org")
    office.policy("org", "Cohort/org", limits=[{"users": ["*"], "running": 1}])
    office.by("ada", "ada0", "a", cpu="1")
    office.by("ada", "ada1", "b", cpu="1")
    assert admitted(office.run()) == ["ada0"]


def test_the_nearest_policy_that_speaks_of_a_field_counts() -> None:
    office = Office()
    office.cohort("org")
    office.queue("a", cpu="10", cohort="org")
    office.policy("org", "Cohort/org", limits=[{"users": ["*"], "running": 1}])
    office.policy("queue", "ClusterQueue/a", maxPending=50)
    office.policy("lane", "LocalQueue/lab/lq", limits=[{"users": ["*"], "running": 2}])
    for number in range(3):
        office.by("ada", f"ada{number}", cpu="1")
    assert admitted(office.run()) == ["ada0", "ada1"]


def test_more_waiting_than_allowed_are_not_queued_and_come_up_when_a_place_is_free(office: Office) -> None:
    office.policy("research", limits=[{"users": ["*"], "pending": 2, "running": 1}])
    for number in range(5):
        office.by("ada", f"ada{number}", cpu="1")
    assert admitted(office.run()) == ["ada0"]
    reason, message = office.why("ada4")
    assert (reason, message) == ("LimitReached", "ada has 4 waiting of 2 that may wait by QueuePolicy research")
    assert office.why("ada2")[1] == "ada runs 1 of 1 jobs allowed by QueuePolicy research"
    office.finish("ada0")
    assert admitted(office.run()) == ["ada1"]
    assert office.why("ada3")[1] == "ada runs 1 of 1 jobs allowed by QueuePolicy research"


def test_what_is_never_allowed_says_so(office: Office) -> None:
    office.policy("research", limits=[{"users": ["ada"], "maxPriority": 5, "podsPerWorkload": 3}])
    office.by("ada", "high", priority=6, cpu="1")
    office.by("ada", "low", priority=5, cpu="1")
    assert admitted(office.run()) == ["low"]
    told = "priority 6 is above 5, the highest that QueuePolicy research allows ada"
    assert office.why("high") == ("NotAllowed", told)


def test_a_policy_that_comes_late_counts_who_runs_already(office: Office) -> None:
    for number in range(3):
        office.by("ada", f"ada{number}", cpu="1")
    assert len(admitted(office.run())) == 3
    office.policy("research", limits=[{"users": ["*"], "running": 3}])
    office.by("ada", "ada3", cpu="1")
    assert admitted(office.run()) == []
    office.scheduler.policies.drop("research")
    assert admitted(office.run()) == ["ada3"]


def test_nobody_is_preempted_before_its_time() -> None:
    office = Office()
    office.queue("a", cpu="2", preemption=LOWER)
    office.policy("calm", preemption={"minRuntime": "10m"})
    office.by("ada", "long", cpu="2")
    assert admitted(office.run()) == ["long"]
    since = office.now
    office.by("bob", "urgent", priority=9, cpu="2")
    assert preempted(office.run()) == []
    assert office.scheduler.policies.wake_at == since + 600
    assert preempted(office.run_until(since + 599)) == []
    assert preempted(office.run_until(since + 600)) == [("long", "InClusterQueue")]


def test_reclaim_has_a_time_of_its_own() -> None:
    office = Office()
    office.cohort("org")
    office.queue("a", cpu="2", cohort="org")
    office.queue("b", cpu="2", cohort="org", preemption=RECLAIM_ANY)
    office.policy("calm", preemption={"reclaimMinRuntime": "60s"})
    office.by("ada", "borrower", "a", cpu="4")
    office.run()
    since = office.now
    office.by("bob", "owner", "b", cpu="2")
    assert preempted(office.run()) == []
    assert preempted(office.run_until(since + 60)) == [("borrower", "InCohortReclamation")]


def test_a_budget_of_evictions_is_kept_and_fills_again() -> None:
    office = Office()
    office.queue("a", cpu="4", preemption=LOWER)
    office.policy("calm", preemption={"budget": {"evictions": 1, "per": "5m"}})
    for number in range(4):
        office.by("ada", f"small{number}", cpu="1")
    office.run()
    office.by("bob", "first", priority=9, cpu="1")
    [(victim, _)] = preempted(office.run())
    at = office.now
    office.stop(victim)
    assert admitted(office.run()) == ["first"]
    office.by("bob", "second", priority=9, cpu="1")
    assert preempted(office.run()) == []
    told = "preemption waits: QueuePolicy calm allows 1 evictions in 5m0s, and 1 were"
    assert office.why("second") == ("WaitingForQuota", told)
    assert len(preempted(office.run_until(at + 300))) == 1


def test_work_that_is_not_preempted_does_not_borrow_either() -> None:
    fixed = (("lockgate.dev/preemptible", "false"),)
    office = Office()
    office.cohort("org")
    office.queue("a", cpu="2", cohort="org", preemption=LOWER)
    office.queue("b", cpu="2", cohort="org")
    office.policy("calm", nonPreemptible={"label": "lockgate.dev/preemptible=false"})
    office.by("ada", "too-much", cpu="3", labels=fixed)
    office.by("ada", "fits", cpu="2", labels=fixed)
    office.by("ada", "borrows", cpu="1")
    assert admitted(office.run()) == ["fits", "borrows"]
    office.by("bob", "urgent", priority=9, cpu="3")
    assert preempted(office.run()) == []


@pytest.mark.parametrize(("order", "leaves"), [("BorrowedFirst", ["borrower"]), ("LowestPriorityFirst", ["mine"])])
def test_a_lowered_quota_is_reached_by_eviction_after_a_while(order: str, leaves: list[str]) -> None:
    office = Office()
    office.cohort("org")
    for queue, cpu in (("a", "2"), ("b", "4")):
        office.queue(queue, cpu=cpu, cohort="org")
    office.policy("org", "Cohort/org", quotaShrink={"after": "10m", "order": order})
    office.by("ada", "owner", "a", priority=3, cpu="2")
    office.by("bob", "mine", "b", priority=1, cpu="3")
    office.by("ada", "borrower", "a", priority=2, cpu="1")
    assert len(admitted(office.run())) == 3
    office.queue("b", cpu="3", cohort="org")
    assert evictions(office.run()) == []
    since = office.now
    assert office.scheduler.policies.wake_at == since + 600
    assert evictions(office.run_until(since + 599)) == []
    assert evictions(office.run_until(since + 600)) == leaves
    assert evictions(office.run()) == []


def test_a_strict_head_may_block_only_what_it_waits_for() -> None:
    office = Office()
    office.queue("a", {"std": {"cpu": "4"}}, {"fast": {"acme.io/gpu": "2"}}, strict_fifo=True)
    office.policy("lanes", strictFIFOScope="Flavors")
    office.by("ada", "runs", cpu="2")
    office.by("ada", "head", cpu="4")
    office.by("bob", "same", cpu="1")
    office.by("bob", "other", gpu="1")
    assert admitted(office.run()) == ["runs", "other"]
    told = "lab/head is ahead of it in its strict queue and waits for cpu of flavor std"
    assert office.why("same") == ("WaitingForQuota", told)
    office.by("bob", "late", cpu="1")
    assert admitted(office.run()) == []
    office.scheduler.remove(office.key("head"))
    assert admitted(office.run()) == ["same", "late"]


def test_what_victims_leave_is_kept_for_whom_they_left() -> None:
    def day(**preemption: str) -> list[str]:
        office = Office()
        office.queue("a", cpu="4", preemption=LOWER, strict_fifo=True)
        if preemption:
            office.policy("calm", preemption=preemption)
        office.by("ada", "small", cpu="1")
        office.run()
        office.by("ada", "large", priority=1, cpu="4")
        [(victim, _)] = preempted(office.run())
        office.by("bob", "thief", priority=9, cpu="3")
        found = admitted(office.run())
        office.finish(victim)
        return found + admitted(office.run())

    assert day() == ["thief"]
    assert day(holdFreedQuota="2m") == ["large"]


def evictions(run: Run) -> list[str]:
    return [one.workload.partition("/")[2] for one in run.decisions if isinstance(one, Evict)]


USERS = ("ada", "bob", "cid", "")
GROUPS: dict[str, tuple[str, ...]] = {"ada": ("students",), "bob": ("students", "staff"), "cid": ("staff",), "": ()}
deeds = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.sampled_from(USERS), st.sampled_from("ab"), st.integers(1, 3)),
        st.tuples(st.sampled_from(["finish", "stop", "policy", "cohort"]), st.integers(0, 30)),
    ),
    max_size=30,
)
LIMITS = [
    [{"users": ["*"], "running": 2}, {"groups": ["students"], "running": 3, "resources": {"cpu": "5"}}],
    [{"users": ["ada", "cid"], "resources": {"cpu": "3"}}, {"groups": ["*"], "running": 2}],
]


def over(office: Office) -> list[str]:
    """Whoever has more than the policy allows, counted the slow way: workload by workload, row by row."""
    found = []
    limits = office.scheduler.policies.policing.policies.of("org").manners.limits or ()
    for at, row in enumerate(limits):
        running: dict[str, int] = {}
        cpu: dict[str, int] = {}
        for name in office.holding():
            workload, holder = office.workloads[name], office.scheduler.holders.get(office.key(name))
            assert holder is not None
            users = [workload.user] if workload.user else []
            of = [one for one in users if "*" in row.people.users or one in row.people.users]
            of += [f"@{one}" for one in workload.groups if "*" in row.people.groups or one in row.people.groups]
            for who in of:
                running[who] = running.get(who, 0) + 1
                cpu[who] = cpu.get(who, 0) + sum(holder.usage.values())
        most = len(office.workloads) if row.running is None else row.running
        found += [f"{who} row {at}" for who, count in running.items() if count > most]
        found += [f"{who} row {at} cpu" for who, units in cpu.items() if units > row.resources.get("cpu", units)]
    return found


@settings(max_examples=25)
@given(deeds, st.booleans())
def test_nobody_ever_has_more_than_allowed_and_at_rest_nobody_waits_who_may_run(
    history: list[tuple[Any, ...]], strict: bool
) -> None:
    office = Office()
    office.cohort("org")
    for queue in "ab":
        office.queue(queue, cpu="8", cohort="org", strict_fifo=strict)
    office.policy("org", "Cohort/org", limits=LIMITS[0])
    for what, *rest in history:
        if what == "submit":
            user, queue, cpu = rest
            office.by(user, f"w{len(office.workloads)}", queue, groups=GROUPS[user], cpu=str(cpu))
        elif what == "policy" and not office.holding():
            office.policy("org", "Cohort/org", limits=LIMITS[rest[0] % 2])
        elif what == "cohort":
            office.queue("ab"[rest[0] % 2], cpu="8", cohort="org", strict_fifo=strict)
        elif office.holding():
            pool = office.holding()
            getattr(office, what)(pool[rest[0] % len(pool)])
        while office.run().more:
            pass
        assert over(office) == []
    for name in office.scheduler.pending("a") + office.scheduler.pending("b"):
        hold = office.scheduler.inspect(name, office.now)
        assert getattr(hold, "reason", "") in ("LimitReached", "WaitingForQuota"), hold


def test_every_field_is_described_in_the_documentation() -> None:
    page = (ROOT / "docs" / "queue-policy.md").read_text(encoding="utf-8")
    assert [name for name in fields_of(schema_of("QueuePolicy")["properties"]["spec"]) if name not in page] == []


def fields_of(schema: dict[str, Any]) -> list[str]:
    inner = schema.get("properties", {})
    found = list(inner)
    for each in (*inner.values(), *([schema["items"]] if "items" in schema else [])):
        found += fields_of(each)
    return found


def test_the_example_lets_two_of_ada_run_and_one_of_the_students() -> None:
    told = CliRunner().invoke(app, ["simulate", str(ROOT / "examples" / "policies" / "research.yaml")])
    assert (told.exit_code, "lockgate.dev/" in told.output) == (0, False)
    why = CliRunner().invoke(
        app, ["explain", "Job/default/ada-2", str(ROOT / "examples" / "policies" / "research.yaml"), "--at", "5s"]
    )
    assert "ada runs 2 of 2 jobs allowed by QueuePolicy research" in " ".join(why.output.split())
