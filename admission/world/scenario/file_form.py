"""A whole scenario file, and the laws that may hold over all of its run. Field names are the file's own."""

# ruff: noqa: N815

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from admission.world.scenario.event_forms import Event
from admission.world.scenario.expectation_forms import Expectation
from admission.world.scenario.words import (
    Area,
    Duration,
    Form,
    Issue,
    Need,
    Number,
    ObjectRef,
    Quantity,
    Resource,
    Sentence,
    Source,
    Time,
)


class MaxWrites(Form):
    ref: ObjectRef | None = None
    workloadOf: ObjectRef | None = None
    count: Number
    per: Duration

    @model_validator(mode="after")
    def _one(self) -> "MaxWrites":
        if (self.ref is None) == (self.workloadOf is None):
            raise ValueError("give either ref or workloadOf")
        return self


class MaxAdmitted(Form):
    resource: Resource
    quantity: Quantity


class NoRequests(Form):
    ref: ObjectRef
    after: Time
    except_: Annotated[list[Annotated[int, Field(ge=400, le=599)]] | None, Field(min_length=1, alias="except")] = None


class Law(Form):
    """Exactly one of these."""

    noNegativeUsage: Literal[True] | None = None
    noInternalError: Literal[True] | None = None
    labelValuesValid: Literal[True] | None = None
    noCrash: Literal[True] | None = None
    maxWrites: MaxWrites | None = None
    maxAdmitted: MaxAdmitted | None = None
    noRequests: NoRequests | None = None

    @model_validator(mode="after")
    def _one(self) -> "Law":
        if len(self.model_fields_set) != 1:
            raise ValueError("one law per entry")
        return self


class Config(Form):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    apiVersion: Literal["config.kueue.x-k8s.io/v1beta2"]
    kind: Literal["Configuration"]


class ScenarioFile(Form):
    id: Annotated[str, StringConstraints(pattern=r"^C[0-9]{3}$")]
    source: Source
    fixedBy: Annotated[list[Issue], Field(min_length=1)] | None = None
    area: Area
    confidence: Literal["high", "medium"]
    needs: list[Need]
    gist: Sentence
    why: Sentence
    notes: Sentence | None = None
    config: Config | None = None
    objects: Annotated[list[dict[str, Any]], Field(min_length=1)]
    events: Annotated[list[Event], Field(min_length=1)]
    expect: Annotated[list[Expectation], Field(min_length=1)]
    always: Annotated[list[Law], Field(min_length=1)] | None = None
