"""Owners that were spoken of but not told of: read once each, so that what is known of them is certain.

Two ask: a Workload whose job has not been heard of for long (made late, it may have outlived that job), and a job whose
owner could be one that is queued (its news may be late).
"""

from collections.abc import Callable

from admission.model.kinds import Ref
from admission.state.flights import Flights
from admission.state.objects import Objects


class Sought:
    def __init__(self, objects: Objects, flights: Flights, look_at: Callable[[Ref], None]) -> None:
        self._objects = objects
        self._flights = flights
        self._look_at = look_at
        self._workloads: dict[Ref, dict[Ref, None]] = {}  # job -> Workloads that name it
        self._jobs: dict[Ref, dict[Ref, None]] = {}  # owner -> jobs that name it

    def job_of(self, workload: Ref) -> None:
        """Look for the job of this Workload, if it is still unknown."""
        found = self._objects.workload(workload)
        if found is None or found.owner is None or self._objects.job_of(found.owner_uid) is not None:
            return
        owner = self._objects.as_job(found.owner)
        if owner is not None:
            self._workloads.setdefault(owner, {})[workload] = None
            self._flights.reads[owner] = None

    def owner_of(self, job: Ref, owner: Ref) -> None:
        """Look for this owner of the job. `owner.kind` is a kind of jobs."""
        self._jobs.setdefault(owner, {})[job] = None
        self._flights.reads[owner] = None

    def found(self, ref: Ref, uid: str) -> None:
        """A read says which object, if any (""), has that name now."""
        for workload in self._workloads.pop(ref, ()):
            found = self._objects.workload(workload)
            if found is not None and found.owner_uid != uid:
                self._objects.depart(found.owner_uid)
                self._look_at(workload)
        for job in self._jobs.pop(ref, ()):
            waiting = self._objects.job(job)
            if waiting is not None and waiting.owner_uid != uid:
                self._objects.exclude(waiting.owner_uid)
            self._look_at(job)
