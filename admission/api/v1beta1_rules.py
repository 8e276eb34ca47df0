"""Rules of a Workload in v1beta1, which names its priority class by two fields. See `rules` for how to read them."""

from typing import Any

from admission.api.rules import Rule, borrowing_needs
from admission.api.workload_rules import (
    ASSIGNMENTS_MATCH,
    KEPT_WHILE_HELD,
    NO_SPECS,
    WAS_NOT_RESERVED,
    is_true,
    spec_of,
)

BORROWING_NEEDS_COHORT = borrowing_needs("cohort")

_WORKLOAD_CLASS = "kueue.x-k8s.io/workloadpriorityclass"


def _unchanged(field: str) -> str:
    """Where one of both has none there is nothing to compare: most workloads have no class."""
    return (
        f"{NO_SPECS} || !has(self.spec.{field}) || !has(oldSelf.spec.{field}) || "
        f"self.spec.{field} == oldSelf.spec.{field}"
    )


def _differs(field: str, now: Any, old: Any) -> bool:
    return field in spec_of(now) and field in spec_of(old) and spec_of(now)[field] != spec_of(old)[field]


WORKLOAD_RULES = (
    ASSIGNMENTS_MATCH,
    Rule(
        f"{_unchanged('priorityClassSource')} || {WAS_NOT_RESERVED}",
        "priorityClassSource is immutable while workload quota reserved",
        lambda now, old: not (_differs("priorityClassSource", now, old) and is_true(old, "QuotaReserved")),
    ),
    Rule(
        f"{_unchanged('priorityClassName')} || !has(self.spec.priorityClassSource) || "
        f"!has(oldSelf.spec.priorityClassSource) || self.spec.priorityClassSource == '{_WORKLOAD_CLASS}' || "
        f"{WAS_NOT_RESERVED}",
        "priorityClassName is immutable while workload quota reserved and priorityClassSource is not equal to "
        f"{_WORKLOAD_CLASS}",
        lambda now, old: (
            not (_differs("priorityClassName", now, old) and is_true(old, "QuotaReserved"))
            or "priorityClassSource" not in spec_of(old)
            or spec_of(now).get("priorityClassSource", _WORKLOAD_CLASS) == _WORKLOAD_CLASS
        ),
    ),
    *KEPT_WHILE_HELD,
)

PRIORITY_WITH_CLASS = Rule(
    "!has(self.priorityClassName) || has(self.priority)",
    "priority should not be nil when priorityClassName is set",
    lambda now, _: "priorityClassName" not in now or "priority" in now,
)

ALL = (BORROWING_NEEDS_COHORT, *WORKLOAD_RULES, PRIORITY_WITH_CLASS)
