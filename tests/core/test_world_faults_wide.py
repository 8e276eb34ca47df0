"""The laws of test_world_faults on a cluster that uses everything: checks, minimum counts, late pods, fair shares."""

import pytest

from admission.model.configuration import Configuration
from admission.world.faults import Faults
from admission.world.world import NeverAtRest
from tests.core.storms import calm
from tests.core.wide_storms import FAIR, WIDE, WideDay

BOTH = pytest.mark.parametrize("configuration", [WIDE, FAIR], ids=["classical", "fair"])


def day(faults: Faults, events: int, configuration: Configuration) -> WideDay:
    played = WideDay(faults, configuration)
    try:
        played.play(events)
        played.evening()
    except NeverAtRest as restless:
        played.complaints.append(str(restless))
    return played


@BOTH
def test_in_fair_weather_everybody_ends_and_no_quota_is_exceeded(configuration: Configuration) -> None:
    played = day(calm(2), 80, configuration)
    assert played.complaints == []
    assert played.quota_law.admitted > 30
    reasons = {eviction.reason for eviction in played.world.evictions}
    assert {"AdmissionCheck", "Preempted"} <= reasons


@BOTH
def test_in_a_storm_everybody_ends_and_no_quota_is_exceeded(configuration: Configuration) -> None:
    played = day(Faults(2), 80, configuration)
    assert played.complaints == []
    assert played.quota_law.admitted > 20


@pytest.mark.long
@pytest.mark.timeout(0)
@BOTH
@pytest.mark.parametrize("score", range(5))
def test_ten_long_storms(score: int, configuration: Configuration) -> None:
    broken = {}
    for seed in range(score * 10, score * 10 + 10):
        try:
            complaints = day(Faults(seed), 1000, configuration).complaints
        except Exception as error:  # the other seeds are worth knowing, too
            complaints = [f"{type(error).__name__}: {error}"]
        if complaints:
            broken[seed] = complaints
    assert broken == {}
