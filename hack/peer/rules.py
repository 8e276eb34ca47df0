"""The differences from Kueue that are documented, each with what must be so that it may be seen.

A rule looks at one difference and at what both sides showed until then. It is never a blanket: what it cannot prove
stays a finding. Names are those of the entries in docs/differences-from-kueue.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    """Both show it as finished, and it has a class."""
    if found.path[0] != "workloads" or found.path[2:] != ("priority",):
        return False
    name = found.path[1]
    classed = "priorityClassRef" in view.scenario.manifest(f"Workload/{name}")["spec"]
    return classed and _is_true(view.peer_workload(name), "Finished")


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


def _says_inactive(view: View, found: Difference) -> bool:
    """Who waits in a stopped queue: ours says so; the peer still gives the reason of before."""
    if found.path[0] != "workloads" or found.path[2:] != ("conditions", "QuotaReserved"):
        return False
    moment = view.our_moment
    if moment is None or found.ours != ("False", "Inadmissible") or found.peer not in (None, ("False", "Pending")):
        return False
    queue = moment.shows["clusterQueues"].get(view.queue_of(found.path[1]), {})
    return not _is_true(queue, "Active")


# --- of what is decided


def _evicted_wait_for_restart(view: View, found: Difference) -> bool:
    """A stopped queue goes on, and ours lets who was evicted by the stop compete from the start."""
    moments = view.peer_moment, view.our_moment
    if moments[0] is None or moments[1] is None:
        return False
    said = moments[0].what.get("patch")
    if not isinstance(said, dict) or said.get("spec", {}).get("stopPolicy") != "None":
        return False
    shown: dict[str, Any] = view.before("workloads") or {}
    stopped = ("ClusterQueueStopped", "LocalQueueStopped")
    return any(
        one["conditions"].get("Requeued", ("", ""))[0] == "False"
        and one["conditions"]["Requeued"][1] in stopped
        and _is_true(moments[1].shows["workloads"].get(name, {}), "QuotaReserved")
        and not _is_true(moments[0].shows["workloads"].get(name, {}), "QuotaReserved")
        for name, one in shown.items()
    )


RULES = (
    Rule("priority of finished workloads", False, _finished_keeps_priority),
    Rule("pending count when a LocalQueue stops", False, _stale_count),
    Rule("why a workload waits in a stopped queue", False, _says_inactive),
    Rule("evicted workloads when a stopped queue goes on", True, _evicted_wait_for_restart),
)
