"""Cycles on the assumed state, tree after tree, until they change nothing or the budget is used up.

Queues of different trees share nothing, so each tree has cycles of its own; trees with something to do take turns,
one cycle each. A cycle that the budget cut goes on in the next run: queues whose head was admitted in it sit out until
the others had their turn, so nobody starves behind newcomers and whatever blocks is judged again.
"""

from typing import NamedTuple

from admission.model.decisions import Admit, Decision, Hold, Preempt
from admission.model.names import WorkloadKey
from admission.rules import cycle
from admission.rules.blocking import Promise
from admission.rules.consumption import billionths
from admission.rules.cycle import Verdict, play
from admission.rules.estate import Estate
from admission.rules.flavors import NOTHING_TRIED
from admission.rules.holders import Holder
from admission.rules.nomination import Nomination, nominate, scanned
from admission.rules.policing import identity_of
from admission.rules.queue import Queue
from admission.tree import Node


class Run(NamedTuple):
    """What a run decided, in order; `more`: the budget ended it, call again at once."""

    decisions: tuple[Decision, ...]
    more: bool


class Rounds:
    """One run. `stirred`: roots of the trees where something happened; those left in it have more to do."""

    def __init__(self, estate: Estate, stirred: dict[Node, None], now: float) -> None:
        self._estate, self._stirred, self._now = estate, stirred, now
        self._decisions: list[Decision] = []
        self._told: dict[WorkloadKey, Hold | None] = {}  # what those answered in this run had been told before
        self._spent = self._looked = 0
        self._kin_fail_alike = estate.configuration.gates["SchedulingEquivalenceHashing"]
        self._skipped_go_on = estate.configuration.gates["FlavorFungibilityPreserveScanProgress"]

    def run(self, budget: int, nominations: int) -> Run:
        while self._stirred and self._spent < budget and self._looked < nominations:
            roots = self._next()
            if self._cycle([queue for root in roots for queue in self._estate.members(root)], budget):
                self._stirred.update(roots)
        return Run((*self._decisions, *self._news()), bool(self._stirred))

    def _next(self) -> dict[Node, None]:
        """One tree; all at once where one admission holds back those of every other tree, so that the best of all comes
        first."""
        stirred = list(self._stirred) if self._estate.one_at_a_time else [next(iter(self._stirred))]
        for root in stirred:
            del self._stirred[root]
        return dict.fromkeys([root.root for root in stirred])

    def _cycle(self, members: list[Queue], budget: int) -> bool:
        """Whether another cycle may bring something new."""
        nominations = []
        for queue in members:
            head = None if queue.had_turn else queue.head()
            if head is not None:
                nomination = nominate(self._estate, queue, head, self._now)
                self._looked += nomination is not head.memo
                nominations.append(nomination)
        played = play(self._estate, nominations, budget, self._spent, self._now)
        self._spent += played.cost
        if nominations:
            self._estate.attempts[any(verdict.step == cycle.ADMIT for verdict in played.verdicts)] += 1
        moved = False
        for verdict in played.verdicts:
            if verdict.step == cycle.ADMIT:
                self._admit(verdict)
                verdict.nomination.queue.had_turn = played.cut
            elif verdict.step in (cycle.PREEMPT, cycle.DEFERRED):
                self._preempt(verdict)
            elif not played.cut:
                moved |= self._wait(verdict)
        if played.cut:
            return True
        for queue in members:
            moved |= queue.had_turn
            queue.had_turn = False
            queue.cycles += 1
        return moved or played.cost > 0

    def _admit(self, verdict: Verdict) -> None:
        nomination = verdict.nomination
        waiting, queue, assignment = nomination.waiting, nomination.queue, nomination.assignment
        queue.leave(waiting)
        del self._estate.waiting[waiting.key]
        self._estate.policing.leave(waiting.key, queue.name)
        self._estate.ousted.pop(waiting.key, None)
        self._estate.yielding.content(waiting.key)
        self._told.pop(waiting.key, None)
        self._estate.hold(
            Holder(
                waiting.key,
                queue.name,
                assignment.usage,
                waiting.priority,
                waiting.uid,
                waiting.queue_time,
                reserved_since=self._now,
                ready=False,
                local_queue=f"{waiting.workload.namespace}/{waiting.workload.queue_name}",
                who=identity_of(waiting.workload),
                labels=waiting.workload.labels,
            )
        )
        self._penalise(verdict)
        self._decisions.append(Admit(waiting.key, assignment.admission(queue.name), assignment.borrowing))

    def _penalise(self, verdict: Verdict) -> None:
        """Its LocalQueue has used that much more from now on, where that counts."""
        nomination, consumption = verdict.nomination, self._estate.consumption
        spec, workload = nomination.queue.spec, nomination.waiting.workload
        if consumption is None or spec is None or not spec.usage_based:
            return
        requests = billionths(item for pod_set in nomination.assignment.pod_sets for item in pod_set.usage.items())
        consumption.penalise(workload.key, f"{workload.namespace}/{workload.queue_name}", requests, self._now)

    def _preempt(self, verdict: Verdict) -> None:
        nomination = verdict.nomination
        waiting = nomination.waiting
        for victim in verdict.newly:
            self._estate.evict(victim.workload, waiting.key)
            self._note_eviction(victim.workload)
        if verdict.newly:
            self._decisions.append(Preempt(waiting.key, verdict.newly))
        if self._estate.policing.active:
            self._promise(nomination)
        if not nomination.queue.strict:
            nomination.queue.sticky = waiting
        if nomination.queue.skips:
            nomination.queue.skips = 0
        waiting.scanned = None
        waiting.memo = None if verdict.newly else nomination
        victims = tuple([victim.workload for victim in nomination.victims])
        self._answer(verdict, parked=False, victims=victims)

    def _promise(self, nomination: Nomination) -> None:
        """What its victims leave behind is its own, for as long as a policy says."""
        policing, waiting = self._estate.policing, nomination.waiting
        seconds, node = policing.manners(waiting).hold_freed_quota, self._estate.tree.queue(nomination.queue.name)
        if seconds and node is not None:
            victims = tuple([victim.workload for victim in nomination.victims])
            policing.blocking.promise(waiting.key, Promise(node, nomination.assignment.usage, victims, seconds))

    def _block(self, verdict: Verdict) -> bool:
        """Whether it holds up only those who want what it waits for, and not the whole queue."""
        policing, waiting, queue = self._estate.policing, verdict.nomination.waiting, verdict.nomination.queue
        waits = verdict.step in (cycle.NO_FIT, cycle.NO_CANDIDATES, cycle.BEHIND) and waiting.scanned is None
        if not (policing.active and queue.strict and waits and queue.menu is not None):
            return False
        if policing.manners(waiting).strict_fifo_scope != "Flavors":
            return False
        groups = queue.menu.groups
        asked = {name: groups[name] for ask in waiting.asks for name, units in ask.requests if units and name in groups}
        needs = [(flavor, name) for name, group in asked.items() for flavor in group.flavors]
        policing.blocking.block(queue.name, waiting.key, waiting.rank, needs)
        return True

    def _note_eviction(self, victim: WorkloadKey) -> None:
        policing, holder = self._estate.policing, self._estate.holders.get(victim)
        if policing.active and holder is not None:
            policing.evicted(holder, self._now)

    def _wait(self, verdict: Verdict) -> bool:
        """Back in line or parked; whether that moved anything on."""
        nomination = verdict.nomination
        waiting, queue = nomination.waiting, nomination.queue
        step = verdict.step
        if step == cycle.SKIPPED and nomination.victims:
            queue.skips = 1
        # Others of the cycle were in the way of a skipped head, not its flavor. Kueue goes on with the next flavor.
        passed = step in (cycle.SKIPPED, cycle.BLOCKED)
        anew = step == cycle.BLOCKED or (passed and not self._skipped_go_on)
        start = NOTHING_TRIED if waiting.scanned is None else waiting.scanned.progress
        waiting.scanned = None if anew else scanned(self._estate, nomination)
        then = NOTHING_TRIED if waiting.scanned is None else waiting.scanned.progress
        if step == cycle.BLOCKED:
            self._estate.blocked[queue.name] = None
        if self._block(verdict):
            self._answer(verdict, parked=True)
            queue.park(waiting)
            return True
        refused = step in (cycle.REFUSED, cycle.LIMITED)
        stays = passed or waiting.scanned is not None or (queue.strict and not refused)
        if stays:
            waiting.memo = None if start else nomination
            self._answer(verdict, parked=False)
            return waiting.saw(nomination.stamp, start, then)
        self._answer(verdict, parked=True)
        alike = step == cycle.LIMITED or not (queue.strict or refused)
        if alike and waiting.hold is not None and self._kin_fail_alike:
            queue.fail(waiting, waiting.hold)
        else:
            queue.park(waiting)
        return True

    def _answer(self, verdict: Verdict, parked: bool, victims: tuple[WorkloadKey, ...] = ()) -> None:
        waiting, before = verdict.nomination.waiting, verdict.nomination.waiting.hold
        after = (verdict.reason, verdict.message, parked)
        if before is None or (before.reason, before.message, before.parked) != after or before.victims != victims:
            self._told.setdefault(waiting.key, before)
            # Without shortages: most are never asked for, and `inspect` counts them when they are.
            waiting.hold = Hold(waiting.key, *after, victims=victims)

    def _news(self) -> list[Hold]:
        """The last answers that differ from what was told before this run."""
        news = []
        for key, before in self._told.items():
            hold = self._estate.waiting[key].hold
            if hold is not None and (before is None or _gist(before) != _gist(hold)):
                news.append(hold)
        return news


def _gist(hold: Hold) -> tuple[str, str, bool]:
    return hold.reason, hold.message, hold.parked
