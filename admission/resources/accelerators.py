"""What a pod asks for, in accelerators and their memory, whoever made them: two more resources that quota can be
given for.

All in exact numbers, and never too little: where a name does not tell which part of a device it takes, it counts as
the whole device.
"""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from admission.model.accelerators import ACCELERATORS, ANNOTATIONS, MEMORY, Accelerator, Catalogue
from admission.model.pods import NOTHING, Container, Exact, PodResources, plus

_ZERO, _ONE = Fraction(0), Fraction(1)
_MIB = 2**20
_HUNDRED = 100


class _Asked(NamedTuple):
    """Devices of one sort."""

    devices: Accelerator | None  # None: nobody says what they are
    number: Fraction | None  # None: not said
    shares: tuple[tuple[Accelerator, Fraction], ...]


def with_accelerators(pod: PodResources, catalogue: Catalogue) -> PodResources:
    """The pod, whose containers also ask for what their accelerators come to.

    Container by container: what is said per device is of that container's devices.
    """
    containers = tuple([_with(each, catalogue) for each in pod.containers])
    init_containers = tuple([_with(each, catalogue) for each in pod.init_containers])
    if containers == pod.containers and init_containers == pod.init_containers and not pod.sharing:
        return pod
    overhead = plus(pod.overhead, accelerators(pod.sharing, catalogue))  # of the pod, not of one of its containers
    return replace(pod, containers=containers, init_containers=init_containers, overhead=overhead)


def accelerators(asked: Exact, catalogue: Catalogue) -> Exact:
    """What these requests, or annotations, come to. Without those of it that are 0."""
    count = memory = _ZERO
    for sort in _sorts(asked, catalogue):
        count += _count(sort)
        memory += _memory(sort)
    found = {ACCELERATORS: count, MEMORY: memory}
    return {name: units for name, units in found.items() if units > 0} or NOTHING


def _with(container: Container, catalogue: Catalogue) -> Container:
    extra = accelerators(container.requests, catalogue)
    return container._replace(requests=plus(container.requests, extra)) if extra else container


def _sorts(asked: Exact, catalogue: Catalogue) -> list[_Asked]:
    found: dict[str, _Asked] = {}
    for name, units in asked.items():
        if "/" not in name and name not in ANNOTATIONS:  # cpu, memory: nearly all that is ever asked for
            continue
        one = catalogue.find(name)
        if one is None or units <= 0:  # 0 of a share means in all these systems that it is not limited
            continue
        if one.counts_devices:
            before = found.get(name)
            found[name] = _Asked(one, units, before.shares if before else ())
        else:
            place = one.of or name
            known = found.get(place) or _Asked(catalogue.find(one.of), asked.get(one.of), ())
            found[place] = known._replace(shares=(*known.shares, (one, units)))
    return [found[name] for name in sorted(found)]


def _count(sort: _Asked) -> Fraction:
    devices = sort.number or _ONE
    worth = sort.devices.accelerators if sort.devices is not None else _ONE
    of_all = [share for one, units in sort.shares if (share := _share(sort, one, units)) and not one.per_device]
    of_each = [share for one, units in sort.shares if (share := _share(sort, one, units)) and one.per_device]
    if of_each:
        return devices * min(max(of_each), _ONE) * worth
    return (max(of_all) if of_all else devices) * worth


def _share(sort: _Asked, one: Accelerator, units: Fraction) -> Fraction | None:
    """In devices; None: nobody can tell."""
    match one.unit:
        case "fraction":
            return units
        case "percent" | "memory-percent":
            return units / _HUNDRED
        case "MiB" | "byte":
            whole = sort.devices.memory if sort.devices is not None else None
            return _bytes(one, units) / whole if whole else None
        case _:
            return None


def _memory(sort: _Asked) -> Fraction:
    """Bytes; 0 where nobody can tell."""
    devices = sort.number or _ONE
    stated = [
        _bytes(one, units) * (devices if one.per_device else 1)
        for one, units in sort.shares
        if one.unit in ("MiB", "byte")
    ]
    if stated:
        return max(stated)
    whole = sort.devices.memory if sort.devices is not None else None
    if whole is None:
        return _ZERO
    shares = [
        min(units / _HUNDRED, _ONE) * devices if one.per_device else units / _HUNDRED
        for one, units in sort.shares
        if one.unit == "memory-percent"
    ]
    if shares:
        return max(shares) * whole
    worth = sort.devices.accelerators if sort.devices is not None else _ONE
    return (_count(sort) / worth if worth else devices) * whole


def _bytes(one: Accelerator, units: Fraction) -> Fraction:
    return units * _MIB if one.unit == "MiB" else units
