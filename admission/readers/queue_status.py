"""The status of a queue as we last wrote it, kept only to see whether a new one differs."""

from collections.abc import Mapping
from typing import Any

from admission.model.amounts import BadQuantity, exact
from admission.model.queues import QueueStatus
from admission.readers.metadata import read_conditions
from admission.readers.narrow import canonical, mapping


def read_queue_status(value: object) -> QueueStatus:
    """`status` of a ClusterQueue, Cohort or LocalQueue."""
    status = mapping(value)
    return QueueStatus(read_conditions(status.get("conditions")), rest_of(status), _consumed(status))


def _consumed(status: Mapping[str, Any]) -> dict[str, int]:
    stated = mapping(mapping(status.get("fairSharing")).get("admissionFairSharingStatus"))
    consumed = {}
    for resource, quantity in mapping(stated.get("consumedResources")).items():
        try:
            consumed[resource] = max(0, int(exact(str(quantity)) * 10**9))
        except BadQuantity:
            continue
    return consumed


# What our controller writes; another writer's fields never make us write again.
OURS = (
    "flavorsReservation", "flavorsUsage", "pendingWorkloads", "reservingWorkloads", "admittedWorkloads", "fairSharing",
)  # fmt: skip


def rest_of(status: Mapping[str, Any]) -> str:
    """Canonical JSON of our fields of a status, conditions apart; "" when there is nothing."""
    rest = {name: status[name] for name in OURS if status.get(name) is not None}
    return canonical(rest) if rest else ""
