"""How much the pods of a part of an Argo Workflow need at most at one time, and how parts add up."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from admission.api.field_errors import FieldError
from admission.model.amounts import plus, times

Amounts = Mapping[str, int]  # units as in `amounts`
_NONE: Amounts = {}


class Peak(NamedTuple):
    """Upper bounds, resource by resource: the pods that need most cpu need not be those that need most memory."""

    requests: Amounts = _NONE
    largest: Amounts = _NONE  # of one pod
    staying: Amounts = _NONE  # of daemons, which run until the template that called them ends
    again: frozenset[str] = frozenset()  # templates that it starts anew, whose own peak is not in here
    endless: FieldError | None = None  # why there may be any number of pods
    unseen: FieldError | None = None  # why their size cannot be told

    def times(self, count: int | None, why: FieldError) -> "Peak":
        """So many of it at the same time; None: nobody can tell how many, for the reason given."""
        if count == 0:
            return Peak()
        many = self._replace(requests=times(self.requests, count or 1), staying=times(self.staying, count or 1))
        return many.unbounded(why) if count is None and any(self.requests.values()) else many

    def unbounded(self, why: FieldError) -> "Peak":
        return self._replace(endless=self.endless or why)

    def most(self, pods: int) -> "Peak":
        """Of which never more than so many pods run at one time."""
        limit = times(self.largest, pods)
        requests = limit if self.endless else smaller(self.requests, limit)
        return self._replace(requests=requests, endless=None)


def larger(*each: Amounts) -> dict[str, int]:
    """The most of each resource."""
    found: dict[str, int] = {}
    for one in each:
        for name, units in one.items():
            found[name] = max(found.get(name, 0), units)
    return found


def smaller(left: Amounts, right: Amounts) -> dict[str, int]:
    return {name: min(units, right.get(name, 0)) for name, units in left.items()}


def total(each: Sequence[Amounts]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in each:
        found = plus(found, one)
    return found


def one_after_another(each: Sequence[Peak]) -> Peak:
    """Parts that never run at the same time."""
    return _together(each, larger(*[one.requests for one in each]))


def beside_each_other(each: Sequence[Peak], why: FieldError) -> Peak:
    """Parts that may run at the same time. `why`: the reason, should one of them call itself back in."""
    both = _together(each, total([one.requests for one in each]))
    running = [at for at, one in enumerate(each) if any(one.requests.values())]
    grows = any(one.again and running not in ([], [at]) for at, one in enumerate(each))
    return both.unbounded(why) if grows else both


def _together(each: Sequence[Peak], requests: Amounts) -> Peak:
    return Peak(
        requests,
        larger(*[one.largest for one in each]),
        total([one.staying for one in each]),
        frozenset().union(*[one.again for one in each]),
        next((one.endless for one in each if one.endless), None),
        next((one.unseen for one in each if one.unseen), None),
    )
