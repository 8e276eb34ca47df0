"""Classical preemption: the smallest set of running workloads, in Kueue's order, that makes room for one that waits.

Candidates are taken out one by one until it fits; then each but the last is put back if it still fits without its
leaving. All of it happens in the tree itself and is undone. Where fair sharing is on, `fair_preemption` searches
instead; every question comes in here.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Literal

from admission.model.decisions import Victim
from admission.model.queues import ClusterQueue, FlavorResource
from admission.rules.fair_preemption import Fairness, fair_victims
from admission.rules.fair_targets import candidates_by_queue
from admission.rules.fill_back import spare
from admission.rules.holders import Holders, Preemptor
from admission.rules.preemption_candidates import Candidate, Candidates, Search
from admission.rules.prospects import Prospects
from admission.rules.yielding import MOST, Yielding, moment
from admission.tree import Tree
from admission.tree.quota import within_nominal

Possibility = Literal["noCandidates", "preempt", "reclaim"]


def find_victims(
    tree: Tree,
    queues: Mapping[str, ClusterQueue],
    holders: Holders,
    preemptor: Preemptor,
    requests: Mapping[FlavorResource, int],
    needs: Iterable[FlavorResource],
    now: float,
    fairness: Fairness | None = None,
    known: Prospects | None = None,
) -> tuple[Victim, ...]:
    """Who has to leave so that `requests` fit into the preemptor's queue; () when nobody can help.

    `queues`: the active ones; holders of others are left alone. `needs`: the part of `requests` that does not fit
    without preemption. A request of zero neither needs nor blocks anything. `fairness`: fair sharing is on.
    `known`: what other searches have shown in this very state.
    """
    return tuple(
        Victim(candidate.holder.key, candidate.reason)
        for candidate in _search(tree, queues, holders, preemptor, requests, needs, now, fairness, known)
    )


def ask_oracle(
    tree: Tree,
    queues: Mapping[str, ClusterQueue],
    holders: Holders,
    preemptor: Preemptor,
    fr: FlavorResource,
    units: int,
    now: float,
    fairness: Fairness | None = None,
    known: Prospects | None = None,
) -> tuple[Possibility, int]:
    """What preemption could do for one flavor and resource, and how high the preemptor would then borrow.

    `preempt` if somebody in its own queue has to leave, `reclaim` if only others.
    """
    node = tree.queue(preemptor.queue)
    if node is None:
        raise KeyError(f"ClusterQueue {preemptor.queue!r} of workload {preemptor.key!r} is not in the tree")
    victims = _search(tree, queues, holders, preemptor, {fr: units}, (fr,), now, fairness, known)
    if not victims:
        height, _ = tree.find_height(node, fr, units)
        return "noCandidates", height
    with tree.trial(removed=[(victim.node, victim.holder.usage) for victim in victims]):
        height, _ = tree.find_height(node, fr, units)
    return ("preempt" if any(victim.node is node for victim in victims) else "reclaim"), height


def anybody(
    search: Search,
    queues: Mapping[str, ClusterQueue],
    holders: Holders,
    known: Prospects,
    fairness: Fairness | None = None,
) -> bool:
    """Whether there is any candidate at all."""
    if fairness is not None:
        return bool(candidates_by_queue(search, queues, holders))
    return bool(known.of(search, queues, holders).candidates.ordered)


def _search(
    tree: Tree,
    queues: Mapping[str, ClusterQueue],
    holders: Holders,
    preemptor: Preemptor,
    requests: Mapping[FlavorResource, int],
    needs: Iterable[FlavorResource],
    now: float,
    fairness: Fairness | None,
    known: Prospects | None,
) -> list[Candidate]:
    node, queue = tree.queue(preemptor.queue), queues.get(preemptor.queue)
    if node is None or queue is None:
        return []
    # Sorted, so that a set among the arguments can't bring the hash seed into the answer.
    requests = {fr: requests[fr] for fr in sorted(requests) if requests[fr]}
    missing = tuple(sorted(fr for fr in needs if fr in requests))
    if not missing or any(units > tree.potential(node, fr) for fr, units in requests.items()):
        return []
    search = Search(node, queue.preemption, preemptor, requests, missing, now)
    if fairness is not None:
        return fair_victims(tree, search, queues, holders, fairness)
    prospect = (known or Prospects()).of(search, queues, holders)
    if prospect.hopeless(requests):
        return []
    candidates = prospect.candidates
    ordered = _not_spared(search, candidates.ordered, known.yielding) if known is not None else candidates.ordered
    for may_borrow in _attempts(search, candidates):
        victims = _attempt(tree, search, ordered, may_borrow)
        if victims:
            return victims
    if len(ordered) == len(candidates.ordered):
        prospect.was_vain(requests)
    return []


def _not_spared(search: Search, ordered: list[Candidate], yielding: Yielding) -> list[Candidate]:
    """Without those who have left for the preemptor often enough, and are back."""
    key = search.preemptor.key
    if key not in yielding.repeated:
        return ordered
    now = moment(search.node)
    return [one for one in ordered if one.holder.evicted or yielding.times(one.holder.key, key, now) < MOST]


def _attempts(search: Search, candidates: Candidates) -> tuple[bool, ...]:
    """Whether the preemptor may borrow, attempt by attempt; one that can't succeed is left out."""
    if not candidates.from_others or not candidates.owner:
        return (True,)
    if search.policy.borrow_within_cohort == "Never" and not candidates.hierarchical:
        return False, True
    return True, False


def _attempt(tree: Tree, search: Search, ordered: list[Candidate], may_borrow: bool) -> list[Candidate]:
    mark = tree.mark()
    try:
        removed: list[Candidate] = []
        for candidate in ordered:
            if _still_valid(search, candidate, may_borrow):
                tree.remove(candidate.node, candidate.holder.usage)
                removed.append(candidate)
                if _fits(tree, search, may_borrow):
                    return _fill_back(tree, search, removed, may_borrow)
        return []
    finally:
        tree.undo(mark)


def _still_valid(search: Search, candidate: Candidate, may_borrow: bool) -> bool:
    """Those removed so far may have brought its queue, or a cohort on the way up, back within its own quota."""
    if candidate.node is search.node:
        return True
    if may_borrow and candidate.unless_borrowing:
        return False
    node = candidate.node
    while node is not candidate.common:
        if within_nominal(node, search.needs) or node.parent is None:
            return False
        node = node.parent
    return True


def _fits(tree: Tree, search: Search, may_borrow: bool) -> bool:
    node = search.node
    for fr, units in search.requests.items():
        if not may_borrow and tree.borrowing_with(node, fr, units):
            return False
        if units > tree.queue_available(node, fr):
            return False
    return True


def _fill_back(tree: Tree, search: Search, victims: list[Candidate], may_borrow: bool) -> list[Candidate]:
    return spare(tree, victims, partial(_fits, tree, search, may_borrow))
