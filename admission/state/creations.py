"""Workloads that were asked for and have not been seen yet. None is asked for twice meanwhile."""

from collections.abc import Callable
from typing import Any

from admission.model.effects import CONSEQUENCE, CreateWorkload, Outcome, Planned
from admission.model.kinds import Ref
from admission.reconcile.events import created_event, not_created_event
from admission.state.flights import Flights
from admission.state.timers import Timers

# One that no watch has told of by then is looked for: somebody may have deleted it at once.
MISSING_AFTER = 30.0
# Doublings of the wait for one that is refused again and again: its author may be mending the job just now.
_MOST_DOUBLINGS = 5
_REMEMBERED = 10_000  # refusals; of older ones the count begins anew, should they be asked for again


class Creation:
    def __init__(self, effect: CreateWorkload) -> None:
        self.effect = effect
        self.flight: int | None = None
        self.version = 0  # resourceVersion that it was made with, once that is known
        self.doubtful = False  # it may have been made; a read will say
        self.unanswered = False  # and if it was, by us

    def begin(self, planned: Planned, assumed: Any) -> None:
        self.flight = planned.id


class Creations:
    """`look_at`: a job whose Workload may be asked for (again). `patience`: seconds after so many failures."""

    def __init__(
        self, flights: Flights, timers: Timers, look_at: Callable[[Ref], None], patience: Callable[[int], float]
    ) -> None:
        self._flights = flights
        self._timers = timers
        self._look_at = look_at
        self._patience = patience
        self._open: dict[Ref, Creation] = {}
        self._refused: dict[Ref, tuple[int, str]] = {}  # how often in a row, and why at last

    def ask(self, effect: CreateWorkload) -> bool:
        """False: it was asked for already."""
        if effect.ref in self._open:
            return False
        creation = self._open[effect.ref] = Creation(effect)
        self._flights.send(effect.ref, creation, effect, None, "", CONSEQUENCE)
        return True

    def answers(self, ref: Ref, id: int) -> bool:
        """Whether effect `id` is the creation of this Workload."""
        creation = self._open.get(ref)
        return creation is not None and creation.flight == id

    def outcome(self, ref: Ref, outcome: Outcome, seen: int | None, now: float) -> None:
        """`seen`: resourceVersion of the Workload, if it is known by now."""
        creation = self._open[ref]
        creation.flight = None
        match outcome.result:
            case "ok":
                creation.version = outcome.resource_version or 0
                self._flights.tell(created_event(creation.effect))
                if seen is not None:
                    self.seen(ref, seen)
                self._timers.at(now + MISSING_AFTER, ("missing", ref))
            case "conflict" | "unknown":
                creation.doubtful = True
                creation.unanswered = outcome.result == "unknown"
                self._flights.reads[ref] = None
            case "refused" | "impossible":
                self._complain(ref, creation.effect, outcome.message)
                self._wait(ref, now)
            case _:
                self._close(ref)

    def seen(self, ref: Ref, version: int) -> None:
        """The Workload exists, whoever made it."""
        creation = self._open.get(ref)
        if creation is not None and (creation.doubtful or 0 < creation.version <= version):
            if creation.unanswered:
                self._flights.tell(created_event(creation.effect))
            self._refused.pop(ref, None)
            self._close(ref)

    def nowhere(self, ref: Ref, now: float) -> None:
        """A read found none. Made and gone again, or never made because the job is not what it was: then news of the
        job is on its way, and asking at once would only meet the same."""
        creation = self._open.get(ref)
        if creation is not None and creation.flight is None:
            self._wait(ref, now)

    def look_for(self, ref: Ref) -> None:
        if ref in self._open:
            self._flights.reads[ref] = None

    def retry(self, ref: Ref) -> None:
        if ref in self._open:
            self._close(ref)

    def _wait(self, ref: Ref, now: float) -> None:
        times, why = self._refused.pop(ref, (0, ""))
        self._refused[ref] = times + 1, why
        if len(self._refused) > _REMEMBERED:
            del self._refused[next(iter(self._refused))]
        self._timers.at(now + self._patience(min(times + 1, _MOST_DOUBLINGS)), ("retry", ref))

    def _complain(self, ref: Ref, effect: CreateWorkload, why: str) -> None:
        """Once for each reason."""
        times, before = self._refused.get(ref, (0, ""))
        if why != before:
            self._refused[ref] = times, why
            self._flights.tell(not_created_event(effect, why))

    def _close(self, ref: Ref) -> None:
        self._look_at(self._open.pop(ref).effect.job)
