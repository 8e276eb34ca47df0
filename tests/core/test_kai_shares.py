"""KAI's division of a resource: worked out by hand, and what always holds of it."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.migration.kai_shares import kai_shares
from admission.migration.queues import ForeignQueue, Quota

Row = tuple[str, int | None, int | None, int, int, int]  # name, quota, limit, weight, priority, asked


def shares(total: int, *rows: Row, parents: dict[str, str] | None = None) -> dict[str, int]:
    above = parents or {}
    queues = [
        ForeignQueue(
            name, above.get(name, ""), name, {"gpu": Quota(owned, most, weight=Fraction(weight))}, priority=priority
        )
        for name, owned, most, weight, priority, _ in rows
    ]
    return kai_shares(queues, "gpu", total, {row[0]: row[5] for row in rows})


@pytest.mark.parametrize(
    ("total", "rows", "expected"),
    [
        # 10 less 2, 2, 1 leaves 5; a of the higher priority wants 2; 3 are 2 and 1 by weight; d has no weight.
        (10, [("a", 2, None, 1, 200, 4), ("b", 2, None, 2, 100, 8), ("c", 1, None, 1, 100, 6),
              ("d", 0, None, 0, 100, 3)], [4, 4, 2, 0]),
        # 10 by 1 to 1 to 1 is 3 each, and the one that is left goes to the first by name.
        (10, [("a", 0, None, 1, 100, 9), ("b", 0, None, 1, 100, 9), ("c", 0, None, 1, 100, 9)], [4, 3, 3]),
        # b wants 1 of its 5: the other 4 go to a in a second round.
        (10, [("a", 0, None, 1, 100, 9), ("b", 0, None, 1, 100, 1)], [9, 1]),
        # A limit bounds what is asked for.
        (10, [("a", 2, 3, 1, 100, 9), ("b", 0, None, 1, 100, 9)], [3, 7]),
        # Quotas beyond the total stand: nobody is scaled down.
        (10, [("a", 8, None, 1, 100, 9), ("b", 8, None, 1, 100, 9)], [8, 8]),
        # Unlimited is the whole level's; the other's quota stands beside it.
        (10, [("a", None, None, 0, 100, 9), ("b", 2, None, 1, 100, 9)], [9, 2]),
        # 7 by 3 to 2 is 4.2 and 2.8: 4 and 2, and the larger remainder gets the last one.
        (7, [("a", 0, None, 3, 100, 9), ("b", 0, None, 2, 100, 9)], [4, 3]),
        # A lower priority drinks only what the higher one leaves.
        (10, [("a", 0, None, 1, 200, 99), ("b", 1, None, 9, 100, 9)], [9, 1]),
        (0, [("a", 0, None, 1, 100, 9)], [0]),
    ],
)  # fmt: skip
def test_divisions_by_hand(total: int, rows: list[Row], expected: list[int]) -> None:
    assert list(shares(total, *rows).values()) == expected


def test_each_level_divides_what_its_parent_may_use() -> None:
    found = shares(
        10,
        ("p", 4, None, 1, 100, 0),
        ("q", 2, None, 1, 100, 9),
        ("p1", 1, None, 1, 100, 5),
        ("p2", 0, None, 1, 100, 5),
        parents={"p1": "p", "p2": "p"},
    )
    # 4 and 2, and of the 4 over each two: p has 6, of which p1 owns 1, and 5 are 2 each and one for the first by name.
    assert found == {"p": 6, "q": 4, "p1": 4, "p2": 2}


count = st.integers(0, 12)
row = st.tuples(count, st.none() | count, st.integers(0, 3), st.sampled_from([100, 200]), count)


@settings(max_examples=60)
@given(st.integers(0, 30), st.lists(row, min_size=1, max_size=5))
def test_laws_of_the_division(total: int, sizes: list[tuple[int, int | None, int, int, int]]) -> None:
    rows = [(f"q{at}", *one) for at, one in enumerate(sizes)]
    found = shares(total, *rows)
    owned = 0
    for name, quota, most, weight, _, asked in rows:
        want = asked if most is None else min(asked, most)
        assert min(quota, want) <= found[name] <= want
        assert weight or found[name] == min(quota, want)
        owned += min(quota, want)
    assert sum(found.values()) <= max(total, owned)
    hungry = [row for row in rows if row[3] and found[row[0]] < (row[5] if row[2] is None else min(row[5], row[2]))]
    if hungry:  # then nothing is left over
        assert sum(found.values()) >= total
    top = max((row[4] for row in hungry), default=0)
    for name, quota, most, _, priority, asked in rows:
        if priority < top:  # a lower priority gets nothing over its quota as long as a higher one wants more
            assert found[name] == min(quota, asked if most is None else min(asked, most))


@settings(max_examples=40)
@given(st.integers(0, 30), st.lists(row, min_size=2, max_size=4), st.integers(1, 3))
def test_more_weight_never_gives_less(
    total: int, sizes: list[tuple[int, int | None, int, int, int]], more: int
) -> None:
    rows: list[Row] = [(f"q{at}", *one) for at, one in enumerate(sizes)]
    name, quota, most, weight, priority, asked = rows[0]
    before = shares(total, *rows)[name]
    after = shares(total, (name, quota, most, weight + more, priority, asked), *rows[1:])[name]
    assert after >= before - 1  # whole units: a remainder may change its owner
