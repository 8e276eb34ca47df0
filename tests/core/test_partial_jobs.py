"""Partially admitted Jobs in a world: they start with fewer pods, count for no more, and come back whole."""

from typing import Any

import pytest

from admission.model.configuration import Configuration
from admission.model.gates import Gates
from admission.model.kinds import Ref
from admission.world.clock import EPOCH
from tests.core.clusters import Cluster, Plan, QueuePlan

JOB = Ref("Job", "lab", "elastic")


def job(parallelism: int, least: int | None = 3, cpu: str = "1", **more: Any) -> dict[str, Any]:
    notes = {} if least is None else {"kueue.x-k8s.io/job-min-parallelism": str(least)}
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "namespace": "lab",
            "name": "elastic",
            "labels": {"kueue.x-k8s.io/queue-name": "q0"},
            "annotations": notes | more.pop("notes", {}),
        },
        "spec": {
            "parallelism": parallelism,
            "completions": parallelism,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            **more,
        },
    }


def cluster(nominal: int = 6, **gates: bool) -> Cluster:
    plan = Plan((QueuePlan("", nominal, None, None, False, "LowerPriority", "Never", "Never"),), 0)
    return Cluster(plan, configuration=Configuration(gates=Gates(gates)))


def workload_of(made: Cluster) -> dict[str, Any]:
    (found,) = [one for one in made.workloads() if one["metadata"].get("ownerReferences")]
    return found


def counts(found: dict[str, Any]) -> list[int]:
    return [one["count"] for one in found["status"]["admission"]["podSetAssignments"]]


def usage(found: dict[str, Any]) -> str:
    return str(found["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"])


@pytest.mark.parametrize("together", [None, "true", "1", "false"])
def test_a_job_starts_with_the_pods_it_got_and_is_itself_again_after_an_eviction(together: str | None) -> None:
    made = cluster()
    notes = {} if together is None else {"kueue.x-k8s.io/job-completions-equal-parallelism": together}
    made.create(job(10, completionMode="Indexed", notes=notes))
    made.pass_time(5)
    found = workload_of(made)
    assert (found["spec"]["podSets"][0]["count"], found["spec"]["podSets"][0]["minCount"]) == (10, 3)
    assert (counts(found), usage(found)) == ([6], "6")
    spec = made.get(JOB)["spec"]
    assert (spec["suspend"], spec["parallelism"], spec["completions"]) == (
        False, 6, 6 if together in ("true", "1") else 10,
    )  # fmt: skip
    made.submit(0, 4, priority=9)
    made.pass_time(60)
    spec = made.get(JOB)["spec"]
    assert (spec["suspend"], spec["parallelism"], spec["completions"]) == (True, 10, 10)


def test_after_its_start_it_is_not_mistaken_for_another_job() -> None:
    made = cluster()
    made.create(job(10))
    made.pass_time(5)
    uid = workload_of(made)["metadata"]["uid"]
    made.pass_time(600)
    assert workload_of(made)["metadata"]["uid"] == uid
    assert made.world.now == EPOCH + 605


def test_with_the_gate_off_a_job_waits_for_all_its_pods_and_comes_to_rest() -> None:
    made = cluster(PartialAdmission=False)
    made.create(job(10))
    made.pass_time(30)
    uid, writes = workload_of(made)["metadata"]["uid"], len(made.world.writes)
    made.pass_time(600)
    found = workload_of(made)
    assert "admission" not in found["status"]
    assert found["metadata"]["uid"] == uid
    assert len(made.world.writes) == writes


def test_pods_that_are_needed_no_more_make_room() -> None:
    made = cluster(nominal=4)
    made.create(job(4, least=None))
    made.pass_time(5)
    waiting = made.submit(0, 3, priority=0)
    made.pass_time(5)
    answer = made.world.api.patch(JOB, {"status": {"succeeded": 3}}, subresource="status")
    assert answer.code == 200, answer.body
    made.pass_time(5)
    assert workload_of(made)["status"]["reclaimablePods"] == [{"name": "main", "count": 3}]
    assert "admission" in made.get(waiting)["status"]
