"""Plants each fault in our core, in a process of its own, and looks whether the peer's recorded outcomes tell it.

A fault is told by a scenario in which ours as it is shows no unexplained difference, and ours with the fault does.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import NamedTuple

from hack.peer.compare import judge
from hack.peer.faults import FAULTS, Fault
from hack.peer.memory import play_in_memory
from hack.peer.outcome import Outcome
from hack.peer.record import Outcomes
from hack.peer.scenario import Scenario


class Told(NamedTuple):
    """`by`: the name of the first scenario, and how; "" if none told it."""

    fault: str
    by: str
    how: str
    played: int


def told(
    scenarios: Sequence[Scenario], peer: Outcomes, say: Callable[[str], None], faults: Sequence[Fault] = FAULTS
) -> list[Told]:
    """Of every fault."""
    pairs = [(one, peer[one.name]) for one in scenarios if one.name in peer]
    # Each fault in a process that is thrown away with it.
    context = multiprocessing.get_context("spawn")
    found: list[Told] = []
    with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:
        running = [pool.submit(_judged, fault.name, pairs) for fault in faults]
        for done in as_completed(running):
            one = done.result()
            found.append(one)
            say(f"{'told' if one.by else 'NOT TOLD':8} {one.fault}: {one.how} ({one.played} scenarios)")
    return found


def _judged(name: str, pairs: list[tuple[Scenario, Outcome]]) -> Told:
    fault = next(one for one in FAULTS if one.name == name)
    right = [(scenario, outcome) for scenario, outcome in pairs if scenario.settings == "fair" or not fault.fair]
    fault.plant()
    played = 0
    for scenario, outcome in _likely(right):
        played += 1
        verdict = judge(scenario, outcome, play_in_memory(scenario))
        if verdict.differences:
            return Told(name, scenario.name, str(verdict.differences[0]), played)
    return Told(name, "", "", played)


def _likely(pairs: list[tuple[Scenario, Outcome]]) -> Iterator[tuple[Scenario, Outcome]]:
    """In their order; those that end early say less, so they come last."""
    return iter(sorted(pairs, key=lambda pair: len(pair[1].moments) < 5))
