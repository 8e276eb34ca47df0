"""Manifests played on a virtual clock: jobs arrive, wait, run and end, as the same State decides it in a cluster.

A hundred thousand jobs must not take a hundred thousand passes through webhooks and validation. So a job's manifest
goes through the in-memory API server once per distinct shape; what comes of it is kept as a Workload of the core, and
each further job of that shape is a copy with a name, a uid and a time. Operators are played likewise: pods start and
stop at once, a started job ends after its runtime, an evicted one begins anew.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from math import ceil
from typing import Any

from admission.jobs import READERS
from admission.jobs.template_sources import read_template_source
from admission.model import names
from admission.model.configuration import DEFAULTS, Configuration, Retention
from admission.model.effects import EmitEvent, Outcome, Patch, Planned
from admission.model.kinds import COUNTED, WATCHED, Ref
from admission.model.names import WorkloadKey
from admission.model.queues import FlavorResource
from admission.model.times import stamp
from admission.model.workload import Workload
from admission.reconcile import checks, transitions, unadmitted
from admission.reconcile.view import Serving
from admission.state import State
from admission.world.clock import EPOCH
from admission.world.metadata import generated_name
from admission.world.objects import Frozen, ref_of
from admission.world.shapes import Shape, Shapes, accepted
from admission.world.stories import Arrival, Moment, Story
from admission.world.world import World

# Plans in a row without the clock moving, after which State is taken to run in circles; as in World.
_MOST_IDLE_PLANS = 20_000
_ENDED = "Job finished successfully"
_JOB_ENDED = "Reached expected number of succeeded pods"


class NeverAtRest(RuntimeError):
    """State keeps planning although nothing happens."""


class Simulation:
    """`run` moves the clock; `state`, `stories` and `timeline` can be read between two runs."""

    def __init__(self, configuration: Configuration = DEFAULTS, start: float = EPOCH) -> None:
        # Pods are ready at once here, so nobody ever waits for them; and what has ended stays to be told of.
        configuration = replace(configuration, wait_for_pods_ready=None, retention=Retention())
        self.state = State(configuration)
        self.start = start
        self.now = 0.0
        self.timeline: list[Moment] = []
        self.stories: dict[WorkloadKey, Story] = {}
        self.peaks: dict[tuple[str, FlavorResource], int] = {}  # the most that each queue held at once
        self.expected = self.done = 0  # arrivals; those that have ended
        self.unmanaged: list[Ref] = []  # jobs that are not queued: they start at once and take no quota
        self._world = World(configuration, start=start, autostart=False)
        self._shapes = Shapes(self.state, self._world.api)
        self._fed = False
        self._refs: dict[Ref, WorkloadKey | None] = {}  # of arrivals; None: still to come
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._runs = count(1)
        self._version = 0
        self._wake_at: float | None = None

    # --- what there is

    def create(self, manifest: Frozen) -> None:
        """An object that is there from the start: a queue, a flavor, a class. Raises Refusal.

        A namespace that every cluster has is changed instead, as `kubectl apply` would. An AdmissionCheck counts as
        one whose controller is at work and says yes to everybody.
        """
        ref = ref_of(manifest)
        if ref.kind == "Namespace" and self.has_namespace(ref.name):
            accepted(self._world.api.patch(ref, manifest))
        else:
            accepted(self._world.api.create(manifest))
        if ref.kind == "Pod" and manifest.get("status"):
            accepted(self._world.api.patch(ref, {"status": manifest["status"]}, subresource="status"))
        if ref.kind == "AdmissionCheck":
            active = {"type": names.ACTIVE, "status": "True", "reason": "Active", "message": "", **self._since}
            accepted(self._world.api.patch(ref, {"status": {"conditions": [active]}}, subresource="status"))

    @property
    def _since(self) -> dict[str, str]:
        return {"lastTransitionTime": stamp(self.start)}

    def has_namespace(self, name: str) -> bool:
        return self._world.api.peek(Ref("Namespace", "", name)) is not None

    def expect(self, arrival: Arrival) -> None:
        """A job to come. Everything that `create` is told must be there by now. Raises Refusal."""
        if not self._fed:
            self._feed()
        shape = self._shapes.of(arrival.manifest)
        ref = ref_of(arrival.manifest)._replace(kind=shape.kind)
        if not ref.name:
            prefix = arrival.manifest["metadata"].get("generateName", "")
            ref = ref._replace(name=generated_name(prefix, self._world.api.store.next_suffix()))
        self.expected += 1
        self._refs[ref] = None
        self._at(arrival.at, lambda: self._arrive(arrival, ref, shape))

    def _feed(self) -> None:
        self._fed = True
        api = self._world.api
        for kind in (*WATCHED, *COUNTED):
            for manifest in api.scan(kind):
                self.state.observe(kind, READERS[kind](manifest))
        for kind in COUNTED:
            self.state.serves(kind, Serving(served=True))
        for kind, places in self.state.template_places.items():
            for manifest in api.scan(kind.partition(":")[0]):
                self.state.lend(read_template_source(kind, manifest, places))
            self.state.serves(kind, Serving(served=True))
        self._version = api.store.version

    # --- the clock

    def run(
        self,
        until: float | None = None,
        *,
        enough: Callable[[], bool] | None = None,
        progress: Callable[[], None] | None = None,
    ) -> None:
        """Until `until` (seconds from the start), or until nothing can happen any more. `enough` ends it sooner;
        `progress` is called at every moment at which something happens."""
        if not self._fed:
            self._feed()
        while (due := self._next()) is not None and (until is None or due <= until):
            self.now = due
            self._settle()
            if progress is not None:
                progress()
            if enough is not None and enough():
                return
        if until is not None:
            self.now = max(self.now, until)

    def _next(self) -> float | None:
        wake = None if self._wake_at is None else max(self.now, ceil(self._wake_at - self.start))
        event = self._events[0][0] if self._events else None
        if event is None and self.state.merely_samples:
            return None
        if wake is None or event is None:
            return wake if event is None else event
        return min(wake, event)

    def _settle(self) -> None:
        """Everything that happens at this moment, and what State makes of it."""
        for _ in range(_MOST_IDLE_PLANS):
            while self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()
            plan = self.state.plan(self._clock)
            for planned in plan.effects:
                self._carry_out(planned)
            self._wake_at = plan.wake_at
            if not plan.more and not plan.effects and not (self._events and self._events[0][0] <= self.now):
                return
        raise NeverAtRest(f"no rest at {self.now:g}s after {_MOST_IDLE_PLANS} plans; last: {self.timeline[-1:]}")

    @property
    def _clock(self) -> float:
        """Whole seconds, as everything that goes through the API server."""
        return self.start + self.now // 1

    def _at(self, when: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(when, self.now), next(self._order), action))

    # --- what State asks for

    def _carry_out(self, planned: Planned) -> None:
        effect = planned.effect
        if isinstance(effect, EmitEvent):
            self.state.outcome(Outcome(planned.id, "ok"))
            return
        if not isinstance(effect, Patch):
            raise TypeError(f"{type(effect).__name__} concerns a job, and State was told of none")
        self.state.outcome(Outcome(planned.id, "ok", self._next_version()))
        # The statuses of queues are not echoed: State then waits for the echo and never writes them again. Nothing
        # is decided by them.
        if effect.ref.kind != "Workload":
            return
        key = names.workload_key(effect.ref.namespace, effect.ref.name)
        if effect.subresource != "status":
            edited = _edited(self._workload(key), effect.body)
            self.state.observe("Workload", replace(edited, resource_version=self._version))
        self._note(key)

    def _next_version(self) -> int:
        self._version += 1
        return self._version

    def _workload(self, key: WorkloadKey) -> Workload:
        # As it is stored: what is wanted besides follows with a write of its own.
        workload = self.state.objects.workloads[key].observed
        assert workload is not None
        return workload

    # --- what happens to a job

    def _arrive(self, arrival: Arrival, ref: Ref, shape: Shape) -> None:
        if shape.workload is None and not shape.problem:
            self.unmanaged.append(ref)
            return
        store = self._world.api.store
        uid = store.next_uid()
        owner = ref if shape.kind != "Workload" else None
        name = self._shapes.name(ref, uid) if owner is not None else ref.name
        key = names.workload_key(ref.namespace, name)
        self._refs[ref] = key
        self.stories[key] = Story(key, owner, arrival.runtime, self.now, shape.problem)
        self.timeline.append(Moment(self.now, "created", key, "", shape.problem))
        if shape.workload is None:
            return
        workload = shape.workload.but(
            name=name,
            uid=store.next_uid() if owner else uid,
            job_uid=uid if owner else shape.workload.job_uid,
            created=self._clock,
            resource_version=self._next_version(),
        )
        self.state.observe("Workload", workload)

    def _note(self, key: WorkloadKey) -> None:
        """Compares what State has just written with what was known of the job."""
        story, workload = self.stories[key], self._workload(key)
        if workload.reserved and story.reserved is None:
            story.reserved = self.now
            self._told("quotaReserved", workload, names.QUOTA_RESERVED)
            self._measure(workload)
        if workload.reserved and not workload.admitted and not checks.passed(workload):
            ready = tuple([check._replace(state="Ready") for check in workload.checks])
            self.state.observe("Workload", workload.but(checks=ready, resource_version=self._next_version()))
        if workload.admitted and not workload.evicted and not story.running:
            self._begin(story, workload)
        if workload.evicted and workload.reserved:
            self._evict(story, workload)
        if not workload.reserved:
            story.reserved = None

    def _measure(self, workload: Workload) -> None:
        assert workload.admission is not None
        queue = workload.admission.cluster_queue
        node = self.state.scheduler.tree.queue(queue)
        if node is None:
            return
        for fr in workload.admission.usage():
            self.peaks[(queue, fr)] = max(self.peaks.get((queue, fr), 0), node.usage.get(fr, 0))

    def _begin(self, story: Story, workload: Workload) -> None:
        story.admitted = self.now
        story.started = self.now if story.started is None else story.started
        run = story.running = next(self._runs)
        self._told("admitted", workload, names.ADMITTED)
        if story.runtime is not None:
            self._at(self.now + story.runtime, lambda: self._end(story, run))

    def _evict(self, story: Story, workload: Workload) -> None:
        """What stops, stops at once. Whose kind cannot be stopped runs on, with its quota, to its end."""
        manner = self.state.job_kinds[story.owner.kind].stop if story.owner is not None else "Suspend"
        if manner != "Never":
            self._stop(story, workload)
        if manner == "Delete":
            story.problem = "It was evicted, and jobs of its kind are stopped by deleting them"
            self.done += 1
            self.state.gone(workload.ref)

    def _stop(self, story: Story, workload: Workload) -> None:
        """Evicted: its pods are gone at once, and its quota with them."""
        story.running = 0
        story.reserved = None
        story.evictions += 1
        what = "preempted" if workload.is_true(names.PREEMPTED) else "evicted"
        self._told(what, workload, names.PREEMPTED if what == "preempted" else names.EVICTED)
        reason = unadmitted.reason(self.state.objects.configuration.gates, unadmitted.PENDING_EVALUATION)
        self.state.observe("Workload", transitions.requeue_after_stop(workload, self._clock, reason))

    def _end(self, story: Story, run: int) -> None:
        if story.running != run:
            return
        story.running, story.reserved, story.finished = 0, None, self.now
        self.done += 1
        message = _JOB_ENDED if story.owner is not None and story.owner.kind == "Job" else _ENDED
        workload = transitions.finish(self._workload(story.key), True, message, self._clock)
        self.state.observe("Workload", workload)
        self._told("finished", workload, names.FINISHED)

    def _told(self, what: str, workload: Workload, condition: str) -> None:
        because = workload.conditions[condition]
        self.timeline.append(Moment(self.now, what, workload.key, because.reason, because.message))

    # --- reading

    def called(self, key: WorkloadKey) -> str:
        """What a person calls the job of a workload."""
        owner = self.stories[key].owner
        return f"{owner.namespace}/{owner.name}" if owner is not None else str(key)

    def ref_of(self, kind: str, namespace: str, name: str) -> Ref:
        """What a person means who calls the kind by its bare name, as good as can be known."""
        meant = (ref for ref in self._refs if ref.kind.partition(".")[0] == kind and ref[1:] == (namespace, name))
        return next(meant, Ref(kind, namespace, name))

    def find(self, ref: Ref) -> Story | None:
        """Of a job or Workload that has arrived; a job's Workload is found too."""
        key = self._refs.get(ref)
        if key is None and ref.kind == "Workload":
            key = names.workload_key(ref.namespace, ref.name)
        return self.stories.get(key) if key is not None else None

    def arrivals(self) -> Iterator[tuple[Ref, Story | None]]:
        """All that was expected, in the order in which it was; None: it is still to come, or not managed."""
        for ref, key in self._refs.items():
            yield ref, self.stories[key] if key is not None else None

    def awaits(self, ref: Ref) -> bool:
        """It is still to come."""
        return ref in self._refs and self._refs[ref] is None

    def why_unmanaged(self, ref: Ref) -> str:
        """Of one of `unmanaged`, as the rest of a sentence that begins with its name."""
        if ref.kind not in self.state.job_kinds:
            return "is of a kind that integrations.frameworks does not list"
        namespace = self.state.objects.namespace(ref.namespace)
        selector = self.state.objects.configuration.managed_jobs_namespace_selector
        if namespace is not None and not selector.matches(namespace.labels):
            return "is in a namespace that managedJobsNamespaceSelector leaves out"
        return "names no queue"

    def workloads(self) -> Iterator[tuple[Story, Workload | None]]:
        """All that arrived, in order; None for a Job that got no Workload."""
        slots = self.state.objects.workloads
        for key, story in self.stories.items():
            yield story, slots[key].current if key in slots else None


def _edited(workload: Workload, body: Mapping[str, Any]) -> Workload:
    """A merge patch of the few fields that State writes outside of the status."""
    spec, metadata = dict(body.get("spec") or {}), dict(body.get("metadata") or {})
    metadata.pop("resourceVersion", None)
    if "active" in spec:
        workload = replace(workload, active=spec.pop("active"), generation=workload.generation + 1)
    if "priority" in spec:
        workload = replace(workload, priority=spec.pop("priority"))
    if "finalizers" in metadata:
        workload = replace(workload, finalizers=tuple(metadata.pop("finalizers")))
    if spec or metadata:
        raise TypeError(f"a simulation does not know how to patch {[*spec, *metadata]} of a Workload")
    return workload
