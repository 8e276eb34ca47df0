"""JobKind: another kind of job, queued without code and without a restart.

Fields that hold a path are read by admission.readers.places. A count is a number, a path, `{path: …, default: …}` or
one of `{product: […]}`, `{sum: […]}`, `{min: […]}`, `{max: […]}` of such; a template a path or `{from: …}`: a schema
cannot say so, the reader does.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from admission.api.rules import IMMUTABLE
from admission.api.shapes import ATOMIC, Conditions, Count, PodSetName, Schema, Shape, rules

# Also for null, which says that a field is taken away.
Anything = Annotated[Any, Schema({"x-kubernetes-preserve-unknown-fields": True, "nullable": True})]
Path = Annotated[str, Field(min_length=1, max_length=512)]
Expression = Annotated[Any, Schema({"x-kubernetes-preserve-unknown-fields": True})]


class Strict(Shape):
    """An object whose unknown fields are not dropped in silence: they reach the webhooks, which refuse them."""

    model_config = ConfigDict(
        use_attribute_docstrings=True, alias_generator=to_camel, populate_by_name=True, extra="forbid"
    )


class Suspend(Strict):
    """The field or annotation that keeps a job from starting; one of `path` and `annotation`."""

    path: Path | None = None
    """Where the field is, like spec.suspend."""
    annotation: Annotated[str, Field(min_length=1, max_length=316)] | None = None
    """The annotation instead of a field."""
    held: Anything = None
    """What it says of a job that is held; true when absent."""
    released: Anything = None
    """What it says of a job that may run; when absent false where `held` is true, true where `held` is false, else the
    field is taken away."""
    while_set: bool | None = None
    """The job is held whatever the field says. Another value than `held` is somebody else's hold, who keeps it."""


class PodSet(Strict):
    """Equal pods of a job; with `forEach`, one such set for each entry of a list or map."""

    for_each: Path | None = None
    """The list or map; paths below count from its entry, those that begin with $. from the object."""
    keys: Annotated[list[str], Field(min_length=1, max_length=16), ATOMIC] | None = None
    """Of a map, the entries that come first, in this order; the others follow by name."""
    name: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    """The pod set's name; with `forEach` the path of it, of a map's entry its key when absent. Lower-cased."""
    count: Expression = None
    """How many pods; `default` when absent."""
    default: Count | None = None
    """How many when the object does not say; 1 when absent."""
    min_count: Expression = None
    """With how many it may start, where it may start with fewer; needs a `count` that is one path."""
    template: Expression = None
    """The path of the pod template; or where it lies in another object, `{from: {ref: …, kind: …, path: …}}`."""
    pod_spec: Path | None = None
    """A pod's spec, or an object with its fields nodeSelector and tolerations, where there is no pod template."""
    requests: dict[str, Expression] | None = None
    """What one pod requests, where the kind says so outside of the template: paths or quantities, by resource."""
    container: PodSetName | None = None
    """Whose requests these are; the first container's when absent."""
    optional: bool | None = None
    """Without its template or pod spec there is no such pod set; else such a job is not queued, and told why."""
    reclaimable: Expression = None
    """How many of its pods are not needed again while the job runs."""


class Test(Strict):
    """A condition, or a value and what is asked of it."""

    condition: Annotated[str, Field(min_length=1, max_length=316)] | None = None
    """The type of one of status.conditions."""
    status: Literal["True", "False", "Unknown"] | None = None
    """What that condition says; True when absent."""
    reasons: Annotated[list[str], Field(min_length=1, max_length=32), ATOMIC] | None = None
    """The reasons that count; absent means all."""
    path: Expression = None
    """Where the value is; for atLeast also a number or an expression."""
    in_: Annotated[list[Anything], Field(min_length=1, max_length=32), ATOMIC] | None = Field(None, alias="in")
    """The value is one of these."""
    not_in: Annotated[list[Anything], Field(min_length=1, max_length=32), ATOMIC] | None = None
    """There is a value, and it is none of these."""
    at_least: Expression = None
    """The value is at least this number, or what this path says."""
    exists: bool | None = None
    """There is a value, or with false there is none."""


class Ending(Test):
    """How it is known, and what to tell."""

    message: Path | None = None
    """Where the sentence is that says why; the condition's message when absent."""


class Finished(Strict):
    """How it is known that a job is over."""

    succeeded: Ending | None = None
    """It did what it was to do; asked first."""
    failed: Ending | None = None
    """It did not, and will not be tried again."""


class JobKindSpec(Strict):
    """Where things lie in an object of the kind, and what its status means."""

    kind: Annotated[str, Field(min_length=1, max_length=316), Schema(rules(IMMUTABLE))]
    """Kind.version.group, like Sweep.v1.experiments.example; cannot be changed."""
    plural: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """The name of its resource; as English has it when absent."""
    suspend: Suspend
    """The field or annotation that keeps a job from starting."""
    stop: Literal["Suspend", "Delete", "None"] = "Suspend"
    """How a job that runs is stopped: held again, deleted (for a kind that cannot be held once it runs), or not."""
    pod_sets: Annotated[list[PodSet], Field(min_length=1, max_length=18), ATOMIC]
    """Its pods."""
    priority_class_name: Path | None = None
    """Where the job names a PriorityClass, before its pod templates are asked."""
    queue: Path | None = None
    """Where the kind names a queue in its own way: taken as LocalQueue of a job without the label."""
    generated_labels: Annotated[list[str], Field(max_length=16), ATOMIC] | None = None
    """Labels that the kind's controller puts on pod templates: they are no part of what the job asks for."""
    started: Test | None = None
    """Its pods were made."""
    active: Test | None = None
    """It still has pods, so that its quota is not free yet; `started` when absent."""
    pods_ready: Test | None = None
    """All its pods run; `started` when absent."""
    on_hold: Test | None = None
    """Its controller will not start it as it is, so that quota is of no use to it."""
    finished: Finished | None = None
    """How it is known that it is over; a kind without never ends by itself."""


class Hold(Shape):
    """What keeps jobs from starting."""

    path: Annotated[list[str], Field(min_length=1, max_length=16), ATOMIC]
    """Where the field is, name by name."""
    held: Anything = None
    """What it says of a job that is held."""
    released: Anything = None
    """What it says of a job that may run; absent: the field is taken away."""


class FormerHold(Hold):
    """What kept jobs from starting before spec.suspend was changed."""

    until: str
    """When it was; jobs that were made later are not held by it."""


class JobKindStatus(Shape):
    """Whether jobs of the kind are queued."""

    conditions: Conditions | None = None
    """Active says whether jobs of the kind are queued, and if not, why."""
    hold: Hold | None = None
    """What keeps its jobs from starting, as spec.suspend says."""
    former_holds: Annotated[list[FormerHold], Field(max_length=4), ATOMIC] | None = None
    """What spec.suspend said before, the newest first: jobs that are still held so are let go from it, too."""


class JobKind(Shape):
    """Another kind of job, queued like those that are built in."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: JobKindSpec
    """Where things lie in an object of the kind, and what its status means."""
    status: JobKindStatus | None = None
    """Whether jobs of the kind are queued; written by the controller."""
