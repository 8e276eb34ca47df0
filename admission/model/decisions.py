"""What the scheduler answers for a workload it looked at: codes and numbers. Sentences are made elsewhere."""

from dataclasses import dataclass
from typing import NamedTuple

from admission.model.names import WorkloadKey
from admission.model.workload import Admission


@dataclass(frozen=True, slots=True)
class Admit:
    """Reserve quota for it."""

    workload: WorkloadKey
    admission: Admission
    borrowing: int = 0  # height of the lowest cohort that holds it without borrowing; 0: no borrowing


class Victim(NamedTuple):
    workload: WorkloadKey
    reason: str  # of Preempted=True


@dataclass(frozen=True, slots=True)
class Preempt:
    """Ask the victims to leave so that `workload` fits later."""

    workload: WorkloadKey
    victims: tuple[Victim, ...]


@dataclass(frozen=True, slots=True)
class Evict:
    """Ask it to leave, for nobody in particular: a policy says so, and `message` why."""

    workload: WorkloadKey
    message: str


@dataclass(frozen=True, slots=True)
class Shortage:
    """One resource in one flavor, as the nomination saw it; units as in `amounts`."""

    pod_set: str
    resource: str
    flavor: str
    asked: int  # by this pod set and those before it in the same flavor
    before: int  # of `asked`, what earlier pod sets of the workload take
    available: int  # free for this queue now, borrowing included
    potential: int  # the most this queue could ever have
    verdict: str  # fit | NoMatchingFlavor | ExceedsMaxQuota | WaitingForQuota | preempt | reclaim | noCandidates
    note: str = ""  # untolerated taint, affinity key


@dataclass(frozen=True, slots=True)
class Hold:
    """It waits. `reason` is one of Kueue's fine reasons (WaitingForQuota, ExceedsMaxQuota, NoMatchingFlavor,
    WaitingForPreemptedWorkloads, Misconfigured, Suspended, PendingEvaluation)."""

    workload: WorkloadKey
    reason: str
    message: str
    parked: bool  # set aside until something changes that could help it
    shortages: tuple[Shortage, ...] = ()
    victims: tuple[WorkloadKey, ...] = ()  # waiting for these to leave


Decision = Admit | Preempt | Evict | Hold
