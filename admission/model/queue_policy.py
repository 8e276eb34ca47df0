"""QueuePolicy as the core keeps it: limits per user and group, and how a queue's work is treated by others.

Durations are seconds, amounts units as in `amounts`. A field that is None says nothing, and the next policy above does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from admission.model.workload import Condition

EVERYBODY = "*"
USER, GROUPS = "lockgate.dev/user", "lockgate.dev/groups"  # annotations: who created a job


class Identity(NamedTuple):
    """Whose workload it is; user "": nobody knows."""

    user: str = ""
    groups: tuple[str, ...] = ()


NOBODY = Identity()


class Target(NamedTuple):
    kind: str  # ClusterQueue | Cohort | LocalQueue
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Budget(NamedTuple):
    evictions: int
    per: float


class QuotaShrink(NamedTuple):
    after: float
    order: str  # BorrowedFirst | LowestPriorityFirst


class People(NamedTuple):
    """Users and groups by name; `*` is any."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def include(self, who: Identity) -> bool:
        """Somebody unknown is among everybody, and in no group."""
        if EVERYBODY in self.users or (who.user and who.user in self.users):
            return True
        return bool(who.groups) and (EVERYBODY in self.groups or any(group in self.groups for group in who.groups))


@dataclass(frozen=True, slots=True)
class Limit:
    """One row. None: no limit."""

    people: People
    running: int | None = None
    pending: int | None = None
    resources: Mapping[str, int] = field(default_factory=dict)
    max_priority: int | None = None
    pods_per_workload: int | None = None
    max_runtime: int | None = None  # whole seconds


@dataclass(frozen=True, slots=True)
class Manners:
    """What a policy may say; the nearest that says something about a field counts."""

    min_runtime: float | None = None
    reclaim_min_runtime: float | None = None
    budget: Budget | None = None
    hold_freed_quota: float | None = None
    non_preemptible: tuple[str, str] | None = None  # label and value
    quota_shrink: QuotaShrink | None = None
    strict_fifo_scope: str | None = None  # Queue | Flavors
    submit: People | None = None
    max_pending: int | None = None
    limits: tuple[Limit, ...] | None = None


class Use(NamedTuple):
    """What one user has under a policy, as its status says it."""

    name: str
    running: int
    pending: int
    resources: tuple[tuple[str, int], ...]  # by name


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """`problem`: why it cannot be used, "" where it can."""

    name: str
    target: Target
    manners: Manners
    problem: str = ""
    uid: str = ""
    resource_version: int = 0
    generation: int = 1
    deleting: bool = False
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    users: tuple[Use, ...] = ()
