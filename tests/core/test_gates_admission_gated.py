"""The annotation admission-gated-by, and its feature gate."""

from typing import Any

import pytest

from admission.model.configuration import Configuration
from admission.model.gates import Gates
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
