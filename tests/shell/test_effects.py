"""Effects are performed in the order that matters, and every one gets exactly one outcome."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from admission.model.effects import CONSEQUENCE, DECISION, REPORT, Effect, EmitEvent, Outcome, Patch, Plan, Planned
from admission.model.kinds import Ref
from admission.reconcile.requests import Impossible, Request
from controller import effects as module
from controller.effects import Effects
from controller.kube.client import Client
from controller.kube.errors import Unreachable
from controller.kube.events import Recorder
from controller.kube.writer import Answer, Writer
from tests.shell.conftest import until


class Hand(Writer):
    """A writer whose answers a test gives one by one."""

    def __init__(self) -> None:
        self.sent: dict[str, asyncio.Future[Answer]] = {}
        self.order: list[str] = []

    async def write(self, request: Request) -> Answer:
        word = request.body["word"]
        self.order.append(word)
        self.sent[word] = asyncio.get_running_loop().create_future()
        return await self.sent[word]

    async def answers(self, word: str, result: Any = "ok") -> None:
        await until(lambda: word in self.sent)
        self.sent[word].set_result(Answer(result, 7))


class Stage:
    """Effects at work, and what they reported."""

    def __init__(self, client: Client) -> None:
        self.hand = Hand()
        self.in_office = True
        self.outcomes: dict[int, str] = {}
        self.looked: list[Ref] = []
        self.unreadable = 0
        self.fault: Exception | None = None
        self.recorder = Recorder(client)
        self.effects = Effects(
            client, self.hand, self.recorder, report=self._report, look=self._look, may_send=lambda: self.in_office
        )
        self.task = asyncio.create_task(self.effects.run())

    def _report(self, outcome: Outcome) -> None:
        assert outcome.id not in self.outcomes
        if self.fault:
            raise self.fault
        self.outcomes[outcome.id] = outcome.result

    async def _look(self, ref: Ref) -> None:
        if self.fault:
            raise self.fault
        if self.unreadable:
            self.unreadable -= 1
            raise Unreachable("not now", sent=True)
        self.looked.append(ref)

    def take(self, *planned: Planned, reads: tuple[Ref, ...] = ()) -> None:
        self.effects.take(Plan(planned, reads))

    async def stops(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def rests(self) -> None:
        """Let everything that can happen happen."""
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.fixture
async def stage(client: Client) -> AsyncIterator[Stage]:
    stage = Stage(client)
    await stage.rests()
    yield stage
    stage.in_office = False
    await stage.stops()


def patch(number: int, word: str, on: str = "", lane: str = "", rank: int = CONSEQUENCE) -> Planned:
    effect: Effect = Patch(Ref("Workload", "ns", on or word), {"word": word})
    return Planned(number, effect, lane, rank)


async def test_effects_of_a_lane_go_one_after_another(stage: Stage) -> None:
    stage.take(patch(1, "a", lane="q"), patch(2, "b", lane="q"), patch(3, "c", lane="other"))
    await stage.rests()
    assert stage.hand.order == ["a", "c"]
    await stage.hand.answers("a")
    await stage.rests()
    assert stage.hand.order == ["a", "c", "b"]


@pytest.mark.parametrize("failure", ["conflict", "refused", "gone", "unknown", "aborted"])
async def test_a_failure_aborts_the_rest_of_its_lane_and_nothing_else(stage: Stage, failure: str) -> None:
    stage.take(patch(1, "a", lane="q"), patch(2, "b", lane="q"), patch(3, "c", lane="q"), patch(4, "d"))
    await stage.hand.answers("a", failure)
    await stage.hand.answers("d")
    await until(lambda: len(stage.outcomes) == 4)
    assert stage.outcomes == {1: failure, 2: "aborted", 3: "aborted", 4: "ok"}
    assert stage.hand.order == ["a", "d"]


async def test_a_lane_goes_on_after_a_failure_with_what_is_planned_then(stage: Stage) -> None:
    stage.take(patch(1, "a", lane="q"), patch(2, "b", lane="q"))
    await stage.hand.answers("a", "conflict")
    await stage.rests()
    stage.take(patch(3, "c", lane="q"))
    await stage.hand.answers("c")
    await until(lambda: stage.outcomes.get(3) == "ok")


async def test_two_writes_never_race_on_one_object(stage: Stage) -> None:
    stage.take(patch(1, "a", on="x"), patch(2, "b", on="x", lane="q"), patch(3, "c", lane="q"))
    await stage.rests()
    assert stage.hand.order == ["a"]
    await stage.hand.answers("a", "refused")
    await stage.hand.answers("b")
    await stage.hand.answers("c")
    await until(lambda: stage.outcomes == {1: "refused", 2: "ok", 3: "ok"})


async def test_short_of_breath_decisions_go_first_and_reports_last(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 1)
    stage.take(patch(1, "busy"))
    stage.take(patch(2, "report", rank=REPORT), patch(3, "follows"), patch(4, "decides", rank=DECISION))
    for word in ("busy", "decides", "follows", "report"):
        await stage.hand.answers(word)
    await until(lambda: len(stage.outcomes) == 4)
    assert stage.hand.order == ["busy", "decides", "follows", "report"]


async def test_a_report_in_the_way_of_a_decision_is_as_urgent(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 1)
    stage.take(patch(1, "busy"))
    stage.take(patch(2, "report", on="x", rank=REPORT), patch(3, "follows"), patch(4, "decides", on="x", rank=DECISION))
    for word in ("busy", "report", "decides", "follows"):
        await stage.hand.answers(word)
    await until(lambda: len(stage.outcomes) == 4)
    assert stage.hand.order == ["busy", "report", "decides", "follows"]


async def test_what_contradicts_its_object_for_good_is_never_sent(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contradicts(*_: object) -> Request:
        raise Impossible("its template already says otherwise")

    monkeypatch.setattr(module, "render", contradicts)
    stage.take(patch(1, "a"))
    await stage.rests()
    assert (stage.outcomes, stage.hand.order) == ({1: "impossible"}, [])


async def test_an_event_is_done_as_soon_as_it_is_handed_over(stage: Stage) -> None:
    event = EmitEvent(Ref("Workload", "ns", "a"), "uid", "Normal", "Admitted", "it may run")
    stage.take(patch(1, "a", lane="q"), Planned(2, event, "q"))
    assert 2 not in stage.outcomes
    await stage.hand.answers("a")
    await until(lambda: stage.outcomes == {1: "ok", 2: "ok"})


async def test_room_is_waited_for(stage: Stage) -> None:
    stage.take(patch(1, "a"), patch(2, "b"))
    waiting = asyncio.create_task(stage.effects.room(2))
    await stage.rests()
    assert not waiting.done()
    await stage.hand.answers("a")
    await waiting


async def test_what_is_under_way_when_the_office_is_lost_is_unknown_and_the_rest_is_not_sent(stage: Stage) -> None:
    stage.take(patch(1, "a", lane="q"), patch(2, "b", lane="q"), patch(3, "c", on="a"))
    await until(lambda: stage.hand.order == ["a"])
    stage.in_office = False
    await stage.stops()
    assert stage.outcomes == {1: "unknown", 2: "aborted", 3: "aborted"}
    assert stage.hand.order == ["a"]
    assert not stage.effects.settled


async def test_when_stopped_in_office_answers_under_way_are_awaited(stage: Stage) -> None:
    stage.take(patch(1, "a", lane="q"), patch(2, "b", lane="q"))
    await until(lambda: stage.hand.order == ["a"])
    stopping = asyncio.create_task(stage.stops())
    await stage.rests()
    await stage.hand.answers("a")
    await stopping
    assert stage.outcomes == {1: "ok", 2: "aborted"}
    assert stage.effects.settled


async def test_a_doubt_is_settled_by_reading_until_an_answer_comes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_AGAIN_SECONDS", 0.001)
    stage.unreadable = 2
    ref = Ref("Workload", "ns", "a")
    stage.take(reads=(ref,))
    stage.take(reads=(ref,))
    await until(lambda: stage.looked == [ref])
    await stage.rests()
    assert stage.looked == [ref]


async def test_a_doubt_outlives_the_office_in_which_it_came_up(stage: Stage) -> None:
    """Nobody would ask again: the object has not changed, so no watch tells of it, and its quota stays assumed."""
    stage.unreadable = 1_000_000
    stage.take(reads=(Ref("Workload", "ns", "a"),))
    await stage.rests()
    await stage.stops()
    stage.unreadable = 0
    assert not stage.looked
    stage.task = asyncio.create_task(stage.effects.run())
    await until(lambda: stage.looked == [Ref("Workload", "ns", "a")])


async def test_a_fault_in_taking_an_outcome_ends_the_work(stage: Stage) -> None:
    stage.fault = RuntimeError("ours")
    stage.take(patch(1, "a"))
    await stage.hand.answers("a")
    await until(stage.task.done)
    assert stage.task.exception() is stage.fault


async def test_a_fault_in_reading_ends_the_work(stage: Stage) -> None:
    stage.fault = RuntimeError("ours")
    stage.take(reads=(Ref("Workload", "ns", "a"),))
    await until(stage.task.done)
    assert stage.task.exception() is stage.fault
