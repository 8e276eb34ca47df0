"""Evicting down to a quota that was lowered, where a QueuePolicy says so, after the time that it gives."""

from collections.abc import Iterator

from admission.model.decisions import Evict
from admission.model.durations import spoken
from admission.model.queue_policy import QuotaShrink
from admission.model.queues import FlavorResource
from admission.rules.effective_policy import Effective
from admission.rules.estate import Estate
from admission.rules.holders import Holder
from admission.tree import Node
from admission.tree.quota import available

Spot = tuple[str, FlavorResource]  # a queue, and what it holds too much of


class Shrinking:
    """Since when a queue holds more than it may is known from the first run that saw it: a new leader begins anew."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self._since: dict[Spot, float] = {}

    def run(self, now: float) -> tuple[Evict, ...]:
        """Who has to leave now. They are marked evicted and keep their quota until `release`."""
        estate = self._estate
        if not estate.policing.policies.shrinks:
            self._since.clear()
            return ()
        mark = estate.tree.mark()
        try:
            for holder in estate.holders.everybody():
                if holder.evicted:
                    self._remove(holder)
            excessive = {spot: self._since.get(spot, now) for spot in self._excessive()}
            self._since = excessive
            found = list(self._leaving(now))
        finally:
            estate.tree.undo(mark)
        for holder, _, _ in found:
            holder.evicted = True
            estate.era += 1
        return tuple(Evict(holder.key, _why(spot, shrink)) for holder, spot, shrink in found)

    @property
    def wake_at(self) -> float | None:
        """When it is to be looked again."""
        times = [
            since + shrink.after
            for (queue, _), since in self._since.items()
            if (shrink := self._policy(queue, "").manners.quota_shrink) is not None
        ]
        return min(times, default=None)

    def _excessive(self) -> Iterator[Spot]:
        for name in self._estate.queues:
            node = self._estate.tree.queue(name)
            if node is not None and self._policy(name, "").manners.quota_shrink is not None:
                yield from ((name, fr) for fr in sorted(node.usage) if available(node, fr) < 0)

    def _leaving(self, now: float) -> Iterator[tuple[Holder, Spot, QuotaShrink]]:
        for spot, since in sorted(self._since.items(), key=lambda one: (one[1], one[0])):
            name, fr = spot
            shrink, node = self._policy(name, "").manners.quota_shrink, self._estate.tree.queue(name)
            if shrink is None or node is None or since + shrink.after > now:
                continue
            for holder in sorted(self._candidates(node, fr), key=lambda one: self._order(one, fr, shrink)):
                if available(node, fr) >= 0:
                    break
                own = self._estate.tree.queue(holder.queue)
                if own is not None and available(own, fr) < 0:
                    self._remove(holder)
                    yield holder, spot, shrink

    def _candidates(self, node: Node, fr: FlavorResource) -> Iterator[Holder]:
        """Of all queues of the tree that may be shrunk: what they share, each of them can give back."""
        estate = self._estate
        for name in estate.tree.queues_below(node.root):
            for holder in estate.holders.of(name):
                policy = self._policy(holder.queue, holder.local_queue)
                if policy.manners.quota_shrink is None or estate.policing.fixed(policy, holder.labels):
                    continue
                if holder.usage.get(fr) and not holder.evicted:
                    yield holder

    def _order(self, holder: Holder, fr: FlavorResource, shrink: QuotaShrink) -> tuple[object, ...]:
        node = self._estate.tree.queue(holder.queue)
        lends = node is None or node.usage.get(fr, 0) <= node.subtree.get(fr, 0)
        rank = (holder.priority, -(holder.reserved_since or 0.0), holder.uid)
        return (lends, *rank) if shrink.order == "BorrowedFirst" else (*rank[:1], lends, *rank[1:])

    def _remove(self, holder: Holder) -> None:
        node = self._estate.tree.queue(holder.queue)
        if node is not None:
            self._estate.tree.remove(node, holder.usage)

    def _policy(self, queue: str, local_queue: str) -> Effective:
        return self._estate.policing.effective(queue, local_queue)


def _why(spot: Spot, shrink: QuotaShrink) -> str:
    queue, (flavor, resource) = spot
    after = spoken(shrink.after)
    return f"ClusterQueue {queue} has held more {resource} of flavor {flavor} than its lowered quota for {after}"
