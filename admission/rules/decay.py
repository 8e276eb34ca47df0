"""Halving over time in whole numbers: 0.5 to the power of t/h as a count of 2^-64, the same on every machine.

The exponent is rounded down to 2^-48 of a half-life (of a week, two nanoseconds); the result is right to 14 places.
"""

from math import isqrt

BITS = 64
ONE = 1 << BITS
_STEPS = 48
_GUARD = 32  # further bits while roots are drawn, so that their errors stay below the last bit


def _roots() -> tuple[int, ...]:
    """0.5^(1/2), 0.5^(1/4), … each the square root of the one before."""
    root, scale = 1 << (BITS + _GUARD - 1), BITS + _GUARD
    roots = []
    for _ in range(_STEPS):
        root = isqrt(root << scale)
        roots.append(root >> _GUARD)
    return tuple(roots)


_ROOTS = _roots()


def left(elapsed: int, half_life: int) -> int:
    """What is left of ONE after `elapsed`, both in the same unit. Without a half-life nothing decays."""
    if half_life <= 0 or elapsed <= 0:
        return ONE
    halvings, rest = divmod(elapsed, half_life)
    if halvings > BITS:
        return 0
    fraction = (rest << _STEPS) // half_life
    result = ONE
    for step, root in enumerate(_ROOTS):
        if fraction >> (_STEPS - 1 - step) & 1:
            result = result * root >> BITS
    return result >> halvings


def decayed(before: int, now: int, keep: int) -> int:
    """`before` fading into `now`: so much of ONE is kept."""
    return (before * keep + now * (ONE - keep)) >> BITS
