"""When a Workload still says what its job asks for."""

from copy import deepcopy
from typing import Any

import pytest

from admission.jobs.batch_job import read
from admission.jobs.workload import compose, equivalent
from admission.readers.workload import read_workload
from tests.core.crd_cases import condition
from tests.core.test_jobs import Object, job

TOLERATION = {"key": "gpu", "effect": "NoSchedule"}


def pair(**notes: str) -> tuple[Object, Object]:
    manifest = job(notes={key.replace("_", "-"): value for key, value in notes.items()})
    return manifest, compose("Job", manifest, "w")


def holding(workload: Object, *conditions: str, count: int = 3) -> Object:
    status = {
        "conditions": [condition(name) for name in ("QuotaReserved", *conditions)],
        "admission": {"clusterQueue": "team", "podSetAssignments": [{"name": "main", "count": count}]},
    }
    return {**workload, "status": status}


def agree(manifest: Object, workload: Object) -> bool:
    return equivalent(read(manifest), read_workload(workload))


def test_a_workload_fits_the_job_that_it_was_made_of() -> None:
    assert agree(*pair())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parallelism", 2),
        ("template", {"spec": {"containers": [{"name": "c", "image": "other"}]}}),
        ("template", {"spec": {"containers": [{"name": "c", "image": "none"}], "tolerations": [TOLERATION]}}),
    ],
)
def test_a_job_that_asks_for_something_else_needs_another(field: str, value: Any) -> None:
    manifest, workload = pair()
    manifest["spec"][field] = value
    assert not agree(manifest, workload)


@pytest.mark.parametrize("field", ["nodeSelector", "priorityClassName", "hostname"])
def test_what_does_not_decide_quota_may_differ(field: str) -> None:
    manifest, workload = pair()
    manifest["spec"]["template"]["spec"][field] = {"a": "b"} if field == "nodeSelector" else "x"
    assert agree(manifest, workload)


def test_another_limit_of_time_is_another_demand() -> None:
    manifest, workload = pair()
    manifest["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "5"
    assert not agree(manifest, workload)


def test_a_new_job_of_the_same_name_is_another_job() -> None:
    manifest, workload = pair()
    manifest["metadata"]["uid"] = "u-2"
    assert not agree(manifest, workload)


def test_a_started_job_differs_by_what_was_injected() -> None:
    manifest, workload = pair()
    manifest["spec"]["template"]["spec"]["tolerations"] = [TOLERATION]
    manifest["spec"]["suspend"] = False
    assert agree(manifest, holding(workload, "Admitted"))
    assert agree(manifest, holding(workload))
    assert not agree(manifest, workload)


def test_one_that_was_deactivated_a_moment_ago_still_runs_as_it_was_started() -> None:
    manifest, workload = pair()
    manifest["spec"]["template"]["spec"]["tolerations"] = [TOLERATION]
    manifest["spec"]["suspend"] = False
    running = holding(workload, "Admitted")
    running["spec"] = {**running["spec"], "active": False}
    assert agree(manifest, running)


def test_a_partially_admitted_job_runs_with_what_it_got() -> None:
    manifest, workload = pair(job_min_parallelism="2")
    running = deepcopy(manifest)
    running["spec"] |= {"parallelism": 2, "suspend": False}
    assert agree(running, holding(workload, "Admitted", count=2))
    assert not agree(running, holding(workload, "Admitted", count=3))
    assert agree(manifest, holding(workload, count=2))
