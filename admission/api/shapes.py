"""The types that our kinds' fields are made of, and how each is said in a CustomResourceDefinition.

A docstring below a field is its description: what `kubectl explain` prints.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, Strict, StrictInt, StrictStr
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from admission.api.rules import TOLERATION_RULES, Rule
from admission.model.amounts import exact
from admission.model.times import seconds

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
QUALIFIED = rf"^({SUBDOMAIN[1:-1]}/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
# Exactly what admission.model.amounts reads.
QUANTITY = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$"


class Shape(BaseModel):
    """A JSON object: names in camelCase, unknown fields passed over as the API server prunes them."""

    model_config = ConfigDict(use_attribute_docstrings=True, alias_generator=to_camel, populate_by_name=True)


class Schema:
    """Adds keywords to the schema of the type that it annotates."""

    def __init__(self, keywords: Mapping[str, Any]) -> None:
        self._keywords = keywords

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), **self._keywords}


def rules(*stated: Rule) -> dict[str, Any]:
    """The schema keyword for CEL rules."""
    return {"x-kubernetes-validations": [{"rule": rule.text, "message": rule.message} for rule in stated]}


def ruled(*stated: Rule) -> ConfigDict:
    """The model_config of a shape with rules."""
    return ConfigDict(json_schema_extra=rules(*stated))


def map_by(*keys: str) -> Schema:
    """A list whose entries are told apart by these fields."""
    return Schema({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


ATOMIC = Schema({"x-kubernetes-list-type": "atomic"})
SET = Schema({"x-kubernetes-list-type": "set"})
EMPTY_OBJECT = Schema({"default": {}})  # so that the defaults inside apply to an object nobody wrote


def _quantity(value: int | str) -> int | str:
    exact(str(value))
    return value


def _time(value: str) -> str:
    seconds(value)
    return value


Name = Annotated[str, Strict(), Field(max_length=253, pattern=SUBDOMAIN)]
PodSetName = Annotated[str, Strict(), Field(max_length=63, pattern=LABEL)]
CheckName = Annotated[str, Strict(), Field(min_length=1, max_length=316)]
# The API server does not hold numbers to their format; Go clients cannot read one beyond it.
Int32 = Annotated[int, Strict(), Field(ge=-(2**31), le=2**31 - 1), Schema({"format": "int32"})]
Count = Annotated[int, Strict(), Field(ge=0, le=2**31 - 1), Schema({"format": "int32"})]
Positive = Annotated[int, Strict(), Field(ge=1, le=2**31 - 1), Schema({"format": "int32"})]
Int64 = Annotated[int, Strict(), Schema({"format": "int64"})]
Time = Annotated[str, Strict(), AfterValidator(_time), Schema({"format": "date-time"})]
Quantity = Annotated[
    StrictInt | StrictStr,
    AfterValidator(_quantity),
    Schema({"pattern": QUANTITY, "x-kubernetes-int-or-string": True}),
]
StopPolicy = Literal["None", "Hold", "HoldAndDrain"]
# Whatever Kubernetes has in a pod template, now or later; the API server checks it when pods are made of it.
PodTemplate = Annotated[dict[str, Any], Schema({"x-kubernetes-preserve-unknown-fields": True})]
Labels = dict[str, str]
Quantities = dict[str, Quantity]


class Condition(Shape):
    """One aspect of the state of an object."""

    type: Annotated[str, Field(max_length=316, pattern=QUALIFIED)]
    """The aspect, like Active or QuotaReserved."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    observed_generation: Annotated[int, Strict(), Field(ge=0), Schema({"format": "int64"})] | None = None
    """The generation of the object that this was said of."""
    last_transition_time: Time
    """When the status last changed."""
    reason: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    """Why, in one word for programs."""
    message: Annotated[str, Field(max_length=32768)]
    """Why, for people."""


Conditions = Annotated[list[Condition], Field(max_length=16), map_by("type")]


class SelectorRule(Shape):
    """One requirement on labels."""

    key: str
    """The label."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: Annotated[list[str], ATOMIC] | None = None
    """What the label's value is compared with; none for Exists and DoesNotExist."""


class LabelSelector(Shape):
    """Selects objects by their labels; all requirements must hold, and none selects everything."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    match_labels: Labels | None = None
    """Labels and the values they must have."""
    match_expressions: Annotated[list[SelectorRule], ATOMIC] | None = None
    """Requirements beyond equality."""


class Toleration(Shape):
    """Lets pods onto nodes with a matching taint."""

    key: str | None = None
    """The taint's key; none, with Exists, tolerates every taint."""
    operator: str | None = None
    """Equal (the default) or Exists."""
    value: str | None = None
    """The taint's value, for Equal."""
    effect: str | None = None
    """The taint's effect; none tolerates every effect."""
    toleration_seconds: Int64 | None = None
    """How long a NoExecute taint is tolerated."""


Tolerations = Annotated[list[Toleration], Field(max_length=8), ATOMIC, Schema(rules(*TOLERATION_RULES))]


class FairSharing(Shape):
    """How a queue or cohort competes for what others leave unused."""

    weight: Quantity = 1
    """Its share grows with its weight; 0 gives way to everybody."""


class Share(Shape):
    """Where an object stands in fair sharing."""

    weighted_share: Int64
    """Its largest share of borrowed resources among all, in thousandths, divided by its weight."""
