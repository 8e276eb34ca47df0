"""JobProfiles: how many jobs carry the stamp of each, and which LocalQueues they have made.

What is told of the numbers is a snapshot, taken some time after they moved: a profile that stamps a thousand jobs a
minute is not written a thousand times.
"""

from typing import Any

from admission.model.effects import CONSEQUENCE, CreateLocalQueue, Outcome, Planned
from admission.model.job import Job
from admission.model.job_profile import JobProfile
from admission.model.kinds import Ref
from admission.reconcile.view import Tally
from admission.state.flights import Flights
from admission.state.slots import Slot
from admission.state.timers import Timers

TALLY = "tally"  # timers of this kind: (TALLY, name of the profile)
TALLY_SECONDS = 30.0  # between two writes of one profile's numbers: nothing but people waits for them
QUEUE = "queue"  # likewise: (QUEUE, Ref)
SEEN_AFTER = 30.0  # a queue that was made and that no watch has told of by then is asked for again


class Profiles:
    def __init__(self, timers: Timers) -> None:
        self.slots: dict[str, Slot[JobProfile]] = {}
        self._timers = timers
        self._jobs: dict[str, dict[Ref, float]] = {}  # by profile: jobs and when they were created
        self._told: dict[str, Tally] = {}

    def moved(self, before: Job | None, after: Job | None, now: float) -> None:
        """A job came, changed or went."""
        old, new = (one.stamped_by if one is not None else () for one in (before, after))
        if old == new:
            return
        for name in old:
            if before is not None and self._jobs.get(name, {}).pop(before.ref, None) is not None:
                self._timers.at(now + TALLY_SECONDS, (TALLY, name))
        for name in new:
            if after is not None:
                self._jobs.setdefault(name, {})[after.ref] = after.created
                self._timers.at(now + TALLY_SECONDS, (TALLY, name))

    def tell(self, name: str) -> None:
        """From now on the numbers are told as they are."""
        jobs = self._jobs.get(name, {})
        self._told[name] = Tally(len(jobs), max(jobs.values(), default=0.0))
        if not jobs:
            self._jobs.pop(name, None)

    def tally(self, name: str) -> Tally | None:
        return self._told.get(name)

    def forget(self, name: str) -> None:
        """The profile is gone."""
        self._told.pop(name, None)

    def makes_queue(self, queue: str, template: str) -> bool:
        """Whether some profile that counts gives this queue, made from this template."""
        stamps = (one.stamp for slot in self.slots.values() if (one := slot.observed) is not None and not one.problem)
        return any((stamp.queue, stamp.queue_template) == (queue, template) for stamp in stamps)


class _Making:
    """One queue that was asked for."""

    def __init__(self, job: Ref) -> None:
        self.job = job
        self.flight: int | None = None
        self.failures = 0
        self.waits = False

    def begin(self, planned: Planned, assumed: Any) -> None:
        self.flight = planned.id


class MadeQueues:
    """LocalQueues that were asked for and not seen yet: none is asked for twice meanwhile."""

    def __init__(self, flights: Flights, timers: Timers) -> None:
        self._flights = flights
        self._timers = timers
        self._open: dict[Ref, _Making] = {}

    def ask(self, effect: CreateLocalQueue) -> bool:
        """False: it was asked for already."""
        making = self._open.setdefault(effect.ref, _Making(effect.job))
        if making.flight is not None or making.waits:
            return False
        making.job = effect.job
        self._flights.send(effect.ref, making, effect, None, "", CONSEQUENCE)
        return True

    def answers(self, ref: Ref, id: int) -> bool:
        """Whether effect `id` makes this queue."""
        making = self._open.get(ref)
        return making is not None and making.flight == id

    def outcome(self, ref: Ref, outcome: Outcome, patience: float, now: float) -> None:
        """`patience`: seconds until a failure is worth another try. One that exists already is told of by the watch."""
        making = self._open[ref]
        making.flight, making.waits = None, True
        there = outcome.result in ("ok", "conflict")
        making.failures = 0 if there else making.failures + 1
        self._timers.at(now + (SEEN_AFTER if there else patience), (QUEUE, ref))

    def failures(self, ref: Ref) -> int:
        return self._open[ref].failures

    def seen(self, ref: Ref) -> None:
        """It is there, whoever made it."""
        making = self._open.get(ref)
        if making is not None and making.flight is None:
            del self._open[ref]

    def again(self, ref: Ref) -> Ref | None:
        """It may be asked for again: the job to look at."""
        making = self._open.get(ref)
        if making is None or making.flight is not None:
            return None
        making.waits = False
        return making.job
