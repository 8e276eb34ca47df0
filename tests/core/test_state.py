"""The contract between State and whoever carries out its plans: what each outcome makes of it."""

from dataclasses import dataclass, field, replace
from typing import Any

from admission.model.effects import Outcome, Patch, Planned, Result
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.model.names import WorkloadKey
from admission.model.queues import ClusterQueue, LocalQueue, Namespace, Preemption, ResourceFlavor
from admission.model.selectors import EVERYTHING
from admission.model.workload import Admission, Condition, PodSet, PodSetAssignment, Workload
from admission.state import State
from tests.core.lab import group


@dataclass
class Desk:
    """A State with one queue, and somebody who answers its effects by hand."""

    cpu: str = "4"
    strict: bool = False
    state: State = field(default_factory=State)
    now: float = 1000.0
    version: int = 100
    preemption: Preemption = field(default_factory=Preemption)

    def __post_init__(self) -> None:
        self.state.observe("Namespace", Namespace("lab"))
        self.state.observe("ResourceFlavor", ResourceFlavor("std", resource_version=1))
        self.state.observe("ClusterQueue", self.queue(self.cpu))
        self.state.observe("LocalQueue", LocalQueue("lab", "lq", "cq", resource_version=1))

    def queue(self, cpu: str) -> ClusterQueue:
        return ClusterQueue(
            "cq",
            resource_version=self.version,
            groups=(group({"std": {"cpu": cpu}}),),
            namespace_selector=EVERYTHING,
            strict_fifo=self.strict,
            preemption=self.preemption,
        )

    def submit(self, name: str, cpu: int, priority: int = 0) -> Workload:
        self.version += 1
        pod_sets = (PodSet("main", 1, {"cpu": cpu * 1000}),)
        workload = Workload("lab", name, name, self.version, self.now, "lq", pod_sets, priority=priority)
        self.state.observe("Workload", workload)
        return workload

    def plan(self, seconds: float = 0.0) -> list[Planned]:
        """Writes to Workloads of the next plans, until State is content; queue statuses are answered with ok."""
        self.now += seconds
        out: list[Planned] = []
        while True:
            plan = self.state.plan(self.now)
            for planned in plan.effects:
                if planned.effect.ref.kind == "Workload" and isinstance(planned.effect, Patch):
                    out.append(planned)
                elif isinstance(planned.effect, Patch):
                    self.state.outcome(Outcome(planned.id, "refused", message="nobody keeps statuses here"))
            self.reads = plan.reads
            if not plan.more:
                return out

    def answer(self, planned: Planned, result: Result) -> int:
        self.version += 1
        self.state.outcome(Outcome(planned.id, result, self.version if result == "ok" else None))
        return self.version

    def of(self, name: str) -> Workload:
        return self.state.workloads[WorkloadKey(f"lab/{name}")]

    def used(self) -> int:
        return self.state.scheduler.usage("cq").get(("std", "cpu"), 0)


def names(planned: list[Planned]) -> list[str]:
    return [one.effect.ref.name for one in planned]


def conditions(planned: Planned) -> dict[str, Any]:
    assert isinstance(planned.effect, Patch)
    return {one["type"]: one for one in planned.effect.body["status"]["conditions"]}


def test_an_admission_is_one_write_that_reserves_and_admits() -> None:
    desk = Desk()
    desk.submit("a", 3)
    (write,) = desk.plan()
    assert isinstance(write.effect, Patch)
    assert write.effect.subresource == "status"
    assert conditions(write)["QuotaReserved"]["status"] == conditions(write)["Admitted"]["status"] == "True"
    assert write.effect.body["status"]["admission"]["podSetAssignments"] == [
        {"name": "main", "flavors": {"cpu": "std"}, "resourceUsage": {"cpu": "3"}, "count": 1}
    ]


def test_a_planned_admission_counts_before_it_is_confirmed() -> None:
    desk = Desk()
    desk.submit("a", 3)
    desk.submit("b", 3)
    assert names(desk.plan()) == ["a"]
    assert desk.used() == 3000
    assert desk.plan() == []


def test_after_a_conflict_the_object_is_read_and_then_decided_anew() -> None:
    desk = Desk()
    workload = desk.submit("a", 3)
    (write,) = desk.plan()
    desk.answer(write, "conflict")
    assert desk.plan() == []
    assert desk.used() in (0, 3000)  # decided again on what is known, but nothing is sent before the read
    desk.state.observe("Workload", replace(workload, resource_version=desk.version + 1), read=True)
    (again,) = desk.plan()
    assert isinstance(again.effect, Patch)
    assert again.effect.resource_version == desk.version + 1


def test_a_conflict_asks_for_a_read() -> None:
    desk = Desk()
    desk.submit("a", 3)
    (write,) = desk.plan()
    desk.answer(write, "conflict")
    desk.plan()
    assert desk.reads == (Ref("Workload", "lab", "a"),)


def test_an_unanswered_admission_keeps_its_quota_until_a_read_settles_it() -> None:
    desk = Desk()
    workload = desk.submit("a", 3)
    desk.submit("b", 3)
    (write,) = desk.plan()
    desk.answer(write, "unknown")
    assert desk.plan() == []
    assert desk.used() == 3000
    assert desk.reads == (Ref("Workload", "lab", "a"),)
    label = replace(workload, resource_version=desk.version + 1)
    desk.state.observe("Workload", label, read=True)  # somebody wrote after us: our write can't arrive any more
    assert names(desk.plan()) == ["a"]


def test_an_unanswered_write_that_may_still_arrive_is_sent_again_unchanged() -> None:
    desk = Desk()
    workload = desk.submit("a", 3)
    (write,) = desk.plan()
    desk.answer(write, "unknown")
    desk.plan()
    desk.submit("urgent", 4, priority=9)
    desk.state.observe("Workload", workload, read=True)
    (again,) = desk.plan()
    assert again.effect == write.effect
    assert again.id != write.id


def test_an_unanswered_write_of_an_earlier_office_is_not_sent_again() -> None:
    """In between another leader may have given the room to others; now it is decided anew."""
    desk = Desk()
    workload = desk.submit("a", 3)
    (write,) = desk.plan()
    desk.answer(write, "unknown")
    desk.plan()
    desk.submit("urgent", 4, priority=9)
    desk.state.takes_office()
    desk.state.observe("Workload", workload, read=True)
    assert names(desk.plan()) == ["urgent"]
    assert desk.used() == 4000


def test_a_server_that_answers_nobody_is_asked_ever_more_slowly() -> None:
    desk = Desk()
    workload = desk.submit("a", 3)
    asked = []
    (write,) = desk.plan()
    for _ in range(5):
        desk.answer(write, "unknown")
        seconds = 0
        while desk.plan(1.0 if seconds else 0.0) == [] and not desk.reads:
            seconds += 1
        asked.append(seconds)
        desk.state.observe("Workload", workload, read=True)
        (write,) = desk.plan()
    assert asked == [0, 1, 2, 4, 8]


def test_a_refused_admission_lets_others_go_ahead_and_is_tried_again_later() -> None:
    desk = Desk()
    desk.submit("a", 3)
    desk.submit("b", 3)
    (write,) = desk.plan()
    desk.answer(write, "refused")
    (other,) = desk.plan()
    assert names([other]) == ["b"]
    desk.answer(other, "refused")
    assert names(desk.plan(1.0)) == ["a"]


def test_refusals_are_tried_again_ever_later() -> None:
    desk = Desk()
    desk.submit("a", 3)
    waited = []
    for _ in range(8):
        seconds = 0
        while not (writes := desk.plan(0.0 if not seconds else 1.0)):
            seconds += 1
        waited.append(seconds)
        desk.answer(writes[0], "refused")
    assert waited[:4] == [0, 1, 2, 4]
    assert max(waited) == 60


def test_a_strict_queue_sends_in_one_lane_and_others_in_none() -> None:
    for strict, lane in ((True, "cq"), (False, "")):
        desk = Desk(strict=strict)
        desk.submit("a", 1)
        assert [one.lane for one in desk.plan()] == [lane]


def test_quota_is_free_only_once_its_release_is_confirmed() -> None:
    desk = Desk(preemption=Preemption(within_cluster_queue="LowerPriority"))
    low = desk.submit("low", 4)
    (write,) = desk.plan()
    version = desk.answer(write, "ok")
    desk.submit("high", 4, priority=5)
    (eviction,) = desk.plan()
    assert conditions(eviction)["Evicted"]["reason"] == "Preempted"
    assert conditions(eviction)["Preempted"]["reason"] == "InClusterQueue"
    assert isinstance(eviction.effect, Patch)
    assert eviction.effect.resource_version == version
    desk.answer(eviction, "ok")
    assert desk.plan() == []
    assert desk.used() == 4000
    desk.state.observe("Workload", replace(low, resource_version=desk.version + 5))  # its owner gave the quota back
    assert names(desk.plan()) == ["high"]


def test_a_victim_whose_admission_is_still_under_way_is_evicted_after_it_landed() -> None:
    desk = Desk(preemption=Preemption(within_cluster_queue="LowerPriority"))
    desk.submit("low", 4)
    (write,) = desk.plan()
    desk.submit("high", 4, priority=5)
    assert desk.plan() == []
    version = desk.answer(write, "ok")
    (eviction,) = desk.plan()
    assert isinstance(eviction.effect, Patch)
    assert (eviction.effect.ref.name, eviction.effect.resource_version) == ("low", version)


def test_an_admission_that_was_not_sent_yet_is_taken_back_without_an_eviction() -> None:
    desk = Desk(preemption=Preemption(within_cluster_queue="LowerPriority"))
    desk.submit("first", 4)
    (write,) = desk.plan()
    desk.answer(write, "ok")
    desk.submit("low", 4)
    assert desk.plan() == []
    (report,) = desk.plan(5.0)
    desk.state.gone(Ref("Workload", "lab", "first"), desk.version + 1)
    assert desk.plan() == []  # low is admitted, but its report is still under way
    assert desk.used() == 4000
    desk.submit("high", 4, priority=5)
    assert names(desk.plan()) == ["high"]
    desk.answer(report, "ok")
    assert desk.plan() == []
    assert not desk.of("low").evicted


def test_why_it_waits_is_written_after_five_seconds_and_once() -> None:
    desk = Desk()
    desk.submit("a", 9)
    assert desk.plan() == []
    assert desk.plan(4.0) == []
    (report,) = desk.plan(1.0)
    assert "insufficient quota for cpu" in conditions(report)["QuotaReserved"]["message"]
    desk.answer(report, "ok")
    assert desk.plan(60.0) == []


def test_a_workload_that_vanishes_gives_its_quota_back() -> None:
    desk = Desk()
    desk.submit("a", 3)
    desk.submit("b", 3)
    (write,) = desk.plan()
    desk.answer(write, "ok")
    desk.state.gone(Ref("Workload", "lab", "a"), desk.version + 1)
    assert names(desk.plan()) == ["b"]


def test_a_late_answer_for_a_vanished_workload_is_ignored() -> None:
    desk = Desk()
    desk.submit("a", 3)
    (write,) = desk.plan()
    desk.state.gone(Ref("Workload", "lab", "a"), desk.version + 1)
    desk.answer(write, "ok")
    assert desk.used() == 0


def test_a_plan_asks_for_no_more_than_its_budget_and_says_so() -> None:
    desk = Desk(cpu="1000")
    for number in range(20):
        desk.submit(f"w{number:02}", 1)
    plan = desk.state.plan(desk.now, budget=8)
    admissions = [one for one in plan.effects if one.effect.ref.kind == "Workload" and isinstance(one.effect, Patch)]
    assert len(admissions) == 8
    assert plan.more


def test_equal_inputs_give_equal_plans() -> None:
    def story() -> list[Planned]:
        desk = Desk(preemption=Preemption(within_cluster_queue="LowerPriority"))
        out = []
        for number in range(6):
            desk.submit(f"w{number}", 1 + number % 3, priority=number % 2)
            writes = desk.plan(1.0)
            out += writes
            for write in writes:
                desk.answer(write, ("ok", "conflict", "refused")[number % 3])
        return out

    assert story() == story()


def test_a_workload_whose_job_is_nowhere_to_be_found_ends() -> None:
    """Made late, it may have outlived its job; that no news of the job came proves nothing, so it is looked for."""
    desk = Desk()
    job = Ref("Job", "lab", "gone")
    desk.version += 1
    orphan = Workload(
        "lab", "a", "a", desk.version, desk.now, "lq", (PodSet("main", 1, {"cpu": 1000}),),
        owner=job, owner_uid="uid-of-job", owned=True, finalizers=("kueue.x-k8s.io/resource-in-use",),
    )  # fmt: skip
    desk.state.observe("Workload", orphan)
    (admission,) = desk.plan()
    desk.answer(admission, "ok")
    assert desk.plan(29.0) == []
    assert job not in desk.reads
    assert desk.plan(1.0) == []
    assert job in desk.reads
    desk.state.gone(job, read=True)
    (end,) = desk.plan()
    assert conditions(end)["Finished"]["reason"] == "OwnerNotFound"


def test_pods_that_are_needed_no_more_count_until_the_word_of_it_is_confirmed() -> None:
    desk = Desk(cpu="4")
    job = Ref("Job", "lab", "j")
    pods = (PodSet("main", 4, {"cpu": 1000}),)
    states = {word: Condition(word, "True", word, "", 900.0) for word in ("QuotaReserved", "Admitted")}
    admission = Admission("cq", (PodSetAssignment("main", {"cpu": "std"}, {"cpu": 4000}, 4),))
    big = Workload("lab", "big", "big", 50, 900.0, "lq", pods, admission=admission, conditions=states,
                   owner=job, owner_uid="j", owned=True)  # fmt: skip
    its = Job(ref=job, uid="j", resource_version=60, created=800.0, pod_sets=pods, suspended=False, active=True,
              queue_name="lq", pods_ready=True)  # fmt: skip
    desk.state.observe("Workload", big)
    desk.state.observe("Job", its)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    desk.submit("small", 2)
    assert desk.plan() == []
    desk.state.observe("Job", replace(its, resource_version=90, reclaimable={"main": 2}))
    (told,) = desk.plan(1)
    assert isinstance(told.effect, Patch)
    assert "reclaimablePods" in told.effect.body["status"]
    assert desk.used() == 4000
    desk.answer(told, "ok")
    assert names(desk.plan()) == ["small"]
    assert desk.used() == 4000
