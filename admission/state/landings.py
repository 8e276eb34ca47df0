"""What became of writes that were sent: whoever waited for one goes on, one that was refused waits for another try, and
one that nobody answered stays assumed until a read settles it."""

from collections.abc import Callable
from typing import Any

from admission.model.effects import Effect, EmitEvent, Outcome, Patch, StartJob
from admission.model.job import Job
from admission.model.kinds import Ref
from admission.reconcile import transitions
from admission.reconcile.starting import started_event
from admission.state.creations import Creations
from admission.state.elastic_quotas import ElasticQuotas
from admission.state.flights import Flights
from admission.state.intake import Intake
from admission.state.objects import Objects
from admission.state.profiles import MadeQueues
from admission.state.queues import Queues
from admission.state.slots import Slot
from admission.state.timers import Timers, patience
from admission.state.workloads import Workloads, workload_key

# Quotas are learned from the watch alone, in its order: a queue read ahead of it would be seen beside others as they
# were before, and a plan made from quotas that were never in force together.
IN_ORDER = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "AdmissionCheck", "ElasticQuota")
# Written again at once, it would be written for ever.
_NOTHING_CHANGED = (
    "What should start or stop it left it as it was: its CustomResourceDefinition has no such field, or a webhook sets "
    "it back"
)


class Landings:
    """`look_at`: an object whose reconcile function should run again."""

    def __init__(
        self,
        objects: Objects,
        flights: Flights,
        timers: Timers,
        workloads: Workloads,
        queues: Queues,
        elastic_quotas: ElasticQuotas,
        intake: Intake,
        creations: Creations,
        made_queues: MadeQueues,
        look_at: Callable[[Ref], None],
    ) -> None:
        self._objects = objects
        self._flights = flights
        self._timers = timers
        self._workloads = workloads
        self._queues = queues
        self._elastic_quotas = elastic_quotas
        self._intake = intake
        self._creations = creations
        self._made_queues = made_queues
        self._look_at = look_at

    def outcome(self, outcome: Outcome) -> None:
        """What became of an effect of a plan."""
        ref = self._flights.land(outcome.id)
        if ref is None:
            return
        if self._made_queues.answers(ref, outcome.id):
            self._queue_made(ref, outcome)
            return
        slot = self._objects.slot(ref)
        if self._creations.answers(ref, outcome.id):
            seen = slot.observed.resource_version if slot is not None and slot.observed is not None else None
            self._creations.outcome(ref, outcome, seen, self._intake.now)
            return
        if slot is None or slot.flight is None or slot.flight.id != outcome.id:
            return
        before, effect = slot.current, slot.flight.effect
        match outcome.result:
            case "ok" if isinstance(before, Job) and outcome.resource_version == slot.base:
                self._refuse(ref, slot)
                self._flights.tell(EmitEvent(ref, before.uid, "Warning", "NothingChanged", _NOTHING_CHANGED))
            case "ok":
                known = slot.observed
                slot.confirm(outcome.resource_version)
                if self._intake.witness is not None and ref.kind == "Workload" and slot.observed is not known:
                    self._intake.witness(known, slot.observed)
                self._tell_start(effect)
            case "conflict" | "unknown" | "gone" if ref.kind in IN_ORDER:
                slot.deny(stale=outcome.result != "unknown")
            case "unknown":
                self._doubt(ref, slot)
                return
            case "gone":
                self._intake.take(ref, None)
                return
            case "conflict":
                slot.deny(stale=True)
                self._flights.reads[ref] = None
            case "aborted":
                slot.deny()
            case "refused":
                self._refuse(ref, slot)
            case "impossible":
                slot.deny()
                self._give_up(effect, outcome.message)
        self._settled(ref, slot, before)

    def read(self, ref: Ref, version: int) -> bool:
        """A read found the object at this resourceVersion. True: as we know it, so there is nothing to take in."""
        slot = self._objects.slot(ref)
        if slot is None:
            return False
        if slot.doubtful and self._still_doubtful(ref, slot, version):
            return True
        if slot.stale != version:
            return False
        # It has not moved on: what stood in the way is elsewhere, and trying again at once would meet it again.
        before = slot.current
        self._refuse(ref, slot)
        self._settled(ref, slot, before)
        return True

    def retry(self, ref: Ref) -> None:
        """The wait after a refusal is over."""
        slot = self._objects.slot(ref)
        if slot is not None:
            slot.retry_at = None
            self._settled(ref, slot, slot.current)
        else:
            self._creations.retry(ref)

    def ask(self, ref: Ref) -> None:
        """The wait after a write that nobody answered is over: a read may settle it."""
        slot = self._objects.slot(ref)
        if slot is not None and slot.doubtful:
            self._flights.reads[ref] = None

    def _queue_made(self, ref: Ref, outcome: Outcome) -> None:
        wait = patience(self._made_queues.failures(ref) + 1)
        self._made_queues.outcome(ref, outcome, wait, self._intake.now)
        if self._objects.slot(ref) is not None:  # the watch was faster than the answer
            self._made_queues.seen(ref)

    def _settled(self, ref: Ref, slot: Slot[Any], before: Any) -> None:
        """A write has landed, well or not: whoever waited for that goes on."""
        if ref.kind == "Workload":
            key = workload_key(ref)
            self._workloads.carry_on(key)
            self._intake.moved(key, before)
        elif ref.kind == "ElasticQuota":
            self._elastic_quotas.touch(f"{ref.namespace}/{ref.name}")
        elif ref.kind in IN_ORDER:
            self._queues.touch(ref.kind, f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name)
        else:
            self._look_at(ref)

    def _refuse(self, ref: Ref, slot: Slot[Any]) -> None:
        slot.failures += 1
        wait = patience(slot.failures)
        slot.deny(retry_at=self._intake.now + wait)
        self._timers.at(self._intake.now + wait, ("retry", ref))

    def _tell_start(self, effect: Effect) -> None:
        workload = self._objects.workload(effect.workload) if isinstance(effect, StartJob) else None
        if workload is not None:
            self._flights.tell(started_event(effect.ref, workload))

    def _give_up(self, effect: Effect, message: str) -> None:
        """A job that can never be started with its admission ends its Workload (Kueue 0.19)."""
        workload = self._objects.workload(effect.workload) if isinstance(effect, StartJob) else None
        if workload is not None:
            after = transitions.finish_because(workload, "FailedToStart", message, self._intake.now)
            self._workloads.wish(workload.key, after)
            self._intake.moved(workload.key, workload)
            for ref, uid in ((workload.ref, workload.uid), (effect.ref, workload.owner_uid)):
                self._flights.tell(EmitEvent(ref, uid, "Warning", "FailedToStart", message))

    def _doubt(self, ref: Ref, slot: Slot[Any]) -> None:
        """No answer came: it stays assumed, and nothing else is written, until a read settles it."""
        slot.doubtful = True
        slot.failures += 1
        if slot.failures == 1:
            self._flights.reads[ref] = None
        else:  # the server answers nobody: asking ever faster would not help it
            self._timers.at(self._intake.now + patience(slot.failures - 1), ("doubt", ref))
        if ref.kind == "Workload" and slot.current is not None:
            self._intake.moved(workload_key(ref), slot.current)

    def _still_doubtful(self, ref: Ref, slot: Slot[Any], version: int) -> bool:
        """The object is as it was before the write, so that write may still arrive: the same one is sent again, and
        whichever comes first makes the other fail. Anything newer has made it impossible."""
        planned = slot.flight
        if planned is None or not isinstance(planned.effect, Patch):
            return self._land(slot)
        if planned.effect.resource_version != version or not self._flights.may_arrive(planned.id):
            return self._land(slot)
        slot.doubtful = False
        self._flights.send(ref, slot, planned.effect, slot.assumed, planned.lane, planned.rank)
        return True

    def _land(self, slot: Slot[Any]) -> bool:
        """A read has settled what became of the write."""
        if slot.flight is not None:
            self._flights.land(slot.flight.id)
        slot.deny()
        return False
