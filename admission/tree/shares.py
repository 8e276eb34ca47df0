"""Dominant resource share: how much of what its cohort could lend a node borrows, of the resource where that is most.

Exact fractions, so that tiny excesses and huge weights keep their order. What could be lent changes only with quotas
and is kept until then; a node's own part is read from the tree each time, so what-if needs no bookkeeping here.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from admission.model.amounts import MAX_INT64
from admission.model.queues import FlavorResource
from admission.tree.node import Node
from admission.tree.quota import potential

Units = Mapping[FlavorResource, int]
_NONE = Fraction(0)
_NO_UNITS: Units = {}


class Share(NamedTuple):
    """Shares compare as they are to be compared: by `infinite`, then by `value`.

    `value`: borrowed / lendable / weight; of a borrower of weight 0 (`infinite`) without the weight.
    """

    infinite: bool
    value: Fraction

    @property
    def status(self) -> int:
        """In thousandths, rounded up, as status.fairSharing.weightedShare has it."""
        if self.infinite:
            return MAX_INT64
        return min(MAX_INT64, -(-1000 * self.value.numerator // self.value.denominator))


NOTHING = Share(False, _NONE)


class Dominant(NamedTuple):
    """What makes a share what it is; units. `resource` is "" for a node that borrows nothing lendable."""

    share: Share
    resource: str = ""
    borrowed: int = 0
    lendable: int = 0


def share(node: Node, more: Units = _NO_UNITS) -> Share:
    """Of a node that used `more` than it does. A root borrows from nobody."""
    return dominant(node, more).share


def dominant(node: Node, more: Units = _NO_UNITS) -> Dominant:
    """The share with its reason. Of resources in which it is equal, the first by name."""
    parent = node.parent
    if parent is None:
        return Dominant(NOTHING)
    borrowed = _borrowed(node, more)
    if not borrowed:
        return Dominant(NOTHING)
    lent = lendable(parent)
    most, units, of = "", 0, 1
    for resource in sorted(borrowed) if len(borrowed) > 1 else borrowed:
        whole = lent.get(resource, 0)
        if whole > 0 and borrowed[resource] * of > units * whole:
            most, units, of = resource, borrowed[resource], whole
    if not units:
        return Dominant(NOTHING)
    weight = node.weight
    if not weight:
        return Dominant(Share(True, Fraction(units, of)), most, units, of)
    value = Fraction(units * weight.denominator, of * weight.numerator)
    return Dominant(Share(False, value), most, units, of)


def borrows(node: Node) -> bool:
    """Whether it uses more than its subtree quota of anything, lendable or not."""
    subtree = node.subtree
    return node.parent is not None and any(used > subtree.get(fr, 0) for fr, used in node.usage.items())


def passed_on(node: Node, more: Units) -> dict[FlavorResource, int]:
    """What of `more` at the node its parent sees: the part that the node's own quota does not absorb."""
    usage, local = node.usage, node.local
    if not local:
        return dict(more)
    over = {}
    for fr, units in more.items():
        used, kept = usage.get(fr, 0), local.get(fr, 0)
        rest = max(0, used + units - kept) - max(0, used - kept)
        if rest:
            over[fr] = rest
    return over


def lendable(cohort: Node) -> Mapping[str, int]:
    """By resource, the most that a child of `cohort` could get hold of, all flavors together."""
    root = cohort.root
    at, known = cohort.lendable
    if at != root.surveyed or not at:
        known = {}
        offered: dict[FlavorResource, None] = {}
        node: Node | None = cohort
        while node is not None:  # what a node keeps for itself alone does not show at the root
            offered.update(dict.fromkeys(node.subtree))
            node = node.parent
        for fr in offered:
            known[fr[1]] = known.get(fr[1], 0) + potential(cohort, fr)
        cohort.lendable = (root.surveyed, known)
    return known


def _borrowed(node: Node, more: Units) -> dict[str, int]:
    """Units above the subtree quota, by resource."""
    usage, subtree = node.usage, node.subtree
    out: dict[str, int] = {}
    for fr, used in usage.items():
        over = used - subtree.get(fr, 0)
        if more:
            over += more.get(fr, 0)
        if over > 0:
            out[fr[1]] = out.get(fr[1], 0) + over
    for fr, units in more.items():
        if fr not in usage:
            over = units - subtree.get(fr, 0)
            if over > 0:
                out[fr[1]] = out.get(fr[1], 0) + over
    return out
