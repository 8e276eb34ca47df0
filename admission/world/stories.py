"""What a simulation is told and what it tells: arrivals in, the story of each job and a timeline out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.model.kinds import Ref
from admission.model.names import WorkloadKey


class Refusal(Exception):
    """The API server or a webhook would not take this object; the text is its message."""


class Arrival(NamedTuple):
    """A Job or bare Workload to come. `at`: seconds from the start; `runtime`: seconds, None: for ever."""

    at: float
    runtime: float | None
    manifest: Mapping[str, Any]


class Moment(NamedTuple):
    """One line of the timeline; `at`: seconds from the start."""

    at: float
    what: str  # created | quotaReserved | admitted | evicted | preempted | finished
    workload: WorkloadKey
    reason: str
    message: str


@dataclass(slots=True)
class Story:
    """What became of one arrival. Times are seconds from the start."""

    key: WorkloadKey
    owner: Ref | None  # its Job; None: a bare Workload
    runtime: float | None
    arrived: float
    problem: str = ""  # why its Job got no Workload
    reserved: float | None = None  # since when; None while it holds no quota
    admitted: float | None = None  # the last time
    started: float | None = None  # the first time
    finished: float | None = None
    evictions: int = 0
    running: int = 0  # number of the run under way, 0: none; an old run's end says nothing
