"""The parts of `make peer` that need no cluster: what is made up, compared, explained, shrunk and told."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from admission.world.scenario.case import read_case
from hack.peer import generator, telling
from hack.peer.compare import Verdict, judge
from hack.peer.coverage import IMPOSSIBLE, Coverage
from hack.peer.features import FEATURES, exercised
from hack.peer.memory import play_in_memory
from hack.peer.outcome import Outcome, outcome_from_json
from hack.peer.scenario import Scenario, from_json, named
from hack.peer.shrink import finding, shrink

SOME = generator.scenarios("tests", 12)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {one.name: play_in_memory(one) for one in SOME}


def changed(outcome: Outcome, kind: str, reached: Any) -> Outcome:
    """A copy that shows something else at the last moment; `reached` edits what it shows there."""
    copy = outcome_from_json(outcome.as_json())
    last = copy.moments[-1] = replace(copy.moments[-1], shows={**copy.moments[-1].shows})
    last.shows[kind] = {name: {**shown} for name, shown in last.shows[kind].items()}
    reached(last.shows[kind])
    return copy


def fewer(queue: str, less: int, shown: dict[str, Any]) -> None:
    shown[queue]["pending"] -= less


def prioritised(workload: str, shown: dict[str, Any]) -> None:
    shown[workload]["priority"] = 12345


def test_the_same_seed_makes_the_same_scenarios_and_another_makes_others() -> None:
    assert generator.scenarios("tests", 12) == SOME
    assert generator.scenarios("others", 12) != SOME
    assert len({one.name for one in SOME}) == 12
    assert {one.settings for one in SOME} == set(generator.SETTINGS)


def test_a_scenario_survives_its_file() -> None:
    for one in SOME:
        assert from_json(one.as_json()) == one


def test_ours_accepts_every_object_and_plays_every_scenario_to_its_end(outcomes: dict[str, Outcome]) -> None:
    for one in SOME:
        found = outcomes[one.name]
        assert not found.broken, found.broken
        assert not found.moments[0].answer, found.moments[0].answer
        assert not any(moment.restless for moment in found.moments)
        happened = {moment.event for moment in found.moments}
        assert {index for index, event in enumerate(one.events) if event["op"] == "create"} <= happened


def test_an_outcome_agrees_with_itself_and_with_itself_from_a_file(outcomes: dict[str, Outcome]) -> None:
    for one in SOME:
        verdict = judge(one, outcome_from_json(outcomes[one.name].as_json()), outcomes[one.name])
        assert not verdict.differences
        assert not verdict.explained
        assert verdict.compared == len(outcomes[one.name].moments)


def test_any_number_that_differs_is_told_with_its_place(outcomes: dict[str, Outcome]) -> None:
    one = SOME[0]
    queue = next(iter(outcomes[one.name].moments[-1].shows["clusterQueues"]))

    def more(shown: dict[str, Any]) -> None:
        shown[queue]["reserving"] += 1

    verdict = judge(one, changed(outcomes[one.name], "clusterQueues", more), outcomes[one.name])
    assert [one.path for one in verdict.differences] == [("clusterQueues", queue, "reserving")]
    assert verdict.place == len(outcomes[one.name].moments) - 1


def test_what_ours_shows_live_only_is_told_even_where_in_memory_it_would_agree(outcomes: dict[str, Outcome]) -> None:
    """Another way of waking is no excuse for what the usual way does not bring about."""
    for one in SOME:
        first = next(iter(outcomes[one.name].moments[-1].shows["workloads"]))
        live = changed(outcomes[one.name], "workloads", partial(prioritised, first))
        assert judge(one, outcomes[one.name], live).differences


def test_a_rule_explains_nothing_without_what_must_be_so(outcomes: dict[str, Outcome]) -> None:
    """One less pending in a LocalQueue is documented; two less are not, nor is one more."""
    for one in SOME:
        shown = outcomes[one.name].moments[-1].shows["localQueues"]
        local = next((name for name, queue in shown.items() if queue["pending"] > 1), None)
        if local is None:
            continue
        for less, explained in ((1, True), (2, False), (-1, False)):
            peer = changed(outcomes[one.name], "localQueues", partial(fewer, local, less))
            assert bool(judge(one, peer, outcomes[one.name]).differences) is not explained
        return
    pytest.fail("nobody waits in any of these scenarios: make more of them")


def test_coverage_counts_only_what_came_to_matter(outcomes: dict[str, Outcome]) -> None:
    found = [exercised(one, outcomes[one.name]) for one in SOME]
    coverage = Coverage(found)
    assert 0 < coverage.share < 1
    assert coverage.pairs == len(FEATURES) * (len(FEATURES) - 1) // 2 - len(IMPOSSIBLE)
    nothing = Outcome("nothing")
    assert not exercised(SOME[0], nothing) & {"cohort", "reclaim", "fungibility", "StrictFIFO", "partial admission"}


def test_a_difference_becomes_a_scenario_file(outcomes: dict[str, Outcome]) -> None:
    one = SOME[2]
    first = next(iter(outcomes[one.name].moments[-1].shows["workloads"]))
    peer = changed(outcomes[one.name], "workloads", partial(prioritised, first))
    verdict = judge(one, peer, outcomes[one.name])
    assert verdict.differences
    settled = finding(verdict).scenario
    case = read_case(telling.text(settled, verdict))
    assert len(case.form.events) >= len(outcomes[one.name].moments) - 1
    assert not any("pick" in event for event in settled.events), "chance is settled"


def test_shrinking_keeps_what_the_difference_needs_and_little_else(outcomes: dict[str, Outcome]) -> None:
    """Here both sides part whenever a certain workload is there."""
    one = next(one for one in SOME if len(one.events) > 12)
    needed = next(event["ref"] for event in one.events[3:] if event["op"] == "create")

    async def part(candidates: list[Scenario]) -> dict[str, Verdict]:
        found = {}
        for candidate in candidates:
            ours = play_in_memory(candidate)
            peer, name = ours, needed.partition("/")[2]
            if name in ours.moments[-1].shows["workloads"]:
                peer = changed(ours, "workloads", partial(prioritised, name))
            found[candidate.name] = judge(candidate, peer, ours)
        return found

    first = asyncio.run(part([one]))[one.name]
    small = asyncio.run(shrink([finding(first)], part, lambda line: None))[0]
    created = [event["ref"] for event in small.scenario.events if event["op"] == "create"]
    assert created == [needed]
    assert small.verdict.differences
    kinds = [named(manifest).partition("/")[0] for manifest in small.scenario.objects]
    assert kinds.count("ClusterQueue") == 1
