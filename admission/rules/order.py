"""Who comes first: among those who wait in one queue, and among the heads of one cycle."""

from typing import Protocol

from admission.model.configuration import DEFAULTS, Configuration
from admission.model.names import EVICTED, IN_COHORT_RECLAIM_WHILE_BORROWING, PREEMPTED
from admission.model.workload import Workload

# Higher effective priority first, then earlier queue time, then uid; the key makes it total when uids are missing.
Rank = tuple[int, float, str, str]
# Among the heads of a cycle: who already preempts, who borrows less, priority, queue time, and what makes it total.
Turn = tuple[bool, int, int, float, str, str]

_AFTER = 0.001  # seconds: behind the preemptor, whose queue time may be the very moment of the preemption


class Ranked(Protocol):
    """What the order of a cycle asks of a head."""

    @property
    def rank(self) -> Rank: ...
    @property
    def preempts(self) -> bool: ...


class Ordering:
    """The order that the configuration asks for; one for all queues."""

    __slots__ = ("_boosted", "_preemptors_first", "_priority_first", "_sends_back")

    def __init__(self, configuration: Configuration = DEFAULTS) -> None:
        gates, waiting = configuration.gates, configuration.wait_for_pods_ready
        self._boosted = gates["PriorityBoost"]
        by_eviction = waiting is None or waiting.requeuing_timestamp == "Eviction"
        self._sends_back = ("AdmissionCheck", "PodsReadyTimeout") if by_eviction else ("AdmissionCheck",)
        self._preemptors_first = gates["PrioritizePreemptorWorkloads"]
        self._priority_first = gates["PrioritySortingWithinCohort"]

    def priority(self, workload: Workload) -> int:
        """The effective one."""
        return workload.priority + workload.boost if self._boosted else workload.priority

    def queue_time(self, workload: Workload) -> float:
        """Seconds since 1970 from which it counts as waiting.

        Creation, except that an eviction for pods that never got ready or for a check that asked to retry sends it to
        the back of its equals. A preempted workload keeps its place, unless heads of a cycle are ordered by age alone:
        then one that had borrowed would win its place back from whoever reclaimed it.
        """
        evicted = workload.conditions.get(EVICTED)
        if evicted is not None and evicted.true and evicted.reason in self._sends_back:
            return evicted.since
        if not self._priority_first:
            preempted = workload.conditions.get(PREEMPTED)
            if preempted is not None and preempted.true and preempted.reason == IN_COHORT_RECLAIM_WHILE_BORROWING:
                return preempted.since + _AFTER
        return workload.created

    def rank(self, workload: Workload) -> Rank:
        """Place in its queue; smaller comes first."""
        return (-self.priority(workload), self.queue_time(workload), workload.uid, workload.key)

    def turn(self, head: Ranked, borrowing: int) -> Turn:
        """Place in a cycle; smaller comes first. Who borrows less goes first: idle quota of its own is nobody else's
        business."""
        priority, since, uid, key = head.rank
        late = self._preemptors_first and not head.preempts
        return late, borrowing, priority if self._priority_first else 0, since, uid, key


BY_DEFAULT = Ordering()
