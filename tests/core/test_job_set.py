"""A JobSet as the core sees it. Statuses are those that its controller writes."""

from time import process_time
from typing import Any

import pytest

from admission.jobs.job_set import JOB_SET
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from tests.core.crd_cases import condition
from tests.core.manifests.pods import Object, metadata
from tests.core.test_jobs import merged

POD = {"spec": {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}]}}


def replicated(name: str, replicas: int | None = None, template: Object = POD, **job: Any) -> Object:
    """An entry of spec.replicatedJobs; `job`: of the spec of each Job."""
    stated = {} if replicas is None else {"replicas": replicas}
    return {"name": name, **stated, "template": {"spec": {**job, "template": template}}}


def job_set(*jobs: Any, status: Object | None = None, **spec: Any) -> Object:
    """A JobSet that is held."""
    whole = {"suspend": True, "replicatedJobs": list(jobs), **spec}
    return {"kind": "JobSet", "metadata": metadata(), "spec": whole, "status": status or {}}


def seen(*jobs: Any, status: Object | None = None, **spec: Any) -> Job:
    return JOB_SET.read(job_set(*jobs, status=status, **spec))


def told(name: str, **counts: int) -> Object:
    """An entry of status.replicatedJobsStatus, in numbers of Jobs."""
    return {"name": name, "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0, **counts}


@pytest.mark.parametrize(
    ("replicas", "job", "count"),
    [
        (None, {}, 1),
        (3, {}, 3),
        (3, {"parallelism": 4}, 12),
        (3, {"parallelism": 4, "completions": 2}, 6),
        (2, {"completions": 5}, 2),
        (0, {"parallelism": 4}, 0),
        (2, {"parallelism": 0, "completions": 4}, 0),
    ],
)
def test_every_job_has_its_pods(replicas: int | None, job: Object, count: int) -> None:
    assert [one.count for one in seen(replicated("w", replicas, **job)).pod_sets] == [count]


def test_pod_sets_stand_in_the_order_of_the_spec() -> None:
    assert [one.name for one in seen(replicated("Workers"), replicated("driver")).pod_sets] == ["workers", "driver"]


def test_workers_that_come_when_the_driver_is_ready_count_from_the_start() -> None:
    jobs = (replicated("driver"), replicated("workers", 2, parallelism=2))
    order = {"startupPolicyOrder": "InOrder"}
    job = seen(*jobs, startupPolicy=order, status={"replicatedJobsStatus": [told("driver", ready=1, active=1)]})
    assert [one.count for one in job.pod_sets] == [1, 4]
    assert (job.active, job.pods_ready) == (True, False)


def test_it_is_active_while_one_of_its_jobs_is() -> None:
    assert seen(replicated("w"), status={"replicatedJobsStatus": [told("v"), told("w", active=1)]}).active
    assert not seen(replicated("w"), status={"replicatedJobsStatus": [told("w", suspended=1)]}).active
    assert not seen(replicated("w")).active


@pytest.mark.parametrize(("ready", "succeeded", "all"), [(3, 0, True), (1, 2, True), (2, 0, False), (0, 0, False)])
def test_pods_are_ready_when_all_of_its_jobs_are_ready_or_done(ready: int, succeeded: int, all: bool) -> None:
    status = {"replicatedJobsStatus": [told("w", ready=ready, succeeded=succeeded), told("d", ready=1)]}
    assert seen(replicated("d"), replicated("w", 3, parallelism=5), status=status).pods_ready is all


def test_pods_of_jobs_that_succeeded_are_given_back() -> None:
    jobs = (replicated("Early", 3, parallelism=4), replicated("late", 3), replicated("over", 1))
    status = {
        "replicatedJobsStatus": [told("Early", succeeded=2), told("over", succeeded=2), told("gone", succeeded=1)]
    }
    assert seen(*jobs, status=status).reclaimable == {"early": 8}
    assert seen(*jobs).reclaimable == {}


@pytest.mark.parametrize(
    ("conditions", "end"),
    [
        ([condition("Completed", message="done")], JobEnd(True, "done")),
        ([condition("Failed", message="done")], JobEnd(False, "done")),
        ([condition("Failed", message="no"), condition("Completed", message="done")], JobEnd(True, "done")),
        ([condition("Completed", status="False"), condition("Suspended")], None),
    ],
)
def test_it_ends_completed_or_failed(conditions: list[Object], end: JobEnd | None) -> None:
    assert seen(replicated("w"), status={"conditions": conditions}).end == end


def test_starting_leaves_alone_what_its_webhook_lets_nobody_change() -> None:
    """It takes new labels, annotations, selectors, tolerations and gates; all else in the list goes back as it was."""
    extra: Object = {"podFailurePolicy": {"rules": []}, "backoffLimit": 0, "futureFlag": True}
    manifest = job_set(
        replicated("w", 2, **extra), network={"enableDNSHostnames": True}, failurePolicy={"maxRestarts": 3}
    )
    info = PodSetInfo("w", 2, {"pool": "gpu"}, (), {"a": "b"}, {"c": "d"})
    running = merged(manifest, JOB_SET.start(manifest, [info]))
    pod = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {**POD["spec"], "nodeSelector": {"pool": "gpu"}},
    }
    assert running["spec"] == {
        **manifest["spec"],
        "suspend": False,
        "replicatedJobs": [replicated("w", 2, pod, **extra)],
    }


@pytest.mark.parametrize(
    ("jobs", "problem"),
    [
        ([], "spec.replicatedJobs: Required value: a JobSet without Jobs has no pods to wait for"),
        ([replicated("a"), replicated("A")], 'spec.replicatedJobs[0].name: Duplicate value: "a"'),
        ([replicated("a"), replicated("")], "spec.replicatedJobs[1].name: Required value: name each of them"),
        (
            [replicated("a"), {"name": "b", "template": {}}],
            "spec.replicatedJobs[1].template.spec.template.spec: Required value: pods of b have no template",
        ),
    ],
)
def test_one_that_no_workload_can_stand_for_says_why(jobs: list[Object], problem: str) -> None:
    assert seen(*jobs).problem == problem


def test_many_jobs_keep_nobody_busy() -> None:
    jobs = [{"name": f"j{at}"} for at in range(8000)]
    began = process_time()
    assert "pods of j0 have no template" in seen(*jobs).problem
    assert process_time() - began < 1
