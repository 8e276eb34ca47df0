"""Elastic quotas live: what is asked for and used is kept up with, runtime is shared anew when a plan is made, the
queues that stand for the quotas go the way of real ones, and the figures are published.

No queue stands for a quota before nodes and pods have been told once: what pods use already would be given away twice.
"""

from collections.abc import Callable, Mapping
from typing import Any

from admission.model.effects import REPORT, EmitEvent
from admission.model.elastic_quota import (
    DEFAULT,
    NO_UNITS,
    ROOT,
    SYSTEM,
    Bindings,
    ElasticQuota,
    NodeCapacity,
    QuotaPod,
    Units,
)
from admission.model.kinds import COUNTED, Ref
from admission.model.names import WorkloadKey
from admission.model.queues import LocalQueue, ResourceFlavor
from admission.reconcile.elastic_quota import publish
from admission.rules.asks import asks_of
from admission.rules.elastic_quotas import Demand, Family, Standing, standings
from admission.rules.idle_room import beyond_runtime, head_of, idle_room
from admission.rules.scheduler import Scheduler
from admission.rules.virtual_queues import Virtual, flavor_of, virtual_queues
from admission.state.flights import Flights
from admission.state.loads import Loads
from admission.state.objects import Objects
from admission.state.quota_pods import QuotaPods
from admission.state.slots import Slot
from admission.state.timers import Timers

# Real objects that may take the place of virtual ones, or make room for them.
SHADOWING = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor")
HEADS = 16  # of each quota that are looked at for room that is idle: more only where those in front are huge
PUBLISH_EVERY = 1.0  # seconds for each object, as Koordinator's scheduler does


class ElasticQuotas:
    """`take` hears of virtual objects as of facts; None: gone."""

    def __init__(
        self,
        objects: Objects,
        scheduler: Scheduler,
        loads: Loads,
        flights: Flights,
        timers: Timers,
        take: Callable[[Ref, Any], None],
    ) -> None:
        self.standings: dict[str, Standing] = {}  # by name, as of the last plan
        self._objects = objects
        self._loads = loads
        self._flights = flights
        self._timers = timers
        self._take = take
        self._scheduler = scheduler
        self._slots = objects.elastic_quotas
        self._pods = QuotaPods(self._is_charged)
        self._nodes: dict[str, NodeCapacity] = {}
        self._cluster: dict[str, int] = {}  # what they have together
        self._bindings = Bindings(())
        self._family = Family({})
        self._regroup = False  # quotas came or went, or hang elsewhere
        self._demand: dict[str, Demand] = {}
        self._eased: dict[str, dict[str, int]] = {}  # use that a leaf may come to, whatever its runtime
        self._shown: dict[Ref, Virtual] = {}
        self._stirred = False
        self._unpublished: dict[str, None] = {}  # keys
        self._published: dict[str, float] = {}
        self._told: dict[str, tuple[str, ...]] = {}  # key -> what was last said to be wrong

        self.takers: Mapping[str, Callable[[str, Any], None]] = {
            "ElasticQuota": self.put,
            "Node": self.put_node,
            "Pod": self.put_pod,
        }

    # --- facts

    @property
    def counted(self) -> tuple[str, ...]:
        """Kinds to follow now, besides those that always are."""
        return COUNTED if self._slots else ()

    def quota(self, name: str) -> ElasticQuota | None:
        """The one whose word counts."""
        self._group()
        return self._bindings.by_name.get(name)

    def stir(self) -> None:
        """Something may be another that the figures depend on."""
        self._stirred = True

    def touch(self, key: str) -> None:
        """A write has landed, well or not."""
        self._unpublished[key] = None

    def put(self, key: str, value: ElasticQuota | None) -> None:
        slot = self._slots.get(key)
        before = slot.observed if slot is not None else None
        if value is None:
            self._slots.pop(key, None)
            self._published.pop(key, None)
            self._told.pop(key, None)
        else:
            if slot is None:
                slot = self._slots[key] = Slot()
            if not slot.observe(value):
                return
        self.touch(key)
        if before is not None and value is not None and before.as_written == value.as_written:
            return
        self._regroup = True
        self.stir()
        if value is not None:
            self._show_flavor(value.tree)
        if not self._slots:
            self._forget()

    def _show_flavor(self, tree: str) -> None:
        """At once: after a restart, jobs that were let in are started before a first plan shares anything."""
        ref = Ref("ResourceFlavor", "", flavor_of(tree))
        if self._observed(ref) is None:
            self._shown[ref] = ResourceFlavor(ref.name, virtual=True)
            self._take(ref, self._shown[ref])

    def _group(self) -> None:
        """Once for many quotas: a first list brings them all, and each may be whose the pods of another are."""
        if self._regroup:
            self._regroup = False
            self._bindings = Bindings(one.observed for one in self._slots.values() if one.observed is not None)
            self._family = Family(self._bindings.by_name)
            self._pods.bind(self._bindings)

    def put_pod(self, key: str, value: QuotaPod | None) -> None:
        namespace, _, name = key.partition("/")
        if self._slots and self._pods.put((namespace, name), value):
            self.stir()

    def put_node(self, name: str, value: NodeCapacity | None) -> None:
        before = self._nodes.get(name)
        if not self._slots or (before is not None and value is not None and before.allocatable == value.allocatable):
            return
        self._nodes.pop(name, None)
        if value is not None:
            self._nodes[name] = value
        for node, sign in ((before, -1), (value, 1)):
            for resource, units in node.allocatable.items() if node is not None else ():
                self._cluster[resource] = self._cluster.get(resource, 0) + sign * units
                if not self._cluster[resource]:
                    del self._cluster[resource]  # nobody tells of it any more
        self.stir()

    def _forget(self) -> None:
        """Nobody follows pods and nodes for us any more."""
        self._pods.clear()
        self._nodes.clear()
        self._cluster.clear()
        for kind in COUNTED:
            self._objects.servings.pop(kind, None)

    # --- the plan

    def refresh(self) -> None:
        """Runtime is shared anew if anything has changed, and whoever leads to the quotas is where it belongs."""
        moved, self._loads.moved = self._loads.moved, {}
        if not self._slots and not self._shown:
            return
        self._group()
        for key in moved:
            if self._pods.reconsider(key):
                self.stir()
        if not (self._stirred or moved):
            return
        demand = self._asked_for()
        # A queue that has just appeared shows who waits in it, which its limits depend on in turn.
        while self._stirred or demand != self._demand:
            self._stirred, self._demand = False, demand
            self._eased.clear()
            self._share()
            demand = self._asked_for()

    def _share(self) -> None:
        demand, capacity = self._demand, self._capacity()
        self.standings = standings(self._family, demand, capacity)
        for name in self.standings:
            self.touch(self._bindings.by_name[name].key)
        wanted = virtual_queues(self._family, self.standings, demand, capacity, self._eased)
        self._show({_ref(one): one for one in wanted if self._complete or isinstance(one, ResourceFlavor)})

    def ease(self) -> bool:
        """Nobody can be let in: one job may come in beyond the runtime of its quota, the most urgent, then the oldest.
        Whether there is one; it is looked at with the next plan. Each quota is tried once until something changes."""
        if not self._slots or not self._complete or self._stirred:
            return False
        rooms = idle_room(self._family, self.standings, self._demand, self._capacity())
        found: list[tuple[int, float, WorkloadKey, str, dict[str, int]]] = []
        for name in self._family.downwards:
            load = self._loads.cluster_queue(name)
            if name in self._eased or name not in self.standings or not load.pending:
                continue
            quota, room = self._family.quotas[name], rooms[head_of(self._family, name)]
            for key in self._scheduler.pending(name)[:HEADS] if any(units > 0 for units in room.values()) else ():
                workload = self._objects.workloads[key].current
                if workload is None:
                    continue
                asked = _together(*[dict(ask.requests) for ask in asks_of(self._objects.requests.effective(workload))])
                after = beyond_runtime(quota, self.standings[name], asked, room)
                if after is not None:
                    found.append((-workload.priority, workload.created, key, name, after))
                    break
        if not found or self._leaving():
            return False
        _, _, _, name, after = min(found)
        self._eased[name] = after
        self._share()
        return True

    def _leaving(self) -> bool:
        """Somebody had to leave, and has not yet: whoever that is for comes first."""
        return any(holder.evicted for name in self.standings for holder in self._scheduler.holders.of(name))

    def _show(self, wanted: dict[Ref, Virtual]) -> None:
        before, self._shown = self._shown, {}
        shadowed: dict[str, str] = {}
        for ref, one in wanted.items():
            real = self._observed(ref)
            if real is not None and not real.virtual:
                shadowed[ref.name] = ref.kind
                continue
            self._shown[ref] = one
            if real != one:
                self._take(ref, one)
        for ref in reversed(before):  # queues go before their cohorts
            left = self._observed(ref)
            if ref not in self._shown and left is not None and left.virtual:
                self._take(ref, None)
        for slot in self._slots.values():
            if slot.observed is not None:
                self._tell(slot.observed, shadowed.get(slot.observed.name, ""))

    def _tell(self, quota: ElasticQuota, shadowed: str) -> None:
        wrong = [*quota.problems]
        counts = self._bindings.by_name[quota.name]
        if counts.key != quota.key:
            wrong.append(f"ElasticQuota {counts.key} has the same name and is older: this one counts for nothing")
        elif shadowed in ("ClusterQueue", "Cohort"):
            wrong.append(f"there is a {shadowed} {quota.name}: its quota counts, not that of the elastic quota")
        if self._told.get(quota.key, ()) != tuple(wrong):
            self._told[quota.key] = tuple(wrong)
            ref = Ref("ElasticQuota", quota.namespace, quota.name)
            for sentence in wrong:
                self._flights.tell(EmitEvent(ref, quota.uid, "Warning", "NotAsWritten", sentence))

    def write(self, now: float, room: int) -> bool:
        """Publishes figures that are due, at most `room` of them; True if some had to be left for the next plan."""
        self._group()
        waiting, self._unpublished = self._unpublished, {}
        left = False
        for key in waiting:
            slot = self._slots.get(key)
            quota = slot.observed if slot is not None else None
            if slot is None or quota is None or slot.busy or self._bindings.by_name[quota.name].key != key:
                continue  # gone, or looked at again when the write under way has landed
            standing = self.standings.get(quota.name)
            patch = publish(quota, standing) if standing is not None and not quota.deleting else None
            if patch is None:
                continue
            due = self._published.get(key, now - PUBLISH_EVERY) + PUBLISH_EVERY
            if due > now or room <= 0:
                self._unpublished[key] = None
                left = left or due <= now
                self._timers.wake(max(due, now))
                continue
            room -= 1
            self._published[key] = now
            self._flights.send(patch.ref, slot, patch, None, "", REPORT)
        return left

    # --- figures

    @property
    def _complete(self) -> bool:
        return all(self._objects.serving(kind) is not None for kind in COUNTED)

    def _asked_for(self) -> dict[str, Demand]:
        found = {}
        for name in self._family.quotas:
            load = self._loads.cluster_queue(name)
            reserved: dict[str, int] = {}
            for (_, resource), units in load.reserved.items():
                reserved[resource] = reserved.get(resource, 0) + units
            pods = self._pods.asked.get(name, NO_UNITS)
            placed = self._pods.placed.get(name, NO_UNITS)
            unplaced = {resource: units - placed.get(resource, 0) for resource, units in pods.items()}
            found[name] = Demand(_together(pods, load.asked, reserved), dict(placed), unplaced, reserved)
        return found

    def _capacity(self) -> dict[str, int]:
        """Of the default tree: all nodes, without what other trees have and what pods outside of any quota use."""
        root = self._bindings.by_name.get(ROOT)
        total = dict((root.total if root is not None else None) or self._cluster)
        elsewhere = [
            one.total or NO_UNITS for one in self._family.quotas.values() if one.is_root and not one.ignores_default
        ]
        elsewhere += [self._pods.placed.get(group, NO_UNITS) for group in (SYSTEM, DEFAULT)]
        for resource in total:
            total[resource] -= sum(units.get(resource, 0) for units in elsewhere)
        return total

    def _is_charged(self, workload: WorkloadKey) -> bool:
        return self._loads.queue_of(workload) in self._family.quotas

    def _observed(self, ref: Ref) -> Any:
        match ref.kind:
            case "ClusterQueue":
                return self._objects.cluster_queue(ref.name)
            case "LocalQueue":
                return self._objects.local_queue(ref.namespace, ref.name)
            case "Cohort":
                slot = self._objects.cohorts.get(ref.name)
                return slot.observed if slot is not None else None
            case _:
                return self._objects.flavor(ref.name)


def _together(*parts: Units) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for resource, units in part.items():
            total[resource] = total.get(resource, 0) + units
    return total


def _ref(one: Virtual) -> Ref:
    if isinstance(one, LocalQueue):
        return Ref("LocalQueue", one.namespace, one.name)
    return Ref(type(one).__name__, "", one.name)
