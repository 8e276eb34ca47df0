"""Memory as Spark writes it: `2g`, `512m`, `1024`; and what it adds for all that is not heap."""

import re
from typing import Final

MINIMUM_OVERHEAD: Final = "384m"  # what Spark adds at least
JVM_OVERHEAD: Final = "0.1"  # of the heap
OTHER_OVERHEAD: Final = "0.4"  # Python and R run beside the JVM

_MEBI = 2**20
_POWERS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_UNITS: Final = {"b": 1, **_POWERS, **{f"{unit}b": size for unit, size in _POWERS.items()}}
_STATED = re.compile(r"([0-9]{1,18})([a-z]+)?")
_FACTOR = re.compile(r"[0-9]{0,18}(\.[0-9]{1,18}|[0-9])")


class BadMemory(ValueError):
    """The message says what Spark would read instead."""


def mebibytes(stated: str) -> int:
    """Whole MiB, rounded down as Spark does; a bare number counts in MiB. Raises BadMemory."""
    found = _STATED.fullmatch(stated.strip().lower())
    number, unit = found.groups() if found else ("", None)
    unit = unit or "m"
    if found is None or unit not in _UNITS:
        raise BadMemory("Spark reads whole numbers with k, m, g, t or p, like 512m or 4g")
    return int(number) * _UNITS[unit] // _MEBI


def share(factor: str, heap: int) -> int:
    """So much of a heap, in MiB. Spark multiplies doubles, so this does. Raises BadMemory."""
    if not _FACTOR.fullmatch(factor.strip()):
        raise BadMemory("must be a number like 0.1")
    return int(float(factor) * heap)


def quantity(stated: str) -> str:
    """A limit as the operator hands it to Kubernetes: with units as Java has them, or a quantity already."""
    found = re.fullmatch(r"([0-9.]+)([kmgtp])b?", stated.strip().lower())
    return f"{found[1]}{found[2].upper()}i" if found else stated
