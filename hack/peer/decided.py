"""Documented differences in other decisions: what must be so that each may be seen."""

from typing import Any

from admission.model import amounts
from hack.peer.outcome import Moment
from hack.peer.view import Difference, View, expects_victims, holds, is_stopped, is_true, waits


def evicted_wait_for_restart(view: View, found: Difference) -> bool:
    """A stopped queue goes on, and somebody whom the stop had evicted waits in it: in ours it competes from the start,
    in the peer a moment later."""
    moment = view.peer_moment
    if moment is None or found.path[0] not in ("workloads", "clusterQueues", "localQueues"):
        return False
    said = moment.what.get("patch")
    if not isinstance(said, dict) or said.get("spec", {}).get("stopPolicy") != "None":
        return False
    stopped = ("ClusterQueueStopped", "LocalQueueStopped")
    shown: dict[str, Any] = view.before("workloads") or {}
    requeued = {name: one["conditions"].get("Requeued", ("", "")) for name, one in shown.items()}
    return any(
        one[0] == "False" and one[1] in stopped and moment.what["ref"] in view.queues_of(name)
        for name, one in requeued.items()
    )


def before_the_victims_left(view: View, found: Difference) -> bool:
    """In the peer more is reserved than there is, because victims have not left yet; in ours somebody waits for it."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None or not _overdrawn(view, peer):
        return False
    leaving = [one for one in peer.shows["workloads"].values() if is_true(one, "Evicted")]
    return any(is_true(one, "QuotaReserved") for one in leaving) and any(
        is_true(one, "QuotaReserved") and not is_true(ours.shows["workloads"].get(name, {}), "QuotaReserved")
        for name, one in peer.shows["workloads"].items()
    )


def _overdrawn(view: View, moment: Moment) -> bool:
    """Whether all queues and cohorts of the scenario together reserve more of something than they have. Queues of
    other trees, and quota edits since, are not told apart: they make it less likely to be seen, not more."""
    there: dict[str, int] = {}
    for one in view.scenario.objects:
        if one["kind"] in ("ClusterQueue", "Cohort"):
            for group in (one.get("spec") or {}).get("resourceGroups") or ():
                for flavor in group["flavors"]:
                    for quota in flavor["resources"]:
                        key = f"{flavor['name']}/{quota['name']}"
                        there[key] = there.get(key, 0) + amounts.amount(quota["name"], quota["nominalQuota"])
    held: dict[str, int] = {}
    for shown in moment.shows["clusterQueues"].values():
        for key, (total, _) in shown["reservation"].items():
            held[key] = held.get(key, 0) + total
    return any(units > there.get(key, 0) for key, units in held.items())


def borrowing_hides_a_victim(view: View, found: Difference) -> bool:
    """Somebody waits in a queue that prefers preemption to borrowing. The peer took what it found for room that is
    free, and says that it no longer fits; in ours others leave for it, or have left."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None:
        return False
    for name, one in peer.shows["workloads"].items():
        queue = view.scenario.manifest(f"ClusterQueue/{view.queue_of(name)}")["spec"]
        prefers = (queue.get("flavorFungibility") or {}).get("preference") == "PreemptionOverBorrowing"
        skipped = one["conditions"].get("QuotaReserved", ("", "", ""))[2].startswith("Workload no longer fits")
        here = ours.shows["workloads"].get(name, {"active": False, "conditions": {}})
        if prefers and skipped and waits(one) and (expects_victims(here) or holds(here)):
            return True
    return False


def scans_in_circles(view: View, found: Difference) -> bool:
    """A workload that would try flavors without end, as our core in memory says of it. The peer writes again and again
    why it waits; or it has got flavors now, and which ones depends on where the peer happened to be."""
    if found.path == ("restless",) and not found.ours:
        return str(found.peer).partition(" ")[0].removeprefix("Workload/") in view.circling(view.place)
    assigned = found.path[0] == "workloads" and found.path[2:4] == ("admission", "podSets")
    return assigned and found.path[1] in view.circling(view.place - 1)


def release_from_stopped(view: View, found: Difference) -> bool:
    """Somebody in a LocalQueue that is stopped has given quota back at this moment: the peer wakes nobody then."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None:
        return False
    before: dict[str, Any] = view.before("workloads") or {}
    gave = [
        name
        for name, one in before.items()
        if holds(one) and not holds(peer.shows["workloads"].get(name, {})) and is_stopped(view, peer, name)
    ]
    return bool(gave) and any(
        holds(one) and not holds(peer.shows["workloads"].get(who, {})) for who, one in ours.shows["workloads"].items()
    )


def drained_behind_a_stop(view: View, found: Difference) -> bool:
    """A ClusterQueue is drained, and the workload's LocalQueue is stopped: the peer lets it run."""
    moment = view.peer_moment
    if moment is None or found.path[0] != "workloads" or found.path[2:] != ("conditions", "Evicted"):
        return False
    if found.ours != ("True", "ClusterQueueStopped") or found.peer == found.ours:
        return False
    queue = moment.shows["clusterQueues"].get(view.queue_of(found.path[1]), {})
    stopped = queue.get("conditions", {}).get("Active", ("", ""))[1] == "Stopped"
    return stopped and is_stopped(view, moment, found.path[1])


def after_retry(view: View, found: Difference) -> bool:
    """Somebody whom a check sent back gave its quota back at this moment."""
    peer = view.peer_moment
    if peer is None or not peer.released or found.path[0] not in ("workloads", "clusterQueues", "localQueues"):
        return False
    before: dict[str, Any] = view.before("workloads") or {}
    left = before[peer.released.partition("/")[2]]["conditions"].get("Evicted", ("", ""))
    return tuple(left[:2]) == ("True", "AdmissionCheck")


def activated_again(view: View, found: Difference) -> bool:
    """Kueue itself had deactivated the workload, and somebody has activated it since: ours takes it back."""
    if found.path[0] != "workloads" or found.path[2:] != ("conditions", "Requeued"):
        return False
    shown = view.peer_workload(found.path[1])
    kept = found.peer is not None and found.peer[0] == "False" and str(found.peer[1]).startswith("DeactivatedDueTo")
    return kept and found.ours == ("True", "Reactivated") and bool(shown.get("active"))


def class_is_followed(view: View, found: Difference) -> bool:
    """Ours shows the value of its class."""
    if found.path[0] != "workloads" or found.path[2:] != ("priority",):
        return False
    finished = is_true(view.peer_workload(found.path[1]), "Finished")
    return not finished and found.ours is not None and found.ours == view.class_value(found.path[1])
