"""What an explanation holds. Units as in `amounts`; the JSON has quantities as Kubernetes prints them."""

from dataclasses import dataclass, replace
from typing import Any

from admission.explain.words import closing
from admission.model.amounts import text
from admission.model.names import WorkloadKey


@dataclass(frozen=True, slots=True)
class Holding:
    """Who holds what somebody waits for. `leaving`: evicted, about to give it back."""

    workload: WorkloadKey
    name: str  # of its job, for people
    cluster_queue: str
    units: int
    leaving: bool


@dataclass(frozen=True, slots=True)
class Lack:
    """One flavor that was looked at for one resource of one pod set.

    `free`: unused of the queue's own quota; `borrowable`: what it could take from others now; `most`: all it could
    ever have. `verdict` and `note` as in decisions.Shortage.
    """

    pod_set: str
    resource: str
    flavor: str
    asked: int
    free: int
    borrowable: int
    missing: int
    most: int
    verdict: str
    note: str
    borrowing_limit: int | None = None  # of its queue, where that is what stops it
    holders: tuple[Holding, ...] = ()  # the largest first
    other_holders: int = 0  # how many more there are

    def as_json(self) -> dict[str, Any]:
        def quantity(units: int) -> str:
            return text(self.resource, units)

        return {
            "podSet": self.pod_set,
            "resource": self.resource,
            "flavor": self.flavor,
            "asked": quantity(self.asked),
            "free": quantity(self.free),
            "borrowable": quantity(self.borrowable),
            "missing": quantity(self.missing),
            "most": quantity(self.most),
            "borrowingLimit": None if self.borrowing_limit is None else quantity(self.borrowing_limit),
            "verdict": self.verdict,
            "note": self.note,
            "heldBy": [
                {
                    "workload": holder.workload,
                    "clusterQueue": holder.cluster_queue,
                    "quantity": quantity(holder.units),
                    "leaving": holder.leaving,
                }
                for holder in self.holders
            ],
            "otherHolders": self.other_holders,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """`position` counts from 0, for programs; sentences count from 1. `reason` is a fine reason of Kueue's, or "" for
    a workload that does not wait. `starts_in`: seconds from now; None: not known, or never when `never`."""

    workload: WorkloadKey
    state: str
    cluster_queue: str
    local_queue: str
    reason: str
    why: str  # the sentence without position and estimate
    position: int | None = None
    ahead: tuple[WorkloadKey, ...] = ()  # the nearest the head first, at most a few
    lacks: tuple[Lack, ...] = ()
    waits_for: tuple[WorkloadKey, ...] = ()  # preempted, still leaving
    starts_in: float | None = None
    never: bool = False
    share: int | None = None  # of its ClusterQueue, as its status shows it; None while fair sharing is off
    fairness: str = ""  # how its queues stand where fairness decides who is served first

    def starting(self, starts_in: float | None) -> "Explanation":
        """With what playing the future showed; None: it did not start while anything could still happen."""
        return replace(self, starts_in=starts_in, never=self.never or starts_in is None)

    @property
    def sentence(self) -> str:
        """For a person."""
        return " ".join(part for part in (self.why, self.fairness, closing(self)) if part)

    def as_json(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "state": self.state,
            "clusterQueue": self.cluster_queue,
            "localQueue": self.local_queue,
            "reason": self.reason,
            "position": self.position,
            "ahead": list(self.ahead),
            "flavors": [lack.as_json() for lack in self.lacks],
            "waitsFor": list(self.waits_for),
            "startsIn": self.starts_in,
            "never": self.never,
            "weightedShare": self.share,
            "sentence": self.sentence,
        }
