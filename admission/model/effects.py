"""What a plan asks the shell to do, and what the shell answers. Data only.

Most effects carry their whole body. Those that need a pod template name the objects whose manifests the shell must
fetch first; `admission.reconcile.requests` then turns effect and manifests into the request, for the live shell and
the in-memory world alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from admission.model.kinds import Ref
from admission.model.workload import Toleration

# Order in which a shell short of breath sends: decisions, what follows from them, what people merely read.
DECISION, CONSEQUENCE, REPORT = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Patch:
    """A JSON merge patch. `resource_version` makes it fail with a conflict when the object moved on."""

    ref: Ref
    body: Mapping[str, Any]
    subresource: str | None = None
    resource_version: int | None = None


@dataclass(frozen=True, slots=True)
class CreateWorkload:
    """Compose the Workload of a job from its manifest and create it."""

    ref: Ref  # of the Workload
    job: Ref
    job_uid: str
    priority: int = 0
    priority_class: tuple[str, str, str] | None = None  # group, kind, name
    label_keys: tuple[str, ...] = ()  # of labels of the job that its Workload takes over


@dataclass(frozen=True, slots=True)
class CreateLocalQueue:
    """Make a LocalQueue with the spec of another one."""

    ref: Ref
    template: Ref
    job: Ref  # that waits for it


@dataclass(frozen=True, slots=True)
class UpdateWorkload:
    """Rebuild the spec of an unreserved Workload from its job, which changed."""

    ref: Ref
    job: Ref
    job_uid: str
    resource_version: int
    priority: int = 0
    priority_class: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class PodSetInfo:
    """What starting adds to the pod template of one pod set."""

    name: str
    count: int
    node_selector: Mapping[str, str]
    tolerations: tuple[Toleration, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StartJob:
    """Unsuspend a job with what its admission brings injected into its pod templates, in one patch."""

    ref: Ref  # of the job
    workload: Ref
    infos: tuple[PodSetInfo, ...]
    resource_version: int


@dataclass(frozen=True, slots=True)
class RestoreJob:
    """Give a stopped job's pod templates back what starting injected; the Workload has the originals."""

    ref: Ref
    workload: Ref | None  # None: the Workload is gone; only the mark of stopping is taken away
    resource_version: int


@dataclass(frozen=True, slots=True)
class Delete:
    ref: Ref
    uid: str


@dataclass(frozen=True, slots=True)
class EmitEvent:
    """A Kubernetes Event; may be dropped when there are too many, and nothing waits for it."""

    ref: Ref
    uid: str
    type: Literal["Normal", "Warning"]
    reason: str
    message: str


Effect = Patch | CreateWorkload | CreateLocalQueue | UpdateWorkload | StartJob | RestoreJob | Delete | EmitEvent


@dataclass(frozen=True, slots=True)
class Planned:
    """An effect with its number. Effects of one `lane` are sent in order and a failure aborts the rest of the lane;
    lane "" is free."""

    id: int
    effect: Effect
    lane: str = ""
    rank: int = CONSEQUENCE


@dataclass(frozen=True, slots=True)
class Plan:
    """`reads`: objects to GET and observe with `read=True`. `more`: call again at once. `wake_at`: at the latest."""

    effects: tuple[Planned, ...]
    reads: tuple[Ref, ...] = ()
    more: bool = False
    wake_at: float | None = None


Result = Literal["ok", "conflict", "refused", "gone", "unknown", "aborted", "impossible"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an effect.

    ok: done, `resource_version` is the object's new one (None for events and deletes). conflict: the object moved on.
    refused: the API server or a webhook said no, `message` says why. gone: the object does not exist. unknown: no
    answer came; it may have happened. aborted: never sent, an earlier effect of its lane failed. impossible: never
    sent, the manifests contradict it for good.
    """

    id: int
    result: Result
    resource_version: int | None = None
    message: str = ""
