"""Assume and confirm: what a slot takes for true while writes are under way."""

from dataclasses import dataclass

from admission.model.effects import Patch, Planned
from admission.model.kinds import Ref
from admission.state.slots import Slot

WRITE = Planned(1, Patch(Ref("Workload", "lab", "w"), {}))


@dataclass(frozen=True)
class Thing:
    resource_version: int
    text: str = ""


def seen(version: int, text: str = "") -> Slot[Thing]:
    slot: Slot[Thing] = Slot()
    slot.observe(Thing(version, text))
    return slot


def test_a_planned_write_is_assumed_at_once() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    assert slot.current == Thing(5, "runs")
    assert slot.busy


def test_a_confirmed_write_hides_events_that_are_older_than_it() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.confirm(9)
    assert not slot.observe(Thing(7, "labelled by somebody"))
    assert slot.current == Thing(9, "runs")
    assert slot.observe(Thing(9, "runs, as stored"))
    assert slot.current == Thing(9, "runs, as stored")


def test_an_echo_that_overtakes_the_answer_is_kept() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.observe(Thing(9, "runs, as stored"))
    assert slot.current == Thing(5, "runs")
    slot.confirm(9)
    assert slot.current == Thing(9, "runs, as stored")


def test_a_conflict_drops_the_assumption_and_waits_for_news() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.deny(stale=True)
    assert slot.current == Thing(5, "waits")
    assert slot.busy
    slot.observe(Thing(6, "edited"))
    assert not slot.busy


def test_a_conflict_with_what_has_been_seen_meanwhile_waits_for_nothing() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.observe(Thing(6, "edited"))
    slot.deny(stale=True)
    assert slot.current == Thing(6, "edited")
    assert not slot.busy


def test_a_write_whose_result_cannot_be_told_keeps_the_object_alone_until_its_echo() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, None)
    slot.confirm(9)
    assert slot.busy
    slot.observe(Thing(9, "edited by us"))
    assert not slot.busy


def test_what_was_wished_for_on_top_falls_when_somebody_else_has_written() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.wanted = Thing(5, "evicted")
    slot.observe(Thing(11, "edited by somebody after us"))
    slot.confirm(9)
    assert slot.current == Thing(11, "edited by somebody after us")


def test_what_was_wished_for_on_top_stays_when_only_our_own_write_came_between() -> None:
    slot = seen(5, "waits")
    slot.begin(WRITE, Thing(5, "runs"))
    slot.wanted = Thing(5, "evicted")
    slot.confirm(9)
    slot.observe(Thing(9, "runs"))
    assert slot.wanted == Thing(5, "evicted")
