"""One scheduling cycle over the heads of one quota tree: who is admitted, who preempts, who has to wait, and why.

Heads were nominated against the same state; here they are taken in order, and each meets what those before it took.
What only counts within the cycle (room kept for preemptors and for blocked heads) is undone at the end. Nothing is
decided about heads that the budget leaves over.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple

from admission.model.decisions import Victim
from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.rules import grades, reasons
from admission.rules.accounts import over_flavors
from admission.rules.estate import Estate
from admission.rules.nomination import Nomination, again
from admission.rules.tournament import by_share
from admission.rules.yielding import moment
from admission.tree import Node
from admission.tree.quota import queue_available

# What becomes of a head. SKIPPED: others of this cycle came first. REFUSED: not even judged. DEFERRED: it fits once the
# victims of others have left. BLOCKED: it would start if all who hold quota were ready. LIMITED: its user has as much
# as a policy allows, and so have all who ask for the same. BEHIND: one ahead in its queue waits for what it would take.
ADMIT, PREEMPT, NO_FIT, NO_CANDIDATES, SKIPPED, REFUSED, DEFERRED, BLOCKED, LIMITED, BEHIND = range(10)


class Verdict(NamedTuple):
    nomination: Nomination
    step: int
    reason: str = ""
    message: str = ""
    newly: tuple[Victim, ...] = ()  # victims that nobody asked to leave before


class Play(NamedTuple):
    verdicts: list[Verdict]  # of the heads that came to their turn
    cost: int  # effects: admissions and new victims
    cut: bool  # the budget left some over


def play(estate: Estate, nominations: Iterable[Nomination], budget: int, spent: int, now: float) -> Play:
    """`budget` effects in the whole run, `spent` before. A single preemption beyond the budget is let through when
    nothing else was: otherwise it would never happen."""
    verdicts: list[Verdict] = []
    cost, cut = 0, False
    mark = estate.tree.mark()
    try:
        cycle = _Cycle(estate, now)
        heads = list(nominations)
        contenders = sum(each.contends for each in heads)
        for nomination in _in_order(estate, heads):
            verdict = cycle.judge(nomination)
            price = 1 if verdict.step == ADMIT else len(verdict.newly)
            if price and spent + cost + price > budget and spent + cost:
                cut = True
                break
            cost += price
            contenders -= nomination.contends
            if contenders:  # else nobody comes who would meet what it takes
                cycle.book(verdict)
            verdicts.append(verdict)
    finally:
        estate.tree.undo(mark)
        estate.policing.forget()
    return Play(verdicts, cost, cut)


def _in_order(estate: Estate, nominations: Iterable[Nomination]) -> Iterable[Nomination]:
    """By borrowing, priority and age, or by shares where fair sharing is on: then what is booked after one decides
    who is the next. But who had to leave for another head comes after that one. So does who had to leave for somebody
    who then had to leave for that head.

    Kueue lets it compete as if nothing had happened. Where it then wins, it takes back the room that was made by its
    own leaving, is evicted for it again, and so on for ever.
    """
    turn, insisting = estate.ordering.turn, estate.yielding.insisting

    def place(each: Nomination) -> tuple[object, ...]:
        return each.waiting.key not in insisting, *turn(each.waiting, each.assignment.borrowing)

    ordered = sorted(nominations, key=place)
    fair = estate.configuration.fair_sharing is not None and any(each.contends for each in ordered)
    if not estate.ousted:
        return by_share(estate, ordered, {}) if fair else ordered
    heads = {each.waiting.key for each in ordered}
    followers: dict[WorkloadKey, list[Nomination]] = {}
    first = []
    for each in ordered:
        ahead = _made_way_for(estate, each.waiting.key, heads)
        if ahead is not None:
            followers.setdefault(ahead, []).append(each)
        else:
            first.append(each)
    if fair:
        return by_share(estate, first, followers)
    out: list[Nomination] = []
    line = first[::-1]
    while line:
        each = line.pop()
        out.append(each)
        line += followers.pop(each.waiting.key, [])[::-1]
    # Two that ousted each other follow nobody who stands; between them the plain order decides.
    left = {id(each) for each in ordered} - {id(each) for each in out}
    return out + [each for each in ordered if id(each) in left]


def _made_way_for(estate: Estate, key: WorkloadKey, heads: Container[WorkloadKey]) -> WorkloadKey | None:
    """The head for which, or for whose victim, it had to leave."""
    seen = {key}
    above = estate.ousted.get(key)
    while above is not None and above not in seen and above in estate.waiting:
        if above in heads:
            return above
        seen.add(above)
        above = estate.ousted.get(above)
    return None


class _Cycle:
    """The state that lasts one cycle."""

    def __init__(self, estate: Estate, now: float) -> None:
        self._estate = estate
        self._now = now
        self._waits_for_ready = bool(estate.unready)
        self._stuck: dict[WorkloadKey, None] = {}  # those who insist and, as things are, can neither start nor preempt
        self._leaving: dict[WorkloadKey, None] = {}  # victims of this cycle so far, old and new
        self._promised: list[tuple[Node, dict[FlavorResource, int]]] = []  # what its preemptors will take later

    def judge(self, nomination: Nomination) -> Verdict:
        """What becomes of this head after those before it. Books nothing."""
        assignment, victims = nomination.assignment, nomination.victims
        if nomination.refusal is not None:
            return Verdict(nomination, LIMITED if nomination.alike else REFUSED, *nomination.refusal)
        hopeless = assignment.mode == grades.NO_FIT or (assignment.mode == grades.PREEMPT and not victims)
        if hopeless and nomination.waiting.key in self._estate.yielding.insisting:
            self._stuck[nomination.waiting.key] = None
        if assignment.mode == grades.NO_FIT:
            return Verdict(nomination, NO_FIT, reasons.why_not(assignment.failures[-1]), nomination.message)
        if assignment.mode == grades.PREEMPT and not victims:
            return Verdict(nomination, NO_CANDIDATES, "WaitingForQuota", nomination.message)
        if any(victim.workload in self._leaving for victim in victims):
            if self._estate.configuration.gates["RecomputeAssignmentUponPreemptionTargetsOverlap"]:
                return self._judge_again(nomination)
            return Verdict(nomination, SKIPPED, "WaitingForQuota", reasons.OVERLAP)
        if not self._still_fits(nomination):
            return Verdict(nomination, SKIPPED, "WaitingForQuota", reasons.NO_LONGER_FITS)
        if not victims and self._waits_for_ready:
            return Verdict(nomination, BLOCKED, "WaitingForPodsReady", reasons.NOT_READY)
        if not victims and self._stuck and self._would_come_back(nomination):
            step = SKIPPED if nomination.queue.strict else REFUSED
            return Verdict(nomination, step, "WaitingForQuota", reasons.WOULD_COME_BACK)
        if self._estate.policing.active and (limited := self._beyond_limits(nomination)) is not None:
            return limited
        if not victims:
            return Verdict(nomination, ADMIT)
        message = nomination.message + reasons.pending_preemption(len(victims))
        newly = tuple([victim for victim in victims if not self._evicted(victim.workload)])
        return Verdict(nomination, PREEMPT, "WaitingForPreemptedWorkloads", message, newly)

    def _beyond_limits(self, nomination: Nomination) -> Verdict | None:
        """Others of its user were admitted in this cycle, or as many were preempted as a policy allows."""
        policing, waiting = self._estate.policing, nomination.waiting
        refusal = policing.refusal(waiting, over_flavors(nomination.assignment.usage))
        if refusal is not None:
            return Verdict(nomination, LIMITED if refusal.alike else REFUSED, refusal.reason, refusal.message)
        usage = nomination.assignment.usage
        ahead = policing.blocking.ahead(waiting.queue, waiting.rank, usage) if nomination.queue.strict else None
        if ahead is not None:
            return Verdict(nomination, BEHIND, "WaitingForQuota", reasons.behind(*ahead))
        owner = self._kept_for(nomination)
        if owner is not None:
            other = self._estate.waiting.get(owner)
            behind = other is not None and other.queue == waiting.queue  # in a strict queue it must come past
            step = SKIPPED if nomination.queue.strict and not behind else REFUSED
            return Verdict(nomination, step, "WaitingForQuota", reasons.kept_for(owner))
        newly = [victim.workload for victim in nomination.victims if not self._evicted(victim.workload)]
        holders = [holder for key in newly if (holder := self._estate.holders.get(key)) is not None]
        beyond = policing.beyond_budget(holders, waiting.queue, self._now)
        return Verdict(nomination, NO_CANDIDATES, "WaitingForQuota", beyond) if beyond else None

    def _kept_for(self, nomination: Nomination) -> WorkloadKey | None:
        """Whose the room is that it would take: others leave, or have just left, for that one."""
        node, waiting = self._node(nomination), nomination.waiting
        promises = self._estate.policing.blocking.to_others(waiting.key, node.root)
        if not promises or nomination.victims:
            return None
        leaving = dict.fromkeys(key for _, one in promises for key in one.victims if key in self._estate.holders)
        kept = [(one.node, one.usage) for _, one in promises]
        with self._estate.tree.trial(removed=[self._hold_of(key) for key in leaving], added=kept):
            if _fits(node, nomination.assignment.usage):
                return None
        promises[0][1].kept_from[waiting.queue] = None
        return promises[0][0]

    def _would_come_back(self, nomination: Nomination) -> bool:
        """It has left twice for a head that is stuck at this moment, and would have to leave for it again: the room
        that it made led that head to other flavors, where it finds nobody to preempt."""
        yielding, now = self._estate.yielding, moment(self._node(nomination))
        return any(yielding.times(nomination.waiting.key, key, now) for key in self._stuck)

    def _judge_again(self, nomination: Nomination) -> Verdict:
        """Somebody that it would preempt leaves for others already: whether that makes enough room for it, too."""
        with self._estate.tree.trial(removed=[self._hold_of(key) for key in self._leaving]):
            anew = again(self._estate, nomination, self._leaving, self._now)
        if anew.assignment.mode != grades.FIT:
            return self.judge(anew)
        anew.victims = tuple([victim for victim in nomination.victims if victim.workload in self._leaving])
        message = nomination.message + reasons.pending_preemption(len(anew.victims))
        return Verdict(anew, DEFERRED, "WaitingForPreemptedWorkloads", message)

    def book(self, verdict: Verdict) -> None:
        """Those after it in the cycle meet what it takes."""
        nomination = verdict.nomination
        if verdict.step == ADMIT and self._estate.one_at_a_time:
            self._waits_for_ready = True
        if verdict.step in (ADMIT, PREEMPT, DEFERRED, BLOCKED):
            self._leaving.update(dict.fromkeys([victim.workload for victim in nomination.victims]))
            if verdict.step in (PREEMPT, DEFERRED):
                self._promised.append((self._node(nomination), nomination.assignment.usage))
            self._estate.tree.add(self._node(nomination), nomination.assignment.usage)
            if self._estate.policing.active:
                self._estate.policing.assume(nomination.waiting, nomination.assignment.usage)
        elif verdict.step == NO_CANDIDATES:
            self._reserve(nomination)

    def _still_fits(self, nomination: Nomination) -> bool:
        node, usage = self._node(nomination), nomination.assignment.usage
        if _fits(node, usage):
            return True
        gone = [*self._leaving, *[victim.workload for victim in nomination.victims]]
        if not gone:
            return False
        with self._estate.tree.trial(removed=[self._hold_of(key) for key in gone]):
            if not _fits(node, usage):
                return False
        if nomination.victims:
            return True
        # It would start now, and victims of others have not left yet: Kueue lets it in, and the quota is exceeded
        # until they have. Here it waits unless there is room beside everything that is really held.
        with self._estate.tree.trial(removed=self._promised):
            return _fits(node, usage)

    def _reserve(self, nomination: Nomination) -> None:
        """Keep room for a head that must wait without victims, unless its queue could always take it back."""
        spec = nomination.queue.spec
        if spec is None or spec.preemption.reclaim_within_cohort == "Any":
            return
        node = self._node(nomination)
        kept: dict[FlavorResource, int] = {}
        for fr, units in nomination.assignment.usage.items():
            room: int | None = node.subtree.get(fr, 0) - node.usage.get(fr, 0)
            if nomination.assignment.borrowing:
                limit = node.borrowing.get(fr)
                room = None if limit is None or room is None else room + limit
            kept[fr] = units if room is None else max(0, min(units, room))
        self._estate.tree.add(node, kept)

    def _evicted(self, key: WorkloadKey) -> bool:
        holder = self._estate.holders.get(key)
        return holder is not None and holder.evicted

    def _hold_of(self, key: WorkloadKey) -> tuple[Node, dict[FlavorResource, int]]:
        holder = self._estate.holders.get(key)
        node = self._estate.tree.queue(holder.queue) if holder is not None else None
        if holder is None or node is None:
            raise LookupError(f"victim {key} holds no quota in a queue of the tree")
        return node, dict(holder.usage)

    def _node(self, nomination: Nomination) -> Node:
        node = self._estate.tree.queue(nomination.queue.name)
        if node is None:
            raise LookupError(f"ClusterQueue {nomination.queue.name} is not in the quota tree")
        return node


def _fits(node: Node, usage: dict[FlavorResource, int]) -> bool:
    return all(units <= queue_available(node, fr) for fr, units in usage.items())


def alone(estate: Estate, nomination: Nomination, now: float) -> Verdict:
    """What would become of a head if it were the only one."""
    return _Cycle(estate, now).judge(nomination)
