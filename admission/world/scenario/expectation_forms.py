"""What may be expected in a scenario: told apart by the key that only one form has. Field names are the file's own."""

# ruff: noqa: N815

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from admission.world.scenario.words import (
    Duration,
    FieldPath,
    Form,
    Name,
    NamespacedName,
    Number,
    ObjectRef,
    Quantities,
    RequestId,
    Resource,
    State,
    Text,
    Time,
    Version,
)


class WorkloadIs(Form):
    at: Time
    workload: NamespacedName | None = None
    workloadOf: ObjectRef | None = None
    state: State | None = None
    reason: Text | None = None
    preemptionReason: (
        Literal["InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing"] | None
    ) = None
    messageContains: Text | None = None
    checks: dict[Name, Literal["Pending", "Ready", "Retry", "Rejected"]] | None = None
    flavors: Annotated[dict[Name, Annotated[dict[Resource, Name], Field(min_length=1)]], Field(min_length=1)] | None = (
        None
    )
    noFlavorFor: Annotated[list[Resource], Field(min_length=1)] | None = None
    resourceUsage: Annotated[dict[Name, Quantities], Field(min_length=1)] | None = None
    counts: Annotated[dict[Name, Number], Field(min_length=1)] | None = None
    podSetOrder: Annotated[list[Name], Field(min_length=1)] | None = None
    admittedBy: Name | None = None

    @model_validator(mode="after")
    def _whole(self) -> "WorkloadIs":
        if (self.workload is None) == (self.workloadOf is None):
            raise ValueError("give either workload or workloadOf")
        if len(self.model_fields_set) < 3:
            raise ValueError("nothing is asserted of the workload: give a state, flavors, counts or the like")
        if self.state is None and (self.reason is not None or self.messageContains is not None):
            raise ValueError("reason and messageContains belong to a state: give one")
        return self


class _OfObject(Form):
    at: Time
    workload: NamespacedName | None = None
    workloadOf: ObjectRef | None = None
    object: ObjectRef | None = None

    @model_validator(mode="after")
    def _one_object(self) -> "_OfObject":
        if sum(of is not None for of in (self.workload, self.workloadOf, self.object)) != 1:
            raise ValueError("give one of workload, workloadOf and object")
        return self


class ConditionIs(_OfObject):
    condition: Text
    status: Literal["True", "False", "Unknown"]
    reason: Text | None = None


class FieldIs(_OfObject):
    field: FieldPath
    as_: Annotated[Version | None, Field(alias="as")] = None
    equals: Any = None
    contains: Any = None
    length: Number | None = None
    absent: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_test(self) -> "FieldIs":
        if len(self.model_fields_set & {"equals", "contains", "length", "absent"}) != 1:
            raise ValueError("give one of equals, contains, length and absent")
        return self


class ClusterQueueIs(Form):
    at: Time
    clusterQueue: Name
    reserved: Annotated[dict[Name, Quantities], Field(min_length=1)] | None = None
    borrowed: Annotated[dict[Name, Quantities], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _some(self) -> "ClusterQueueIs":
        if self.reserved is None and self.borrowed is None:
            raise ValueError("give reserved or borrowed")
        return self


class RequestIs(Form):
    request: RequestId
    allowed: bool
    errorContains: Text | None = None
    mutated: Annotated[dict[FieldPath, Any], Field(min_length=1)] | None = None
    unset: Annotated[list[FieldPath], Field(min_length=1)] | None = None
    unsetOr: Annotated[dict[FieldPath, Any], Field(min_length=1)] | None = None
    unchanged: Literal[True] | None = None
    patchHasNoRemove: Literal[True] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "RequestIs":
        if self.allowed and self.errorContains is not None:
            raise ValueError("errorContains belongs to a refusal: allowed is true")
        about_allowed = {"mutated", "unset", "unsetOr", "unchanged", "patchHasNoRemove"} & self.model_fields_set
        if not self.allowed and about_allowed:
            raise ValueError(f"{', '.join(sorted(about_allowed))}: a refused request changes nothing")
        return self


class CountWorkloads(Form):
    of: Literal["workloads"]
    namespace: Name
    state: State | None = None
    names: Annotated[list[Name], Field(min_length=1)] | None = None


class CountEvictions(Form):
    of: Literal["evictions"]
    workload: NamespacedName | None = None
    workloadOf: ObjectRef | None = None

    @model_validator(mode="after")
    def _one(self) -> "CountEvictions":
        if self.workload is not None and self.workloadOf is not None:
            raise ValueError("give workload or workloadOf, not both")
        return self


class CountWrites(Form):
    of: Literal["writes"]
    ref: ObjectRef
    from_: Annotated[Time, Field(alias="from")]
    to: Time


class CountIs(Form):
    at: Time
    count: Annotated[CountWorkloads | CountEvictions | CountWrites, Field(discriminator="of")]
    equals: Number | None = None
    min: Number | None = None
    max: Number | None = None

    @model_validator(mode="after")
    def _bounded(self) -> "CountIs":
        if self.equals is None and self.min is None and self.max is None:
            raise ValueError("give equals, min or max")
        if self.equals is not None and (self.min is not None or self.max is not None):
            raise ValueError("equals leaves no room for min or max")
        return self


class QuietFor(Form):
    for_: Annotated[Duration, Field(alias="for")]


class IsQuiet(Form):
    at: Time
    quiet: QuietFor


class IsGone(Form):
    at: Time
    gone: ObjectRef


class EventSent(Form):
    at: Time
    event: Text
    about: ObjectRef


class Foreign(Form):
    """Expectations about other systems' quota; `needs` names what a runner must support for them."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    at: Time


_KEYED: Mapping[str, str] = {
    "request": "request", "count": "count", "quiet": "quiet", "gone": "gone", "event": "event",
    "elasticQuota": "foreign", "fairShare": "foreign", "gang": "foreign", "volcanoQueue": "foreign", "node": "foreign",
    "clusterQueue": "clusterQueue", "condition": "condition", "field": "field",
}  # fmt: skip


def _form_of(value: Any) -> str:
    """Which expectation it is: the first key that tells."""
    keys = value if isinstance(value, Mapping) else vars(value)
    return next((form for key, form in _KEYED.items() if key in keys), "workload")


Expectation = Annotated[
    Annotated[WorkloadIs, Tag("workload")]
    | Annotated[ConditionIs, Tag("condition")]
    | Annotated[FieldIs, Tag("field")]
    | Annotated[ClusterQueueIs, Tag("clusterQueue")]
    | Annotated[RequestIs, Tag("request")]
    | Annotated[CountIs, Tag("count")]
    | Annotated[IsQuiet, Tag("quiet")]
    | Annotated[IsGone, Tag("gone")]
    | Annotated[EventSent, Tag("event")]
    | Annotated[Foreign, Tag("foreign")],
    Discriminator(_form_of),
]
