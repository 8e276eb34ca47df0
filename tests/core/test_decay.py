"""Halving in whole numbers, against arithmetic of sixty digits."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.rules.decay import ONE, decayed, left


def exactly(elapsed: int, half_life: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal("0.5") ** (Decimal(elapsed) / Decimal(half_life))


@given(st.integers(0, 10**10), st.integers(1, 10**9))
def test_what_is_left_is_right_to_fourteen_places(elapsed: int, half_life: int) -> None:
    found = Decimal(left(elapsed, half_life)) / Decimal(ONE)
    assert abs(found - exactly(elapsed, half_life)) < Decimal("1e-14")


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(1, 10**6))
def test_later_there_is_never_more_left(elapsed: int, longer: int, half_life: int) -> None:
    assert 0 <= left(elapsed + longer, half_life) <= left(elapsed, half_life) <= ONE


@pytest.mark.parametrize(("elapsed", "half_life", "expected"), [(0, 7, ONE), (7, 7, ONE // 2), (21, 7, ONE // 8)])
def test_whole_half_lives_are_exact(elapsed: int, half_life: int, expected: int) -> None:
    assert left(elapsed, half_life) == expected


def test_without_a_half_life_nothing_decays() -> None:
    assert left(1000, 0) == ONE
    assert decayed(5, 9, ONE) == 5
    assert decayed(5, 9, 0) == 9
