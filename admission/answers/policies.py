"""What QueuePolicies refuse at once: jobs of people who may not submit, or that are beyond a limit for good.

How many wait is known from the policies' statuses, some seconds late: what slips through is not queued by the core.
"""

from collections.abc import Iterator

import msgspec

from admission.answers.request import Request, View
from admission.api.documents import Document, view, whole
from admission.api.field_errors import FieldError, forbidden, key
from admission.jobs.descriptor import Descriptor
from admission.model.job import Job
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME
from admission.model.queue_policy import Identity, Limit, People
from admission.rules.effective_policy import NO_POLICY, Effective, whom
from admission.rules.policing import too_important, too_large
from admission.stamping.ancestors import OwnerReference, managed_owner
from admission.stamping.identity import creator, speaks, stated

_LABEL = "metadata.labels"


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class _Job(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def beyond_policies(descriptor: Descriptor, document: Document, request: Request, around: View) -> list[FieldError]:
    """For a new job as it will be stored. What is part of another job has that one's leave."""
    if not around.queue_policies or request.old_object is not None:
        return []
    metadata = view(document, _Job).metadata
    name = (metadata.labels or {}).get(QUEUE_NAME, "")
    if not name or managed_owner(metadata.owner_references, around.job_kinds) is not None:
        return []
    effective = around.queue_policies.effective(around.policy_path(request.namespace, name))
    if effective is NO_POLICY:
        return []
    annotations = metadata.annotations
    who = creator(request.username, request.groups, around.queue_policies.groups)
    who = stated(annotations) if speaks(annotations) else who
    where = key(_LABEL, QUEUE_NAME)
    errors = [
        forbidden(where, why) for why in (*_not_admitted(effective, who, name), *_crowded(effective, who, around))
    ]
    rows = list(effective.matching(who))
    if any(row.max_priority is not None or row.pods_per_workload is not None for row in rows):
        errors += _beyond(effective, rows, who, descriptor, document, around)
    return errors


def _not_admitted(effective: Effective, who: Identity, queue: str) -> Iterator[str]:
    submit = effective.manners.submit
    if submit is not None and not submit.include(who):
        policy = effective.by["submit"]
        yield f"{who.user} may not create jobs for LocalQueue {queue}: QueuePolicy {policy} lets {_spoken(submit)}"


def _crowded(effective: Effective, who: Identity, around: View) -> Iterator[str]:
    most, name = effective.manners.max_pending, effective.by.get("max_pending", "")
    waiting = sum(use.pending for use in around.queue_policies.of(name).users) if name else 0
    if most is not None and waiting >= most:
        yield f"{waiting} workloads wait, and QueuePolicy {name} lets {most} wait at a time: try again later"
    name = effective.by.get("limits", "")
    uses = around.queue_policies.of(name).users if name else ()
    mine = next((use.pending for use in uses if use.name == who.user), 0)
    for row in effective.matching(who):
        if row.pending is not None and mine >= row.pending and ("user", who.user) in whom(row, who):
            yield f"{who.user} has {mine} waiting of {row.pending} that may wait by QueuePolicy {name}: try again later"


def _beyond(
    effective: Effective, rows: list[Limit], who: Identity, descriptor: Descriptor, document: Document, around: View
) -> Iterator[FieldError]:
    job, policy = descriptor.read(whole(document)), effective.by["limits"]
    if job.problem:
        return  # told by others
    priority, where = _priority(job, around)
    pods = sum(pod_set.count for pod_set in job.pod_sets)
    for row in rows:
        for whose, name in whom(row, who):
            called = f"group {name}" if whose == "group" else name
            yield from (forbidden(where, why) for why in too_important(policy, row, called, priority))
            yield from (forbidden("spec", why) for why in too_large(policy, row, called, pods))


def _priority(job: Job, around: View) -> tuple[int, str]:
    """What its Workload will have, and the field that says so."""
    if job.priority_class:
        return around.priority_class_value(job.priority_class) or 0, key(_LABEL, PRIORITY_CLASS)
    name = job.pod_priority_class or next((one.priority_class for one in job.pod_sets if one.priority_class), "")
    found = around.pod_priority_class(name)
    return (found.value if found is not None else 0), "spec"


def _spoken(people: People) -> str:
    users = ", ".join(people.users)
    groups = ", ".join(people.groups)
    parts = [f"users {users}" if users else "", f"groups {groups}" if groups else ""]
    return " and ".join(part for part in parts if part)
