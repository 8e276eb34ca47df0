"""Quantities in the canonical form in which Kubernetes stores them in its own kinds (CRDs keep the text as written)."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from admission.model.amounts import BadQuantity, exact

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")


def canonical(value: Any) -> str | None:
    """The canonical text, in the notation (binary or decimal) of the input; None for what is no quantity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return _canonical(str(value))


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str | None:
    try:
        value = exact(text)
    except BadQuantity:
        return None
    if text.endswith("i") and abs(value) >= 1024 and value.denominator == 1:
        return _scaled(value, 1024, _BINARY)
    nanos = Fraction(_ceil(value * 10**9))  # nothing finer than a nano exists
    return "0" if nanos == 0 else _scaled(nanos, 1000, _DECIMAL)


def _ceil(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)


def _scaled(value: Fraction, step: int, suffixes: tuple[str, ...]) -> str:
    number, index = int(value), 0
    while index + 1 < len(suffixes) and number % step == 0:
        number, index = number // step, index + 1
    return f"{number}{suffixes[index]}"
