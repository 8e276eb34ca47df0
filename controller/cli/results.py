"""What a simulation showed, as JSON. The shape is a promise: docs/simulate.md describes it, `version` counts it."""

from collections.abc import Mapping
from typing import Any

from admission.explain import Explainer, state_word
from admission.model import names
from admission.model.amounts import text
from admission.model.queues import FlavorResource
from admission.model.workload import Workload
from admission.world.simulation import Simulation
from admission.world.stories import Moment, Story

VERSION = 1

# The condition that speaks for a state. Who waits is told by QuotaReserved, or by the scheduler until that is written.
_SPEAKS = {
    "finished": names.FINISHED,
    "deactivated": names.EVICTED,
    "evicted": names.EVICTED,
    "admitted": names.ADMITTED,
    "quotaReserved": names.QUOTA_RESERVED,
}


def result(simulation: Simulation) -> dict[str, Any]:
    """Times are seconds from the start, quantities are strings as Kubernetes prints them."""
    explainer = Explainer(simulation.state, simulation.start + simulation.now, simulation.called)
    return {
        "version": VERSION,
        "now": _seconds(simulation.now),
        "workloads": [_workload(simulation, story, found, explainer) for story, found in simulation.workloads()],
        "clusterQueues": cluster_queues(simulation),
        "timeline": [_moment(one) for one in simulation.timeline],
    }


def cluster_queues(simulation: Simulation) -> list[dict[str, Any]]:
    scheduler, loads = simulation.state.scheduler, simulation.state.loads
    rows = []
    for name in sorted(simulation.state.objects.cluster_queues):
        queue = simulation.state.objects.cluster_queue(name)
        load = loads.cluster_queue(name)
        reserved = {**dict.fromkeys(queue.quotas() if queue else (), 0), **scheduler.usage(name)}
        rows.append(
            {
                "name": name,
                "cohort": queue.cohort if queue else "",
                "reserved": _by_flavor(reserved),
                "borrowed": _by_flavor(scheduler.borrowed(name)),
                "pending": load.pending,
                "admitted": load.admitted,
            }
        )
    return rows


def _workload(simulation: Simulation, story: Story, found: Workload | None, explainer: Explainer) -> dict[str, Any]:
    namespace, _, name = story.key.partition("/")
    row: dict[str, Any] = {
        "namespace": namespace,
        "name": name,
        "owner": str(story.owner) if story.owner else None,
        "state": "pending",
        "clusterQueue": "",
        "localQueue": "",
        "priority": 0,
        "flavors": {},
        "counts": {},
        "position": None,
        "reason": "",
        "message": story.problem,
        "arrived": _seconds(story.arrived),
        "admitted": _seconds(story.admitted),
        "finished": _seconds(story.finished),
        "evictions": story.evictions,
        "explain": None,
    }
    if found is None:
        return {**row, "reason": "Misconfigured"}
    parked = simulation.state.scheduler.parked(found.key)
    state = state_word(found, parked)
    local = simulation.state.objects.local_queue(found.namespace, found.queue_name)
    row["state"] = state
    row["localQueue"] = found.queue_name
    row["clusterQueue"] = local.cluster_queue if local is not None else ""
    row["priority"] = found.priority
    if found.admission is not None:
        row["clusterQueue"] = found.admission.cluster_queue
        row["flavors"] = {one.name: dict(one.flavors) for one in found.admission.assignments}
        row["counts"] = {one.name: one.count for one in found.admission.assignments}
    if state in _SPEAKS:
        condition = found.conditions.get(_SPEAKS[state])
        row["reason"], row["message"] = (condition.reason, condition.message) if condition else ("", "")
    else:
        row["explain"] = explainer.explain(found.key).as_json()
        row["position"] = row["explain"]["position"]
        row["reason"], row["message"] = _waiting(simulation, found, row["explain"])
    return row


def _waiting(simulation: Simulation, workload: Workload, explained: Mapping[str, Any]) -> tuple[str, str]:
    """What its QuotaReserved condition says, or will say when it has waited for long enough to be told."""
    condition = workload.conditions.get(names.QUOTA_RESERVED)
    last = simulation.state.scheduler.last(workload.key)
    if condition is not None and last is None:
        return condition.reason, condition.message
    return names.PENDING, last.message if last is not None else explained["sentence"]


def _moment(one: Moment) -> dict[str, Any]:
    return {
        "at": _seconds(one.at),
        "what": one.what,
        "workload": one.workload,
        "reason": one.reason,
        "message": one.message,
    }


def _by_flavor(units: Mapping[FlavorResource, int]) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {}
    for flavor, resource in sorted(units):
        table.setdefault(flavor, {})[resource] = text(resource, units[(flavor, resource)])
    return table


def _seconds(moment: float | None) -> float | int | None:
    """Whole seconds without a decimal point, so that equal runs print equally."""
    if moment is None:
        return None
    return int(moment) if moment == int(moment) else round(moment, 3)
