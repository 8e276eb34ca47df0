"""Outcomes of scenarios on one side, kept in a file: played once, compared as often as one likes."""

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from hack.peer.live import session
from hack.peer.memory import play_in_memory
from hack.peer.outcome import Outcome, outcome_from_json
from hack.peer.scenario import Scenario, from_json
from hack.peer.sides import Side, running

Outcomes = dict[str, Outcome]


def live(side: Side, scenarios: list[Scenario], say: Callable[[str], None]) -> Outcomes:
    """By name; one control plane for each of the settings, one after the other."""
    found: Outcomes = {}
    for settings in dict.fromkeys(scenario.settings for scenario in scenarios):
        chosen = [scenario for scenario in scenarios if scenario.settings == settings]
        began = time.monotonic()
        with running(side, settings) as cluster:
            say(f"{side.name}, {settings}: {len(chosen)} scenarios …")

            def done(outcome: Outcome, of: int = len(chosen)) -> None:
                found[outcome.scenario] = outcome
                if len(found) % 25 == 0:
                    say(f"  {len(found)} played")

            asyncio.run(_play(side, str(cluster.kubeconfig), chosen, done))
        say(f"{side.name}, {settings}: {time.monotonic() - began:.0f} s")
    return found


async def _play(side: Side, kubeconfig: str, chosen: list[Scenario], done: Callable[[Outcome], None]) -> None:
    async with session(kubeconfig, settling=side.settling) as stage:
        await stage.play(chosen, done)


def in_memory(scenarios: list[Scenario], say: Callable[[str], None] = lambda line: None) -> Outcomes:
    """What our core makes of them."""
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        found = {outcome.scenario: outcome for outcome in pool.map(play_in_memory, scenarios, chunksize=8)}
    say(f"our core, in memory: {time.monotonic() - began:.0f} s")
    return found


def save(path: Path, scenarios: list[Scenario], outcomes: Outcomes) -> None:
    """Scenarios and what came of them."""
    said = [
        {"scenario": scenario.as_json(), "outcome": outcomes[scenario.name].as_json()}
        for scenario in scenarios
        if scenario.name in outcomes
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        json.dump(said, file)


def load(path: Path) -> tuple[list[Scenario], Outcomes]:
    """What `save` wrote."""
    with gzip.open(path, "rt") as file:
        said: list[Any] = json.load(file)
    outcomes = [outcome_from_json(one["outcome"]) for one in said]
    return [from_json(one["scenario"]) for one in said], {outcome.scenario: outcome for outcome in outcomes}
