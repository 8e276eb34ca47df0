"""Writes under way: numbers them, remembers whom they concern, and collects them for the plan being made."""

from typing import Any, Protocol

from admission.model.effects import REPORT, Effect, EmitEvent, Plan, Planned
from admission.model.kinds import Ref


class Departure(Protocol):
    """What a write is made for: the slot of an object, or an object that is to be made."""

    def begin(self, planned: Planned, assumed: Any) -> None: ...


class Flights:
    def __init__(self) -> None:
        self._last = self._dead = 0
        self._under_way: dict[int, Ref] = {}
        self._out: list[Planned] = []
        self.writes = 0  # of the plan being made; Events are no writes that anything waits for
        self.reads: dict[Ref, None] = {}

    def send(self, ref: Ref, slot: "Departure", effect: Effect, assumed: Any, lane: str, rank: int) -> None:
        """A write to the object of `slot`; `assumed` as in Slot.begin."""
        self.writes += 1
        planned = self._number(effect, lane, rank)
        self._under_way[planned.id] = ref
        slot.begin(planned, assumed)

    def tell(self, event: EmitEvent) -> None:
        self._number(event, "", REPORT)

    def land(self, id: int) -> Ref | None:
        """Whom the outcome of effect `id` concerns; None for events and for effects already settled."""
        return self._under_way.pop(id, None)

    def forsake(self) -> None:
        """What was sent so far can't reach the API server any more."""
        self._dead = self._last

    def may_arrive(self, id: int) -> bool:
        """Whether effect `id`, which is in doubt, may still be stored."""
        return id > self._dead

    def plan(self, *, more: bool, wake_at: float | None) -> Plan:
        """Hands out what was collected and starts anew."""
        effects, reads = tuple(self._out), tuple(self.reads)
        self._out, self.reads, self.writes = [], {}, 0
        return Plan(effects, reads, more, wake_at)

    def _number(self, effect: Effect, lane: str, rank: int) -> Planned:
        self._last += 1
        planned = Planned(self._last, effect, lane, rank)
        self._out.append(planned)
        return planned
