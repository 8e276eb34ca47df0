"""Made-up clusters as the real Kueue 0.19.2 played them, kept in a file: ours in memory must still show the same.

`make peer` plays fresh ones on the real Kueue; this is what of it can be had without any cluster, in seconds. The file
is chosen from the `kueue.json.gz` of such runs: a scenario for each fault, some that only a rule explains, and others
beside them.
"""

from pathlib import Path

import pytest

from hack.peer import mutants, record
from hack.peer.compare import judge
from hack.peer.faults import FAULTS, Fault
from hack.peer.memory import play_in_memory
from hack.peer.mutants import Told
from hack.peer.scenario import Scenario

SCENARIOS, KUEUE = record.load(Path(__file__).parent / "recorded" / "kueue-0.19.2.json.gz")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_ours_shows_what_kueue_showed(scenario: Scenario) -> None:
    verdict = judge(scenario, KUEUE[scenario.name], play_in_memory(scenario))
    assert not verdict.differences, "\n".join(map(str, (verdict.place, verdict.moment, *verdict.differences)))


def test_most_moments_are_compared() -> None:
    """Rules that end a comparison early must stay rare."""
    verdicts = [judge(one, KUEUE[one.name], play_in_memory(one)) for one in SCENARIOS[:30]]
    moments = sum(len(KUEUE[one.name].moments) for one in SCENARIOS[:30])
    assert sum(verdict.compared for verdict in verdicts) > 0.9 * moments


@pytest.fixture(scope="module")
def told() -> dict[str, Told]:
    """What the recorded scenarios say of each fault; each is planted in a process of its own."""
    return {one.fault: one for one in mutants.told(SCENARIOS, KUEUE, lambda line: None)}


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_rule_of_ours_that_is_broken_is_told(fault: Fault, told: dict[str, Told]) -> None:
    assert told[fault.name].by, f"{told[fault.name].played} scenarios do not tell it"


@pytest.mark.timeout(600)
def test_some_broken_rules_are_told_in_no_time() -> None:
    some = [fault for fault in FAULTS if fault.name in ("nobody looks again within a cycle", "every queue blocks")]
    assert all(one.by for one in mutants.told(SCENARIOS[:20], KUEUE, lambda line: None, some))
