"""What one workload could get in one state of the tree: flavors, and who would have to leave for them."""

from typing import Final

from admission.model.decisions import Victim
from admission.model.queues import ClusterQueue, FlavorResource
from admission.rules.asks import Asks
from admission.rules.estate import Estate
from admission.rules.flavors import EVERY_FLAVOR, Assignment, Pinned, Progress, assign
from admission.rules.grades import NO_CANDIDATES, PREEMPT, RECLAIM, Judge
from admission.rules.holders import Holders
from admission.rules.menu import Menu
from admission.rules.preemption import anybody, ask_oracle, find_victims
from admission.rules.preemption_candidates import Search
from admission.rules.queue import Queue, Waiting
from admission.tree import Node

Plan = tuple[Assignment, tuple[Victim, ...]]
_MODES: Final = {"noCandidates": NO_CANDIDATES, "preempt": PREEMPT, "reclaim": RECLAIM}

_BY_AGE = "LowerOrNewerEqualPriority"


class Hunt:
    """`holders`: who could be preempted; all who hold, unless said otherwise. Raises LookupError for a queue without
    spec."""

    __slots__ = ("_estate", "_holders", "_menu", "_node", "_now", "_prospects", "_spec", "_waiting")

    def __init__(
        self, estate: Estate, queue: Queue, waiting: Waiting, node: Node, now: float, holders: Holders | None = None
    ) -> None:
        if queue.menu is None or queue.spec is None:
            raise LookupError(f"ClusterQueue {queue.name} has no spec and cannot nominate {waiting.key}")
        self._menu: Menu = queue.menu
        self._spec: ClusterQueue = queue.spec
        self._estate, self._waiting, self._node, self._now = estate, waiting, node, now
        self._holders = estate.holders if holders is None else holders
        self._prospects = queue.prospects.at((estate.tree.version(node), estate.era), estate.yielding)

    @property
    def asks(self) -> Asks:
        return self._waiting.asks

    @property
    def _may_borrow(self) -> bool:
        """Unless it is never preempted, so that what it borrows could not be reclaimed."""
        policing, workload = self._estate.policing, self._waiting.workload
        if not policing.active or not workload.labels:
            return True
        effective = policing.effective(self._waiting.queue, f"{workload.namespace}/{workload.queue_name}")
        return not policing.fixed(effective, workload.labels)

    @property
    def partial(self) -> bool:
        """Whether it may get fewer pods than it asks for."""
        return self._estate.configuration.gates["PartialAdmission"]

    def plan(self, asks: Asks, progress: Progress, pinned: Pinned = EVERY_FLAVOR) -> Plan:
        """The flavors for `asks`, and who has to leave first: nobody when it fits, or when leaving can't help."""
        assignment = assign(asks, self._menu, self.judge(), self._estate.flavors, progress, pinned)
        preempts = assignment.mode == PREEMPT and self._menu.preempts
        victims = self._victims(assignment) if preempts else ()
        return assignment, victims if self._may_borrow or not self._would_borrow(assignment, victims) else ()

    def _would_borrow(self, assignment: Assignment, victims: tuple[Victim, ...]) -> bool:
        """Once the victims have left, their queues would lend it something."""
        left = dict(self._node.usage)
        for victim in victims:
            holder = self._holders.get(victim.workload)
            if holder is not None and holder.queue == self._node.name:
                for fr, units in holder.usage.items():
                    left[fr] = left.get(fr, 0) - units
        return any(left.get(fr, 0) + units > self._node.subtree.get(fr, 0) for fr, units in assignment.usage.items())

    def judge(self) -> Judge:
        return Judge(self._menu, self._node, self._oracle if self._menu.preempts else None, not self._may_borrow)

    def _victims(self, assignment: Assignment) -> tuple[Victim, ...]:
        if self._hopeless(tuple(assignment.needs)):
            return ()
        estate = self._estate
        usage, needs = assignment.usage, assignment.needs
        return find_victims(
            estate.tree, estate.active, self._holders, self._waiting, usage, needs, self._now, estate.fairness,
            self._prospects,
        )  # fmt: skip

    def _oracle(self, fr: FlavorResource, units: int) -> tuple[int, int] | None:
        if self._hopeless((fr,)):
            return None
        estate = self._estate
        possibility, height = ask_oracle(
            estate.tree, estate.active, self._holders, self._waiting, fr, units, self._now, estate.fairness,
            self._prospects,
        )  # fmt: skip
        return _MODES[possibility], height

    def _hopeless(self, needs: tuple[FlavorResource, ...]) -> bool:
        """No holder whatsoever may be preempted to make room in `needs`, however much is asked for."""
        prospects, waiting = self._prospects, self._waiting
        if prospects.fruitful(needs, waiting.priority):
            return False
        if prospects.fruitless(needs, waiting.rank):
            return True
        policy = self._spec.preemption
        search = Search(self._node, policy, waiting, dict.fromkeys(needs, 1), needs, self._now)
        if anybody(search, self._estate.active, self._holders, prospects, self._estate.fairness):
            if _BY_AGE not in (policy.within_cluster_queue, policy.reclaim_within_cohort):
                prospects.found_somebody(needs, waiting.priority)
            return False
        prospects.found_nobody(needs, waiting.rank)
        return True
