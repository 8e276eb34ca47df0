"""What a job gets on its way in: a queue if its namespace has a default one, and it is held until it may start."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from admission.jobs.registry import JobKinds
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME
from admission.stamping.ancestors import FindOwner, managed_ancestor, managed_owner
from admission.stamping.incoming import Incoming
from admission.stamping.patches import PatchOperation, set_entry

DEFAULT_LOCAL_QUEUE = "default"  # the LocalQueue whose mere existence makes it the namespace's default
DEFAULT_PRIORITY_CLASS = "default"  # likewise, the cluster's


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the cluster around a job says about it."""

    has_default_queue: bool
    namespace_is_managed: bool  # matches managedJobsNamespaceSelector
    manage_without_queue_name: bool
    job_kinds: JobKinds
    owner: FindOwner
    has_priority_class: Callable[[str], bool] | None = None  # None: nobody gets one by default


class Stamp(NamedTuple):
    patch: tuple[PatchOperation, ...] = ()
    warnings: tuple[str, ...] = ()


def stamp_job(job: Incoming, around: Surroundings) -> Stamp:
    """For a new job: a queue, the default class, then held if it is ours. Raises Unreadable, NestedTooDeeply."""
    operations = []
    labels, queue_name = job.metadata.labels, job.metadata.queue_name
    if not queue_name and (queue_name := _given_queue(job, around)):
        operations.append(set_entry(("metadata", "labels"), labels, QUEUE_NAME, queue_name))
        labels = {**(labels or {}), QUEUE_NAME: queue_name}
    if not (labels or {}).get(PRIORITY_CLASS) and _takes_default_class(job, around):
        operations.append(set_entry(("metadata", "labels"), labels, PRIORITY_CLASS, DEFAULT_PRIORITY_CLASS))
    if _asks_for_quota(job, queue_name, around) and not job.held and _stands_alone(job, around):
        operations.append(job.holding())
    return Stamp(tuple(operations))


def keep_held(job: Incoming, before: Incoming, around: Surroundings) -> Stamp:
    """For a change: a manifest that lets the job go, applied again while the job waits, does not start it.

    The product's own start is known by the mark of admission on a pod template; it never ends somebody else's hold, and
    a mark that is left under one is an old one. Raises Unreadable, NestedTooDeeply.
    """
    queue_name = job.metadata.queue_name
    if not _asks_for_quota(job, queue_name, around) or job.held or not before.held:
        return Stamp()
    if job.carries_admission and not before.held_by_others:
        return Stamp()
    if not _stands_alone(job, around):
        return Stamp()
    where, value = ".".join(str(part) for part in job.hold.path), json.dumps(job.hold.held)
    waits = f"in LocalQueue {queue_name}" if queue_name else "for admission"
    return Stamp((job.holding(),), (f"{where}: kept at {value}, the job waits {waits} and is started on admission",))


def _given_queue(job: Incoming, around: Surroundings) -> str:
    """For a job without the label: what its kind calls a queue, or the namespace's default; "" for none."""
    if managed_owner(job.metadata.owner_references, around.job_kinds) is not None:
        return ""
    default = DEFAULT_LOCAL_QUEUE if around.has_default_queue and around.namespace_is_managed else ""
    return job.queue_hint or default


def _takes_default_class(job: Incoming, around: Surroundings) -> bool:
    return (
        around.has_priority_class is not None
        and managed_owner(job.metadata.owner_references, around.job_kinds) is None
        and around.has_priority_class(DEFAULT_PRIORITY_CLASS)
    )


def _asks_for_quota(job: Incoming, queue_name: str, around: Surroundings) -> bool:
    """Kueue's rule: naming a queue suffices, even where nobody serves the namespace."""
    if job.metadata.deletion_timestamp is not None:
        return False
    return bool(queue_name) or (around.manage_without_queue_name and around.namespace_is_managed)


def _stands_alone(job: Incoming, around: Surroundings) -> bool:
    """Unless it is part of another job that has the quota, or its kind says that quota is not for it."""
    if job.skipped:
        return False
    owners, without = job.metadata.owner_references, around.manage_without_queue_name
    return managed_ancestor(owners, around.job_kinds, around.owner, without) is None
