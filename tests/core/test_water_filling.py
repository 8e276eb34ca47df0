"""Runtime quota: figures worked out by hand, and laws that hold for whatever numbers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.tree.water_filling import Child, runtime, scaled

A, B, C, D = Child("a", 20, 5, 60), Child("b", 30, 50, 40), Child("c", 10, 60, 30), Child("d", 0, 20, 20)


@pytest.mark.parametrize(
    ("total", "children", "shares"),
    [
        pytest.param(100, [A, B, C, D], [5, 50, 31, 14], id="what b cannot use flows on"),
        pytest.param(100, [A._replace(lends=False), B, C, D], [20, 48, 23, 9], id="a keeps what it does not use"),
        pytest.param(10, [Child(n, 0, 10, 1) for n in "abc"], [4, 3, 3], id="the odd unit goes to the first name"),
        pytest.param(10, [Child("a", 0, 10, 0), Child("b", 0, 3, 1)], [0, 3], id="no weight, nothing; seven are left"),
        pytest.param(10, [Child("a", 8, 9, 1), Child("b", 8, 9, 1)], [8, 8], id="minimums stand beyond the total"),
        pytest.param(
            100, [Child("a", 10, 40, 10, guaranteed=30), Child("b", 10, 90, 10)], [40, 60], id="guaranteed beyond min"
        ),
        pytest.param(2**62, [Child("a", 0, 2**61, 2**60), Child("b", 0, 2**62, 2**60)], [2**61, 2**61], id="huge"),
        pytest.param(-5, [Child("a", 3, 9, 1)], [3], id="nothing is clawed back"),
        pytest.param(7, [], [], id="nobody"),
    ],
)
def test_runtime_by_hand(total: int, children: list[Child], shares: list[int]) -> None:
    assert list(runtime(total, children).values()) == shares


def test_minimums_shrink_in_proportion_beside_those_that_never_do() -> None:
    assert scaled(60, 20, {"a": 50, "b": 30}) == {"a": 25, "b": 15}
    assert scaled(10, 20, {"a": 50, "b": 30}) == {"a": 0, "b": 0}
    assert scaled(100, 20, {"a": 50, "b": 30}) == {"a": 50, "b": 30}
    assert scaled(-1, 0, {"a": 0}) == {"a": 0}


numbers = st.integers(0, 40) | st.integers(0, 2**70)
families = st.lists(
    st.builds(
        Child,
        st.sampled_from("abcdefgh"), numbers, numbers, st.integers(-2, 9) | numbers, st.booleans(), st.just(0) | numbers
    ),
    max_size=6,
    unique_by=lambda child: child.name,
)  # fmt: skip


@given(st.integers(-5, 100) | numbers, families)
def test_laws_of_runtime(total: int, children: list[Child]) -> None:
    shares = runtime(total, children)
    assert shares == runtime(total, reversed(children)) == by_hand(total, children)
    for child in children:
        least = max(child.least, child.guaranteed)
        assert min(least, child.asked) <= shares[child.name] <= max(least, child.asked)
        if not child.lends:
            assert shares[child.name] >= least
    assert sum(shares.values()) <= max(total, sum(runtime(0, children).values()))
    satisfied = all(shares[child.name] >= child.asked for child in children if child.weight > 0)
    assert satisfied or sum(shares.values()) >= total


@given(st.integers(0, 100), families.filter(bool), st.integers(1, 50))
def test_more_weight_never_means_less(total: int, children: list[Child], more: int) -> None:
    first = children[0]
    heavier = [first._replace(weight=max(0, first.weight) + more), *children[1:]]
    # Rounding is done anew in each round, at most one for each child, and may cost a unit each time.
    assert runtime(total, heavier)[first.name] >= runtime(total, children)[first.name] - len(children)


@given(numbers, numbers, st.dictionaries(st.sampled_from("abcdef"), numbers, max_size=5))
def test_scaled_minimums_fit_and_never_grow(total: int, fixed: int, least: dict[str, int]) -> None:
    fitting = scaled(total, fixed, least)
    assert fitting.keys() == least.keys()
    assert all(0 <= fitting[name] <= least[name] for name in least)
    assert sum(fitting.values()) <= max(0, total - fixed)


def by_hand(total: int, children: list[Child]) -> dict[str, int]:
    """The same, as one would on paper: fractions, and the odd units one by one."""
    have = {}
    for child in sorted(children):
        least = max(child.least, child.guaranteed)
        have[child.name] = least if child.asked > least else (child.asked if child.lends else least)
    wants = {child.name: child for child in sorted(children) if child.asked > max(child.least, child.guaranteed)}
    left = total - sum(have.values())
    while left > 0:
        weight = sum(max(child.weight, 0) for child in wants.values())
        if not weight:
            break
        exact = {name: Fraction(left * max(child.weight, 0), weight) for name, child in wants.items()}
        part = {name: share.numerator // share.denominator for name, share in exact.items()}
        for _ in range(left - sum(part.values())):
            name = min(exact, key=lambda one: (part[one] - exact[one], one))
            part[name] += 1
        left = 0
        for name, child in list(wants.items()):
            have[name] += part[name]
            if have[name] >= child.asked:
                left += have[name] - child.asked
                have[name] = child.asked
                del wants[name]
    return have
