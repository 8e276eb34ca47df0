"""The state machine itself: see the package's docstring for how it is driven."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from admission.jobs import JobKinds
from admission.model.accelerators import CatalogueChanges
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.effects import CONSEQUENCE, CreateLocalQueue, CreateWorkload, Effect, EmitEvent, Outcome, Plan
from admission.model.job import Job
from admission.model.job_kind import JobKind, Place
from admission.model.job_profile import JobProfile
from admission.model.kinds import COUNTED, Ref
from admission.model.names import WorkloadKey
from admission.model.queue_policy import QueuePolicy
from admission.model.template_source import TemplateSource
from admission.model.workload import Workload
from admission.reconcile.job import reconcile_job
from admission.reconcile.job_kind import reconcile_job_kind
from admission.reconcile.job_profile import reconcile_job_profile
from admission.reconcile.queue_policy import reconcile_queue_policy
from admission.reconcile.view import Serving
from admission.reconcile.wishes import NOTHING, Wishes
from admission.reconcile.workload import reconcile_workload
from admission.rules.scheduler import Scheduler
from admission.state import profiles, queue_policies, sampling
from admission.state.creations import Creations
from admission.state.decide import Decisions
from admission.state.elastic_quotas import SHADOWING, ElasticQuotas
from admission.state.flights import Flights
from admission.state.intake import Intake
from admission.state.landings import Landings
from admission.state.loads import Loads
from admission.state.objects import Objects
from admission.state.profiles import MadeQueues, Profiles
from admission.state.queue_policies import QueuePolicies
from admission.state.queues import Queues
from admission.state.sampling import Sampling
from admission.state.slots import Slot
from admission.state.sought import Sought
from admission.state.timers import Timers, patience
from admission.state.workloads import Workloads, workload_key

# About what 32 writers send in half a second: the loop stays alive, the lease is renewed, newcomers are seen.
BUDGET = 256
# Objects looked at in one plan; 2,000 take about 0.1 s, so that with 50,000 at the start the lease is still renewed.
LOOKS = 2000
# So long may the news of a job come after that of its Workload; then the job is looked for.
OWNER_AFTER = 30.0
# Of a ConfigMap that are told at a time: who mends the first ones sees the rest.
FAULTS = 10


class State:
    """Facts and outcomes in, plans out. Times are seconds since 1970; nothing here reads a clock."""

    def __init__(self, configuration: Configuration = DEFAULTS) -> None:
        self.scheduler = Scheduler(configuration)
        self._flights = Flights()
        self._timers = Timers()
        self.objects = Objects(configuration, self.scheduler, Profiles(self._timers))
        self.loads = Loads()
        self._made_queues = MadeQueues(self._flights, self._timers)
        self._dirty: OrderedDict[Ref, None] = OrderedDict()  # its first is taken at once, however many were before
        self._creations = Creations(self._flights, self._timers, self._look_at, patience)
        self._sought = Sought(self.objects, self._flights, self._look_at)
        self._sampling = Sampling(self.objects, self.scheduler, self.loads, self._timers)
        self._workloads = Workloads(self.objects, self.scheduler, self.loads, self._flights, self._sampling)
        self._queues = Queues(self.objects, self.scheduler, self.loads, self._flights, self._timers)
        self._decisions = Decisions(self.objects, self.scheduler, self._workloads, self._flights, self._timers)
        self._intake = Intake(
            self.objects, self.scheduler, self._workloads, self._queues, self._sampling, self._look_at
        )
        self.elastic_quotas = ElasticQuotas(
            self.objects, self.scheduler, self.loads, self._flights, self._timers, self._intake.take
        )
        self._intake.also_take(self.elastic_quotas.takers)
        self.queue_policies = QueuePolicies(self.objects, self.scheduler, self._timers, self._look_at)
        self._intake.also_take(self.queue_policies.takers)
        self._landings = Landings(
            self.objects,
            self._flights,
            self._timers,
            self._workloads,
            self._queues,
            self.elastic_quotas,
            self._intake,
            self._creations,
            self._made_queues,
            self._look_at,
        )

    # --- inputs

    def tell(self, witness: Callable[[Workload | None, Workload | None], None]) -> None:
        """From now on `witness` hears, once, of every certain change of a Workload: as it was, as it is."""
        self._intake.witness = witness

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None:
        """A fact: what list or watch (or, with `read`, a direct GET) said about an object."""
        ref = _ref_of(kind, value)
        if read and self._landings.read(ref, value.resource_version):
            return
        self._intake.take(ref, value)
        if kind in SHADOWING:
            self.elastic_quotas.stir()
        if isinstance(value, CatalogueChanges) and ref == self.objects.requests.catalogue_ref:
            for fault in value.faults[:FAULTS]:
                self._flights.tell(EmitEvent(ref, value.uid, "Warning", "BadEntry", fault))
        if read and isinstance(value, Job):
            self._sought.found(ref, value.uid)
        self.queue_policies.heard(ref)
        if kind == "Workload":
            self._creations.seen(ref, value.resource_version)
            self._workloads.carry_on(workload_key(ref))
        elif kind == "LocalQueue":
            self._made_queues.seen(ref)

    def gone(self, ref: Ref, resource_version: int | None = None, *, read: bool = False) -> None:
        """A fact: the object does not exist. `resource_version`: of the deletion, where a watch told it."""
        if read:
            self._sought.found(ref, "")
            self._creations.nowhere(ref, self._intake.now)
        slot = self.objects.slot(ref)
        if slot is not None:
            if not read and resource_version is not None and resource_version < slot.pinned:
                return
            if slot.flight is not None:
                self._flights.land(slot.flight.id)
        self._intake.take(ref, None)
        self.queue_policies.heard(ref)
        if ref.kind in SHADOWING:
            self.elastic_quotas.stir()

    def lend(self, source: TemplateSource) -> None:
        """A fact: pod templates of jobs in another object."""
        self._intake.lend(source)

    def lend_no_more(self, ref: Ref) -> None:
        """A fact: that object does not exist."""
        self._intake.lend_no_more(ref)

    def serves(self, kind: str, serving: Serving) -> None:
        """A fact: how the API server answers for a kind of jobs."""
        self._intake.serves(kind, serving)
        if kind in COUNTED:
            self.elastic_quotas.stir()

    def takes_office(self) -> None:
        """A fact: nobody else decides from now on, and nothing that was sent before can arrive any more.

        Others may have decided since, so a write that is still in doubt must not be sent again.
        """
        self._flights.forsake()

    def outcome(self, outcome: Outcome) -> None:
        """What became of an effect of a plan."""
        self._landings.outcome(outcome)

    # --- the plan

    def plan(self, now: float, budget: int = BUDGET) -> Plan:
        """What to do now: at most about `budget` writes."""
        self._intake.now = now
        self._sampling.begin(now)
        self._wake(now)
        self._reconcile(now, budget)
        more = bool(self._dirty)
        room = budget - self._flights.writes
        if room > 0 and not more:
            self.elastic_quotas.refresh()
            run = self.scheduler.run(now, room)
            for decision in run.decisions:
                self._decisions.carry_out(decision, now)
            more = run.more or bool(self._dirty) or self.scheduler.restless
            if not run.decisions and not more and not self.scheduler.paused:
                more = self.elastic_quotas.ease()
            self.queue_policies.note(now)
            if self.scheduler.policies.wake_at is not None:
                self._timers.wake(self.scheduler.policies.wake_at)
        more = self._queues.write(now, max(0, budget - self._flights.writes)) or more
        more = self.elastic_quotas.write(now, max(0, budget - self._flights.writes)) or more
        return self._flights.plan(more=more, wake_at=self._timers.next)

    def _look_at(self, ref: Ref) -> None:
        self._dirty[ref] = None

    def _wake(self, now: float) -> None:
        for what in self._timers.due(now):
            match what:
                case ("report", key):
                    self._decisions.report(WorkloadKey(str(key)), now)
                case ("retry", Ref() as ref):
                    self._landings.retry(ref)
                case ("doubt", Ref() as ref):
                    self._landings.ask(ref)
                case (sampling.SAMPLE, str() as local_queue):
                    self._sampling.sample(local_queue, now)
                case ("owner", Ref() as ref):
                    self._sought.job_of(ref)
                case (profiles.TALLY, str() as profile):
                    self.objects.profiles.tell(profile)
                    self._look_at(Ref("JobProfile", "", profile))
                case (profiles.QUEUE, Ref() as ref):
                    waiting = self._made_queues.again(ref)
                    if waiting is not None:
                        self._look_at(waiting)
                case (queue_policies.USES, str() as policy):
                    self.queue_policies.tell(policy)
                case ("missing", Ref() as ref):
                    self._creations.look_for(ref)
                case Ref() as ref:
                    self._look_at(ref)
                    if ref.kind == "Workload":
                        self._workloads.sync(workload_key(ref), now)

    def _reconcile(self, now: float, budget: int) -> None:
        for _ in range(LOOKS):
            if not self._dirty or self._flights.writes >= budget:
                return
            ref, _ = self._dirty.popitem(last=False)
            self._intake.refresh(ref)
            slot = self.objects.slot(ref)
            if slot is None or slot.busy or slot.current is None or self._awaits_workload(slot.current):
                continue  # gone, or looked at again when the write under way has landed
            wishes = self._wishes(ref, slot.current, now)
            self._grant(ref, slot, wishes, now)

    def _awaits_workload(self, value: Any) -> bool:
        """A job follows its Workload only once that is certain: it must not start for an admission that got lost."""
        if not isinstance(value, Job):
            return False
        return any(self.objects.workloads[one.key].busy for one in self.objects.workloads_of(value.uid))

    def _wishes(self, ref: Ref, value: Any, now: float) -> Wishes:
        if isinstance(value, Workload):
            if value.owner is not None and self.objects.job_of(value.owner_uid) is None:
                self._timers.at(now + OWNER_AFTER, ("owner", value.ref))
            if value.admissible:
                self._decisions.report_later(value.key, now)
            return reconcile_workload(self.objects, value, now)
        if isinstance(value, JobKind):
            return reconcile_job_kind(self.objects, value, now)
        if isinstance(value, QueuePolicy):
            policies = self.queue_policies
            return reconcile_queue_policy(value, policies.standing(value), policies.told(value.name), now)
        if isinstance(value, JobProfile):
            return reconcile_job_profile(self.objects, value, now)
        return reconcile_job(self.objects, value, now) if isinstance(value, Job) else NOTHING

    def _grant(self, ref: Ref, slot: Slot[Any], wishes: Wishes, now: float) -> None:
        if wishes.wake_at is not None:
            self._timers.at(wishes.wake_at, ref)
        if wishes.seek is not None:
            self._sought.owner_of(ref, wishes.seek)
        sent = wishes.workload is None and not wishes.effects
        if wishes.workload is not None:
            key = wishes.workload.key
            before = self.objects.workloads[key].current
            if not self.objects.workloads[key].busy and self._workloads.wish(key, wishes.workload):
                self._intake.moved(key, before)
                sent = True
        for effect in wishes.effects:
            sent = self._send(effect) or sent
        if sent:
            for event in wishes.events:
                self._flights.tell(event)

    def _send(self, effect: Effect) -> bool:
        if isinstance(effect, EmitEvent):
            self._flights.tell(effect)
            return True
        if isinstance(effect, CreateWorkload):
            return self._creations.ask(effect)
        if isinstance(effect, CreateLocalQueue):
            return self._made_queues.ask(effect)
        found = self.objects.slot(effect.ref)
        if found is None or found.busy:
            return False
        self._flights.send(effect.ref, found, effect, None, "", CONSEQUENCE)
        if effect.ref.kind == "Workload":
            self._intake.moved(workload_key(effect.ref), None)
        return True

    # --- what explain, the pages and the shell read

    @property
    def merely_samples(self) -> bool:
        """What it wakes up for is to note what LocalQueues and users have used: nothing is decided by that alone."""
        return self._timers.only(sampling.SAMPLE, queue_policies.USES)

    @property
    def counted(self) -> tuple[str, ...]:
        """Kinds that are to be followed now beside those that always are."""
        return self.elastic_quotas.counted

    @property
    def template_places(self) -> Mapping[str, tuple[Place, ...]]:
        """Kinds of objects in which pod templates of jobs lie, to be followed as long as they are here; and where in
        them."""
        return self.objects.job_kinds.places

    @property
    def job_kinds(self) -> JobKinds:
        """Descriptors of all kinds of jobs that are managed now."""
        return self.objects.job_kinds

    @property
    def workloads(self) -> Mapping[WorkloadKey, Workload]:
        """Every Workload as it will be once what is under way has happened."""
        found = ((key, slot.current) for key, slot in self.objects.workloads.items())
        return {key: workload for key, workload in found if workload is not None}


def _ref_of(kind: str, value: Any) -> Ref:
    if isinstance(value, Job):
        return value.ref
    return Ref(kind, getattr(value, "namespace", ""), value.name)
