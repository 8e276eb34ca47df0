"""Durations as Go writes them, and as a person reads them."""

import pytest

from admission.model.durations import BadDuration, duration, spoken


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("250ms", 0.25),
        ("0", 0),
        ("1.5h", 5400),
        (".5m", 30),
        ("2m0.5s", 120.5),
        ("7us", 7e-6),
    ],
)
def test_a_duration_is_read_as_go_reads_it(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "-5s", "1d", "s", "1h 30m", "5s5", "9" * 100 + "s", "1e3s"])
def test_what_go_would_not_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadDuration, match="write it like 90s, 10m or 1h30m"):
        duration(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"),
        (45.4, "45s"),
        (125, "2m5s"),
        (3600, "1h"),
        (5400, "1h30m"),
        (90061, "1d1h"),
        (120, "2m0s"),
        (-60, "-1m0s"),
    ],
)
def test_a_person_is_told_two_units_at_most(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
