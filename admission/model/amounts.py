"""Kubernetes quantities as exact integers, both ways.

cpu counts in thousandths of a core, accelerators in thousandths of a device, everything else in its base unit, always
rounded up (away from giving too much), as Kubernetes' MilliValue() and Value() do. Python integers never wrap: an
amount beyond int64 stays a number that no quota can hold. Formatting follows Kubernetes' canonical form, so that what
we write compares equal to what kubectl prints.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from admission.model.accelerators import ACCELERATORS, MEMORY

MAX_INT64 = 2**63 - 1  # a Quantity's Value() saturates here; as a quota it means "unlimited"
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d+)")
_LONGEST = 64  # characters; no honest quantity is longer, and a longer one would only burn CPU
_EXPONENT = 64  # 10^64 of anything is beyond every cluster; larger exponents are an attack on memory
# Kubernetes prints these in powers of 1024, everything else in powers of 1000.
_BINARY_RESOURCES = ("memory", "ephemeral-storage", MEMORY)
# Shares of devices are asked for as shares of cores are: whole devices could give nobody half a one.
_IN_MILLI = ("cpu", ACCELERATORS)


class BadQuantity(ValueError):
    """The text is not a Kubernetes quantity; the message names it and shows one that is."""


@lru_cache(maxsize=16384)
def exact(text: str) -> Fraction:
    """The exact value of a quantity's text in base units. Raises BadQuantity."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise BadQuantity(
            f"{text[:80]!r} is not a quantity: write a number with an optional suffix, like 500m, 2 or 1Gi"
        )
    digits, suffix = match.groups()
    number = Fraction(digits)
    if suffix in _BINARY:
        return number * _BINARY[suffix]
    if suffix in _DECIMAL:
        return number * Fraction(10) ** _DECIMAL[suffix]
    exponent = int(suffix[1:])
    if abs(exponent) > _EXPONENT:
        raise BadQuantity(f"{text[:80]!r} is not a quantity: its exponent is beyond {_EXPONENT}")
    return number * Fraction(10) ** exponent


@lru_cache(maxsize=16384)
def amount(resource: str, text: str | int | float) -> int:
    """Units of `resource` that the text asks for, rounded up: cpu and accelerators in milli, others in base units.

    Raises BadQuantity.
    """
    return rounded_up(resource, exact(str(text)))


def rounded_up(resource: str, value: Fraction) -> int:
    """Units of `resource` for an exact value in whole cores or base units."""
    if resource in _IN_MILLI:
        value *= 1000
    return -((-value.numerator) // value.denominator)


def in_base_units(resource: str, units: int) -> float:
    """For metrics: cores, bytes, pieces."""
    return units / 1000 if resource in _IN_MILLI else float(units)


def in_billionths(resource: str, units: int) -> int:
    """Of cores, devices, bytes, pieces: the finest that a quantity can say."""
    return units * (10**6 if resource in _IN_MILLI else 10**9)


def text(resource: str, units: int) -> str:
    """The canonical quantity for so many units of `resource`, as Kubernetes would print it."""
    if resource in _IN_MILLI:
        if units % 1000:
            return f"{units}m"
        return _with_suffix(units // 1000, 1000, ("", "k", "M", "G", "T", "P", "E"))
    if resource in _BINARY_RESOURCES or resource.startswith("hugepages-"):
        if abs(units) < 1024:  # Kubernetes leaves small binary amounts bare
            return str(units)
        return _with_suffix(units, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
    return _with_suffix(units, 1000, ("", "k", "M", "G", "T", "P", "E"))


def _with_suffix(units: int, step: int, suffixes: tuple[str, ...]) -> str:
    last = 0
    while units and last + 1 < len(suffixes) and units % step == 0:
        units //= step
        last += 1
    return f"{units}{suffixes[last]}"


def plus(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Both vectors added, resource by resource."""
    total = dict(left)
    for name, units in right.items():
        total[name] = total.get(name, 0) + units
    return total


def times(vector: Mapping[str, int], factor: int) -> dict[str, int]:
    """The vector, `factor` times."""
    return {name: units * factor for name, units in vector.items()}
