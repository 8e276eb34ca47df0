"""A job of any kind, as its descriptor reads it: what the core needs to queue, start, stop and finish it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from admission.model.kinds import Ref
from admission.model.workload import PodSet

_NO_COUNTS: Mapping[str, int] = {}


class JobEnd(NamedTuple):
    succeeded: bool
    message: str


class Borrowed(NamedTuple):
    """A pod set whose template lies in another object. `source`: in the job's namespace, though the object may be
    cluster-scoped; `found`: there is such a template."""

    pod_set: str
    source: Ref
    found: bool


@dataclass(frozen=True, slots=True)
class Job:
    """`suspended`, `active` and the like are facts of the object, not wishes of ours."""

    ref: Ref
    uid: str
    resource_version: int
    created: float
    pod_sets: tuple[PodSet, ...]  # requests and shapes; templates are fetched when needed
    generation: int = 1
    deleting: bool = False
    suspended: bool = False
    stopping: bool = False  # we suspended it and have yet to restore its template
    started: bool = False  # status.startTime is set: the API server refuses changes of the template
    active: bool = False  # still has pods
    end: JobEnd | None = None
    pods_ready: bool = False
    queue_name: str = ""
    priority_class: str = ""  # label: a WorkloadPriorityClass
    maximum_execution_seconds: int | None = None
    prebuilt_workload: str = ""
    gated_by: str = ""
    reclaimable: Mapping[str, int] = field(default_factory=lambda: _NO_COUNTS)  # pods not needed again, by pod set
    owner: Ref | None = None  # controlling owner, whatever its kind (kind may be unknown to KINDS)
    owner_uid: str = ""
    held_with: str = ""  # uid of the ancestor for whose sake we hold it
    problem: str = ""  # why no Workload can be made of it, or ""
    on_hold: bool = False  # its operator will not start it as it is: quota is of no use to it
    skipped: bool = False  # none of our business, whatever its labels say
    pod_priority_class: str = ""  # named by the job itself, before its pod templates are asked
    stamped_by: tuple[str, ...] = ()  # JobProfiles
    queue_from: str = ""  # the template from which a profile has its LocalQueue made
    described_by: str = ""  # digest of what its JobKind says of pod sets
    borrowed: tuple[Borrowed, ...] = ()
    # As JSON, of a job with such pod sets: it is read again when their templates change.
    manifest: bytes = field(default=b"", repr=False)
