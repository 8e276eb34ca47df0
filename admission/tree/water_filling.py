"""Runtime quota as Koordinator shares it: what each child of an elastic quota may use of one resource just now.

Everybody gets its minimum, or less if it asks for less and lends; what is left flows to those who ask for more, by
weight, until they have what they ask for. Nobody gets more than that: what nobody asks for is handed out to nobody.
Whole numbers of any size throughout, so that the parts always add up.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Child(NamedTuple):
    """One child and one resource; units. `asked`: what it is asked for, at most its `max`."""

    name: str
    least: int  # its `min`, scaled where the parent has too little
    asked: int
    weight: int  # nothing beyond its `min` comes to one that has none
    lends: bool = True  # allow-lent-resource: of its minimum, what it does not ask for
    guaranteed: int = 0


def runtime(total: int, children: Iterable[Child]) -> dict[str, int]:
    """What each child may use, by name. Minimums stand even where they are more than `total` together."""
    shares: dict[str, int] = {}
    thirsty: list[Child] = []
    for child in sorted(children):
        least = max(child.least, child.guaranteed)
        if child.asked > least:
            thirsty.append(child)
        shares[child.name] = least if child.asked > least or not child.lends else child.asked
    left = total - sum(shares.values())
    while left > 0 and any(child.weight > 0 for child in thirsty):
        poured = _by_weight(left, thirsty)
        left = 0
        for child, units in zip(thirsty, poured, strict=True):
            shares[child.name] += units
            left += max(0, shares[child.name] - child.asked)
            shares[child.name] = min(shares[child.name], child.asked)
        thirsty = [child for child in thirsty if shares[child.name] < child.asked]
    return shares


def scaled(total: int, fixed: int, least: Mapping[str, int]) -> dict[str, int]:
    """Minimums that fit into `total` beside `fixed`, the minimums that never shrink; as they are where they fit."""
    wanted = sum(least.values())
    if wanted + fixed <= total:
        return dict(least)
    room = max(0, total - fixed)
    return {name: room * units // wanted if wanted else 0 for name, units in least.items()}


def _by_weight(units: int, children: list[Child]) -> list[int]:
    """All of `units`, in proportion; what rounding leaves goes to the largest remainders, the first name first."""
    weights = [max(0, child.weight) for child in children]
    whole = sum(weights)
    parts = [divmod(units * weight, whole) for weight in weights]
    over = units - sum(part for part, _ in parts)
    # Children come sorted by name, and sorting keeps equals in their order.
    luckiest = sorted(range(len(parts)), key=lambda at: -parts[at][1])[:over]
    given = [part for part, _ in parts]
    for at in luckiest:
        given[at] += 1
    return given
