"""The laws of test_world_faults where jobs are of many kinds and make other jobs."""

from dataclasses import replace

import pytest

from admission.model.configuration import DEFAULTS, Configuration
from admission.world.faults import Faults
from admission.world.world import NeverAtRest
from tests.core.kind_storms import KindDay
from tests.core.storms import calm

ALL = replace(DEFAULTS, manage_jobs_without_queue_name=True)
BOTH = pytest.mark.parametrize("configuration", [DEFAULTS, ALL], ids=["queued ones", "all"])


def day(faults: Faults, events: int, configuration: Configuration = DEFAULTS) -> KindDay:
    played = KindDay(faults, configuration)
    try:
        played.play(events)
        played.evening()
    except NeverAtRest as restless:
        played.complaints.append(str(restless))
    return played


def test_in_fair_weather_everybody_ends_and_nothing_is_charged_twice() -> None:
    played = day(calm(3), 40)
    assert played.complaints == []
    assert played.quota_law.admitted > 12
    assert played.start_law.started > 12


def test_in_a_storm_everybody_ends_and_nothing_is_charged_twice() -> None:
    played = day(Faults(5), 40)
    assert played.complaints == []
    assert played.quota_law.admitted > 10
    assert played.start_law.started > 12


@pytest.mark.long
@pytest.mark.timeout(0)
@BOTH
@pytest.mark.parametrize("score", range(5))
def test_twenty_long_storms(score: int, configuration: Configuration) -> None:
    broken = {}
    for seed in range(score * 20, score * 20 + 20):
        try:
            complaints = day(Faults(seed), 400, configuration).complaints
        except Exception as error:  # the other seeds are worth knowing, too
            complaints = [f"{type(error).__name__}: {error}"]
        if complaints:
            broken[seed] = complaints
    assert broken == {}
