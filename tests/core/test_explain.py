"""Every kind of wait has its explanation: the reason, the numbers, and a sentence that says what would help."""

import json
from typing import Any

import pytest

from admission.explain import Explanation, explain
from admission.model.kinds import Ref
from admission.world.simulation import Simulation
from admission.world.stories import Arrival
from tests.core.test_hostile_manifests import run
from tests.core.test_simulate import EXAMPLES, KUEUE, Manifest, flavor, job, priority, queue, simulation


def told(played: Simulation, name: str = "waits", at: float = 100) -> Explanation:
    played.run(at)
    story = played.find(Ref("Job", "lab", name))
    assert story is not None
    return explain(played.state, story.key, played.start + at, played.called)


def one_waits(objects: list[Manifest], waiting: Manifest, *before: Manifest) -> Explanation:
    """`before` arrive earlier and run for ever."""
    arrivals = [Arrival(number, None, one) for number, one in enumerate(before)]
    return told(simulation(objects, [*arrivals, Arrival(50, None, waiting)]))


def test_waiting_for_quota_says_how_much_is_missing_and_who_holds_it() -> None:
    objects = [flavor(), *queue("q", 4, "c"), *queue("p", 4, "c")]
    why = one_waits(objects, job("waits", "q", "7"), job("mine", "q", "3"), job("theirs", "p", "2"))
    assert (why.reason, why.state, why.position, why.never) == ("WaitingForQuota", "inadmissible", 0, False)
    lack = why.lacks[0]
    assert (lack.flavor, lack.resource, lack.asked, lack.free, lack.borrowable, lack.missing, lack.most) == (
        "std", "cpu", 7000, 1000, 2000, 4000, 8000,
    )  # fmt: skip
    assert [(one.name, one.cluster_queue, one.units) for one in lack.holders] == [
        ("lab/mine", "q", 3000),
        ("lab/theirs", "p", 2000),
    ]
    assert why.sentence == (
        "Waits for quota: it asks for 7 cpu of flavor std: 1 free and 2 to borrow, 4 missing; held by lab/mine "
        "(3 in queue q) and lab/theirs (2 in queue p). It is number 1 in queue q."
    )


def test_of_many_holders_the_largest_are_named_and_the_rest_counted() -> None:
    many = [job(f"j{number}", "q", pods=1 + number % 3) for number in range(9)]
    why = one_waits([flavor(), *queue("q", 18)], job("waits", "q", "2"), *many)
    assert len(why.lacks[0].holders) == 5
    assert why.lacks[0].other_holders == 4
    assert "and 6 others" in why.sentence


def test_a_borrowing_limit_that_stops_it_is_named_and_only_its_own_queue_counts() -> None:
    quota = {"name": "cpu", "nominalQuota": "2", "borrowingLimit": "1"}
    limited = queue("q", 2, "c")
    limited[0]["spec"]["resourceGroups"][0]["flavors"][0]["resources"] = [quota]
    why = one_waits([flavor(), *limited, *queue("p", 9, "c")], job("waits", "q", "2"), job("mine", "q", "2"),
                    job("theirs", "p", "1"))  # fmt: skip
    assert why.lacks[0].borrowing_limit == 1000
    assert "its queue may borrow 1 and no more" in why.sentence
    assert [one.name for one in why.lacks[0].holders] == ["lab/mine"]


def test_more_than_the_queue_could_ever_have_never_starts() -> None:
    why = one_waits([flavor(), *queue("q", 4, "c"), *queue("p", 4, "c")], job("waits", "q", "9"))
    assert (why.reason, why.never, why.lacks[0].most) == ("ExceedsMaxQuota", True, 8000)
    assert "can never have more than 8 of flavor std" in why.sentence
    assert "does not start unless something changes" in why.sentence


def crew(*cpus: str) -> Manifest:
    """A JobSet of single pods."""
    one = job("waits", "q")

    def replicated(number: int, cpu: str) -> Manifest:
        template = job("waits", "q", cpu)["spec"]["template"]
        return {"name": f"r{number}", "template": {"spec": {"template": template}}}

    jobs = [replicated(number, cpu) for number, cpu in enumerate(cpus)]
    return {**one, "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": jobs}}


@pytest.mark.parametrize(
    ("quota", "cpus", "says"),
    [
        (
            8,
            "152",
            "Waits for quota: it asks for 8 cpu of flavor std: 1 free, 7 missing; held by lab/mine (7 in queue q). It",
        ),
        (4, "156", "it asks for 7 cpu, and its queue can never have more than 4 of flavor std. Ask for less"),
    ],
)
def test_of_several_pod_sets_in_one_flavor_the_most_is_told_once(quota: int, cpus: str, says: str) -> None:
    before = [Arrival(0, None, job("mine", "q", "7"))] if quota > 7 else []
    played = simulation([flavor(), *queue("q", quota)], [*before, Arrival(50, None, crew(*cpus))])
    played.run(100)
    story = played.find(Ref("JobSet", "lab", "waits"))
    assert story is not None
    why = explain(played.state, story.key, played.start + 100, played.called)
    assert len(why.lacks) == 3
    assert says in why.sentence
    assert why.sentence.count("it asks for") == 1


def test_a_taint_that_nobody_tolerates_is_named() -> None:
    tainted = {**flavor(), "spec": {"nodeTaints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}
    why = one_waits([tainted, *queue("q", 4)], job("waits", "q"))
    assert (why.reason, why.never) == ("NoMatchingFlavor", True)
    assert "flavor std does not suit its pods" in why.sentence
    assert "gpu" in why.sentence


def test_a_node_selector_that_no_flavor_meets_is_named() -> None:
    picky = job("waits", "q")
    picky["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "b"}
    labelled = {**flavor(), "spec": {"nodeLabels": {"zone": "a"}}}
    why = one_waits([labelled, *queue("q", 4)], picky)
    assert (why.reason, why.never) == ("NoMatchingFlavor", True)
    assert "flavor std does not suit its pods" in why.sentence


def test_a_resource_that_the_queue_does_not_cover_is_named() -> None:
    odd = job("waits", "q")
    odd["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["example.com/fpga"] = "1"
    why = one_waits([flavor(), *queue("q", 4)], odd)
    assert why.never
    assert "example.com/fpga" in why.sentence


def test_behind_the_head_of_a_strict_queue_the_head_is_explained() -> None:
    strict = queue("q", 4, queueingStrategy="StrictFIFO")
    why = one_waits([flavor(), *strict], job("waits", "q", "1"), job("runs", "q", "2"), job("head", "q", "3"))
    assert (why.reason, why.position, why.never) == ("WaitingForQuota", 1, False)
    assert why.sentence.startswith("It would fit, but it waits behind lab/head in the strict queue q. There: Waits for")
    assert "held by lab/runs (2 in queue q)" in why.sentence
    assert "It is number 2 in queue q." in why.sentence


def test_behind_a_strict_head_that_never_fits_nobody_ever_starts() -> None:
    strict = queue("q", 4, queueingStrategy="StrictFIFO")
    why = one_waits([flavor(), *strict], job("waits", "q", "1"), job("head", "q", "9"))
    assert why.never
    assert "can never have more than 4" in why.sentence


def test_who_preempts_waits_for_its_victims_to_leave() -> None:
    lower: Manifest = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    played = simulation([flavor(), *queue("q", 2, **lower), priority("high", 10)], [Arrival(0, None, job("low", "q"))])
    played.run(10)
    high = played.find(Ref("Job", "lab", "low"))
    assert high is not None
    # The same moment as a controller sees it: the eviction is written, the pods have yet to stop.
    state = played.state
    victim = state.objects.workloads[high.key].current
    assert victim is not None
    played.expect(Arrival(10, None, job("waits", "q", "2", priority="high")))
    played._events.sort()
    while played._events and played._events[0][0] <= 10:
        played._events.pop(0)[2]()
    state.plan(played.start + 10)
    waiting = played.find(Ref("Job", "lab", "waits"))
    assert waiting is not None
    why = explain(state, waiting.key, played.start + 10, played.called)
    assert (why.reason, why.waits_for) == ("WaitingForPreemptedWorkloads", (high.key,))
    assert "Waits for 1 preempted workload to leave: lab/low." in why.sentence
    leaving = explain(state, high.key, played.start + 10, played.called)
    assert (leaving.state, leaving.sentence) == (
        "evicted", "It was evicted (Preempted) and still holds its quota until it has stopped.",
    )  # fmt: skip


def test_who_is_ahead_is_listed_from_the_head() -> None:
    crowd = [job(f"j{number}", "q", "3") for number in range(8)]
    why = one_waits([flavor(), *queue("q", 3)], job("waits", "q", "2"), *crowd)
    assert why.position == 7
    assert [key.split("-")[1] for key in why.ahead] == ["j1", "j2", "j3", "j4", "j5"]


def changed(objects: list[Manifest], kind: str, **spec: Any) -> list[Manifest]:
    return [{**one, "spec": {**one["spec"], **spec}} if one["kind"] == kind else one for one in objects]


USUAL = [flavor(), *queue("q", 4)]


@pytest.mark.parametrize(
    ("objects", "waiting", "reason", "says"),
    [
        (USUAL, job("waits", "none"), "Misconfigured", "LocalQueue lab/none does not exist"),
        (changed(USUAL, "LocalQueue", clusterQueue="none"), job("waits", "q"), "Misconfigured",
         "ClusterQueue none, which does not exist"),
        (changed(USUAL, "LocalQueue", stopPolicy="Hold"), job("waits", "q"), "Suspended",
         "LocalQueue lab/q is stopped (stopPolicy Hold)"),
        (changed(USUAL, "ClusterQueue", stopPolicy="Hold"), job("waits", "q"), "Suspended", "is stopped"),
        (USUAL[1:], job("waits", "q"), "Misconfigured", "missing ResourceFlavor(s): std"),
        (changed(USUAL, "ClusterQueue", namespaceSelector={"matchLabels": {"team": "x"}}), job("waits", "q"),
         "Misconfigured", "Namespace lab is not selected by the namespaceSelector of ClusterQueue q"),
        (changed(USUAL, "ClusterQueue", namespaceSelector=None), job("waits", "q"), "Misconfigured",
         "has no namespaceSelector, so it takes nobody"),
    ],
)  # fmt: skip
def test_a_queue_that_takes_nobody_is_explained(
    objects: list[Manifest], waiting: Manifest, reason: str, says: str
) -> None:
    why = one_waits(objects, waiting)
    assert (why.reason, why.never, why.position) == (reason, True, None)
    assert says in why.sentence


def test_cohorts_in_a_circle_are_named() -> None:
    def cohort(name: str, parent: str) -> Manifest:
        return {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": parent}}

    why = one_waits([flavor(), *queue("q", 4, "a"), cohort("a", "b"), cohort("b", "a")], job("waits", "q"))
    assert (why.reason, why.never) == ("Suspended", True)
    assert "form a circle; change a parentName" in why.sentence


def test_a_job_that_ran_too_long_is_deactivated_and_told_why() -> None:
    bounded = job("waits", "q")
    bounded["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "30"
    why = one_waits(USUAL, bounded)
    assert (why.state, why.reason, why.never) == ("deactivated", "Deactivated", True)
    assert "exceeding the maximum execution time" in why.sentence


def test_an_admission_gate_is_named() -> None:
    gated = job("waits", "q")
    gated["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": "example.com/approval"}
    why = one_waits(USUAL, gated)
    assert (why.reason, why.position) == ("AdmissionGated", None)
    assert "example.com/approval" in why.sentence


@pytest.mark.parametrize(("runtime", "state", "says"), [(None, "admitted", "may run"), (5, "finished", "has finished")])
def test_who_does_not_wait_is_told_so(runtime: float | None, state: str, says: str) -> None:
    why = told(simulation(USUAL, [Arrival(0, runtime, job("waits", "q"))]))
    assert (why.state, why.reason, why.position) == (state, "", None)
    assert says in why.sentence


# --- the command


def test_the_estimate_is_when_it_really_starts() -> None:
    target, paths = "Job/robotics/grasp-training", str(EXAMPLES / "university")
    code, out, _ = run("explain", target, paths, "--at", "10m", "--output", "json")
    why = json.loads(out)
    assert code == 0
    assert (why["version"], why["startsIn"], why["never"], why["position"]) == (1, 20 * 60, False, 0)
    assert "It is number 1 in queue robotics. It should start in 20m0s." in why["sentence"]


def test_a_job_that_never_starts_is_told_so() -> None:
    code, out, _ = run("explain", "Job/robotics/whole-cluster-benchmark", str(EXAMPLES / "university"))
    assert code == 0
    assert "It does not start unless something changes." in " ".join(out.split())


def test_a_workload_is_found_by_its_own_name_too() -> None:
    _, out, _ = run("explain", "Job/physics/lattice-qcd", str(EXAMPLES / "university"), "--output", "json")
    name = json.loads(out)["workload"]
    code, again, _ = run("explain", f"Workload/{name}", str(EXAMPLES / "university"), "--output", "json")
    assert (code, again) == (0, out)
