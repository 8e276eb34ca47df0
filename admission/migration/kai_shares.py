"""What KAI's queues may use at this moment: its division of a resource, to compare with what comes of it here.

Each level divides what its parent may use: first everybody's quota, as far as it is asked for; then what is over, to
the highest priority until it wants no more, among equals by weight, in whole units; at last the units that rounding
left, one each. Exact, in fractions, where KAI has floating-point numbers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from admission.migration.queues import ForeignQueue, Quota


def kai_shares(queues: Sequence[ForeignQueue], resource: str, total: int, asked: Mapping[str, int]) -> dict[str, int]:
    """By queue. `asked`: what leaves are asked for, in units of the resource as `total`; what is not there is 0."""
    children: dict[str, list[ForeignQueue]] = {}
    names = {queue.name for queue in queues}
    for queue in queues:
        children.setdefault(queue.parent if queue.parent in names else "", []).append(queue)
    wanted = _wanted(children, resource, asked)
    shares: dict[str, int] = {}
    levels = [("", total)]
    while levels:
        parent, amount = levels.pop()
        level = children.get(parent, [])
        for queue, share in zip(level, _divided(level, resource, amount, wanted), strict=True):
            shares[queue.name] = share
            levels.append((queue.name, share))
    return shares


def _quota(queue: ForeignQueue, resource: str) -> Quota:
    return queue.quotas.get(resource, Quota(0, 0, weight=Fraction(0)))


def _wanted(children: Mapping[str, Sequence[ForeignQueue]], resource: str, asked: Mapping[str, int]) -> dict[str, int]:
    """What each queue could use: its own requests and all below it, up to its limit."""
    order: list[ForeignQueue] = list(children.get("", ()))
    for queue in order:  # grows while it is walked: parents before their children
        order += children.get(queue.name, ())
    below: dict[str, int] = {queue.name: asked.get(queue.name, 0) for queue in order}
    for queue in reversed(order):
        if queue.parent in below:
            below[queue.parent] += below[queue.name]
    limits = {queue.name: _quota(queue, resource).most for queue in order}
    return {name: amount if (most := limits[name]) is None else min(amount, most) for name, amount in below.items()}


def _divided(level: Sequence[ForeignQueue], resource: str, total: int, wanted: Mapping[str, int]) -> list[int]:
    quotas = [_quota(queue, resource) for queue in level]
    wants = [wanted[queue.name] for queue in level]
    shares = [
        min(want, total if quota.owned is None else quota.owned) for quota, want in zip(quotas, wants, strict=True)
    ]
    rest = max(total - sum(shares), 0)
    parts = [Fraction(0)] * len(level)
    for priority in sorted({queue.priority for queue in level}, reverse=True):
        equals = [at for at, queue in enumerate(level) if queue.priority == priority and quotas[at].weight > 0]
        rest = _by_weight(equals, quotas, wants, shares, parts, rest)
    for at in sorted(range(len(level)), key=lambda at: (-level[at].priority, -parts[at], level[at].name)):
        if rest and parts[at] and shares[at] < wants[at]:
            shares[at] += 1
            rest -= 1
    return shares


def _by_weight(
    equals: Sequence[int],
    quotas: Sequence[Quota],
    wants: Sequence[int],
    shares: list[int],
    parts: list[Fraction],
    rest: int,
) -> int:
    """Divides the rest among those that want more, again as long as somebody wanted less than its part; returns what
    is left."""
    while rest:
        hungry = [at for at in equals if wants[at] > shares[at]]
        weights = sum((quotas[at].weight for at in hungry), Fraction(0))
        if not hungry:
            break
        frozen, sated = rest, False
        for at in hungry:
            part = frozen * quotas[at].weight / weights
            given = min(int(part), wants[at] - shares[at])
            sated = sated or wants[at] - shares[at] < part
            parts[at] = part - int(part) if wants[at] - shares[at] > given else Fraction(0)
            shares[at] += given
            rest -= given
        if not sated:
            break
    return rest
