"""The rules of a Workload: what may not change any more while it holds quota. See `rules` for how to read them.

The API server asks those of the whole object at every write, and each field that CEL looks at costs it: asked in the
wrong order they were a quarter of a status patch. So what is nearly always true comes first, and the walk through the
conditions last, when something has changed.
"""

from typing import Any

from admission.api.rules import Rule


def _is_true(holder: str, condition: str) -> str:
    return (
        f"(has({holder}.status) && has({holder}.status.conditions) && "
        f"{holder}.status.conditions.exists(c, c.type == '{condition}' && c.status == 'True'))"
    )


def is_true(workload: Any, condition: str) -> bool:
    """Whether a condition of the status holds."""
    conditions = workload.get("status", {}).get("conditions", ())
    return any(entry["type"] == condition and entry["status"] == "True" for entry in conditions)


def spec_of(workload: Any) -> Any:
    """The spec, empty where there is none."""
    return workload.get("spec", {})


def _class(workload: Any) -> Any:
    return spec_of(workload).get("priorityClassRef")


NO_SPECS = "!has(self.spec) || !has(oldSelf.spec)"
_NO_CLASSES = f"{NO_SPECS} || !has(self.spec.priorityClassRef) || !has(oldSelf.spec.priorityClassRef)"
WAS_NOT_RESERVED = f"!{_is_true('oldSelf', 'QuotaReserved')}"


def _class_field_kept(field: str) -> Rule:
    return Rule(
        f"{_NO_CLASSES} || self.spec.priorityClassRef.{field} == oldSelf.spec.priorityClassRef.{field} || "
        f"{WAS_NOT_RESERVED}",
        f"priorityClassRef.{field} is immutable while workload quota reserved",
        lambda now, old: (
            not (is_true(old, "QuotaReserved") and _class(now) and _class(old))
            or bool(_class(now)[field] == _class(old)[field])
        ),
    )


def _kept_while(condition: str, field: str) -> Rule:
    return Rule(
        f"{NO_SPECS} || (has(self.spec.{field}) == has(oldSelf.spec.{field}) && "
        f"(!has(self.spec.{field}) || self.spec.{field} == oldSelf.spec.{field})) || "
        f"!({_is_true('oldSelf', condition)} && {_is_true('self', condition)})",
        f"{field} is immutable while workload quota reserved",
        lambda now, old: (
            not (is_true(old, condition) and is_true(now, condition))
            or spec_of(now).get(field) == spec_of(old).get(field)
        ),
    )


ASSIGNMENTS_MATCH = Rule(
    "!has(self.status) || !has(self.status.admission) || (has(self.status.admission.podSetAssignments) && "
    "has(self.spec) && has(self.spec.podSets) && "
    "size(self.spec.podSets) == size(self.status.admission.podSetAssignments)) || "
    f"!{_is_true('self', 'QuotaReserved')}",
    "podSetAssignments must have the same number of podSets as the spec",
    lambda now, _: (
        not (is_true(now, "QuotaReserved") and "admission" in now["status"])
        or 0 < len(spec_of(now).get("podSets", ())) == len(now["status"]["admission"].get("podSetAssignments", ()))
    ),
)

KEPT_WHILE_HELD = (_kept_while("QuotaReserved", "queueName"), _kept_while("Admitted", "maximumExecutionTimeSeconds"))

WORKLOAD_RULES = (
    ASSIGNMENTS_MATCH,
    Rule(
        f"{NO_SPECS} || has(self.spec.priorityClassRef) == has(oldSelf.spec.priorityClassRef) || {WAS_NOT_RESERVED}",
        "priorityClassRef is immutable while workload quota reserved",
        lambda now, old: not is_true(old, "QuotaReserved") or (_class(now) is None) == (_class(old) is None),
    ),
    _class_field_kept("group"),
    _class_field_kept("kind"),
    Rule(
        f"{_NO_CLASSES} || self.spec.priorityClassRef.kind != 'PriorityClass' || "
        f"self.spec.priorityClassRef.name == oldSelf.spec.priorityClassRef.name || {WAS_NOT_RESERVED}",
        "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota reserved",
        lambda now, old: (
            not (is_true(old, "QuotaReserved") and _class(now) and _class(old))
            or _class(now)["kind"] != "PriorityClass"
            or bool(_class(now)["name"] == _class(old)["name"])
        ),
    ),
    *KEPT_WHILE_HELD,
)

PRIORITY_WITH_CLASS = Rule(
    "!has(self.priorityClassRef) || has(self.priority)",
    "priority should not be nil when priorityClassRef is set",
    lambda now, _: "priorityClassRef" not in now or "priority" in now,
)

CLASS_RULES = (
    Rule(
        "self.group != 'scheduling.k8s.io' || self.kind == 'PriorityClass'",
        "only the PriorityClass kind is allowed for the scheduling.k8s.io group",
        lambda now, _: now["group"] != "scheduling.k8s.io" or now["kind"] == "PriorityClass",
    ),
    Rule(
        "self.group != 'kueue.x-k8s.io' || self.kind == 'WorkloadPriorityClass'",
        "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group",
        lambda now, _: now["group"] != "kueue.x-k8s.io" or now["kind"] == "WorkloadPriorityClass",
    ),
)

MIN_WITHIN_COUNT = Rule(
    "!has(self.minCount) || self.minCount <= self.count",
    "minCount should be positive and less or equal to count",
    lambda now, _: "minCount" not in now or bool(now["minCount"] <= now["count"]),
)

STATUS_RULES = (
    Rule(
        "!has(oldSelf.clusterName) || !has(self.clusterName) || oldSelf.clusterName == self.clusterName",
        "clusterName is immutable once set",
        lambda now, old: (
            "clusterName" not in old or "clusterName" not in now or old["clusterName"] == now["clusterName"]
        ),
    ),
    Rule(
        "!has(self.clusterName) || !has(self.nominatedClusterNames) || size(self.nominatedClusterNames) == 0",
        "clusterName and nominatedClusterNames are mutually exclusive",
        lambda now, _: "clusterName" not in now or not now.get("nominatedClusterNames"),
    ),
)


def _exactly_one(now: Any, _: Any) -> bool:
    return ("universal" in now) != ("individual" in now)


EXACTLY_ONE = Rule(
    "has(self.universal) != has(self.individual)",
    "exactly one of the fields in [universal individual] must be set",
    _exactly_one,
)

SLICE_RULES = (
    Rule(
        "!has(self.podCounts.individual) || size(self.podCounts.individual) == self.domainCount",
        "podCounts.individual must have length equal to domainCount",
        lambda now, _: (
            "individual" not in now["podCounts"] or len(now["podCounts"]["individual"]) == now["domainCount"]
        ),
    ),
    Rule(
        "self.valuesPerLevel.all(values, !has(values.individual) || size(values.individual.roots) == self.domainCount)",
        "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this "
        "TopologyAssignmentSlice",
        lambda now, _: all(
            "individual" not in values or len(values["individual"]["roots"]) == now["domainCount"]
            for values in now["valuesPerLevel"]
        ),
    ),
)

VALUES_FOR_EACH_LEVEL = Rule(
    "self.slices.all(part, size(part.valuesPerLevel) == size(self.levels))",
    "valuesPerLevel must have the same length as the number of levels in this TopologyAssignment",
    lambda now, _: all(len(part["valuesPerLevel"]) == len(now["levels"]) for part in now["slices"]),
)

ALL = (
    *WORKLOAD_RULES,
    PRIORITY_WITH_CLASS,
    *CLASS_RULES,
    MIN_WITHIN_COUNT,
    *STATUS_RULES,
    EXACTLY_ONE,
    *SLICE_RULES,
    VALUES_FOR_EACH_LEVEL,
)
