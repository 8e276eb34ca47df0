"""The differences from Kueue that are documented, each with what must be so that it may be seen.

A rule looks at one difference and at what both sides showed until then. It is never a blanket: what it cannot prove
stays a finding. Names are those of the entries in docs/differences-from-kueue.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.model import amounts
from hack.peer.memory import played
from hack.peer.outcome import Moment, Outcome
from hack.peer.scenario import Scenario


class Difference(NamedTuple):
    """`path` like `workloads/lab/w1/admission/podSets/main/flavors/cpu`, in parts."""

    path: tuple[str, ...]
    peer: Any
    ours: Any

    def __str__(self) -> str:
        return f"{' '.join(self.path)}: peer {self.peer!r}, ours {self.ours!r}"


@dataclass(frozen=True, slots=True)
class View:
    """Two outcomes at one moment."""

    scenario: Scenario
    peer: Outcome
    ours: Outcome
    place: int

    @property
    def peer_moment(self) -> Moment | None:
        return _at(self.peer, self.place)

    @property
    def our_moment(self) -> Moment | None:
        return _at(self.ours, self.place)

    def peer_workload(self, name: str) -> dict[str, Any]:
        """As the peer shows it; {} if it does not."""
        found: dict[str, Any] = self.peer_moment.shows["workloads"].get(name, {}) if self.peer_moment else {}
        return found

    def before(self, *path: str) -> Any:
        """What the peer showed a moment ago."""
        moment = _at(self.peer, self.place - 1)
        value: Any = moment.shows if moment else {}
        for part in path:
            value = (value or {}).get(part)
        return value

    def circling(self, place: int) -> list[str]:
        """Who, as our core in memory has it, would go on trying flavors without end at this moment."""
        moment = _at(played(self.scenario), place)
        return moment.circling if moment else []

    def class_value(self, workload: str) -> int | None:
        """What the priority class of this workload is worth now; None without one."""
        ref = self.scenario.manifest(f"Workload/{workload}")["spec"].get("priorityClassRef")
        if ref is None:
            return None
        name = f"WorkloadPriorityClass/{ref['name']}"
        value: int = self.scenario.manifest(name)["value"]
        for moment in self.peer.moments[: self.place + 1]:
            if moment.what.get("ref") == name and not moment.answer:
                value = moment.what["patch"]["value"]
        return value

    def queues_of(self, workload: str) -> tuple[str, str]:
        """References to its LocalQueue and its ClusterQueue."""
        local = self.scenario.manifest(f"Workload/{workload}")["spec"]["queueName"]
        return f"LocalQueue/{workload.partition('/')[0]}/{local}", f"ClusterQueue/{self.queue_of(workload)}"

    def queue_of(self, workload: str) -> str:
        """The ClusterQueue that this workload's LocalQueue leads to."""
        namespace = workload.partition("/")[0]
        local = self.scenario.manifest(f"Workload/{workload}")["spec"]["queueName"]
        queue: str = self.scenario.manifest(f"LocalQueue/{namespace}/{local}")["spec"]["clusterQueue"]
        return queue


class Rule(NamedTuple):
    """`decides`: it is about a decision, from which everything after may differ."""

    name: str
    decides: bool
    explains: Callable[[View, Difference], bool]


def explain(view: View, difference: Difference) -> Rule | None:
    """The documented difference that this is one of."""
    return next((rule for rule in RULES if rule.explains(view, difference)), None)


def _at(outcome: Outcome, place: int) -> Moment | None:
    return outcome.moments[place] if 0 <= place < len(outcome.moments) else None


def _is_true(shown: dict[str, Any], condition: str) -> bool:
    return bool(shown.get("conditions", {}).get(condition, ("", ""))[0] == "True")


# --- of what is published only


def _finished_keeps_priority(view: View, found: Difference) -> bool:
    """The peer shows the value that its class has now, ours the one that it had when the workload came."""
    if found.path[0] != "workloads" or found.path[2:] != ("priority",):
        return False
    finished = _is_true(view.peer_workload(found.path[1]), "Finished")
    return finished and found.peer is not None and found.peer == view.class_value(found.path[1])


def _stale_count(view: View, found: Difference) -> bool:
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


def _stale_share(view: View, found: Difference) -> bool:
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


def _in_flight(view: View, found: Difference) -> bool:
    """The peer shows one less than wait there: it wrote while the scheduler had that one in its hands."""
    if found.path[0] != "localQueues" or found.path[2:] != ("pending",) or view.peer_moment is None:
        return False
    namespace, _, local = found.path[1].partition("/")
    waiting = sum(
        _waits(shown)
        for name, shown in view.peer_moment.shows["workloads"].items()
        if name.partition("/")[0] == namespace
        and view.scenario.manifest(f"Workload/{name}")["spec"]["queueName"] == local
    )
    return bool(found.ours == waiting and found.peer == waiting - 1)


def _waits(shown: dict[str, Any]) -> bool:
    return bool(shown["active"]) and not _is_true(shown, "QuotaReserved") and not _is_true(shown, "Finished")


def _says_inactive(view: View, found: Difference) -> bool:
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
        name in moment.shows[kind] and not _is_true(moment.shows[kind][name], "Active")
        for moment in moments
        for kind, name in queues
    )


def _kin_is_told(view: View, found: Difference) -> bool:
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


# --- of what is decided


def _evicted_wait_for_restart(view: View, found: Difference) -> bool:
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


def _taken_back(view: View, found: Difference) -> bool:
    """Somebody who was preempted gave its quota back at this moment, and in the peer has it again. There it had to
    leave once more at once; or in ours another has it, who waited for just that."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None or not peer.released:
        return False
    name = peer.released.partition("/")[2]
    back, here = peer.shows["workloads"].get(name, {}), ours.shows["workloads"].get(name, {})
    before: dict[str, Any] = view.before("workloads") or {}
    if not _is_true(back, "QuotaReserved") or before[name]["conditions"].get("Evicted", ("", ""))[1] != "Preempted":
        return False
    if _preemptions(back) > max(_preemptions(before[name]), _preemptions(here)):
        return True
    if _is_true(here, "QuotaReserved"):
        return False
    return any(
        "Pending the preemption of" in one["conditions"].get("QuotaReserved", ("", "", ""))[2]
        and _has_got(ours.shows["workloads"].get(who, {}), one)
        for who, one in before.items()
    )


def _preemptions(shown: dict[str, Any]) -> int:
    return int(shown.get("evictions", {}).get("Preempted/", 0))


def _has_got(after: dict[str, Any], before: dict[str, Any]) -> bool:
    """It holds quota now, or did in between."""
    return _is_true(after, "QuotaReserved") or after.get("evictions") != before.get("evictions")


def _before_the_victims_left(view: View, found: Difference) -> bool:
    """In the peer more is reserved than there is, because victims have not left yet; in ours somebody waits for it."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None or not _overdrawn(view, peer):
        return False
    leaving = [one for one in peer.shows["workloads"].values() if _is_true(one, "Evicted")]
    return any(_is_true(one, "QuotaReserved") for one in leaving) and any(
        _is_true(one, "QuotaReserved") and not _is_true(ours.shows["workloads"].get(name, {}), "QuotaReserved")
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


def _scans_in_circles(view: View, found: Difference) -> bool:
    """A workload that would try flavors without end, as our core in memory says of it. The peer writes again and again
    why it waits; or it has got flavors now, and which ones depends on where the peer happened to be."""
    if found.path == ("restless",) and not found.ours:
        return str(found.peer).partition(" ")[0].removeprefix("Workload/") in view.circling(view.place)
    assigned = found.path[0] == "workloads" and found.path[2:4] == ("admission", "podSets")
    return assigned and found.path[1] in view.circling(view.place - 1)


def _release_from_stopped(view: View, found: Difference) -> bool:
    """Somebody in a LocalQueue that is stopped has given quota back at this moment: the peer wakes nobody then."""
    peer, ours = view.peer_moment, view.our_moment
    if peer is None or ours is None:
        return False
    before: dict[str, Any] = view.before("workloads") or {}
    gave = [
        name
        for name, one in before.items()
        if _holds(one) and not _holds(peer.shows["workloads"].get(name, {})) and _is_stopped(view, peer, name)
    ]
    return bool(gave) and any(
        _holds(one) and not _holds(peer.shows["workloads"].get(who, {})) for who, one in ours.shows["workloads"].items()
    )


def _holds(shown: dict[str, Any]) -> bool:
    return _is_true(shown, "QuotaReserved") and not _is_true(shown, "Finished") and bool(shown["active"])


def _is_stopped(view: View, moment: Moment, workload: str) -> bool:
    """Its LocalQueue."""
    local = view.scenario.manifest(f"Workload/{workload}")["spec"]["queueName"]
    queue = moment.shows["localQueues"].get(f"{workload.partition('/')[0]}/{local}", {})
    return bool(queue.get("conditions", {}).get("Active", ("", ""))[1] == "Stopped")


def _drained_behind_a_stop(view: View, found: Difference) -> bool:
    """A ClusterQueue is drained, and the workload's LocalQueue is stopped: the peer lets it run."""
    moment = view.peer_moment
    if moment is None or found.path[0] != "workloads" or found.path[2:] != ("conditions", "Evicted"):
        return False
    if found.ours != ("True", "ClusterQueueStopped") or found.peer == found.ours:
        return False
    queue = moment.shows["clusterQueues"].get(view.queue_of(found.path[1]), {})
    stopped = queue.get("conditions", {}).get("Active", ("", ""))[1] == "Stopped"
    return stopped and _is_stopped(view, moment, found.path[1])


def _after_retry(view: View, found: Difference) -> bool:
    """Somebody whom a check sent back gave its quota back at this moment."""
    peer = view.peer_moment
    if peer is None or not peer.released or found.path[0] not in ("workloads", "clusterQueues", "localQueues"):
        return False
    before: dict[str, Any] = view.before("workloads") or {}
    left = before[peer.released.partition("/")[2]]["conditions"].get("Evicted", ("", ""))
    return tuple(left[:2]) == ("True", "AdmissionCheck")


def _activated_again(view: View, found: Difference) -> bool:
    """Kueue itself had deactivated the workload, and somebody has activated it since: ours takes it back."""
    if found.path[0] != "workloads" or found.path[2:] != ("conditions", "Requeued"):
        return False
    shown = view.peer_workload(found.path[1])
    kept = found.peer is not None and found.peer[0] == "False" and str(found.peer[1]).startswith("DeactivatedDueTo")
    return kept and found.ours == ("True", "Reactivated") and bool(shown.get("active"))


def _class_is_followed(view: View, found: Difference) -> bool:
    """Ours shows the value of its class."""
    if found.path[0] != "workloads" or found.path[2:] != ("priority",):
        return False
    finished = _is_true(view.peer_workload(found.path[1]), "Finished")
    return not finished and found.ours is not None and found.ours == view.class_value(found.path[1])


# Those of decisions first: where one of them applies, what is published differs in its wake.
RULES = (
    Rule("a class and the priority of its workloads", True, _class_is_followed),
    Rule("who comes back after a check's Retry", True, _after_retry),
    Rule("who was deactivated by Kueue and is activated again", True, _activated_again),
    Rule("evicted workloads when a stopped queue goes on", True, _evicted_wait_for_restart),
    Rule("who had to leave", True, _taken_back),
    Rule("room that is not free yet", True, _before_the_victims_left),
    Rule("releases from a stopped LocalQueue", True, _release_from_stopped),
    Rule("draining a ClusterQueue whose LocalQueue is stopped", True, _drained_behind_a_stop),
    Rule("scans that go round in circles", True, _scans_in_circles),
    Rule("priority of finished workloads", False, _finished_keeps_priority),
    Rule("pending count when a LocalQueue stops", False, _stale_count),
    Rule("shares after an edit of another quota", False, _stale_share),
    Rule("pending count of a LocalQueue while one is looked at", False, _in_flight),
    Rule("why a workload waits in a stopped queue", False, _says_inactive),
    Rule("newcomers that ask for what has just failed", False, _kin_is_told),
)
