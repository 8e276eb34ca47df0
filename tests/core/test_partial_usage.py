"""What a holder is charged for once some of its pods are needed no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.model.workload import Admission, PodSet, PodSetAssignment, Workload
from admission.reconcile.usage import usage_of


def holder(count: int, admitted: int, needless: int, cpu: int = 1000) -> Workload:
    assigned = PodSetAssignment("main", {"cpu": "std"}, {"cpu": cpu * admitted}, admitted)
    reclaimable = {"main": needless} if needless else {}
    return Workload(
        "lab", "w", "uid", 1, 0.0, "lq", (PodSet("main", count, {"cpu": cpu}),),
        admission=Admission("q", (assigned,)), reclaimable=reclaimable,
    )  # fmt: skip


def pods_charged(count: int, admitted: int, needless: int) -> int:
    return usage_of(holder(count, admitted, needless))["std", "cpu"] // 1000


@pytest.mark.parametrize(
    ("count", "admitted", "needless", "charged"),
    [(10, 10, 0, 10), (10, 10, 4, 6), (10, 10, 10, 0), (10, 10, 12, 0), (10, 6, 3, 6), (10, 6, 4, 6), (10, 6, 7, 3)],
)
def test_pods_that_are_needed_no_more_are_first_those_that_it_never_got(
    count: int, admitted: int, needless: int, charged: int
) -> None:
    assert pods_charged(count, admitted, needless) == charged


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 25))
def test_charges_only_ever_fall_and_never_below_nothing(count: int, admitted: int, needless: int) -> None:
    admitted = min(admitted, count)
    fewer = [pods_charged(count, admitted, gone) for gone in range(needless + 1)]
    assert fewer == sorted(fewer, reverse=True)
    assert fewer[0] == admitted
    assert fewer[-1] == min(admitted, max(0, count - needless))
