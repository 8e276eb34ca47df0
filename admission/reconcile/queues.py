"""Statuses and finalizers of ClusterQueues, LocalQueues and ResourceFlavors, and when a queue is inactive.

Facts: Kueue 0.19; the order of the reasons is its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from admission.model import names
from admission.model.effects import Patch
from admission.model.kinds import Ref
from admission.model.queues import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    FlavorResource,
    LocalQueue,
    QueueStatus,
    ResourceFlavor,
)
from admission.model.times import stamp
from admission.readers.queue_status import rest_of
from admission.reconcile.status import conditions_json, usage_json
from admission.reconcile.transitions import set_condition
from admission.reconcile.view import View
from admission.tree.shares import Share


@dataclass(slots=True)
class Load:
    """What waits in a queue and what it holds; units per (flavor, resource)."""

    pending: int = 0
    reserving: int = 0
    admitted: int = 0
    reserved: dict[FlavorResource, int] = field(default_factory=dict)
    used: dict[FlavorResource, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)  # of what waits, by resource; reckoned for elastic quotas only


def inactivity(view: View, queue: ClusterQueue) -> tuple[str, str] | None:
    """(reason, message) why nothing can be admitted through the queue; None when it can."""
    if queue.deleting:
        return "Terminating", "Can't admit new workloads; clusterQueue is terminating"
    reasons: list[tuple[str, str]] = []
    if queue.stop_policy != "None":
        reasons.append(("Stopped", "is stopped"))
    wanted = {flavor.name: None for group in queue.groups for flavor in group.flavors}
    missing = [name for name in wanted if view.flavor(name) is None]
    if missing:
        reasons.append(("FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(missing)}"))
    reasons += _of_checks(view, queue)
    topologies = [flavor.topology for name in wanted if (flavor := view.flavor(name)) is not None and flavor.topology]
    if any(view.topology(name) is None for name in topologies):
        reasons.append(("TopologyNotFound", "there is no Topology for one or more flavors"))
    if not reasons:
        return None
    return reasons[0][0], f"Can't admit new workloads: {', '.join(words for _, words in reasons)}."


def _of_checks(view: View, queue: ClusterQueue) -> list[tuple[str, str]]:
    """Checks that do not exist, then those whose controller has not said that it is at work."""
    names = list(dict.fromkeys(rule.name for rule in queue.checks))
    found = {name: view.admission_check(name) for name in names}
    missing = [name for name in names if found[name] is None]
    inactive = [name for name in names if (check := found[name]) is not None and not check.active]
    reasons = []
    if missing:
        reasons.append(("AdmissionCheckNotFound", f"references missing AdmissionCheck(s): {','.join(missing)}"))
    if inactive:
        reasons.append(("AdmissionCheckInactive", f"references inactive AdmissionCheck(s): {','.join(inactive)}"))
    return reasons


def cluster_queue_status(
    view: View,
    queue: ClusterQueue,
    load: Load,
    borrowed: Mapping[FlavorResource, int],
    now: float,
    share: Share | None = None,
) -> tuple[QueueStatus, dict[str, Any]]:
    """The status it should show: as remembered, and as written. `share`: None while fair sharing is off."""
    why = inactivity(view, queue)
    reason, message = why or ("Ready", "Can admit new workloads")
    conditions = set_condition(
        queue.status.conditions, names.ACTIVE, why is None, reason, message, now, queue.generation
    )
    quotas = dict.fromkeys(queue.quotas(), 0)
    rest = {
        "flavorsReservation": usage_json(quotas, load.reserved, borrowed),
        "flavorsUsage": usage_json(quotas, load.used, borrowed_of(queue, load.used)),
        **_counts(load),
        **_fair_sharing(queue.status, None if share is None else {"weightedShare": share.status}),
    }
    return _status(conditions, rest)


def borrowed_of(queue: ClusterQueue, usage: Mapping[FlavorResource, int]) -> dict[FlavorResource, int]:
    """What the queue uses beyond the quota it owns; without a cohort there is nobody to borrow from."""
    if not queue.cohort:
        return {}
    quotas = queue.quotas()
    over = {fr: units - (quotas[fr].nominal if fr in quotas else 0) for fr, units in usage.items()}
    return {fr: units for fr, units in over.items() if units > 0}


def local_queue_status(
    view: View, queue: LocalQueue, load: Load, now: float, consumed: tuple[Mapping[str, int], float] | None = None
) -> tuple[QueueStatus, dict[str, Any]]:
    """As `cluster_queue_status`; a stopped queue reports nothing as pending. `consumed`: what it has used, billionths
    by resource, and up to when; None where that does not count."""
    cluster_queue = view.cluster_queue(queue.cluster_queue)
    if queue.stop_policy != "None":
        active, reason, message = False, "Stopped", "LocalQueue is stopped"
    elif cluster_queue is None:
        active, reason = False, "ClusterQueueDoesNotExist"
        message = "Can't submit new workloads to clusterQueue"
    elif inactivity(view, cluster_queue):
        active, reason = False, "ClusterQueueIsInactive"
        message = "Can't submit new workloads to clusterQueue"
    else:
        active, reason, message = True, "Ready", "Can submit new workloads to localQueue"
    conditions = set_condition(queue.status.conditions, names.ACTIVE, active, reason, message, now, queue.generation)
    quotas = dict.fromkeys(cluster_queue.quotas(), 0) if cluster_queue is not None else {}
    rest = {
        "flavorsReservation": usage_json(quotas, load.reserved, None),
        "flavorsUsage": usage_json(quotas, load.used, None),
        **_counts(load),
        **_fair_sharing(queue.status, None if consumed is None else _consumption(*consumed)),
    }
    return _status(conditions, rest)


def cohort_status(cohort: Cohort, share: Share | None) -> tuple[QueueStatus, dict[str, Any]]:
    """As `cluster_queue_status`; a cohort has no conditions."""
    rest = _fair_sharing(cohort.status, None if share is None else {"weightedShare": share.status})
    return QueueStatus(cohort.status.conditions, rest_of(rest)), rest


def _consumption(consumed: Mapping[str, int], updated: float) -> dict[str, Any]:
    resources = {name: _quantity(units) for name, units in sorted(consumed.items())}
    standing = {"consumedResources": resources, "lastUpdate": stamp(updated)}
    return {"weightedShare": 0, "admissionFairSharingStatus": standing}


def _quantity(billionths: int) -> str:
    """Exact, with the largest suffix that leaves a whole number."""
    for suffix, size in (("", 10**9), ("m", 10**6), ("u", 10**3)):
        if billionths % size == 0:
            return f"{billionths // size}{suffix}"
    return f"{billionths}n"


def _fair_sharing(before: QueueStatus, standing: dict[str, Any] | None) -> dict[str, Any]:
    """What was written while fair sharing was on is taken away when it is off."""
    return {"fairSharing": standing} if standing is not None or '"fairSharing"' in before.rest else {}


def _counts(load: Load) -> dict[str, int]:
    return {
        "pendingWorkloads": load.pending,
        "reservingWorkloads": load.reserving,
        "admittedWorkloads": load.admitted,
    }


def _status(conditions: Mapping[str, Any], rest: dict[str, Any]) -> tuple[QueueStatus, dict[str, Any]]:
    return QueueStatus(conditions, rest_of(rest)), {"conditions": conditions_json(conditions), **rest}


def cluster_queue_finalizer(queue: ClusterQueue, *, in_use: bool) -> Patch | None:
    """Held while a workload reserves quota in it."""
    return _finalizer(Ref("ClusterQueue", "", queue.name), queue, in_use=in_use)


def flavor_finalizer(flavor: ResourceFlavor, *, in_use: bool) -> Patch | None:
    """Held while a ClusterQueue names it."""
    return _finalizer(Ref("ResourceFlavor", "", flavor.name), flavor, in_use=in_use)


def check_finalizer(check: AdmissionCheck, *, in_use: bool) -> Patch | None:
    """Held while a ClusterQueue asks for it."""
    return _finalizer(Ref("AdmissionCheck", "", check.name), check, in_use=in_use)


def _finalizer(ref: Ref, held: ClusterQueue | ResourceFlavor | AdmissionCheck, *, in_use: bool) -> Patch | None:
    present = names.IN_USE in held.finalizers
    wanted = in_use if held.deleting else True
    if present == wanted or (held.deleting and wanted):
        return None
    kept = [name for name in held.finalizers if name != names.IN_USE]
    finalizers = [*kept, names.IN_USE] if wanted else kept
    return Patch(ref, {"metadata": {"finalizers": finalizers}}, resource_version=held.resource_version)
