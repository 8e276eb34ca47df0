"""The product, run on the in-memory API server: watches feed its state, its plans become requests.

It works in small steps, so that a fault can strike between any two of them.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from admission.jobs import READERS, JobKinds
from admission.jobs.descriptor import Descriptor
from admission.jobs.template_sources import read_template_source
from admission.model.configuration import Configuration
from admission.model.effects import EmitEvent, Outcome, Plan, Planned, Result
from admission.model.job_kind import Place
from admission.model.kinds import COUNTED, JOBS, WATCHED, Ref
from admission.model.template_source import TemplateSource
from admission.reconcile.requests import Impossible, Moved, Request, needs, render
from admission.reconcile.view import Serving
from admission.world.answers import Answer
from admission.world.objects import Frozen, ref_of
from admission.world.server import ApiServer
from admission.world.store import Change, Watch
from admission.world.weather import Deposed, FairWeather

BUDGET = 256  # effects in one plan, as the live controller asks for


class Machine(Protocol):
    """What the product needs of `admission.state.State`."""

    @property
    def job_kinds(self) -> JobKinds: ...

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None: ...

    def lend(self, source: TemplateSource) -> None: ...

    def lend_no_more(self, ref: Ref) -> None: ...

    def gone(self, ref: Ref, resource_version: int | None = None, *, read: bool = False) -> None: ...

    def outcome(self, outcome: Outcome) -> None: ...

    def serves(self, kind: str, serving: Serving) -> None: ...

    @property
    def counted(self) -> tuple[str, ...]: ...

    @property
    def template_places(self) -> Mapping[str, tuple[Place, ...]]: ...

    def plan(self, now: float, budget: int = BUDGET) -> Plan: ...


class Write(NamedTuple):
    """One write request of the product and its answer. `at`: seconds since 1970; `code` 0: no answer came."""

    at: float
    ref: Ref
    verb: str
    subresource: str | None
    code: int


class Sent(NamedTuple):
    """An Event that the product sent."""

    at: float
    about: Ref
    type: str
    reason: str
    message: str


class Product:
    """One replica that leads. `wake_at`: when it wants to think again though nothing happened."""

    def __init__(
        self,
        machine: Machine,
        api: ApiServer,
        configuration: Configuration,
        now: Callable[[], float],
        weather: FairWeather,
    ) -> None:
        self.machine = machine
        self.user = f"system:serviceaccount:{configuration.namespace}:lockgate-controller"
        self.paused = False
        self.wake_at: float | None = None
        self.lease_until = float("inf")  # it sends nothing after that moment
        self.on_write: Callable[[Write, Request], None] = lambda write, request: None
        self.on_event: Callable[[Sent], None] = lambda sent: None
        self._api = api
        self._now = now
        self._weather = weather
        self._watches: dict[str, Watch] = {}
        self._known: dict[str, dict[Ref, None]] = {}
        self._described: dict[str, Descriptor] = {}
        self._lending: dict[str, tuple[Place, ...]] = {}
        self._lent: dict[str, tuple[Watch, dict[Ref, None]]] = {}  # with the objects that have been told of
        self._sending: deque[Planned] = deque()
        self._failed_lanes: set[str] = set()
        self._reads: tuple[Ref, ...] = ()
        self._think = True
        for kind in WATCHED:
            if kind not in JOBS or kind in machine.job_kinds:
                self._list_and_watch(kind)

    def stop(self) -> None:
        """It is gone: it watches no more and will not step again."""
        for watch in (*self._watches.values(), *(watch for watch, _ in self._lent.values())):
            self._api.store.stop(watch)

    @property
    def busy(self) -> bool:
        """In the middle of carrying out a plan."""
        return bool(self._sending)

    def step(self) -> bool:
        """One piece of work: an effect, a read, what the watches bring, a plan. False when at rest."""
        if self._sending:
            self._weather.between_effects()
            self._send(self._sending.popleft())
            return True
        heard = self._hear()
        if self.paused or not self._due():
            return heard
        self._plan()
        return True

    def _due(self) -> bool:
        return self._think or (self.wake_at is not None and self.wake_at <= self._now())

    def _plan(self) -> None:
        plan = self.machine.plan(self._now(), BUDGET)
        self._think = plan.more or bool(plan.effects) or bool(plan.reads)
        self.wake_at = plan.wake_at
        self._failed_lanes.clear()
        self._sending.extend(plan.effects)
        for ref in plan.reads:
            self._read(ref)

    # hearing

    def _list_and_watch(self, kind: str) -> None:
        """A first list, or a new one after a watch broke: what is missing in it has gone meanwhile."""
        self._watches[kind] = self._api.watch(_kept(kind))
        before, self._known[kind] = self._known.get(kind, {}), {}
        for manifest in self._api.scan(_kept(kind)):
            self._observe(kind, manifest)
        for ref in before:
            if ref not in self._known[kind]:
                self.machine.gone(ref)
        self._follow_on(kind)

    def _follow_on(self, kind: str) -> None:
        """What else is followed depends on objects of some kinds."""
        if kind == "JobKind":
            self._redescribe()
            self._follow_lenders()
        if kind == "ElasticQuota":
            self._count()

    def _count(self) -> None:
        """Pods and nodes are followed as long as there are elastic quotas."""
        for counted in COUNTED:
            if counted in self.machine.counted and counted not in self._watches:
                self._list_and_watch(counted)
                self.machine.serves(counted, Serving(served=True))
            elif counted not in self.machine.counted and counted in self._watches:
                self._api.store.stop(self._watches.pop(counted))

    def _redescribe(self) -> None:
        """Kinds are followed as long as they are described; whose description has changed is read anew."""
        wanted = {kind: found for kind, found in self.machine.job_kinds.items() if kind not in READERS}
        for kind, descriptor in list(self._described.items()):
            if wanted.get(kind) != descriptor:
                del self._described[kind]
                self._api.store.stop(self._watches.pop(kind))
        for kind, descriptor in wanted.items():
            if kind not in self._described:
                self._described[kind] = descriptor
                self._list_and_watch(kind)

    def _follow_lenders(self) -> None:
        """Kinds of objects in which templates of jobs lie."""
        wanted = self.machine.template_places
        for kind, places in list(self._lending.items()):
            if wanted.get(kind) != places:
                del self._lending[kind]
                self._api.store.stop(self._lent.pop(kind)[0])
        for kind in wanted:
            if kind not in self._lending:
                self._list_lenders(kind, {})

    def _list_lenders(self, kind: str, before: Mapping[Ref, None]) -> None:
        self._lending[kind] = self.machine.template_places[kind]
        told: dict[Ref, None] = {}
        self._lent[kind] = (self._api.watch(_kept(kind)), told)
        for manifest in self._api.scan(_kept(kind)):
            self._lend(kind, manifest)
        for ref in before:
            if ref not in told:
                self.machine.lend_no_more(ref)
        self.machine.serves(kind, Serving(served=True))

    def _lend(self, kind: str, manifest: Frozen) -> None:
        source = read_template_source(kind, manifest, self._lending[kind])
        self._lent[kind][1][source.ref] = None
        self.machine.lend(source)

    def _hear_of_templates(self) -> bool:
        heard = False
        for kind, (watch, told) in list(self._lent.items()):
            for change in self._weather.heard(watch):
                heard = True
                if change.type == "DELETED":
                    ref = change.ref._replace(kind=kind)
                    told.pop(ref, None)
                    self.machine.lend_no_more(ref)
                else:
                    self._lend(kind, change.new)
            if watch.broken:
                heard = True
                self._api.store.stop(watch)
                self._list_lenders(kind, told)
        return heard

    def _hear(self) -> bool:
        heard = self._hear_of_templates()
        for kind, watch in list(self._watches.items()):
            if self._watches.get(kind) is not watch:
                continue  # described no more since, or anew
            for change in self._weather.heard(watch):
                self._take(kind, change)
                heard = True
            if watch.broken:
                self._api.store.stop(watch)
                self._list_and_watch(kind)
                heard = True
        self._think = self._think or heard
        return heard

    def _take(self, kind: str, change: Change) -> None:
        if change.type == "DELETED":
            ref = change.ref._replace(kind=kind)
            self._known[kind].pop(ref, None)
            self.machine.gone(ref, change.version)
        else:
            self._observe(kind, change.new)
        self._follow_on(kind)

    def _observe(self, kind: str, manifest: Frozen) -> None:
        self._known[kind][ref_of(manifest)._replace(kind=kind)] = None
        self.machine.observe(kind, self._value(kind, manifest))

    def _read(self, ref: Ref) -> None:
        found = self._api.peek(_stored(ref))
        if found is None:
            self.machine.gone(ref, read=True)
        elif ref.kind in READERS or ref.kind in self.machine.job_kinds:  # else: described no more
            self._known.setdefault(ref.kind, {})[ref] = None  # the next list must say so if it has gone meanwhile
            self.machine.observe(ref.kind, self._value(ref.kind, found), read=True)

    def _value(self, kind: str, manifest: Frozen) -> object:
        reader = READERS.get(kind) or self.machine.job_kinds[kind].read
        return reader(manifest)

    # acting

    def _send(self, planned: Planned) -> None:
        effect = planned.effect
        if isinstance(effect, EmitEvent):
            self.on_event(Sent(self._now(), effect.ref, effect.type, effect.reason, effect.message))
            self.machine.outcome(Outcome(planned.id, "ok"))
            return
        if planned.lane and planned.lane in self._failed_lanes:
            self.machine.outcome(Outcome(planned.id, "aborted"))
            return
        outcome = self._carried_out(planned)
        if outcome.result != "ok" and planned.lane:
            self._failed_lanes.add(planned.lane)
        self.machine.outcome(outcome)

    def _carried_out(self, planned: Planned) -> Outcome:
        manifests: dict[Ref, Frozen] = {}
        for ref in needs(planned.effect):
            found = self._api.peek(_stored(ref))
            if found is not None:
                manifests[ref] = found
        try:
            request = render(planned.effect, manifests, self.machine.job_kinds)
        except Moved as moved:
            return Outcome(planned.id, "conflict", message=str(moved))
        except Impossible as problem:
            return Outcome(planned.id, "impossible", message=str(problem))
        if self._now() > self.lease_until:
            raise Deposed
        answer = self._weather.send(_stored(request.ref), lambda: self._request(request))
        code = answer.code if answer is not None else 0
        self.on_write(Write(self._now(), request.ref, request.verb, request.subresource, code), request)
        if answer is None:
            return Outcome(planned.id, "unknown", message="no answer came")
        return outcome_of(planned.id, request, answer)

    def _request(self, request: Request) -> Answer:
        ref = _stored(request.ref)
        match request.verb:
            case "create":
                return self._api.create(request.body, user=self.user)
            case "patch":
                return self._api.patch(ref, request.body, subresource=request.subresource, user=self.user)
            case "delete":
                uid = (request.body.get("preconditions") or {}).get("uid", "")
                return self._api.delete(ref, uid=uid, user=self.user)


def _kept(kind: str) -> str:
    """The kind as the API server in memory calls it: nobody needs plurals there."""
    return kind.partition(":")[0]


def _stored(ref: Ref) -> Ref:
    return ref._replace(kind=_kept(ref.kind))


_RESULTS: dict[int, Result] = {404: "gone", 409: "conflict"}


def outcome_of(id: int, request: Request, answer: Answer) -> Outcome:
    """What an answer means to the state machine."""
    if answer.ok:
        return Outcome(id, "ok", None if request.verb == "delete" else answer.version)
    return Outcome(id, _RESULTS.get(answer.code, "refused"), message=answer.message)
