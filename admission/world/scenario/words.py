"""The words of a scenario file: names, references, quantities, and what every form in it has in common.

pydantic models, as at every gate. Times and durations are virtual seconds.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

_YEARS = 10 * 365 * 86400  # a policy that takes longer to show is not tried by waiting
Time = Annotated[float, Field(ge=0, le=_YEARS)]
Duration = Annotated[float, Field(gt=0, le=_YEARS)]
Number = Annotated[int, Field(ge=0)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$")]
ObjectRef = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?(/[a-z0-9]([a-z0-9.-]*[a-z0-9])?)?/[a-z0-9][a-z0-9.-]*[*]?$"
    ),
]
KindName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*([.][a-z0-9.-]+)?$")]
NamespacedName = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?/[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
]
RequestId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]
FieldPath = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9]*(\[[0-9]+\]|\[[A-Za-z0-9./_-]+\]|[.][A-Za-z0-9_-]+)*$"),
]
Resource = Annotated[str, StringConstraints(pattern=r"^([a-z0-9.-]+/)?[A-Za-z0-9._-]+$")]
Quantity = Annotated[str, StringConstraints(pattern=r"^-?[0-9]+([.][0-9]+)?([numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]+)?$")]
Issue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9._-]+/[A-Za-z0-9._-]+#[0-9]+|YUNIKORN-[0-9]+)$")]
Source = Annotated[
    str,
    StringConstraints(pattern=r"^([A-Za-z0-9._-]+/[A-Za-z0-9._-]+#[0-9]+|YUNIKORN-[0-9]+|https://[^ ]+)$"),
]
Text = Annotated[str, StringConstraints(min_length=1)]
Sentence = Annotated[str, StringConstraints(min_length=10)]
Quantities = Annotated[dict[Resource, Quantity], Field(min_length=1)]
Version = Literal["v1beta1", "v1beta2"]
State = Literal["pending", "inadmissible", "quotaReserved", "admitted", "evicted", "finished", "deactivated"]
Need = Annotated[
    str,
    StringConstraints(
        pattern=r"^(jobs:[A-Z][A-Za-z0-9]*|pods|podgroups|leaderworkerset|volcano-job|volcano-queue|kai-queue"
        r"|elasticquota|colocationprofile|qos|limitrange|runtimeclass|conversion|replicas|faults|yarn|live-only"
        r"|offline-only)$"
    ),
]
Actor = Literal["check-controller", "garbage-collector", "kuberay-operator", "ttl-controller"]
Area = Literal[
    "admissioncheck", "conversion", "elastic-quota", "fair-sharing", "fifo", "flavors", "foreign-semantics", "ha",
    "hierarchy", "job-integration", "kai-fair-share", "limitrange", "numbers", "owner-chain", "preemption", "priority",
    "qos-priority", "webhook", "yarn-mirror",
]  # fmt: skip


class Form(BaseModel):
    """Strict: a number in quotes is no number, and an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
