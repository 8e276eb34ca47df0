"""What a pod template says of resources, and what a namespace or a RuntimeClass adds: enough to work out and judge
requests again when LimitRanges change, long after the template is gone.

Quantities are exact, in whole cores and base units, and never negative.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

Exact = Mapping[str, Fraction]  # by resource

NOTHING: Exact = {}
_ZERO = Fraction(0)


class Container(NamedTuple):
    """A container, or the pod as a whole where it states resources itself."""

    requests: Exact = NOTHING
    limits: Exact = NOTHING
    sidecar: bool = False  # an init container that restarts always: it stays beside all that start after it

    def with_limits_as_requests(self) -> "Container":
        """A limit stands for a missing request."""
        return self._replace(requests=kept_first(self.requests, self.limits)) if self.limits else self


@dataclass(frozen=True, slots=True, eq=False)
class PodResources:
    """Compared by identity: the reader gives templates that say the same one and the same value.

    `faults`: what of it is no quantity, as sentences that go on from the path of the pod spec.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    whole: Container | None = None  # what the pod states as a whole
    overhead: Exact = field(default_factory=lambda: NOTHING)
    runtime_class: str = ""
    faults: tuple[str, ...] = ()
    sharing: Exact = field(default_factory=lambda: NOTHING)  # by annotation: a share of a GPU that the pod asks for

    def with_limits_as_requests(self) -> "PodResources":
        return replace(
            self,
            containers=tuple([each.with_limits_as_requests() for each in self.containers]),
            init_containers=tuple([each.with_limits_as_requests() for each in self.init_containers]),
            whole=self.whole and self.whole.with_limits_as_requests(),
        )

    def total(self) -> Exact:
        """What one pod asks for, by Kubernetes' own formula.

        While its containers run, a pod needs them all and its sidecars; while it starts, each init container and the
        sidecars before it. It asks for the larger of the two, resource by resource, unless the pod states cpu, memory
        or huge pages as a whole; its overhead comes on top.
        """
        starting = sidecars = NOTHING
        for container in self.init_containers:
            now = plus(container.requests, sidecars)
            if container.sidecar:
                sidecars = now
            starting = _larger(starting, now)
        running = sidecars
        for container in self.containers:
            running = plus(running, container.requests)
        total = _larger(running, starting)
        if self.whole is not None:
            total = {**total, **{name: asked for name, asked in self.whole.requests.items() if _of_a_pod(name)}}
        return plus(total, self.overhead)


def kept_first(first: Exact, second: Exact) -> Exact:
    """Both; where both name a resource the first counts."""
    return {**second, **first} if first and second else first or second


def plus(left: Exact, right: Exact) -> Exact:
    """Both added, resource by resource."""
    if not left or not right:  # most pods have one container, and adding fractions is dear
        return left or right
    return {**left, **{name: left.get(name, _ZERO) + asked for name, asked in right.items()}}


def _larger(left: Exact, right: Exact) -> Exact:
    if not right:
        return left
    return {**left, **{name: max(left.get(name, _ZERO), asked) for name, asked in right.items()}}


def _of_a_pod(resource: str) -> bool:
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


@dataclass(frozen=True, slots=True)
class LimitRangeItem:
    """One entry of spec.limits. `default` is of limits, `default_request` of requests."""

    type: str  # Container | Pod; others say nothing about pods
    default: Exact = field(default_factory=lambda: NOTHING)
    default_request: Exact = field(default_factory=lambda: NOTHING)
    min: Exact = field(default_factory=lambda: NOTHING)
    max: Exact = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class LimitRange:
    namespace: str
    name: str
    items: tuple[LimitRangeItem, ...] = ()
    resource_version: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class RuntimeClass:
    """Compared by identity, as its overhead is: it is what requests were worked out with."""

    name: str
    overhead: Exact = field(default_factory=lambda: NOTHING)  # of a pod that states none itself
    resource_version: int = 0
