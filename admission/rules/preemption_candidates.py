"""Who may have to leave for a workload, and in which order they are asked.

Classical preemption: the preemptor's own queue by `withinClusterQueue`; other queues of the tree by
`reclaimWithinCohort`, from the parent cohort up to the root, and only where somebody uses more than its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from admission.model.names import IN_CLUSTER_QUEUE, IN_COHORT_RECLAIM_WHILE_BORROWING, IN_COHORT_RECLAMATION
from admission.model.queues import ClusterQueue, FlavorResource, Preemption
from admission.rules.holders import Holder, Holders, Preemptor
from admission.tree import Node
from admission.tree.quota import local_available


@dataclass(frozen=True, slots=True)
class Search:
    """One question: who has to leave so that `requests` fit into `node`, the preemptor's queue?"""

    node: Node
    policy: Preemption
    preemptor: Preemptor
    requests: Mapping[FlavorResource, int]  # everything it asks for, without zeros
    needs: tuple[FlavorResource, ...]  # what preemption is to make room in
    now: float


class Candidate(NamedTuple):
    holder: Holder
    node: Node  # its queue
    common: Node | None  # the lowest cohort above both it and the preemptor; None in the preemptor's own queue
    reason: str  # of Preempted=True
    unless_borrowing: bool  # may be taken only if the preemptor stays within its nominal quota


class Candidates(NamedTuple):
    ordered: list[Candidate]
    from_others: bool  # some are in other queues
    hierarchical: bool  # some are where the preemptor has the older right, whoever borrows
    owner: bool  # the preemptor could end up within its nominal quota; if not, it can only borrow


def find_candidates(search: Search, queues: Mapping[str, ClusterQueue], holders: Holders) -> Candidates:
    """All candidates in the order in which they are tried. `queues` are the active ones; others are left alone."""
    own = list(_in_own_queue(search, holders))
    owner = _may_become_owner(search, own)
    hierarchical: list[Candidate] = []
    reclaimed: list[Candidate] = []
    if search.policy.reclaim_within_cohort != "Never":
        # Who can only borrow, and may not preempt as a borrower, need not look at borrowers at all.
        anywhere = owner or search.policy.borrow_within_cohort != "Never"
        for queue, common, advantage in _overusing_queues(search):
            if queue.name in queues and (advantage or anywhere):
                found = hierarchical if advantage else reclaimed
                found.extend(_in_other_queue(search, queue, common, advantage, owner, holders))

    ordered: list[Candidate] = []
    for group in (hierarchical, reclaimed, own):
        group.sort(key=lambda candidate: order_of(candidate.holder, search.now))
        by_usage(group, queues, holders)
    for evicted in (True, False):
        for group in (hierarchical, reclaimed, own):
            ordered += [candidate for candidate in group if candidate.holder.evicted is evicted]
    return Candidates(ordered, bool(hierarchical or reclaimed), bool(hierarchical), owner)


def footing(search: Search, holders: Holders) -> tuple[object, ...]:
    """Whatever, beside the state of the tree, decides who is a candidate and in which order: searches of one queue for
    the same `needs` on the same footing find the same candidates, however much they ask for."""
    policy, preemptor = search.policy, search.preemptor
    own = list(_in_own_queue(search, holders))
    # Of equals in its own queue those younger than it are candidates: so many, so they are the same ones.
    younger: float = sum([candidate.holder.priority == preemptor.priority for candidate in own])
    if policy.reclaim_within_cohort == "LowerOrNewerEqualPriority":
        younger = preemptor.queue_time
    advantages = [advantage for _, _, advantage in _upwards(search)]
    return preemptor.priority, younger, _may_become_owner(search, own), *advantages


def _may_become_owner(search: Search, own: list[Candidate]) -> bool:
    """Whether an attempt without borrowing can succeed: even with all candidates of its own queue gone the request
    must stay within the nominal quota. Without borrowWithinCohort the queue must be below that quota to begin with."""
    usage, nominal = search.node.usage, search.node.subtree
    if search.policy.borrow_within_cohort == "Never" and any(
        usage.get(fr, 0) >= nominal.get(fr, 0) for fr in search.needs
    ):
        return False
    for fr, units in search.requests.items():
        over = usage.get(fr, 0) + units - nominal.get(fr, 0)
        if over > 0 and over > sum(candidate.holder.usage.get(fr, 0) for candidate in own):
            return False
    return True


def by_usage(line: list[Candidate], queues: Mapping[str, ClusterQueue], holders: Holders) -> None:
    """Of one usage-based queue, those whose LocalQueue has used more come first. They change places among themselves;
    between queues what they have used says nothing."""
    consumption = holders.consumption
    if consumption is None:
        return
    places: dict[str, list[int]] = {}
    for place, candidate in enumerate(line):
        name = candidate.node.name
        if name in queues and queues[name].usage_based:
            places.setdefault(name, []).append(place)
    for mine in places.values():
        # Sorting is stable: of those whose LocalQueue has used as much, the order stays.
        most = sorted([line[place] for place in mine], key=lambda one: consumption.standing(one.holder.local_queue),
                      reverse=True)  # fmt: skip
        for place, candidate in zip(mine, most, strict=True):
            line[place] = candidate


def order_of(holder: Holder, now: float) -> tuple[int, float, str, str]:
    """The least important first, of equals the one that reserved its quota last."""
    since = now if holder.reserved_since is None else holder.reserved_since
    return holder.priority, -since, holder.uid, holder.key


def _overusing_queues(search: Search) -> Iterator[tuple[Node, Node, bool]]:
    """(queue, lowest common cohort, whether the preemptor has the advantage there), upwards."""
    for cohort, done, advantage in _upwards(search):
        for queue in _overusers(cohort, done, search.needs):
            if queue is not search.node:
                yield queue, cohort, advantage


def _upwards(search: Search) -> Iterator[tuple[Node, Node | None, bool]]:
    """(cohort above the preemptor, the child cohort that it came through, whether the preemptor has the advantage).

    The advantage: some subtree below holds the preemptor's requests within its own quota.
    """
    node = search.node
    advantage, remaining = _fit_in_own_quota(node, search.requests)
    done: Node | None = None
    cohort = node.parent
    while cohort is not None:
        yield cohort, done, advantage
        fits, remaining = _fit_in_own_quota(cohort, remaining)
        advantage = advantage or fits
        done = cohort
        cohort = cohort.parent


def _fit_in_own_quota(node: Node, requests: Mapping[FlavorResource, int]) -> tuple[bool, Mapping[FlavorResource, int]]:
    """Whether the subtree quota holds them, and what is left to ask of the ancestors."""
    fits = all(node.subtree.get(fr, 0) >= node.usage.get(fr, 0) + units for fr, units in requests.items())
    return fits, {fr: max(0, units - local_available(node, fr)) for fr, units in requests.items()}


def _overusers(cohort: Node, skip: Node | None, needs: tuple[FlavorResource, ...]) -> Iterator[Node]:
    waiting = [cohort]
    while waiting:
        over = waiting.pop().over
        children: dict[Node, None] = {}
        for fr in needs:
            children.update(over.get(fr, {}))
        for child in children:
            if child.is_queue:
                yield child
            elif child is not skip:
                waiting.append(child)


def _in_own_queue(search: Search, holders: Holders) -> Iterator[Candidate]:
    policy = search.policy.within_cluster_queue
    if policy == "Never":
        return
    for holder in holders.in_reach(search.node.name, search.node.name, search.now):
        if allowed(policy, search.preemptor, holder) and uses(holder, search.needs):
            yield Candidate(holder, search.node, None, IN_CLUSTER_QUEUE, unless_borrowing=False)


def _in_other_queue(
    search: Search, queue: Node, common: Node, advantage: bool, owner: bool, holders: Holders
) -> Iterator[Candidate]:
    policy = search.policy.reclaim_within_cohort
    for holder in holders.in_reach(queue.name, search.node.name, search.now):
        if not (allowed(policy, search.preemptor, holder) and uses(holder, search.needs)):
            continue
        if advantage:
            yield Candidate(holder, queue, common, IN_COHORT_RECLAMATION, unless_borrowing=False)
        elif _yields_to_borrower(search, holder):
            yield Candidate(holder, queue, common, IN_COHORT_RECLAIM_WHILE_BORROWING, unless_borrowing=False)
        elif owner:
            yield Candidate(holder, queue, common, IN_COHORT_RECLAMATION, unless_borrowing=True)


def allowed(policy: str, preemptor: Preemptor, candidate: Holder) -> bool:
    if policy == "Any" or preemptor.priority > candidate.priority:
        return True
    return (
        policy == "LowerOrNewerEqualPriority"
        and preemptor.priority == candidate.priority
        and preemptor.queue_time < candidate.queue_time
    )


def uses(holder: Holder, needs: tuple[FlavorResource, ...]) -> bool:
    usage = holder.usage
    for fr in needs:  # noqa: SIM110 - asked of every holder in reach; a generator doubles its cost
        if usage.get(fr):
            return True
    return False


def _yields_to_borrower(search: Search, candidate: Holder) -> bool:
    policy = search.policy
    if policy.borrow_within_cohort == "Never" or candidate.priority >= search.preemptor.priority:
        return False
    return policy.max_priority_threshold is None or candidate.priority <= policy.max_priority_threshold
