"""The annotation admission-gated-by, and its feature gate."""

from typing import Any

import pytest

from admission.model.configuration import Configuration
from admission.model.gates import Gates
from admission.model.kinds import Ref
from tests.core.clusters import Cluster, Plan, QueuePlan, is_true, workload

GATED_BY = "kueue.x-k8s.io/admission-gated-by"


def cluster(*, on: bool) -> Cluster:
    plan = Plan((QueuePlan("", 6, None, None, False, "Never", "Never", "Never"),), 0)
    return Cluster(plan, configuration=Configuration(gates=Gates({"AdmissionGatedBy": on})))


def gated() -> dict[str, Any]:
    made = workload("held", "q0", 1, 0)
    made["metadata"]["annotations"] = {GATED_BY: "example.com/budget"}
    return made


@pytest.mark.parametrize("on", [True, False])
def test_a_gate_of_admission_holds_back_only_where_such_gates_are_in_use(on: bool) -> None:
    made = cluster(on=on)
    made.create(gated())
    made.pass_time(10)
    (found,) = made.workloads()
    assert is_true(found, "Admitted") is not on


def job(gates: str) -> dict[str, Any]:
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    meta = {"namespace": "lab", "name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q0"}}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**meta, "annotations": {GATED_BY: gates}},
        "spec": spec,
    }


def test_a_job_waits_until_the_last_of_its_gates_is_taken_from_it() -> None:
    made = cluster(on=True)
    made.create(job("example.com/budget,example.com/review"))
    made.pass_time(10)
    for left, admitted in (("example.com/review", False), (None, True)):
        answer = made.world.api.patch(Ref("Job", "lab", "j"), {"metadata": {"annotations": {GATED_BY: left}}})
        assert answer.code == 200, answer.message
        made.pass_time(10)
        (found,) = made.workloads()
        assert found["metadata"].get("annotations", {}).get(GATED_BY) == left
        assert is_true(found, "Admitted") is admitted
