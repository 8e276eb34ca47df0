"""QueuePolicies: what they say reaches the scheduler at once, what people have under them is told now and then."""

from collections.abc import Callable, Mapping
from typing import Any

from admission.model.kinds import Ref
from admission.model.queue_policy import QueuePolicy, Target, Use
from admission.reconcile.queue_policy import Standing, conflict, invalid, missing, ready
from admission.rules.scheduler import Scheduler
from admission.state.objects import Objects
from admission.state.slots import Slot
from admission.state.timers import Timers

USES = "uses"  # timers of this kind: (USES, name of the policy)
USES_SECONDS = 10.0  # between two writes of one policy's numbers: only people wait for them
MOST_USERS = 100  # in a status; some 10 KB


class QueuePolicies:
    def __init__(self, objects: Objects, scheduler: Scheduler, timers: Timers, look_at: Callable[[Ref], None]) -> None:
        self.takers: Mapping[str, Callable[[str, Any], None]] = {"QueuePolicy": self._take}
        self._slots = objects.queue_policies
        self._objects, self._timers, self._look_at = objects, timers, look_at
        self._policies = scheduler.policies
        self._told: dict[str, tuple[Use, ...]] = {}

    def _take(self, name: str, value: QueuePolicy | None) -> None:
        if value is None:
            if self._slots.pop(name, None) is None:
                return
            self._told.pop(name, None)
            self._policies.drop(name)
            self._changed()
            return
        slot = self._slots.setdefault(name, Slot())
        if slot.observe(value):
            self._look_at(Ref("QueuePolicy", "", name))
            if self._policies.put(value):
                self._changed()

    def _changed(self) -> None:
        """Others may count now, and whoever runs may have to end sooner or later than before."""
        self.look()
        for key, slot in self._objects.workloads.items():
            if slot.current is not None and slot.current.admitted:
                self._look_at(Ref("Workload", *key.split("/", 1)))

    def heard(self, of: Ref) -> None:
        """A queue or cohort that some policy is for may have come or gone."""
        if self._slots:
            name = self._policies.policing.policies.at(Target(of.kind, of.name, of.namespace))
            if name:
                self._look_at(Ref("QueuePolicy", "", name))

    def look(self) -> None:
        """Another of them may count now."""
        for name in self._slots:
            self._look_at(Ref("QueuePolicy", "", name))

    def standing(self, policy: QueuePolicy) -> Standing:
        if policy.problem:
            return invalid(policy.problem)
        rival = self._policies.policing.policies.rival(policy.name)
        if rival:
            return conflict(policy.target, rival)
        return ready(policy.target) if self._there(policy.target) else missing(policy.target)

    def _there(self, target: Target) -> bool:
        match target.kind:
            case "LocalQueue":
                return self._objects.local_queue(target.namespace, target.name) is not None
            case "ClusterQueue":
                return self._objects.cluster_queue(target.name) is not None
            case _:
                return self._policies.policing.knows_cohort(target.name)

    def note(self, now: float) -> None:
        """What has moved since is told a little later."""
        moved = self._policies.policing.accounts.moved
        if moved:
            for name in moved:
                self._timers.at(now + USES_SECONDS, (USES, name))
            moved.clear()

    def tell(self, name: str) -> None:
        """From now on the numbers are told as they are."""
        if name not in self._slots:
            return
        uses = [
            Use(user, use.running, len(use.line), tuple(sorted(use.resources.items())))
            for user, use in self._policies.policing.totals(name)
        ]
        heaviest = sorted(uses, key=lambda one: (-one.running, -one.pending, one.name))[:MOST_USERS]
        self._told[name] = tuple(heaviest)
        self._look_at(Ref("QueuePolicy", "", name))

    def told(self, name: str) -> tuple[Use, ...] | None:
        """None: nothing was told yet."""
        return self._told.get(name)
