"""What a run leaves behind for judging: raw objects, and what was seen on the way. A live runner fills the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from admission.world.answers import Answer
from admission.world.objects import Frozen


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that an event sent: `sent` is the manifest before any webhook, `answer` what came back."""

    t: float
    ref: str
    sent: Frozen
    answer: Answer


class WriteSeen(NamedTuple):
    """A write request of the product; `name` as `Kind/namespace/name`."""

    t: float
    name: str
    code: int


class Facts(Protocol):
    """All times are virtual seconds since the start of the scenario; names are those of the file."""

    def find(self, ref: str) -> Sequence[Frozen]:
        """The objects of this name; several only for a `prefix*`."""
        ...

    def in_version(self, manifest: Frozen, version: str) -> Frozen | None:
        """The same object, read in this version of its kind; None where it is gone."""
        ...

    def workloads_of(self, ref: str) -> Sequence[Frozen]:
        """The Workloads that this object owns."""
        ...

    def workloads(self, namespace: str) -> Sequence[Frozen]: ...

    def asked(self, id: str) -> Sequence[Asked]: ...

    def evictions(self, names: Sequence[str] | None) -> int:
        """How often Evicted has turned True, of these `namespace/name` or in total."""
        ...

    def names_ever_owned(self, ref: str) -> Sequence[str]:
        """`namespace/name` of all Workloads that this object has ever owned."""
        ...

    def writes(self, ref: str) -> Sequence[WriteSeen]: ...

    def last_flip(self) -> float | None:
        """When a condition of any Workload last changed its status."""
        ...

    def kai_shares(self, resource: str) -> Mapping[str, int]:
        """What KAI would let its queues use, by queue, in units of the resource."""
        ...

    def event_sent(self, reason: str, about: str) -> bool: ...
