"""Whatever goes wrong between product and API server, no quota is exceeded and everybody ends somewhere.

What breaks a law on purpose is caught by it: a law that cannot be broken says nothing.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from admission.model.effects import Outcome, Patch, Plan
from admission.model.names import EVICTED
from admission.model.queues import ClusterQueue
from admission.state import State
from admission.world.faults import Faults
from admission.world.world import NeverAtRest
from tests.core.storms import Day, calm

SEEDS = (4, 6)  # a sample of the long run below


def day(faults: Faults, events: int, machine: Any = State, quotas_change: bool = True) -> Day:
    played = Day(faults, machine, quotas_change)
    try:
        played.play(events)
        played.evening()
    except NeverAtRest as restless:
        played.complaints.append(str(restless))
    return played


def test_in_fair_weather_everybody_ends_and_no_quota_is_exceeded() -> None:
    played = day(calm(0), 100)
    assert played.complaints == []
    assert played.quota_law.admitted > 30
    assert played.start_law.started > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_in_a_storm_everybody_ends_and_no_quota_is_exceeded(seed: int) -> None:
    played = day(Faults(seed), 100)
    assert played.complaints == []
    assert played.quota_law.admitted > 40
    assert played.world.storm is not None
    assert len(played.world.storm.tally.counts) >= 5  # kinds of disaster that struck


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("century", range(10))
def test_a_hundred_storms(century: int) -> None:
    broken = {}
    for seed in range(century * 100, century * 100 + 100):
        try:
            complaints = day(Faults(seed), 500).complaints
        except Exception as error:  # the other seeds are worth knowing, too
            complaints = [f"{type(error).__name__}: {error}"]
        if complaints:
            broken[seed] = complaints
    assert broken == {}


def test_equal_seeds_give_equal_runs() -> None:
    first, second = (Day(Faults(11)) for _ in range(2))
    for played in (first, second):
        played.play(40)
    assert first.world.writes == second.world.writes
    assert first.world.evictions == second.world.evictions


# broken on purpose


class Generous(State):
    """Believes in twice the quota there is."""

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None:
        if isinstance(value, ClusterQueue):
            groups = tuple(
                replace(
                    group,
                    flavors=tuple(
                        replace(
                            flavor,
                            quotas={
                                name: quota._replace(nominal=2 * quota.nominal) for name, quota in flavor.quotas.items()
                            },
                        )
                        for flavor in group.flavors
                    ),
                )
                for group in value.groups
            )
            value = replace(value, groups=groups)
        super().observe(kind, value, read=read)


class Careless(State):
    """Takes a write without an answer for one that never was, and its quota for free."""

    def outcome(self, outcome: Outcome) -> None:
        super().outcome(replace(outcome, result="aborted") if outcome.result == "unknown" else outcome)


class Forgetful(State):
    """Believes that it has evicted, and never writes it."""

    def plan(self, now: float, budget: int = 256) -> Plan:
        plan = super().plan(now, budget)
        kept = []
        for planned in plan.effects:
            if isinstance(planned.effect, Patch) and _evicts(planned.effect):
                self.outcome(Outcome(planned.id, "ok", planned.effect.resource_version))
            else:
                kept.append(planned)
        return replace(plan, effects=tuple(kept))


def _evicts(patch: Patch) -> bool:
    conditions = (patch.body.get("status") or {}).get("conditions") or ()
    reserved = any(c["type"] == "QuotaReserved" and c["status"] == "True" for c in conditions)
    return reserved and any(c["type"] == EVICTED and c["status"] == "True" for c in conditions)


def test_an_overshoot_is_caught() -> None:
    assert any("allowed" in complaint for complaint in day(calm(0), 60, Generous).complaints)


def first_broken(faults: Iterable[Faults], machine: Any = State, about: str = "") -> list[str]:
    """Complaints of the first of these days that has such a one: no quota is edited that could excuse anything.

    A planted fault shows only when the weather hits it, so that a few days are tried.
    """
    for one in faults:
        found = day(one, 60, machine, quotas_change=False).complaints
        if any(about in complaint for complaint in found):
            return found
    return []


def test_a_double_admission_is_caught() -> None:
    """Replies get lost and watches lag; nothing else goes wrong."""
    days = (replace(calm(seed), lost_reply=0.2, late_watch=0.6) for seed in range(33, 63))
    assert first_broken(days, Careless, "allowed")


def test_an_eviction_that_was_never_written_is_caught() -> None:
    assert day(calm(0), 60, Forgetful).complaints


def test_a_successor_that_does_not_wait_for_the_old_leaders_requests_is_caught() -> None:
    """Late requests of one that crashed land on quota that its successor has given away."""
    days = (replace(calm(seed), crash=0.15, takeover_wait=0.0) for seed in range(53, 83))
    assert first_broken(days, about="allowed")


def test_a_leader_that_slept_and_does_not_look_at_its_lease_is_caught() -> None:
    days = (replace(calm(seed), sleep=0.04, checks_lease=False) for seed in range(15, 60))
    assert first_broken(days)
