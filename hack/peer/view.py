"""Two outcomes of a scenario at one moment, and what rules about their differences ask of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

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


def _at(outcome: Outcome, place: int) -> Moment | None:
    return outcome.moments[place] if 0 <= place < len(outcome.moments) else None


def is_true(shown: dict[str, Any], condition: str) -> bool:
    """Of a workload or queue as it is shown."""
    return bool(shown.get("conditions", {}).get(condition, ("", ""))[0] == "True")


def waits(shown: dict[str, Any]) -> bool:
    """In line, or set aside."""
    return bool(shown["active"]) and not is_true(shown, "QuotaReserved") and not is_true(shown, "Finished")


def holds(shown: dict[str, Any]) -> bool:
    """It counts as usage, whether on its way out or not."""
    return is_true(shown, "QuotaReserved") and not is_true(shown, "Finished") and bool(shown["active"])


def preemptions(shown: dict[str, Any]) -> int:
    """How often it has been preempted so far."""
    return int(shown.get("evictions", {}).get("Preempted/", 0))


def expects_victims(shown: dict[str, Any]) -> bool:
    """It waits for others who leave for it."""
    return "Pending the preemption of" in shown["conditions"].get("QuotaReserved", ("", "", ""))[2]


def is_stopped(view: View, moment: Moment, workload: str) -> bool:
    """Whether its LocalQueue is."""
    local = view.scenario.manifest(f"Workload/{workload}")["spec"]["queueName"]
    queue = moment.shows["localQueues"].get(f"{workload.partition('/')[0]}/{local}", {})
    return bool(queue.get("conditions", {}).get("Active", ("", ""))[1] == "Stopped")
