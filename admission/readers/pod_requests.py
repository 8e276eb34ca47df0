"""What one pod asks for, by Kubernetes' own formula.

While its containers run, a pod needs them all and its sidecars (init containers that restart always); while it starts,
each init container and the sidecars before it. It asks for the larger of the two, resource by resource, unless the pod
states cpu, memory or huge pages as a whole; its overhead comes on top. As in Kueue, a limit stands for a missing
request. Sums are exact and rounded once.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from admission.api.field_errors import FieldError, invalid, key
from admission.model.amounts import BadQuantity, exact
from admission.readers.narrow import entries, mapping

Exact = dict[str, Fraction]  # by resource, in whole cores and base units

_NOTHING = Fraction(0)
ABOVE_LIMITS = "requests must not exceed its limits"


class Asked(NamedTuple):
    requests: dict[str, int]  # units as in `amounts`, never negative
    errors: list[FieldError]  # why no node could ever run such a pod


def pod_requests(pod: Mapping[str, Any], path: str) -> Asked:
    """The requests of a pod spec found at `path`. A request that is no quantity counts as none and is an error."""
    errors: list[FieldError] = []
    starting: Exact = {}
    sidecars: Exact = {}
    for container, where in _containers(pod, "initContainers", path):
        needs = _requests(container, where, errors)
        now = _plus(needs, sidecars)
        if container.get("restartPolicy") == "Always":
            sidecars = now
        starting = _larger(starting, now)
    running = sidecars
    for container, where in _containers(pod, "containers", path):
        running = _plus(running, _requests(container, where, errors))
    total = _larger(running, starting)
    if "resources" in pod:
        whole = _requests(pod, path, errors, named=f"{path}.resources")
        total = total | {resource: units for resource, units in whole.items() if _of_a_pod(resource)}
    total = _plus(total, _quantities(pod.get("overhead"), f"{path}.overhead", errors))
    return Asked({resource: _units(resource, total[resource]) for resource in sorted(total)}, errors)


def _containers(pod: Mapping[str, Any], field: str, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    for position, container in enumerate(entries(pod.get(field))):
        yield container, f"{path}.{field}[{position}]"


def _requests(holder: Mapping[str, Any], path: str, errors: list[FieldError], named: str = "") -> Exact:
    """Of a container or a pod: its requests, and its limits where it has none. `named`: where an excess is shown."""
    resources = mapping(holder.get("resources"))
    limits = _quantities(resources.get("limits"), f"{path}.resources.limits", errors)
    requests = limits | _quantities(resources.get("requests"), f"{path}.resources.requests", errors)
    above = sorted(resource for resource, limit in limits.items() if requests[resource] > limit)
    if above:
        errors.append(invalid(named or path, above, ABOVE_LIMITS))
    return requests


def _quantities(value: object, path: str, errors: list[FieldError]) -> Exact:
    found: Exact = {}
    for resource, stated in mapping(value).items():
        try:
            # Negative requests are refused at the door; older ones must not give credit to the rest of the pod.
            asked = exact(_spelled(stated))
            found[resource] = asked if asked.numerator > 0 else _NOTHING
        except BadQuantity as error:
            errors.append(invalid(key(path, resource), stated, str(error)))
    return found


def _spelled(stated: object) -> str:
    if isinstance(stated, str | int | float) and not isinstance(stated, bool):
        return str(stated)
    raise BadQuantity("must be a quantity: a number with an optional suffix, like 500m, 2 or 1Gi")


def _of_a_pod(resource: str) -> bool:
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def _plus(left: Exact, right: Exact) -> Exact:
    if not left or not right:  # most pods have one container, and adding fractions is dear
        return left or right
    return left | {name: left.get(name, _NOTHING) + units for name, units in right.items()}


def _larger(left: Exact, right: Exact) -> Exact:
    return left | {name: max(left.get(name, _NOTHING), units) for name, units in right.items()}


def _units(resource: str, value: Fraction) -> int:
    value *= 1000 if resource == "cpu" else 1
    return -((-value.numerator) // value.denominator)
