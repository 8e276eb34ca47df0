"""What a pod really asks for, and why such a pod could never be created.

In Kueue's order: overhead of its RuntimeClass, defaults of LimitRanges, limits for missing requests, the formula of
Kubernetes, excluded prefixes, transformations. What its accelerators come to is worked out before that formula, so
that prefixes and transformations of the Configuration find it as if the pod had asked for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

from admission.model.accelerators import Catalogue
from admission.model.configuration import Resources
from admission.model.pods import Container, PodResources, RuntimeClass
from admission.model.workload import PodSet, Workload
from admission.readers.pod_resources import units_of
from admission.resources.accelerators import with_accelerators
from admission.resources.catalogue import CATALOGUE
from admission.resources.limit_range import Limits, complaint, greater, violations, with_defaults
from admission.resources.transformations import counted

ABOVE_LIMITS = "requests must not exceed its limits"
INVALID = "resources validation failed"
UNSATISFIED = "resources didn't satisfy LimitRange constraints"

# Distinct templates are some thousands even where every job is generated; each is worked out in some 20 microseconds.
_REMEMBERED = 8192


class Effective(NamedTuple):
    """Of one pod. `invalid` and `unsatisfied` are sentences that go on from the path of its spec."""

    requests: Mapping[str, int]  # units as in `amounts`
    invalid: tuple[str, ...] = ()  # not even a pod
    unsatisfied: tuple[str, ...] = ()  # not in this namespace


def effective(
    settings: Resources,
    catalogue: Catalogue,
    pod: PodResources,
    limits: Limits | None,
    runtime_class: RuntimeClass | None,
) -> Effective:
    """What one such pod asks for in a namespace with these limits."""
    if runtime_class is not None and not pod.overhead:
        pod = replace(pod, overhead=runtime_class.overhead)
    if limits is not None:
        pod = with_defaults(pod, limits)
    pod = pod.with_limits_as_requests()
    unsatisfied = violations(pod, limits) if limits is not None else ()
    asked = with_accelerators(pod, catalogue).total()
    return Effective(units_of(counted(asked, settings)), (*pod.faults, *_above(pod)), tuple(unsatisfied))


def _above(pod: PodResources) -> list[str]:
    found: list[str] = []
    for field, containers in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for at, each in enumerate(containers):
            found += _excess(f".{field}[{at}]", each)
    return found + (_excess(".resources", pod.whole) if pod.whole is not None else [])


def _excess(path: str, container: Container) -> list[str]:
    return complaint(path, greater(container.requests, container.limits), ABOVE_LIMITS)


class Adjustment:
    """Workloads as the scheduler is to see them. What was worked out for a template is remembered."""

    def __init__(self, settings: Resources, catalogue: Catalogue = CATALOGUE) -> None:
        self._effective: Callable[[PodResources, Limits | None, RuntimeClass | None], Effective]
        self._effective = lru_cache(_REMEMBERED)(partial(effective, settings, catalogue))

    def of(self, workload: Workload, limits: Limits | None, runtime_classes: Mapping[str, RuntimeClass]) -> Workload:
        """The workload with effective requests, and with the problem that keeps it from ever being admitted like this.

        `limits`: of its namespace. The same value when nothing is to be changed.
        """
        found = [(pod_set, self._of(pod_set, limits, runtime_classes)) for pod_set in workload.pod_sets]
        for pod_set, one in found:
            if one.requests != pod_set.requests or one.invalid or one.unsatisfied:
                break
        else:
            return workload
        problem = _problem([one for _, one in found])
        changed = [replace(pod_set, requests=one.requests, problem=problem) for pod_set, one in found]
        return workload.but(pod_sets=tuple(changed))

    def _of(self, pod_set: PodSet, limits: Limits | None, runtime_classes: Mapping[str, RuntimeClass]) -> Effective:
        pod = pod_set.pod
        if pod is None:
            return Effective(pod_set.requests)
        return self._effective(pod, limits, runtime_classes.get(pod.runtime_class) if pod.runtime_class else None)


def _problem(found: list[Effective]) -> str:
    """In Kueue's words; a pod that is none is complained of before one that is not wanted in its namespace."""
    for words, sentences in (
        (INVALID, [_named(at, each) for at, one in enumerate(found) for each in one.invalid]),
        (UNSATISFIED, [_named(at, each) for at, one in enumerate(found) for each in one.unsatisfied]),
    ):
        if len(sentences) > 1:
            return f"{words}: [{', '.join(sentences)}]"  # as Kubernetes aggregates errors
        if sentences:
            return f"{words}: {sentences[0]}"
    return ""


def _named(at: int, sentence: str) -> str:
    return f"spec.podSets[{at}].template.spec{sentence}"
