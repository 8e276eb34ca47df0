"""The older version of our kinds, as what it has instead of fields of the present one.

A kind that is not here has the same fields in both. Bounds that came with v1beta2 hold in v1beta1 too: what is
written through it is stored as v1beta2, and must be something that v1beta2 can hold.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

from pydantic import BaseModel

from admission.api.rules import Rule
from admission.api.shapes import Shape, rules
from admission.api.structural import Schema, part
from admission.api.v1beta1_fields import (
    AdmissionCheckSpec,
    ChecksStrategy,
    ClusterQueueSpec,
    ClusterQueueStatus,
    FlavorFungibility,
    LocalQueueStatus,
    Share,
    TopologyAssignment,
    WorkloadSpec,
    WorkloadStatus,
)
from admission.api.v1beta1_rules import BORROWING_NEEDS_COHORT, PRIORITY_WITH_CLASS, WORKLOAD_RULES

VERSION = "v1beta1"
WARNING = "This version is deprecated. Use v1beta2 instead."


class _Nothing(Shape):
    """No field."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one object in the schema: fields that it has besides or otherwise, that it lacks, and its rules if other."""

    has: type[BaseModel] = _Nothing
    lacks: tuple[str, ...] = ()
    rules: tuple[Rule, ...] | None = None


# By kind, then by path: `[]` are the entries of a list.
DIFFERENCES: Mapping[str, Mapping[str, Difference]] = {
    "AdmissionCheck": {"spec": Difference(AdmissionCheckSpec)},
    "ClusterQueue": {
        "spec": Difference(
            ClusterQueueSpec, lacks=("cohortName", "concurrentAdmissionPolicy"), rules=(BORROWING_NEEDS_COHORT,)
        ),
        "spec.admissionChecksStrategy": Difference(ChecksStrategy, lacks=("admissionChecks",)),
        "spec.flavorFungibility": Difference(FlavorFungibility),
        "status": Difference(ClusterQueueStatus),
        "status.fairSharing": Difference(Share),
    },
    "Cohort": {"status.fairSharing": Difference(Share)},
    "LocalQueue": {"status": Difference(LocalQueueStatus, lacks=("flavorsUsage",))},
    "Workload": {
        "": Difference(rules=WORKLOAD_RULES),
        "spec": Difference(WorkloadSpec, lacks=("priorityClassRef", "preemptionGates"), rules=(PRIORITY_WITH_CLASS,)),
        "spec.podSets[].topologyRequest": Difference(lacks=("podsetSliceRequiredTopologyConstraints",)),
        "status": Difference(WorkloadStatus, lacks=("accumulatedPastExecutionTimeSeconds", "preemptionGates")),
        "status.admission.podSetAssignments[].topologyAssignment": Difference(
            TopologyAssignment, lacks=("slices",), rules=()
        ),
    },
}


def older(kind: str, schema: Schema) -> Schema:
    """The structural schema of a kind in v1beta1, from that in v1beta2."""
    made = deepcopy(schema)
    for path, difference in DIFFERENCES.get(kind, {}).items():
        _change(_at(made, path), difference)
    return made


def _at(schema: Schema, path: str) -> Schema:
    for step in path.split(".") if path else ():
        schema = schema["properties"][step.removesuffix("[]")]
        if step.endswith("[]"):
            schema = schema["items"]
    return schema


def _change(schema: Schema, difference: Difference) -> None:
    added = part(difference.has)
    lacks = difference.lacks
    for name in lacks:
        del schema["properties"][name]
    schema["properties"] |= added.get("properties", {})
    required = [name for name in schema.pop("required", ()) if name not in lacks]
    required += [name for name in added.get("required", ()) if name not in required]
    if required:
        schema["required"] = required
    if difference.rules is not None:
        schema.pop("x-kubernetes-validations", None)
        if difference.rules:
            schema |= rules(*difference.rules)
