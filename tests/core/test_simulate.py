"""`lockgate simulate`: the clock, the JSON that is a promise, and the same decisions as a whole cluster in memory."""

import json
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.world.simulation import Simulation
from admission.world.stories import Arrival, Refusal
from controller.cli.playing import prepared
from controller.cli.results import result

Manifest = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
KUEUE = "kueue.x-k8s.io/v1beta2"


def flavor(name: str = "std") -> Manifest:
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}}


def queue(name: str, cpu: int, cohort: str = "", **spec: Any) -> list[Manifest]:
    """A ClusterQueue and, in namespace lab, a LocalQueue of the same name."""
    quota = [{"name": "std", "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]}]
    return [
        {
            "apiVersion": KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {
                **({"cohortName": cohort} if cohort else {}),
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": quota}],
                **spec,
            },
        },
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"namespace": "lab", "name": name},
            "spec": {"clusterQueue": name},
        },
    ]


def priority(name: str, value: int) -> Manifest:
    return {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}


def job(name: str, queue: str, cpu: str = "1", pods: int = 1, priority: str = "") -> Manifest:
    labels = {"kueue.x-k8s.io/queue-name": queue} | ({"kueue.x-k8s.io/priority-class": priority} if priority else {})
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": "lab", "name": name, "labels": labels},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def simulation(objects: Iterable[Manifest], arrivals: Iterable[Arrival]) -> Simulation:
    made = Simulation()
    made.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    for one in objects:
        made.create(one)
    for arrival in arrivals:
        made.expect(arrival)
    return made


def story(played: Simulation, name: str) -> Any:
    found = played.find(Ref("Job", "lab", name))
    assert found is not None
    return found


# --- the clock


def test_a_job_runs_for_its_runtime_and_the_next_one_starts_when_it_ends() -> None:
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, 60, job("a", "q")), Arrival(10, 5, job("b", "q"))])
    played.run()
    assert (story(played, "a").finished, story(played, "b").started, story(played, "b").finished) == (60, 60, 65)


def test_a_job_without_a_runtime_holds_its_quota_to_the_end() -> None:
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, None, job("a", "q")), Arrival(0, 5, job("b", "q"))])
    played.run()
    assert story(played, "a").finished is None
    assert story(played, "b").started is None
    assert result(played)["clusterQueues"][0]["reserved"] == {"std": {"cpu": "1"}}


def test_until_stops_the_clock_there() -> None:
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, 60, job("a", "q")), Arrival(50, 1, job("b", "q"))])
    played.run(30)
    assert (played.now, story(played, "a").finished, played.find(Ref("Job", "lab", "b"))) == (30, None, None)
    assert played.awaits(Ref("Job", "lab", "b"))
    played.run()
    assert story(played, "b").finished == 61


def test_an_evicted_job_begins_anew() -> None:
    lower: Manifest = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    played = simulation(
        [flavor(), *queue("q", 1, **lower), priority("high", 10)],
        [Arrival(0, 60, job("low", "q")), Arrival(50, 5, job("high", "q", priority="high"))],
    )
    played.run()
    low = story(played, "low")
    assert (low.evictions, low.started, low.admitted, low.finished) == (1, 0, 55, 115)
    assert [one.what for one in played.timeline if one.workload == low.key] == [
        "created", "quotaReserved", "admitted", "preempted", "quotaReserved", "admitted", "finished",
    ]  # fmt: skip


def test_a_bare_workload_is_played_as_a_job_is() -> None:
    bare = {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"namespace": "lab", "name": "w"},
        "spec": {
            "queueName": "q",
            "podSets": [{"name": "main", "count": 2, "template": job("x", "q")["spec"]["template"]}],
        },
    }
    played = simulation([flavor(), *queue("q", 2)], [Arrival(3, 4, bare)])
    played.run()
    row = result(played)["workloads"][0]
    assert (row["owner"], row["state"], row["admitted"], row["finished"]) == (None, "finished", 3, 7)


def test_a_job_that_runs_too_long_is_deactivated() -> None:
    bounded = job("a", "q")
    bounded["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "30"
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, 60, bounded)])
    played.run()
    row = result(played)["workloads"][0]
    assert (row["state"], row["finished"], row["evictions"]) == ("deactivated", None, 1)
    assert [one.at for one in played.timeline if one.what == "evicted"] == [30]


def test_a_job_without_a_queue_is_not_managed_and_listed() -> None:
    free = job("a", "q")
    free["metadata"]["labels"] = {}
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, 1, free)])
    played.run()
    assert played.unmanaged == [Ref("Job", "lab", "a")]
    assert not result(played)["workloads"]


def test_a_job_of_a_priority_class_that_does_not_exist_waits_and_says_so() -> None:
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, 1, job("a", "q", priority="none"))])
    played.run()
    row = result(played)["workloads"][0]
    assert (row["state"], row["reason"]) == ("pending", "Misconfigured")
    assert "WorkloadPriorityClass none does not exist" in row["message"]


def test_a_job_that_a_cluster_would_refuse_is_refused() -> None:
    with pytest.raises(Refusal, match="queue-name"):
        simulation([flavor(), *queue("q", 1)], [Arrival(0, 1, job("a", "Not-A-Name"))])


def test_a_container_that_requests_more_than_its_limit_is_refused() -> None:
    greedy = job("a", "q", cpu="2")
    container = greedy["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["limits"] = {"cpu": "2000m", "memory": "1Gi"}
    simulation([flavor(), *queue("q", 1)], [Arrival(0, 1, greedy)])
    container["resources"]["limits"] = {"cpu": "1000m"}
    place = r"spec\.template\.spec\.containers\[0\]\.resources\.requests: "
    with pytest.raises(Refusal, match=place + 'Invalid value: "2": must be less than or equal to cpu limit of 1$'):
        simulation([flavor(), *queue("q", 1)], [Arrival(0, 1, deepcopy(greedy))])


def test_generated_names_are_given_out_in_order() -> None:
    nameless = job("", "q")
    nameless["metadata"] = {**nameless["metadata"], "generateName": "run-"}
    del nameless["metadata"]["name"]
    played = simulation([flavor(), *queue("q", 9)], [Arrival(0, 1, nameless), Arrival(0, 1, nameless)])
    played.run()
    owners = [row["owner"] for row in result(played)["workloads"]]
    assert len(set(owners)) == 2
    assert all(owner.startswith("Job/lab/run-") for owner in owners)


def test_a_copy_of_a_workload_with_changes_is_what_replace_makes() -> None:
    played = simulation([flavor(), *queue("q", 1)], [Arrival(0, None, job("a", "q"))])
    played.run()
    (_, workload), *_ = played.workloads()
    assert workload is not None
    changes = {"name": "b", "accumulated_seconds": 7, "conditions": {}}
    assert workload.but(**changes) == replace(workload, **changes)  # type: ignore[arg-type]
    assert workload.but() == workload


# --- the promise


def test_the_json_has_the_promised_shape() -> None:
    played = simulation(
        [flavor(), *queue("q", 1, "c"), *queue("p", 1, "c")],
        [Arrival(0, None, job("a", "q", "2")), Arrival(1, 1, job("b", "q"))],
    )
    played.run()
    told = json.loads(json.dumps(result(played)))
    assert list(told) == ["version", "now", "workloads", "clusterQueues", "timeline"]
    assert told["version"] == 1
    a, b = told["workloads"]
    assert (a["state"], a["flavors"], a["counts"], a["position"], a["explain"]) == (
        "admitted", {"main": {"cpu": "std"}}, {"main": 1}, None, None,
    )  # fmt: skip
    assert (b["state"], b["position"], b["reason"], b["admitted"]) == ("inadmissible", 0, "Pending", None)
    assert "insufficient unused quota for cpu in flavor std" in b["message"]
    assert b["explain"]["flavors"][0]["heldBy"][0]["workload"] == f"lab/{a['name']}"
    assert {row["name"]: (row["pending"], row["admitted"]) for row in told["clusterQueues"]} == {
        "p": (0, 0),
        "q": (1, 1),
    }
    assert told["clusterQueues"][1]["borrowed"] == {"std": {"cpu": "1"}}
    assert told["timeline"][0] == {
        "at": 0,
        "what": "created",
        "workload": f"lab/{a['name']}",
        "reason": "",
        "message": "",
    }


@pytest.mark.parametrize("example", ["university", "company"])
def test_the_examples_tell_the_story_of_their_readme(example: str) -> None:
    played, notes = prepared([EXAMPLES / example])
    played.run()
    rows = {row["owner"]: row for row in result(played)["workloads"]}
    assert notes == []
    assert played.unmanaged == []
    if example == "university":
        assert rows.pop("Job/robotics/whole-cluster-benchmark")["explain"]["reason"] == "ExceedsMaxQuota"
        assert rows["Job/robotics/grasp-training"]["admitted"] == 30 * 60
        evicted = {"robotics/grasp-training", "biology/cell-images", "physics/exercise-sheet"}
    else:
        assert rows["Job/settlement/merchant-report"]["admitted"] == 24 * 60
        evicted = {"pretraining/base-model", "crawling/recrawl-news"}
    assert {owner for owner, row in rows.items() if row["evictions"]} == {f"Job/{name}" for name in evicted}
    assert all(row["state"] == "finished" for row in rows.values())


def test_a_namespace_that_every_cluster_has_may_be_labelled() -> None:
    simulation = Simulation()
    simulation.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"t": "a"}}})
    assert simulation.has_namespace("default")
