"""Pod spec -> what it says of resources. Many pods of different programs say the same: they share one value."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from admission.api.field_errors import invalid, key
from admission.model.accelerators import FRACTION, FRACTION_MEMORY
from admission.model.amounts import BadQuantity, exact, rounded_up
from admission.model.pods import NOTHING, Container, Exact, PodResources
from admission.readers.narrow import entries, is_mapping, mapping, word
from admission.readers.pool import Pool

_NOTHING = Fraction(0)


class Stated(NamedTuple):
    """`requests` is what one pod asks for as long as no LimitRange or RuntimeClass says more; units as in `amounts`."""

    pod: PodResources
    requests: Mapping[str, int]


_stated: Pool[Stated] = Pool(8192)


def stated_by(pod: Mapping[str, Any], shared: Sequence[tuple[str, str]] = ()) -> Stated:
    """A request that is no quantity counts as none, and is a fault. `shared`: annotations that ask for a share of a
    GPU; one that is no quantity asks for nothing."""
    source = [
        _extract(pod.get("containers")),
        _extract(pod.get("initContainers")),
        pod.get("resources"),
        pod.get("overhead"),
        pod.get("runtimeClassName"),
    ]
    return _stated.of([*source, *shared], lambda: _state(pod, shared))


def _extract(containers: object) -> list[Any]:
    return [(each.get("resources"), each.get("restartPolicy")) for each in entries(containers)]


def _state(pod: Mapping[str, Any], shared: Sequence[tuple[str, str]]) -> Stated:
    faults: list[str] = []
    whole = pod.get("resources")
    read = PodResources(
        _containers(pod, "containers", faults),
        _containers(pod, "initContainers", faults),
        _container(whole, False, ".resources", faults) if is_mapping(whole) else None,
        read_quantities(pod.get("overhead"), ".overhead", faults),
        word(pod.get("runtimeClassName")),
        tuple(faults),
        _sharing(shared),
    )
    return Stated(read, units_of(read.with_limits_as_requests().total()))


def _sharing(shared: Sequence[tuple[str, str]]) -> Exact:
    asked = read_quantities(dict(shared))
    return asked if FRACTION in asked or FRACTION_MEMORY in asked else NOTHING  # a number of devices alone is no wish


def units_of(asked: Exact) -> Mapping[str, int]:
    """In units as in `amounts`, each rounded once, sorted by resource."""
    return {resource: rounded_up(resource, asked[resource]) for resource in sorted(asked)}


def _containers(pod: Mapping[str, Any], field: str, faults: list[str]) -> tuple[Container, ...]:
    read = []
    for at, each in enumerate(entries(pod.get(field))):
        always = each.get("restartPolicy") == "Always"
        read.append(_container(each.get("resources"), always, f".{field}[{at}].resources", faults))
    return tuple(read)


def _container(stated: object, sidecar: bool, path: str, faults: list[str]) -> Container:
    resources = mapping(stated)
    return Container(
        read_quantities(resources.get("requests"), f"{path}.requests", faults),
        read_quantities(resources.get("limits"), f"{path}.limits", faults),
        sidecar,
    )


def read_quantities(value: object, path: str = "", faults: list[str] | None = None) -> Exact:
    """By resource; negative ones count as 0. What is no quantity is left out, and told to `faults`."""
    found: dict[str, Fraction] = {}
    for name, stated in mapping(value).items():
        resource = word(name)
        try:
            # Negative requests are refused at the door; older ones must not give credit to the rest of the pod.
            asked = exact(_spelled(stated))
            found[resource] = asked if asked.numerator > 0 else _NOTHING
        except BadQuantity as error:
            if faults is not None:
                faults.append(str(invalid(key(path, resource), stated, str(error))))
    return found or NOTHING


def _spelled(stated: object) -> str:
    if isinstance(stated, str | int | float) and not isinstance(stated, bool):
        return str(stated)
    raise BadQuantity("must be a quantity: a number with an optional suffix, like 500m, 2 or 1Gi")
