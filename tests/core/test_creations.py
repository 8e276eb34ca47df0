"""What is told of a Workload that was asked for follows from what became of it, whoever learns that how late."""

import pytest

from admission.model.effects import CreateWorkload, EmitEvent, Outcome, Result
from admission.model.kinds import Ref
from admission.state.creations import Creations
from admission.state.flights import Flights
from admission.state.timers import Timers

WORKLOAD, JOB = Ref("Workload", "lab", "job-a"), Ref("Job", "lab", "a")


class Asked:
    """One Workload, asked for; what is told since."""

    def __init__(self) -> None:
        self.flights, self.timers = Flights(), Timers()
        self.creations = Creations(self.flights, self.timers, lambda job: None, float)
        self.ask()

    def ask(self) -> None:
        assert self.creations.ask(CreateWorkload(WORKLOAD, JOB, "u"))
        (self.planned,) = self.flights.plan(more=False, wake_at=None).effects

    def ends(self, result: Result, message: str = "") -> None:
        version = 7 if result == "ok" else None
        self.creations.outcome(WORKLOAD, Outcome(self.planned.id, result, version, message), None, 0.0)

    def told(self) -> list[str]:
        effects = [planned.effect for planned in self.flights.plan(more=False, wake_at=None).effects]
        return [f"{effect.reason}: {effect.message}" for effect in effects if isinstance(effect, EmitEvent)]


CREATED = "CreatedWorkload: Created Workload: lab/job-a"


def test_nothing_is_told_before_there_is_an_answer() -> None:
    asked = Asked()
    assert asked.told() == []
    asked.ends("ok")
    assert asked.told() == [CREATED]
    asked.creations.seen(WORKLOAD, 7)
    assert asked.told() == []


@pytest.mark.parametrize(("result", "told"), [("unknown", [CREATED]), ("conflict", [])])
def test_one_that_turns_up_after_a_lost_answer_is_ours_and_one_that_was_there_before_is_not(
    result: Result, told: list[str]
) -> None:
    asked = Asked()
    asked.ends(result)
    assert asked.told() == []
    asked.creations.seen(WORKLOAD, 9)
    assert asked.told() == told


def test_a_refusal_is_told_again_when_its_reason_is_another_one() -> None:
    asked = Asked()
    said = []
    for why in ("too many pod sets", "too many pod sets", "no such namespace"):
        asked.ends("refused", why)
        said += asked.told()
        asked.creations.retry(WORKLOAD)
        asked.ask()
    assert said == [
        f"ErrWorkloadCompose: Workload lab/job-a could not be created: {why}"
        for why in ("too many pod sets", "no such namespace")
    ]
