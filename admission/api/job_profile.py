"""JobProfile: what a job gets on its way in, so that its author needs none of the platform's words.

`overwrite` is one word or a map of words by field: a schema cannot say so, the reader does.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from admission.api.job_kind import Strict
from admission.api.shapes import ATOMIC, Conditions, Count, Int32, Labels, Name, Schema, Shape, Time

_Glob = Annotated[str, Field(min_length=1, max_length=512)]
_Globs = Annotated[list[_Glob], Field(min_length=1, max_length=256), ATOMIC]


class Requirement(Strict):
    """One requirement on labels."""

    key: Annotated[str, Field(min_length=1, max_length=317)]
    """The label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How its value is compared."""
    values: Annotated[list[str], Field(max_length=256), ATOMIC] | None = None
    """What the value is compared with; none for Exists and DoesNotExist."""


class Chosen(Strict):
    """Objects by their labels; all requirements must hold, and none chooses everything."""

    match_labels: Labels | None = None
    """Labels and the values they must have."""
    match_expressions: Annotated[list[Requirement], Field(max_length=64), ATOMIC] | None = None
    """Requirements beyond equality."""


class Match(Strict):
    """Which jobs. All that is given must match; of a list, any entry. Nothing given: every job."""

    kinds: Annotated[list[Annotated[str, Field(max_length=316)]], Field(min_length=1, max_length=64), ATOMIC] | None = (
        None
    )
    """Kinds as Kind.group, like Job.batch. Absent: every kind of job. Pods only where Pod is listed."""
    namespace_selector: Chosen | None = None
    """Labels of the namespace."""
    object_selector: Chosen | None = None
    """Labels of the job, as its author wrote it."""
    users: _Globs | None = None
    """Who creates it, as the API server knows them; * stands for any characters."""
    groups: _Globs | None = None
    """A group of whoever creates it; * stands for any characters."""


class QueueCreate(Strict):
    """How the LocalQueue is made where there is none."""

    from_template: Name
    """A LocalQueue in Lockgate's own namespace, whose spec the new one gets."""


class Queue(Strict):
    """The LocalQueue that a job waits in."""

    name: Name
    """Its name, in the namespace of the job."""
    create: QueueCreate | None = None
    """Makes it where a stamped job waits for one that does not exist; absent: nobody makes it."""


class Stamp(Strict):
    """What a job gets."""

    queue: Queue | None = None
    """The LocalQueue that it waits in."""
    workload_priority_class: Name | None = None
    """Its WorkloadPriorityClass: the order in the queue."""
    priority_class_name: Name | None = None
    """The PriorityClass of its pods."""
    qos_class: Literal["LSE", "LSR", "LS", "BE", "SYSTEM"] | None = None
    """Koordinator's QoS class of its pods."""
    koordinator_priority: Annotated[int, Field(ge=0, le=9999)] | None = None
    """Koordinator's priority inside of its class."""
    scheduler_name: Name | None = None
    """Who places its pods on nodes."""
    labels: Labels | None = None
    """Further labels."""
    annotations: Labels | None = None
    """Further annotations."""
    resources: Literal["TranslateToClass"] | None = None
    """Requests and limits for cpu and memory become those of the batch or mid class that the pods end up in."""


class JobProfileSpec(Strict):
    """Which jobs, and what they get."""

    order: Int32 | None = None
    """Profiles are applied in ascending order, then by name; 0 when absent."""
    match: Match | None = None
    """Which jobs; absent: all."""
    foreign_hints: (
        Annotated[list[Literal["all", "kai", "volcano", "yunikorn", "koord-queue"]], Field(max_length=8), ATOMIC] | None
    ) = None
    """Systems whose labels and annotations on such jobs are taken for ours, before anything is stamped."""
    percent: Annotated[int, Field(ge=0, le=100)] | None = None
    """Of the jobs that match, how many of a hundred get it; 100 when absent."""
    stamp: Stamp | None = None
    """What they get."""
    overwrite: Annotated[Any, Schema({"x-kubernetes-preserve-unknown-fields": True})] = None
    """What to do where there is a value: Never replaces none, IfUnset only one of an earlier profile, Always any. One
    word, or words by field of `stamp` with `default` for the others; IfUnset when absent."""
    targets: Annotated[list[Literal["Job", "PodTemplates"]], Field(min_length=1, max_length=2), ATOMIC] | None = None
    """Whether the job object gets it, the pod templates inside, or both, as when absent."""


class JobProfileStatus(Shape):
    """Whether it counts, and for whom."""

    conditions: Conditions | None = None
    """Active says whether it counts, and if not, why."""
    matched: Count | None = None
    """How many jobs that exist now were stamped by it."""
    last_matched: Time | None = None
    """When the newest of all jobs that it stamped was created."""


class JobProfile(Shape):
    """What jobs are stamped with on their way in."""

    api_version: str | None = None
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: JobProfileSpec
    """Which jobs, and what they get."""
    status: JobProfileStatus | None = None
    """Whether it counts, and for whom; written by the controller."""
