"""Faults for our core, one broken rule each: comparing with the peer must tell every one of them.

`plant` changes functions of the running process, so each fault gets a process of its own (see `mutants`).
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from admission.model.configuration import FINAL_SHARE, INITIAL_SHARE
from admission.reconcile import checks, holding, requeueing, usage
from admission.rules import (
    cycle,
    fair_preemption,
    fill_back,
    flavors,
    grades,
    matching,
    nomination,
    partial,
    preemption,
)
from admission.rules import preemption_candidates as candidates
from admission.rules.cycle import PREEMPT
from admission.rules.estate import Estate
from admission.rules.fair_targets import Targets
from admission.rules.menu import Menu
from admission.rules.order import Ordering
from admission.rules.queue import Queue
from admission.rules.standing import Standing
from admission.tree import quota, shares


class Fault(NamedTuple):
    """`fair`: it can only show where fair sharing is on."""

    name: str
    plant: Callable[[], None]
    fair: bool = False


def everywhere(old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Whoever has imported the function gets the other one."""
    places = 0
    for name, module in list(sys.modules.items()):
        if name.startswith("admission."):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)
                    places += 1
    if not places:
        raise LookupError(f"{old} is nowhere to be replaced")


def _method(owner: type, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    setattr(owner, name, make(getattr(owner, name)))


def _lending_limits_do_not_count() -> None:
    everywhere(quota._settle_local, lambda node, fr: None)


def _borrowing_limits_do_not_count() -> None:
    right = quota.set_quotas

    def wrong(node: Any, quotas: Any) -> None:
        right(node, quotas)
        node.borrowing = {}

    everywhere(right, wrong)


def _borrowing_is_a_flag() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def height(self: Standing, units: int) -> tuple[int, bool]:
            found, below = right(self, units)
            return min(found, 1), below

        return height

    _method(Standing, "height", make)


def _menu(**changes: Any) -> Callable[[], None]:
    """Every queue has this answer, whatever its spec says."""

    def plant() -> None:
        def make(right: Callable[..., Any]) -> Callable[..., Any]:
            def init(self: Menu, *given: Any) -> None:
                right(self, *given)
                for name, value in changes.items():
                    setattr(self, name, value)

            return init

        _method(Menu, "__init__", make)

    return plant


def _nobody_to_preempt_is_as_good_as_somebody() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def score(self: Any, grade: grades.Grade) -> Any:
            mode = grades.PREEMPT if grade.mode == grades.NO_CANDIDATES else grade.mode
            return right(self, grade._replace(mode=mode))

        return score

    _method(grades.Judge, "score", make)


def _equals_count_as_lower() -> None:
    def wrong(policy: str, preemptor: Any, holder: Any) -> bool:
        return policy == "Any" or bool(preemptor.priority >= holder.priority)

    everywhere(candidates.allowed, wrong)


def _newer_equals_stay() -> None:
    def wrong(policy: str, preemptor: Any, holder: Any) -> bool:
        return policy == "Any" or bool(preemptor.priority > holder.priority)

    everywhere(candidates.allowed, wrong)


def _reclaim_takes_anybody() -> None:
    right = candidates._in_other_queue

    def wrong(search: Any, *rest: Any) -> Any:
        return right(replace(search, policy=replace(search.policy, reclaim_within_cohort="Any")), *rest)

    everywhere(right, wrong)


def _the_important_leave_first() -> None:
    right = candidates.order_of

    def wrong(holder: Any, now: float) -> Any:
        priority, *rest = right(holder, now)
        return (-priority, *rest)

    everywhere(right, wrong)


def _more_victims_than_needed() -> None:
    everywhere(fill_back.spare, lambda tree, victims, fits: victims)


def _queues_within_their_quota_lose_workloads() -> None:
    everywhere(preemption._still_valid, lambda search, candidate, may_borrow: True)


def _borrowers_never_preempt() -> None:
    everywhere(candidates._yields_to_borrower, lambda search, candidate: False)


def _thresholds_do_not_count() -> None:
    everywhere(
        candidates._yields_to_borrower,
        lambda search, candidate: (
            search.policy.borrow_within_cohort != "Never" and candidate.priority < search.preemptor.priority
        ),
    )


def _no_advantage_by_place_in_the_tree() -> None:
    everywhere(candidates._fit_in_own_quota, lambda node, requests: (False, requests))


def _nobody_looks_again_within_a_cycle() -> None:
    everywhere(cycle._fits, lambda node, usage: True)


def _priority_before_borrowing() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, head, borrowing: right(self, head, 0)

    _method(Ordering, "turn", make)


def _heads_without_victims_keep_no_room() -> None:
    cycle._Cycle._reserve = lambda self, nomination: None  # type: ignore[method-assign]


def _preemptors_keep_no_room() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def book(self: Any, verdict: Any) -> None:
            if verdict.step != PREEMPT:
                right(self, verdict)

        return book

    _method(cycle._Cycle, "book", make)


def _strict_queues_do_not_block() -> None:
    Queue.strict = property(lambda self: False)  # type: ignore[assignment]


def _every_queue_blocks() -> None:
    Queue.strict = property(lambda self: self.spec is not None)  # type: ignore[assignment]


def _preemptors_do_not_stay_first() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def head(self: Queue) -> Any:
            self.sticky = None
            return right(self)

        return head

    _method(Queue, "head", make)


def _rank(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Callable[[], None]:
    def plant() -> None:
        _method(Ordering, "rank", lambda right: lambda self, workload: change(right(self, workload)))

    return plant


def _nobody_is_woken() -> None:
    Queue.wake = lambda self, *_: None  # type: ignore[method-assign]


def _scans_start_anew() -> None:
    everywhere(nomination.scanned, lambda estate, nomination: None)


def _pod_sets_do_not_see_each_other() -> None:
    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, ask, requests, judge, known, assumed: right(self, ask, requests, judge, known, {})

    _method(flavors._Scan, "__init__", make)


def _taints_do_not_count() -> None:
    everywhere(matching._untolerated, lambda flavor, ask: None)


def _selectors_do_not_count() -> None:
    everywhere(matching._selected, lambda labels, ask: True)


def _foreign_keys_count() -> None:
    right = matching._selected

    def wrong(labels: Any, ask: Any) -> bool:
        return all(labels.get(key) == value for key, value in ask.node_selector) and right(labels, ask)

    everywhere(right, wrong)


def _draining_local_queues_keeps_workloads() -> None:
    right = holding._stopped
    everywhere(right, lambda local, queue: right(None, queue))


def _draining_queues_keeps_workloads() -> None:
    right = holding._stopped
    everywhere(right, lambda local, queue: right(local, None))


def _restarted_queues_do_not_take_back() -> None:
    right = requeueing._over
    everywhere(right, lambda view, workload, reason: "" if "Stopped" in reason else right(view, workload, reason))


def _checks_of_flavors_hold_for_all() -> None:
    everywhere(checks.required, lambda queue, admission: sorted({rule.name for rule in queue.checks}))


def _retry_is_like_pending() -> None:
    everywhere(
        checks.verdict,
        lambda workload, now, right=checks.verdict: (
            right(workload, now) if checks._named(workload, checks.REJECTED) else None
        ),
    )


def _every_namespace_may() -> None:
    Estate.accepts = lambda self, queue, namespace: True  # type: ignore[method-assign]


def _as_few_pods_as_will_do() -> None:
    everywhere(partial.largest, lambda asks, works: works(partial.fewest(asks)) if partial.steps(asks) else None)


def _all_pods_or_none() -> None:
    everywhere(partial.largest, lambda asks, works: None)


def _reclaimable_pods_keep_quota() -> None:
    def wrong(workload: Any) -> Any:
        return workload.admission.usage() if workload.admission is not None else {}

    everywhere(usage.usage_of, wrong)


def _weights_do_not_count() -> None:
    right = shares.dominant

    def wrong(node: Any, more: Any = shares._NO_UNITS) -> Any:
        found = right(node, more)
        if not found.resource:
            return found
        return found._replace(share=shares.Share(False, Fraction(found.borrowed, found.lendable)))

    everywhere(right, wrong)


def _shares_do_not_count() -> None:
    everywhere(shares.share, lambda node, more=None: shares.NOTHING)


def _fairness(**changes: Any) -> Callable[[], None]:
    """Shares decide otherwise, whatever the configuration says."""

    def plant() -> None:
        right = fair_preemption.fairness_of

        def wrong(configuration: Any, yielded: Any) -> Any:
            found = right(configuration, yielded)
            return found and replace(found, **changes)

        everywhere(right, wrong)

    return plant


def _all_targets_are_alike() -> None:
    Targets._share = lambda self, node: shares.NOTHING  # type: ignore[method-assign]


FAULTS = (
    Fault("lending limits do not count", _lending_limits_do_not_count),
    Fault("borrowing limits do not count", _borrowing_limits_do_not_count),
    Fault("borrowing is a flag, not a level", _borrowing_is_a_flag),
    Fault("preference is always for borrowing", _menu(borrow_rather_than_preempt=True)),
    Fault("preference is always for preemption", _menu(borrow_rather_than_preempt=False)),
    Fault("the search always ends where one could preempt", _menu(try_next_when_preempting=False)),
    Fault("the search never ends where one must borrow", _menu(try_next_when_borrowing=True)),
    Fault("borrowers never look for victims", _menu(preempts_while_borrowing=False)),
    Fault("nobody to preempt is as good as somebody", _nobody_to_preempt_is_as_good_as_somebody),
    Fault("equals count as lower", _equals_count_as_lower),
    Fault("newer equals stay", _newer_equals_stay),
    Fault("reclaiming takes anybody", _reclaim_takes_anybody),
    Fault("the important leave first", _the_important_leave_first),
    Fault("more victims than needed", _more_victims_than_needed),
    Fault("queues within their quota lose workloads", _queues_within_their_quota_lose_workloads),
    Fault("borrowers never preempt", _borrowers_never_preempt),
    Fault("thresholds do not count", _thresholds_do_not_count),
    Fault("no advantage by place in the tree", _no_advantage_by_place_in_the_tree),
    Fault("nobody looks again within a cycle", _nobody_looks_again_within_a_cycle),
    Fault("priority before borrowing", _priority_before_borrowing),
    Fault("heads without victims keep no room", _heads_without_victims_keep_no_room),
    Fault("preemptors keep no room", _preemptors_keep_no_room),
    Fault("strict queues do not block", _strict_queues_do_not_block),
    Fault("every queue blocks", _every_queue_blocks),
    Fault("preemptors do not stay first", _preemptors_do_not_stay_first),
    Fault("age before priority", _rank(lambda rank: (rank[1], rank[0], *rank[2:]))),
    Fault("the youngest first", _rank(lambda rank: (rank[0], -rank[1], *rank[2:]))),
    Fault("nobody is woken", _nobody_is_woken),
    Fault("scans start anew", _scans_start_anew),
    Fault("pod sets do not see each other", _pod_sets_do_not_see_each_other),
    Fault("taints do not count", _taints_do_not_count),
    Fault("selectors do not count", _selectors_do_not_count),
    Fault("keys that a flavor lacks count", _foreign_keys_count),
    Fault("draining LocalQueues keeps workloads", _draining_local_queues_keeps_workloads),
    Fault("draining ClusterQueues keeps workloads", _draining_queues_keeps_workloads),
    Fault("restarted queues do not take back", _restarted_queues_do_not_take_back),
    Fault("checks of some flavors hold for all", _checks_of_flavors_hold_for_all),
    Fault("Retry is like Pending", _retry_is_like_pending),
    Fault("every namespace may", _every_namespace_may),
    Fault("as few pods as will do", _as_few_pods_as_will_do),
    Fault("all pods or none", _all_pods_or_none),
    Fault("reclaimable pods keep quota", _reclaimable_pods_keep_quota),
    Fault("weights do not count", _weights_do_not_count, fair=True),
    Fault("shares do not count", _shares_do_not_count, fair=True),
    Fault("owners must have the smaller share, too", _fairness(owner_first=False), fair=True),
    Fault("only the first strategy", _fairness(strategies=(FINAL_SHARE,)), fair=True),
    Fault("only the second strategy", _fairness(strategies=(INITIAL_SHARE,)), fair=True),
    Fault("who borrows most does not give way first", _all_targets_are_alike, fair=True),
)
