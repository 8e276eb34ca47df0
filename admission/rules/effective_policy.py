"""Which QueuePolicies a queue is under: its own and those of what is above it, the nearest first, field by field.

Used by the scheduler and by the webhooks, which know the queues from different sources.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from admission.model.queue_policy import Identity, Limit, Manners, QueuePolicy, Target

_FIELDS = tuple(one.name for one in fields(Manners))


@dataclass(frozen=True, slots=True)
class Effective:
    """What counts in one queue, and by field the policy that says so."""

    manners: Manners = field(default_factory=Manners)
    by: Mapping[str, str] = field(default_factory=dict)

    def matching(self, who: Identity) -> Iterator[Limit]:
        """The rows that limit this user, or a group of theirs."""
        return (row for row in self.manners.limits or () if whom(row, who))


NO_POLICY = Effective()


class Policies:
    """All that there are. Of several for one target the first by name counts."""

    def __init__(self, policies: Iterable[QueuePolicy] = ()) -> None:
        self._by_name: dict[str, QueuePolicy] = {}
        self._for: dict[Target, str] = {}
        self.label_keys: tuple[str, ...] = ()  # labels that some policy tells work apart by
        self.groups: dict[str, None] = {}  # that some policy speaks of
        self.shrinks = False  # some policy evicts down to a lowered quota
        for policy in policies:
            self.put(policy)

    def __bool__(self) -> bool:
        return bool(self._for)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def names(self) -> list[str]:
        return sorted(self._by_name)

    def put(self, policy: QueuePolicy) -> bool:
        """Whether it says something new."""
        before = self._by_name.get(policy.name)
        self._by_name[policy.name] = policy
        if before is not None and _words(before) == _words(policy):
            return False
        self._file()
        return True

    def drop(self, name: str) -> bool:
        """Whether there was one."""
        if self._by_name.pop(name, None) is None:
            return False
        self._file()
        return True

    def of(self, name: str) -> QueuePolicy:
        """Raises KeyError."""
        return self._by_name[name]

    def rival(self, name: str) -> str:
        """The policy that counts in place of this one, for the same target; "" where this one does."""
        first = self._for.get(self._by_name[name].target, name)
        return "" if first == name else first

    def effective(self, path: Iterable[Target]) -> Effective:
        """`path`: the queue and what is above it, upwards."""
        said: dict[str, object] = {}
        by: dict[str, str] = {}
        for target in path:
            name = self._for.get(target)
            if name is None:
                continue
            manners = self._by_name[name].manners
            for each in _FIELDS:
                value = getattr(manners, each)
                if value is not None and each not in said:
                    said[each], by[each] = value, name
        return Effective(Manners(**said), by) if said else NO_POLICY  # type: ignore[arg-type]  # each from its field

    def at(self, target: Target) -> str:
        """The policy that is for just this; "" where there is none."""
        return self._for.get(target, "")

    def _file(self) -> None:
        usable = [self._by_name[name] for name in self.names if not self._by_name[name].problem]
        self._for = {policy.target: policy.name for policy in reversed(usable)}
        marks = [policy.manners.non_preemptible for policy in usable]
        self.label_keys = tuple(sorted({mark[0] for mark in marks if mark is not None}))
        self.shrinks = any(policy.manners.quota_shrink is not None for policy in usable)
        people = [row.people for policy in usable for row in policy.manners.limits or ()]
        people += [policy.manners.submit for policy in usable if policy.manners.submit is not None]
        self.groups = dict.fromkeys(group for one in people for group in one.groups)


def _words(policy: QueuePolicy) -> tuple[object, ...]:
    return policy.target, policy.manners, policy.problem


def path_of(namespace: str, local_queue: str, queue: str, above: Callable[[str, str], str]) -> Iterator[Target]:
    """A LocalQueue and what is above it. `above`: the cohort of a ClusterQueue or Cohort of this name; "" for none."""
    yield Target("LocalQueue", local_queue, namespace)
    kind, name = "ClusterQueue", queue
    seen: dict[str, None] = {}
    while name and name not in seen:
        yield Target(kind, name)
        if kind == "Cohort":
            seen[name] = None
        kind, name = "Cohort", above(kind, name)


def whom(row: Limit, who: Identity) -> tuple[tuple[str, str], ...]:
    """Those whose use the row limits: ("user" or "group", name). A group that is named twice, by its name and by `*`,
    is limited once."""
    people = row.people
    users = [("user", who.user)] if who.user and ("*" in people.users or who.user in people.users) else []
    groups = [("group", group) for group in who.groups if "*" in people.groups or group in people.groups]
    return (*users, *groups)
