"""What may happen in a scenario: one form per `op`. The names of the fields are the file's own."""

# ruff: noqa: N815

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from admission.world.scenario.words import (
    Actor,
    Duration,
    Form,
    KindName,
    Name,
    Number,
    ObjectRef,
    Quantities,
    RequestId,
    Time,
    Version,
)


class Create(Form):
    t: Time
    op: Literal["create"]
    ref: ObjectRef
    id: RequestId | None = None
    actor: Actor | None = None
    dryRun: Literal[True] | None = None
    repeat: Annotated[int, Field(ge=2, le=10_000)] | None = None
    every: Duration | None = None

    @model_validator(mode="after")
    def _together(self) -> "Create":
        if (self.repeat is None) != (self.every is None):
            raise ValueError("repeat and every go together: give both or neither")
        return self


class MergePatch(Form):
    t: Time
    op: Literal["patch"]
    ref: ObjectRef
    patch: Annotated[dict[str, Any], Field(min_length=1)]
    as_: Annotated[Version | None, Field(alias="as")] = None
    subresource: Literal["status"] | None = None
    id: RequestId | None = None
    actor: Actor | None = None


class JsonPatch(Form):
    t: Time
    op: Literal["json-patch"]
    ref: ObjectRef
    patch: Annotated[list[dict[str, Any]], Field(min_length=1)]
    id: RequestId | None = None
    actor: Actor | None = None


class Delete(Form):
    t: Time
    op: Literal["delete"]
    ref: ObjectRef | None = None
    workloadOf: ObjectRef | None = None
    id: RequestId | None = None
    actor: Actor | None = None

    @model_validator(mode="after")
    def _one(self) -> "Delete":
        if (self.ref is None) == (self.workloadOf is None):
            raise ValueError("give either ref or workloadOf")
        return self


class AdmissionReview(Form):
    t: Time
    op: Literal["admission-review"]
    ref: ObjectRef
    operation: Literal["CREATE", "UPDATE"]
    id: RequestId


class Finish(Form):
    t: Time
    op: Literal["finish"]
    ref: ObjectRef


class JobStopped(Form):
    t: Time
    op: Literal["job-stopped"]
    ref: ObjectRef


class Tick(Form):
    t: Time
    op: Literal["tick"]
    autoStopEvicted: Literal[True] | None = None


class Plain(Form):
    """Events of which the name says all."""

    t: Time
    op: Literal["scheduler-pause", "scheduler-resume", "restart-controller", "rotate-serving-cert"]


class StartReplicas(Form):
    t: Time
    op: Literal["start-replicas"]
    replicas: Annotated[int, Field(ge=2)]


class KillLeader(Form):
    t: Time
    op: Literal["kill-leader"]
    afterWrites: Annotated[int, Field(ge=1)] | None = None


class ConflictInjector(Form):
    t: Time
    op: Literal["conflict-injector"]
    ref: ObjectRef
    every: Duration
    for_: Annotated[Duration, Field(alias="for")]


class ForbidReads(Form):
    t: Time
    op: Literal["forbid-reads"]
    kinds: Annotated[list[KindName], Field(min_length=1)]


class Cluster(Form):
    t: Time
    op: Literal["cluster"]
    resources: Quantities


class SetRequest(Form):
    t: Time
    op: Literal["set-request"]
    requests: Annotated[dict[Name, Quantities], Field(min_length=1)]


class NodeUse(Form):
    vcores: Number
    memoryMB: Number


class FakeRm(Form):
    t: Time
    op: Literal["fake-rm"]
    cluster: Name
    down: Literal[True] | None = None
    nodes: (
        Annotated[
            dict[Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+:[0-9]+$")], NodeUse], Field(min_length=1)
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _one(self) -> "FakeRm":
        if (self.down is None) == (self.nodes is None):
            raise ValueError("give either down or nodes")
        return self


Event = Annotated[
    Create | MergePatch | JsonPatch | Delete | AdmissionReview | Finish | JobStopped | Tick | Plain | StartReplicas
    | KillLeader | ConflictInjector | ForbidReads | Cluster | SetRequest | FakeRm,
    Field(discriminator="op"),
]  # fmt: skip
