"""Durations as Go and Kubernetes write them (`1h30m`, `250ms`), in seconds."""

import re
from fractions import Fraction
from functools import lru_cache

_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST = 64  # characters; no honest duration is longer


class BadDuration(ValueError):
    """The text is not a duration; the message names it and shows one that is."""


@lru_cache(maxsize=16384)
def duration(text: str) -> float:
    """Seconds, never negative. Raises BadDuration."""
    rest = text.strip().removeprefix("+")
    if rest == "0":
        return 0.0
    total, position = Fraction(0), 0
    if len(rest) <= _LONGEST:
        while part := _PART.match(rest, position):
            total += Fraction(part[1]) * _UNITS[part[2]]
            position = part.end()
    if not position or position != len(rest):
        raise BadDuration(f"{text[:80]!r} is not a duration: write it like 90s, 10m or 1h30m")
    return float(total)


def spoken(seconds: float) -> str:
    """The duration for a person, at most two units: `45s`, `2m5s`, `1h30m`, `3d4h`. Rounded to whole seconds."""
    whole = round(seconds)
    sign, whole = ("-", -whole) if whole < 0 else ("", whole)
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    first = next((index for index, (amount, _) in enumerate(parts) if amount), 3)
    return sign + "".join(f"{amount}{unit}" for amount, unit in parts[first : first + 2] if amount or unit == "s")
