"""What a job of any kind says about itself by labels, annotations and owner, joined with what only its kind can say."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from admission.jobs.descriptor import Manifest
from admission.model import names
from admission.model.job import Job, JobEnd
from admission.model.kinds import Ref
from admission.model.workload import PodSet
from admission.readers.metadata import read_metadata, read_owner
from admission.readers.narrow import text
from admission.readers.stamps import read_stamps

_NO_COUNTS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the kind's own fields and status say; see `admission.model.job.Job`."""

    active: bool = False
    end: JobEnd | None = None
    pods_ready: bool = False
    reclaimable: Mapping[str, int] = field(default_factory=lambda: _NO_COUNTS)
    stopping: bool = False
    started: bool = False
    on_hold: bool = False
    skipped: bool = False
    pod_priority_class: str = ""
    queue_hint: str = ""  # the kind's own way of naming a queue, for a job without the label
    problem: str = ""


def read_job(kind: str, manifest: Manifest, pod_sets: tuple[PodSet, ...], suspended: bool, facts: Facts) -> Job:
    """`kind`: as in `Ref.kind`."""
    meta, owner = read_metadata(manifest), read_owner(manifest)
    return Job(
        ref=Ref(kind, meta.namespace, meta.name),
        uid=meta.uid,
        resource_version=meta.resource_version,
        created=meta.created,
        pod_sets=pod_sets,
        generation=meta.generation,
        deleting=meta.deleting,
        suspended=suspended,
        stopping=facts.stopping,
        started=facts.started,
        active=facts.active,
        end=facts.end,
        pods_ready=facts.pods_ready,
        queue_name=meta.labels.get(names.QUEUE_NAME) or facts.queue_hint,
        priority_class=meta.labels.get(names.PRIORITY_CLASS, ""),
        maximum_execution_seconds=positive(meta.labels.get(names.MAX_EXEC_TIME)),
        prebuilt_workload=meta.labels.get(names.PREBUILT_WORKLOAD) or meta.annotations.get(names.PREBUILT_WORKLOAD, ""),
        gated_by=meta.annotations.get(names.ADMISSION_GATED_BY, ""),
        reclaimable=facts.reclaimable,
        owner=owner.ref if owner else None,
        owner_uid=owner.uid if owner else "",
        held_with=meta.annotations.get(names.HELD_WITH, ""),
        problem=facts.problem,
        on_hold=facts.on_hold,
        skipped=facts.skipped,
        pod_priority_class=facts.pod_priority_class,
        stamped_by=tuple(read_stamps(meta.annotations)) if names.STAMPED in meta.annotations else (),
        queue_from=meta.annotations.get(names.QUEUE_FROM, ""),
    )


def positive(value: object) -> int | None:
    """A whole number above 0 in a label or annotation; None for anything else."""
    stated = text(value)
    return int(stated) or None if stated.isascii() and stated.isdigit() and len(stated) <= 10 else None
