"""Queues as all of these systems have them: a tree, with what each queue owns and the most it may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from admission.migration.fields import Findings


@dataclass(frozen=True, slots=True)
class Quota:
    """Of one resource, in our units (cpu in milli)."""

    owned: int | None  # guaranteed; None: whatever there is
    most: int | None = None  # with what is borrowed; None: no limit
    kept: int = 0  # of what is owned, never lent
    lends: bool = True
    borrows: bool = True
    weight: Fraction = Fraction(1)  # of what is over all quotas, where a system weighs each resource


@dataclass(slots=True)
class Preemption:
    within: str = "LowerPriority"
    reclaim: str = "Any"


@dataclass(slots=True)
class ForeignQueue:
    """`name` and `parent` are ours already; "" as a parent is the root. `about`: for people."""

    name: str
    parent: str
    about: str
    quotas: Mapping[str, Quota]
    inner: bool = False  # has children, or is meant to
    apart: bool = False  # the root of a tree of its own
    weight: str = ""
    priority: int = 0
    strict: bool = False
    held: bool = False
    flavor: str = ""
    node_labels: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    preemption: Preemption = field(default_factory=Preemption)
    policy: dict[str, Any] = field(default_factory=dict)  # spec of a QueuePolicy without its target
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Tree:
    """`root`: the name of the cohort above all. `classes`: values of WorkloadPriorityClasses. `policy`: as a queue has,
    of all of them."""

    root: str
    queues: list[ForeignQueue]
    classes: Mapping[str, int] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)


# What is marked as non-preemptible may use what its queue owns, and no more: of KAI and Koordinator alike.
ONLY_PREEMPTIBLE_WORK_BORROWS: Mapping[str, Any] = {"nonPreemptible": {"label": "lockgate.dev/preemptible=false"}}


def of_unlisted(states_some: bool, listed_by_anybody: bool) -> int | None:
    """What a queue owns of a resource that its guarantee does not list. Who has a guarantee is not to be hindered by
    what it leaves open; who has none has no right to what others are guaranteed."""
    return 0 if listed_by_anybody and not states_some else None


def tell_priorities(priorities: Mapping[str, tuple[str, int]], findings: Findings) -> None:
    """Queues by name, with their parent and priority: of siblings that differ the higher one came first there."""
    levels: dict[str, set[int]] = {}
    for parent, own in priorities.values():
        levels.setdefault(parent, set()).add(own)
    for queue, (parent, own) in priorities.items():
        if len(levels[parent]) > 1:
            why = "queues have no order of their own here: what is over quota is shared by weight alone"
            findings.note(f"Queue {queue}", "spec.priority", own, why)
