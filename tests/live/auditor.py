"""An auditor of its own: reads etcd's one ordered stream and checks at every revision what Lockgate promises of quota.

It shares nothing with the product but the names of the API: quantities, quota arithmetic and the life of a Workload
are written here a second time, the slow way. Quotas must not change while it watches (it says so if they do): then the
quota law is simply that no write of ours ever leaves a queue or cohort above its limit.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Any

from hack.cluster.etcd import Event

KUEUE = "/registry/kueue.x-k8s.io/"
FlavorResource = tuple[str, str]
Amounts = dict[FlavorResource, int]

_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def thousandths(quantity: object) -> int:
    """A quantity in thousandths of its unit, rounded up: finer than any that the tests use."""
    text = str(quantity)
    number = text.rstrip("numkKMGTPEi")
    suffix = text[len(number) :]
    if suffix.endswith("i"):
        value = Decimal(number) * 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    else:
        value = Decimal(number).scaleb(_SUFFIXES[suffix])
    return int((value * 1000).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Limits:
    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


@dataclass(slots=True)
class Node:
    """A ClusterQueue or Cohort."""

    parent: str = ""
    limits: dict[FlavorResource, Limits] = field(default_factory=dict)
    spec: object = None


class Forest:
    """Who stands under whom with which limits; every figure is worked out from the leaves each time it is asked for."""

    def __init__(self) -> None:
        self.queues: dict[str, Node] = {}
        self.cohorts: dict[str, Node] = {}

    def _node(self, key: tuple[str, str]) -> Node:
        kind, name = key
        return self.queues[name] if kind == "queue" else self.cohorts.get(name, Node())

    def _children(self, key: tuple[str, str]) -> list[tuple[str, str]]:
        kind, name = key
        if kind == "queue":
            return []
        return [("queue", q) for q, node in self.queues.items() if node.parent == name] + [
            ("cohort", c) for c, node in self.cohorts.items() if node.parent == name
        ]

    def _limits(self, key: tuple[str, str], fr: FlavorResource) -> Limits:
        return self._node(key).limits.get(fr, Limits())

    def total(self, key: tuple[str, str], fr: FlavorResource) -> int:
        """What it has: its own, and of its children what they would lend."""
        lent = sum(self.total(child, fr) - self.kept(child, fr) for child in self._children(key))
        return self._limits(key, fr).nominal + lent

    def kept(self, key: tuple[str, str], fr: FlavorResource) -> int:
        """What it never lends."""
        lending = self._limits(key, fr).lending
        return 0 if lending is None else max(0, self.total(key, fr) - lending)

    def used(self, key: tuple[str, str], fr: FlavorResource, held: Mapping[str, Amounts]) -> int:
        """What its workloads take of it; children that live on what they keep take nothing."""
        if key[0] == "queue":
            return held.get(key[1], {}).get(fr, 0)
        return sum(max(0, self.used(child, fr, held) - self.kept(child, fr)) for child in self._children(key))

    def overshoots(self, queue: str, held: Mapping[str, Amounts]) -> Iterator[str]:
        """Everything between this queue and its root that is above its limit."""
        if queue not in self.queues:
            yield f"there is no ClusterQueue {queue}"
            return
        key: tuple[str, str] = ("queue", queue)
        while True:
            parent = self._node(key).parent
            for fr in sorted(held.get(queue, {})):
                borrowing = self._limits(key, fr).borrowing
                if parent and borrowing is None:
                    continue  # may borrow whatever there is; its parent tells how much that was
                limit = self.total(key, fr) + ((borrowing or 0) if parent else 0)
                used = self.used(key, fr, held)
                if used > limit:
                    holds = f"{key[0]} {key[1]} holds {used / 1000:g} of {fr[1]} in {fr[0]}"
                    yield f"{holds}, its limit is {limit / 1000:g}"
            if not parent:
                return
            key = ("cohort", parent)


@dataclass(slots=True)
class Life:
    """One Workload, as far as the stream has told it."""

    uid: str
    admission: str = ""  # what it holds, as canonical JSON; "": nothing
    queue: str = ""
    amounts: Amounts = field(default_factory=dict)
    admitted: bool = False
    evicted: bool = False
    finished: bool = False
    admissions: int = 0


class Auditor:
    """Feed it every event in order; `findings` are the broken promises, each with its revision."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self.revisions = self.admissions = self.evictions = self.releases = 0
        self.stillborn = 0  # admissions that came into being evicted: both decided before either was written
        self.leaders: list[str] = []
        self._forest = Forest()
        self._lives: dict[str, Life] = {}
        self._held: dict[str, Amounts] = {}
        self._ended: list[Life] = []

    @property
    def finished(self) -> int:
        """How many Workloads have finished."""
        return sum(life.finished for life in (*self._lives.values(), *self._ended))

    def read(self, event: Event) -> None:
        """The next event of the stream."""
        self.revisions += 1
        if event.key.startswith("/registry/leases/") and not event.deleted:
            self._lease(event)
        if not event.key.startswith(KUEUE):
            return
        plural, _, name = event.key.removeprefix(KUEUE).partition("/")
        match plural:
            case "clusterqueues":
                self._quotas(self._forest.queues, name, event, "cohortName")
            case "cohorts":
                self._quotas(self._forest.cohorts, name, event, "parentName")
            case "workloads":
                self._workload(name, event)

    def close(self) -> None:
        """The story is over: whatever is still open was lost."""
        for name, life in self._lives.items():
            if not life.finished:
                self.findings.append(f"at the end: {name} never finished")
            if life.admission and life.evicted:
                self.findings.append(f"at the end: {name} was evicted and never let go")

    def _find(self, event: Event, what: str) -> None:
        self.findings.append(f"revision {event.revision}: {what}")

    def _lease(self, event: Event) -> None:
        if "kueue" in event.key:
            holder = (event.json.get("spec") or {}).get("holderIdentity") or ""
            if holder and self.leaders[-1:] != [holder]:
                self.leaders.append(holder)

    def _quotas(self, nodes: dict[str, Node], name: str, event: Event, parent: str) -> None:
        if event.deleted:
            nodes.pop(name, None)
            changed = True
        else:
            spec = event.json.get("spec") or {}
            before = nodes.get(name)
            changed = before is not None and before.spec != spec
            nodes[name] = Node(spec.get(parent) or "", _limits(spec), spec)
        if changed and self.admissions:
            self._find(event, f"the quotas of {name} changed: this audit can only judge quotas that stay")

    def _workload(self, name: str, event: Event) -> None:
        life = self._lives.get(name)
        if event.deleted:
            if life is not None:
                self._let_go(life)
                self._ended.append(self._lives.pop(name))
                if not life.finished:
                    self._find(event, f"{name} was deleted before it finished")
            return
        manifest = event.json
        if life is None or life.uid != manifest["metadata"]["uid"]:
            life = self._lives[name] = Life(manifest["metadata"]["uid"])
        self._live_on(name, life, manifest, event)

    def _live_on(self, name: str, life: Life, manifest: Mapping[str, Any], event: Event) -> None:
        status = manifest.get("status") or {}
        true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
        admission = status.get("admission") or {}
        reserved = "QuotaReserved" in true
        if reserved != bool(admission):
            self._find(event, f"{name}: QuotaReserved is {reserved}, but admission is {admission or 'not set'}")
        written = json.dumps(admission, sort_keys=True) if reserved and admission else ""
        evicted, finished, admitted = "Evicted" in true, "Finished" in true, "Admitted" in true
        if admitted and not reserved:
            self._find(event, f"{name} is admitted without a reservation")
        if life.finished and (written != life.admission or not finished):
            self._find(event, f"{name} had finished, and was changed again")
        if life.admission and written and written != life.admission:
            self._find(event, f"{name} was admitted twice: its first reservation was never released")
        if life.evicted and not evicted and life.admission and written:
            self._find(event, f"{name}: its eviction was lost, it holds what it was to give back")
        appears = bool(written) and written != life.admission
        if evicted and (appears or not life.evicted):
            self.evictions += 1
            self.stillborn += appears
        if life.admission and not written:
            self.releases += 1
            if not (evicted or life.evicted or life.finished):
                self._find(event, f"{name} lost its reservation although nobody evicted it")
        self._hold(name, life, written, admission, finished, event)
        life.evicted, life.finished, life.admitted = evicted, finished, admitted

    def _hold(
        self, name: str, life: Life, written: str, admission: Mapping[str, Any], finished: bool, event: Event
    ) -> None:
        """Count what it holds now. A reservation that appears must leave everybody within their limits."""
        appears = bool(written) and written != life.admission
        self._let_go(life)
        life.admission = written
        if not written or finished:
            return
        life.queue, life.amounts = admission["clusterQueue"], _amounts(admission)
        queue = self._held.setdefault(life.queue, {})
        for fr, units in life.amounts.items():
            queue[fr] = queue.get(fr, 0) + units
        if appears:
            self.admissions += 1
            life.admissions += 1
            for overshoot in self._forest.overshoots(life.queue, self._held):
                self._find(event, f"admitting {name} overshoots: {overshoot}")

    def _let_go(self, life: Life) -> None:
        for fr, units in life.amounts.items():
            self._held[life.queue][fr] -= units
        life.amounts = {}


def _limits(spec: Mapping[str, Any]) -> dict[FlavorResource, Limits]:
    return {
        (flavor["name"], resource["name"]): Limits(
            thousandths(resource["nominalQuota"]), *(_optional(resource, key) for key in _LIMITS)
        )
        for group in spec.get("resourceGroups") or ()
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    }


_LIMITS = ("borrowingLimit", "lendingLimit")


def _optional(resource: Mapping[str, Any], key: str) -> int | None:
    return None if resource.get(key) is None else thousandths(resource[key])


def _amounts(admission: Mapping[str, Any]) -> Amounts:
    total: Amounts = {}
    for pod_set in admission["podSetAssignments"]:
        for resource, flavor in (pod_set.get("flavors") or {}).items():
            units = thousandths((pod_set.get("resourceUsage") or {}).get(resource, "0"))
            total[flavor, resource] = total.get((flavor, resource), 0) + units
    return total
