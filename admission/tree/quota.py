"""Quota arithmetic on one node and its ancestors: what is free, what is reachable, what an admission changes.

Reading is the hot path of nominating: plain loops towards the root, no allocation, cost independent of the number of
queues. Writing passes differences upwards; a difference that a node's own quota absorbs goes no further.
"""

from collections.abc import Iterable, Mapping

from admission.model.amounts import MAX_INT64
from admission.model.queues import FlavorResource, Quota
from admission.tree.node import Node

_NOTHING = Quota(0)


def available(node: Node, fr: FlavorResource) -> int:
    """Units free for `node`, its own and borrowed. Negative when the tree holds more than it has."""
    free = 0
    least: int | None = None
    parent = node.parent
    while parent is not None:
        used = node.usage.get(fr, 0)
        limit = node.borrowing.get(fr)
        if limit is not None:
            reach = free + node.subtree.get(fr, 0) - used + limit
            if least is None or reach < least:
                least = reach
        kept = node.local.get(fr, 0)
        if kept > used:
            free += kept - used
        node = parent
        parent = node.parent
    free += node.subtree.get(fr, 0) - node.usage.get(fr, 0)
    return free if least is None or free < least else least


def queue_available(node: Node, fr: FlavorResource) -> int:
    """What a request to this queue is held against: never below 0, and never beyond int64, so that a request beyond
    it fits nowhere."""
    free = available(node, fr)
    if free < 0:
        return 0
    return free if free < MAX_INT64 else MAX_INT64


def potential(node: Node, fr: FlavorResource) -> int:
    """The most that `node` could ever use, if nobody else used anything; at most int64."""
    reach = 0
    least = MAX_INT64
    parent = node.parent
    while parent is not None:
        limit = node.borrowing.get(fr)
        if limit is not None:
            limit += reach + node.subtree.get(fr, 0)
            if limit < least:
                least = limit
        reach += node.local.get(fr, 0)
        node = parent
        parent = node.parent
    reach += node.subtree.get(fr, 0)
    return reach if reach < least else least


def local_available(node: Node, fr: FlavorResource) -> int:
    """Units free in the part that the parent never sees."""
    kept = node.local.get(fr, 0)
    used = node.usage.get(fr, 0)
    return kept - used if kept > used else 0


def borrowing_with(node: Node, fr: FlavorResource, units: int) -> bool:
    """Whether `units` more take the node above its subtree quota (of a queue: its nominal quota)."""
    return node.subtree.get(fr, 0) < node.usage.get(fr, 0) + units


def find_height(node: Node, fr: FlavorResource, units: int) -> tuple[int, bool]:
    """Height of the lowest cohort that takes `units` more without borrowing itself (0: the queue does), and whether
    that is less than the whole tree. The whole tree's height if there is none."""
    parent = node.parent
    if parent is None or node.usage.get(fr, 0) + units <= node.subtree.get(fr, 0):
        return 0, parent is not None
    while parent is not None:
        free = node.local.get(fr, 0) - node.usage.get(fr, 0)
        if free > 0:
            units -= free
        node = parent
        parent = node.parent
        if node.usage.get(fr, 0) + units <= node.subtree.get(fr, 0):
            return node.levels, parent is not None
    return node.levels, False


def within_nominal(node: Node, needs: Iterable[FlavorResource]) -> bool:
    """Whether the node uses no more than its subtree quota, for all of `needs`."""
    return all(node.usage.get(fr, 0) <= node.subtree.get(fr, 0) for fr in needs)


def charge(node: Node, fr: FlavorResource, units: int, log: list[tuple[Node, FlavorResource, int]] | None) -> None:
    """`units` more (or less, if negative) are used at `node`; ancestors see what exceeds its own part.

    Each former value goes to `log`.
    """
    while True:
        used = node.usage.get(fr, 0)
        if log is not None:
            log.append((node, fr, used))
        set_usage(node, fr, used + units)
        if node.parent is None:
            return
        kept = node.local.get(fr, 0)
        units = max(0, used + units - kept) - max(0, used - kept)
        if not units:
            return
        node = node.parent


def set_usage(node: Node, fr: FlavorResource, units: int) -> None:
    """Write one number and keep the parent's list of overusers true."""
    _put(node.usage, fr, units)
    _note_excess(node, fr)


def give(node: Node) -> None:
    """A node just linked brings its lendable quota and its overflowing usage to its ancestors."""
    for fr in {**node.subtree, **node.usage}:
        kept = node.local.get(fr, 0)
        _shift(node.parent, fr, node.subtree.get(fr, 0) - kept, max(0, node.usage.get(fr, 0) - kept))
        _note_excess(node, fr)


def take(node: Node) -> None:
    """The reverse of `give`, before unlinking."""
    parent = node.parent
    for fr in {**node.subtree, **node.usage}:
        kept = node.local.get(fr, 0)
        _shift(parent, fr, kept - node.subtree.get(fr, 0), -max(0, node.usage.get(fr, 0) - kept))
        if parent is not None:
            _forget_excess(parent, node, fr)


def set_quotas(node: Node, quotas: Mapping[FlavorResource, Quota]) -> None:
    """Replace the node's own quotas while it is unlinked; what its children lend stays."""
    for fr in {**node.quotas, **quotas}:
        change = quotas.get(fr, _NOTHING).nominal - node.quotas.get(fr, _NOTHING).nominal
        _put(node.subtree, fr, node.subtree.get(fr, 0) + change)
    node.quotas = dict(quotas)
    node.borrowing = {fr: quota.borrowing_limit for fr, quota in quotas.items() if quota.borrowing_limit is not None}
    node.lending = {fr: quota.lending_limit for fr, quota in quotas.items() if quota.lending_limit is not None}
    node.local = {}
    for fr in node.lending:
        _settle_local(node, fr)


def _shift(node: Node | None, fr: FlavorResource, quota: int, usage: int) -> None:
    while node is not None and (quota or usage):
        subtree, used, kept = node.subtree.get(fr, 0), node.usage.get(fr, 0), node.local.get(fr, 0)
        _put(node.subtree, fr, subtree + quota)
        _put(node.usage, fr, used + usage)
        _settle_local(node, fr)
        _note_excess(node, fr)
        still_kept = node.local.get(fr, 0)
        quota -= still_kept - kept
        usage = max(0, used + usage - still_kept) - max(0, used - kept)
        node = node.parent


def _settle_local(node: Node, fr: FlavorResource) -> None:
    limit = node.lending.get(fr)
    if limit is not None:
        _put(node.local, fr, max(0, node.subtree.get(fr, 0) - limit))


def _note_excess(node: Node, fr: FlavorResource) -> None:
    parent = node.parent
    if parent is None:
        return
    if node.usage.get(fr, 0) > node.subtree.get(fr, 0):
        over = parent.over.get(fr)
        if over is None:
            over = parent.over[fr] = {}
        over[node] = None
    else:
        _forget_excess(parent, node, fr)


def _forget_excess(parent: Node, node: Node, fr: FlavorResource) -> None:
    over = parent.over.get(fr)
    if over is not None and node in over:
        del over[node]
        if not over:
            del parent.over[fr]


def _put(table: dict[FlavorResource, int], fr: FlavorResource, units: int) -> None:
    if units:
        table[fr] = units
    else:
        table.pop(fr, None)
