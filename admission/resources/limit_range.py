"""All LimitRanges of a namespace as one: what they give to containers that state nothing, and what they refuse.

As in Kueue the first default counts, the lowest maximum and the highest minimum. LimitRanges come by name.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from admission.api.field_errors import invalid
from admission.model.pods import NOTHING, Container, Exact, LimitRange, LimitRangeItem, PodResources, kept_first

ABOVE = "requests must not be above the limitRange max"
BELOW = "requests must not be below the limitRange min"

_NONE = LimitRangeItem("")


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Compared by identity: a changed LimitRange makes new Limits."""

    container: LimitRangeItem = _NONE
    pod: LimitRangeItem = _NONE


def summarized(ranges: Iterable[LimitRange]) -> Limits:
    ordered = sorted(ranges, key=lambda each: each.name)
    return Limits(*[_together(ordered, kind) for kind in ("Container", "Pod")])


def _together(ranges: list[LimitRange], kind: str) -> LimitRangeItem:
    whole = _NONE
    for item in (item for each in ranges for item in each.items if item.type == kind):
        whole = LimitRangeItem(
            kind,
            kept_first(whole.default, item.default),
            kept_first(whole.default_request, item.default_request),
            _extreme(max, whole.min, item.min),
            _extreme(min, whole.max, item.max),
        )
    return whole


def _extreme(choose: Callable[[Fraction, Fraction], Fraction], left: Exact, right: Exact) -> Exact:
    return {**left, **{name: choose(left.get(name, units), units) for name, units in right.items()}}


def with_defaults(pod: PodResources, limits: Limits) -> PodResources:
    """The pod as it would be created in the namespace. As a whole it gets defaults only where it states resources."""
    return replace(
        pod,
        containers=tuple([_defaulted(each, limits.container) for each in pod.containers]),
        init_containers=tuple([_defaulted(each, limits.container) for each in pod.init_containers]),
        whole=pod.whole and _defaulted(pod.whole, limits.pod),
    )


def _defaulted(container: Container, item: LimitRangeItem) -> Container:
    return container._replace(
        requests=kept_first(container.requests, item.default_request),
        limits=kept_first(container.limits, item.default),
    )


def violations(pod: PodResources, limits: Limits) -> list[str]:
    """What the namespace refuses of a pod with all its defaults: sentences that go on from the path of its spec."""
    found: list[str] = []
    for field, containers in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for at, each in enumerate(containers):
            least = _extreme(min, each.requests, each.limits)
            most = _extreme(max, each.requests, each.limits)
            found += _outside(f".{field}[{at}]", least, most, limits.container)
    total = pod.total() if limits.pod.min or limits.pod.max else NOTHING
    return found + _outside("", total, total, limits.pod)


def _outside(path: str, least: Exact, most: Exact, item: LimitRangeItem) -> list[str]:
    return complaint(path, greater(most, item.max), ABOVE) + complaint(path, greater(item.min, least), BELOW)


def greater(left: Exact, right: Exact) -> list[str]:
    """Resources of both of which `left` has more."""
    return sorted([name for name, units in left.items() if name in right and units > right[name]])


def complaint(path: str, resources: list[str], detail: str) -> list[str]:
    return [f"{path}: {invalid(path, resources, detail).body}"] if resources else []
