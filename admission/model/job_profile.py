"""JobProfile: which jobs are stamped, with what, and whose word counts where two say something."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from admission.model.selectors import Selector
from admission.model.workload import Condition

Overwrite = Literal["Never", "IfUnset", "Always"]
Target = Literal["Job", "PodTemplates"]

OVERWRITES: tuple[Overwrite, ...] = ("Never", "IfUnset", "Always")
TARGETS: tuple[Target, ...] = ("Job", "PodTemplates")
# The fields of `stamp` for which `overwrite` may say something of its own. Resources are rewritten or they are not.
FIELDS = (
    "queue",
    "workloadPriorityClass",
    "priorityClassName",
    "qosClass",
    "koordinatorPriority",
    "schedulerName",
    "labels",
    "annotations",
)


class Glob(NamedTuple):
    """A pattern in which * stands for any characters, and nothing else has a meaning."""

    pattern: str

    def matches(self, stated: str) -> bool:
        """Takes time in proportion to both texts: names come from whoever calls the API server."""
        first, *others = self.pattern.split("*")
        if not others:
            return stated == first
        *middle, last = others
        if not stated.startswith(first):
            return False
        at = len(first)
        for part in middle:
            found = stated.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return len(stated) - at >= len(last) and stated.endswith(last)


@dataclass(frozen=True, slots=True)
class Match:
    """None and empty ask for nothing. `kinds`: Kind.group, of the core group the kind alone."""

    kinds: tuple[str, ...] = ()
    namespaces: Selector | None = None
    objects: Selector | None = None
    users: tuple[Glob, ...] = ()
    groups: tuple[Glob, ...] = ()


@dataclass(frozen=True, slots=True)
class Stamp:
    """Empty and None: nothing of the sort. `queue_template`: the LocalQueue from which a missing queue is made."""

    queue: str = ""
    queue_template: str = ""
    workload_priority_class: str = ""
    priority_class_name: str = ""
    qos_class: str = ""
    koordinator_priority: int | None = None
    scheduler_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    translate: bool = False  # cpu and memory, to the class that the pods end up in


@dataclass(frozen=True, slots=True)
class JobProfile:
    """One with a `problem` stamps nobody. `matched`, `last_matched` (seconds since 1970): as its status says."""

    name: str
    order: int = 0
    match: Match = Match()
    percent: int = 100
    stamp: Stamp = Stamp()
    overwrite: Mapping[str, Overwrite] = field(default_factory=dict)  # by field; "default": of all others
    targets: tuple[Target, ...] = TARGETS
    foreign_hints: tuple[str, ...] = ()  # systems whose words on such jobs count
    problem: str = ""
    uid: str = ""
    resource_version: int = 0
    generation: int = 1
    deleting: bool = False
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    matched: int = 0
    last_matched: float = 0.0

    def overwrites(self, name: str) -> Overwrite:
        """What it may do to a field of FIELDS that has a value."""
        return self.overwrite.get(name) or self.overwrite.get("default") or "IfUnset"


def in_order(profiles: Mapping[str, JobProfile]) -> tuple[JobProfile, ...]:
    """Those that count, as they are applied."""
    usable = (one for one in profiles.values() if not one.problem and not one.deleting)
    return tuple(sorted(usable, key=lambda one: (one.order, one.name)))
