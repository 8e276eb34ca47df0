"""Partial admission: with how many pods a workload may start that would also run with fewer than it asks for.

All pod sets shrink together, along one line from what they ask for to the least they accept.
"""

from collections.abc import Callable
from typing import TypeVar

from admission.rules.asks import Ask, Asks

T = TypeVar("T")


def steps(asks: Asks) -> int:
    """Pods that could be done without, over all pod sets; 0: it starts with all or not at all."""
    return sum([ask.pods - ask.least for ask in asks])


def fewest(asks: Asks) -> Asks:
    """The least that would do."""
    return tuple([_with(ask, ask.least) for ask in asks])


def shrunk(asks: Asks, step: int, of: int) -> Asks:
    """`step` of `of` steps down the line."""
    return tuple([_with(ask, ask.pods - (ask.pods - ask.least) * step // of) for ask in asks])


def largest(asks: Asks, works: Callable[[Asks], T | None]) -> T | None:
    """What `works` says of the largest counts below all pods that it accepts (not None); None when it accepts none.

    As Kueue searches: by halving, as if whatever works still works with fewer pods. Where it does not (another flavor
    may come first then), larger counts than the one found may work, too.
    """
    of = steps(asks)
    found = None
    low, high = 0, of + 1 if of else 0
    while low < high:
        middle = (low + high) // 2
        answer = works(shrunk(asks, middle, of))
        if answer is None:
            low = middle + 1
        else:
            found, high = answer, middle
    return found


def _with(ask: Ask, pods: int) -> Ask:
    if pods == ask.pods:
        return ask
    requests = tuple([(resource, units // ask.pods * pods) for resource, units in ask.requests])
    return ask._replace(pods=pods, requests=requests)
