"""Workload JSON -> Workload."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from admission.model.job_kind import ASKS_BY_NOW, DESCRIBED_BY
from admission.model.kinds import KUEUE
from admission.model.names import ADMISSION_GATED_BY, JOB_UID, PRIORITY_BOOST
from admission.model.queue_policy import GROUPS, USER
from admission.model.workload import (
    Admission,
    CheckState,
    PodSet,
    PodSetAssignment,
    PodSetRequest,
    PodSetUpdate,
    PriorityClassRef,
    Workload,
)
from admission.readers.identity import read_groups
from admission.readers.metadata import read_conditions, read_metadata, read_owner
from admission.readers.narrow import (
    boolean,
    canonical,
    entries,
    integer,
    mapping,
    maybe_integer,
    moment,
    strings,
    text,
    tuple_of,
    word,
)
from admission.readers.pod_set import read_pod_set, read_toleration
from admission.readers.pool import Pool
from admission.readers.quotas import read_amount

_SIGNED = re.compile(r"[+-]?[0-9]{1,10}")  # int32, as priorities are
_assignments: Pool[PodSetAssignment] = Pool(8192)
_requests: Pool[tuple[PodSetRequest, ...]] = Pool(8192)


def read_workload(wire: Mapping[str, Any]) -> Workload:
    """Total: any JSON object gives a Workload."""
    meta = read_metadata(wire)
    spec = mapping(wire.get("spec"))
    status = mapping(wire.get("status"))
    requeue = mapping(status.get("requeueState"))
    owner = read_owner(wire)
    pod_sets = tuple_of(read_pod_set, spec.get("podSets"))
    return Workload(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        created=meta.created,
        queue_name=word(spec.get("queueName")),
        pod_sets=pod_sets,
        generation=meta.generation,
        priority=integer(spec.get("priority")),
        priority_class=_priority_class(spec.get("priorityClassRef")),
        active=boolean(spec.get("active"), True),
        maximum_execution_seconds=maybe_integer(spec.get("maximumExecutionTimeSeconds")),
        deleting=meta.deleting,
        finalizers=meta.finalizers,
        owner=owner.ref if owner and (owner.known or "." in owner.ref.kind) else None,
        owner_uid=owner.uid if owner else "",
        owned=bool(entries(mapping(wire.get("metadata")).get("ownerReferences"))),
        job_uid=meta.labels.get(JOB_UID, ""),
        gated_by=meta.annotations.get(ADMISSION_GATED_BY, ""),
        described_by=word(meta.annotations.get(DESCRIBED_BY, "")),
        asks_by_now=meta.annotations.get(ASKS_BY_NOW, ""),
        conditions=read_conditions(status.get("conditions")),
        admission=read_admission(status.get("admission"), pod_sets),
        requeue_at=moment(requeue.get("requeueAt")),
        requeue_count=max(integer(requeue.get("count")), 0),
        reclaimable={text(pods.get("name")): _count(pods) for pods in entries(status.get("reclaimablePods"))},
        checks=tuple_of(_check, status.get("admissionChecks")),
        evictions=tuple_of(_eviction, mapping(status.get("schedulingStats")).get("evictions")),
        accumulated_seconds=max(integer(status.get("accumulatedPastExecutionTimeSeconds")), 0),
        resource_requests=_resource_requests(status.get("resourceRequests")),
        user=word(meta.annotations.get(USER, "")),
        groups=read_groups(meta.annotations.get(GROUPS, "")),
        labels=_labels(meta.labels),
        boost=_signed(meta.annotations.get(PRIORITY_BOOST, "")),
    )


def read_admission(value: object, pod_sets: tuple[PodSet, ...]) -> Admission | None:
    """`status.admission`; an assignment without a count holds all pods of its pod set."""
    if not isinstance(value, Mapping):
        return None
    counts = {pod_set.name: pod_set.count for pod_set in pod_sets}
    assignments = []
    for entry in entries(value.get("podSetAssignments")):
        whole = counts.get(text(entry.get("name"), "main"), 0)
        assignments.append(_assignments.of([whole, entry], partial(_assignment, entry, whole)))
    return Admission(word(value.get("clusterQueue")), tuple(assignments))


def _assignment(wire: Mapping[str, Any], whole: int) -> PodSetAssignment:
    usage = mapping(wire.get("resourceUsage"))
    return PodSetAssignment(
        name=word(wire.get("name"), "main"),
        flavors=strings(wire.get("flavors")),
        usage={word(resource): read_amount(resource, stated) or 0 for resource, stated in usage.items()},
        count=max(integer(wire.get("count"), whole), 0),
    )


def _resource_requests(value: object) -> tuple[PodSetRequest, ...]:
    return _requests.of(value, lambda: tuple_of(_request, value)) if value else ()


def _request(wire: Mapping[str, Any]) -> PodSetRequest:
    stated = ((word(name), read_amount(name, stated)) for name, stated in mapping(wire.get("resources")).items())
    return PodSetRequest(word(wire.get("name")), tuple(sorted([(name, units or 0) for name, units in stated])))


def _priority_class(value: object) -> PriorityClassRef | None:
    if not isinstance(value, Mapping):
        return None
    return PriorityClassRef(word(value.get("group")), word(value.get("kind")), word(value.get("name")))


def _check(wire: Mapping[str, Any]) -> CheckState:
    return CheckState(
        name=word(wire.get("name")),
        state=word(wire.get("state")),
        since=moment(wire.get("lastTransitionTime")) or 0.0,
        message=word(wire.get("message")),
        requeue_after=maybe_integer(wire.get("requeueAfterSeconds")),
        retry_count=maybe_integer(wire.get("retryCount")),
        updates=tuple_of(_update, wire.get("podSetUpdates")),
        updates_wire=canonical(wire["podSetUpdates"]) if wire.get("podSetUpdates") else "",
    )


def _update(wire: Mapping[str, Any]) -> PodSetUpdate:
    def pairs(field: str) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(strings(wire.get(field)).items()))

    tolerations = tuple_of(read_toleration, wire.get("tolerations"))
    return PodSetUpdate(
        word(wire.get("name")), pairs("labels"), pairs("annotations"), pairs("nodeSelector"), tolerations
    )


def _eviction(wire: Mapping[str, Any]) -> tuple[str, str, int]:
    return word(wire.get("reason")), word(wire.get("underlyingCause")), _count(wire)


def _labels(stated: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted([item for item in stated.items() if not item[0].startswith(KUEUE)])) if stated else ()


def _signed(stated: str) -> int:
    """A whole number in an annotation; 0 for anything else."""
    return int(stated) if _SIGNED.fullmatch(stated) else 0


def _count(wire: Mapping[str, Any]) -> int:
    return max(integer(wire.get("count")), 0)
