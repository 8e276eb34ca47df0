"""Documented differences in what is published only: what must be so that each may be seen.

Decisions are the same, so the comparison goes on.
"""

from typing import Any

from hack.peer.view import Difference, View, is_true, waits


def finished_keeps_priority(view: View, found: Difference) -> bool:
    """The peer shows the value that its class has now, ours the one that it had when the workload came."""
    if found.path[0] != "workloads" or found.path[2:] != ("priority",):
        return False
    finished = is_true(view.peer_workload(found.path[1]), "Finished")
    return finished and found.peer is not None and found.peer == view.class_value(found.path[1])


def stale_count(view: View, found: Difference) -> bool:
    """The peer shows the number of a moment ago, and nobody waits in a LocalQueue that was just stopped or goes on."""
    moment = view.peer_moment
    if moment is None or found.path[0] != "clusterQueues" or found.path[2:] != ("pending",):
        return False
    return bool(view.before(*found.path) == found.peer) and _stopped_local(view, found.path[1])


def _stopped_local(view: View, queue: str) -> bool:
    """Whether one of its LocalQueues is or was stopped until this moment."""
    for moment in view.peer.moments[: view.place + 1]:
        kind, _, name = str(moment.what.get("ref", "")).partition("/")
        if kind == "LocalQueue" and view.scenario.manifest(f"LocalQueue/{name}")["spec"]["clusterQueue"] == queue:
            return True
    return False


def stale_share(view: View, found: Difference) -> bool:
    """Somebody edited a quota of another queue or cohort; the peer still shows the share of before."""
    moment = view.peer_moment
    if moment is None or found.path[0] not in ("clusterQueues", "cohorts") or found.path[2:] != ("share",):
        return False
    kind = {"clusterQueues": "ClusterQueue", "cohorts": "Cohort"}[found.path[0]]
    edits = [
        str(one.what.get("ref"))
        for one in view.peer.moments[: view.place + 1]
        if str(one.what.get("ref", "")).startswith(("ClusterQueue/", "Cohort/"))
    ]
    others = [ref for ref in edits if ref != f"{kind}/{found.path[1]}"]
    return bool(others) and bool(view.before(*found.path) == found.peer)


def in_flight(view: View, found: Difference) -> bool:
    """The peer shows one less than wait there: it wrote while the scheduler had that one in its hands."""
    if found.path[0] != "localQueues" or found.path[2:] != ("pending",) or view.peer_moment is None:
        return False
    namespace, _, local = found.path[1].partition("/")
    waiting = sum(
        waits(shown)
        for name, shown in view.peer_moment.shows["workloads"].items()
        if name.partition("/")[0] == namespace
        and view.scenario.manifest(f"Workload/{name}")["spec"]["queueName"] == local
    )
    return bool(found.ours == waiting and found.peer == waiting - 1)


def says_inactive(view: View, found: Difference) -> bool:
    """Both say that it waits. Its queue is or was stopped, and one gives that as the reason, the other its last one."""
    if found.path[0] != "workloads" or found.path[2:] != ("conditions", "QuotaReserved"):
        return False
    reasons = {None, ("False", "Pending"), ("False", "Inadmissible")}
    if found.ours not in reasons or found.peer not in reasons:
        return False
    namespace = found.path[1].partition("/")[0]
    local = view.scenario.manifest(f"Workload/{found.path[1]}")["spec"]["queueName"]
    queues = (("clusterQueues", view.queue_of(found.path[1])), ("localQueues", f"{namespace}/{local}"))
    moments = view.peer.moments[: view.place + 1]
    return any(
        name in moment.shows[kind] and not is_true(moment.shows[kind][name], "Active")
        for moment in moments
        for kind, name in queues
    )


def kin_is_told(view: View, found: Difference) -> bool:
    """A newcomer that asks for the same as one set aside in its queue: the peer says nothing of it, ours says why."""
    if found.path[0] != "workloads" or found.path[2:] != ("conditions", "QuotaReserved") or view.peer_moment is None:
        return False
    if found.peer is not None or found.ours != ("False", "Pending"):
        return False
    mine, shown = found.path[1], view.peer_moment.shows["workloads"]
    return any(
        name != mine
        and _is_waiting(one)
        and one["priority"] == shown[mine]["priority"]
        and view.queue_of(name) == view.queue_of(mine)
        and _pod_sets(view, name) == _pod_sets(view, mine)
        for name, one in shown.items()
    )


def _pod_sets(view: View, workload: str) -> Any:
    return view.scenario.manifest(f"Workload/{workload}")["spec"]["podSets"]


def _is_waiting(shown: dict[str, Any]) -> bool:
    return bool(shown["conditions"].get("QuotaReserved", ("",))[0] == "False")
