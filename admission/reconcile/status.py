"""Workload values as the JSON that is written: only what changed, so that nobody else's fields are touched."""

import json
from collections.abc import Mapping
from typing import Any

from admission.model import amounts
from admission.model.queues import FlavorResource
from admission.model.times import stamp
from admission.model.workload import Admission, CheckState, Condition, Workload


def status_patch(before: Workload, after: Workload) -> dict[str, Any]:
    """Merge patch of the status subresource that turns `before` into `after`; {} when they agree."""
    status: dict[str, Any] = {}
    if after.conditions != before.conditions:
        status["conditions"] = conditions_json(after.conditions)
    if after.admission != before.admission:
        status["admission"] = admission_json(after.admission)
    if (after.requeue_at, after.requeue_count) != (before.requeue_at, before.requeue_count):
        status["requeueState"] = _requeue_json(after)
    if after.evictions != before.evictions:
        status["schedulingStats"] = {
            "evictions": [{"reason": r, "underlyingCause": c, "count": n} for r, c, n in after.evictions]
        }
    if after.checks != before.checks:
        status["admissionChecks"] = [_check_json(check) for check in after.checks]
    if after.reclaimable != before.reclaimable:
        status["reclaimablePods"] = [{"name": name, "count": pods} for name, pods in sorted(after.reclaimable.items())]
    if after.resource_requests != before.resource_requests:
        status["resourceRequests"] = [
            {"name": name, "resources": {resource: amounts.text(resource, units) for resource, units in resources}}
            for name, resources in after.resource_requests
        ]
    if after.accumulated_seconds != before.accumulated_seconds:
        status["accumulatedPastExecutionTimeSeconds"] = after.accumulated_seconds
    return {"status": status} if status else {}


def conditions_json(conditions: Mapping[str, Condition]) -> list[dict[str, Any]]:
    """The whole list: a merge patch replaces lists."""
    return [condition_json(condition) for condition in conditions.values()]


def condition_json(condition: Condition) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": stamp(condition.since),
    }
    if condition.generation:
        wire["observedGeneration"] = condition.generation
    return wire


def admission_json(admission: Admission | None) -> dict[str, Any] | None:
    if admission is None:
        return None
    return {
        "clusterQueue": admission.cluster_queue,
        "podSetAssignments": [
            {
                "name": pod_set.name,
                "flavors": dict(sorted(pod_set.flavors.items())),
                "resourceUsage": {name: amounts.text(name, units) for name, units in sorted(pod_set.usage.items())},
                "count": pod_set.count,
            }
            for pod_set in admission.assignments
        ],
    }


def _check_json(check: CheckState) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "name": check.name,
        "state": check.state,
        "lastTransitionTime": stamp(check.since),
        "message": check.message,
    }
    if check.requeue_after is not None:
        wire["requeueAfterSeconds"] = check.requeue_after
    if check.retry_count is not None:
        wire["retryCount"] = check.retry_count
    if check.updates_wire:
        wire["podSetUpdates"] = json.loads(check.updates_wire)
    return wire


def _requeue_json(workload: Workload) -> dict[str, Any] | None:
    if workload.requeue_at is None and not workload.requeue_count:
        return None
    at = None if workload.requeue_at is None else stamp(workload.requeue_at)
    return {"count": workload.requeue_count, "requeueAt": at}


def usage_json(
    quotas: Mapping[FlavorResource, int],
    usage: Mapping[FlavorResource, int],
    borrowed: Mapping[FlavorResource, int] | None,
) -> list[dict[str, Any]]:
    """status.flavorsReservation or flavorsUsage: every flavor and resource of the queue, and what else is in use.

    `quotas` gives the order; `borrowed` is left out (None) for LocalQueues, which have no such field.
    """
    flavors: dict[str, dict[str, dict[str, Any]]] = {}
    for flavor, resource in [*quotas, *sorted(fr for fr in usage if fr not in quotas and usage[fr])]:
        row: dict[str, Any] = {"name": resource, "total": amounts.text(resource, usage.get((flavor, resource), 0))}
        if borrowed is not None:
            row["borrowed"] = amounts.text(resource, borrowed.get((flavor, resource), 0))
        flavors.setdefault(flavor, {})[resource] = row
    return [
        {"name": flavor, "resources": [rows[resource] for resource in sorted(rows)]} for flavor, rows in flavors.items()
    ]
