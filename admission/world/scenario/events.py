"""The events of a scenario, carried out on the world."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from admission.api.crd import STORED
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.world.answers import Answer
from admission.world.objects import Frozen, Object, copied, ref_of
from admission.world.operators import NotPossible
from admission.world.scenario.elastic_quotas import cluster_of, pods_of
from admission.world.scenario.event_forms import (
    AdmissionReview,
    Cluster,
    ConflictInjector,
    Create,
    Delete,
    Event,
    Finish,
    ForbidReads,
    JobStopped,
    JsonPatch,
    KillLeader,
    MergePatch,
    Plain,
    SetRequest,
    StartReplicas,
    Tick,
)
from admission.world.scenario.expectation_forms import RequestIs
from admission.world.scenario.facts import Asked
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.naming import Manifest, by_name, names_of
from admission.world.scenario.recorder import Recorder
from admission.world.scenario.references import from_the_start
from admission.world.scenario.watchman import Watchman
from admission.world.server import GARBAGE_COLLECTOR
from admission.world.stage import Stage
from admission.world.webhooks import ADMINISTRATOR

_ACTORS = {
    "garbage-collector": GARBAGE_COLLECTOR,
    "ttl-controller": "system:serviceaccount:kube-system:ttl-after-finished-controller",
    "check-controller": "system:serviceaccount:default:check-controller",
    "kuberay-operator": "system:serviceaccount:default:kuberay-operator",
}
_WORKLOAD_OF = re.compile(r"\$\(workloadOf ([^)]+)\)")
# What `autoStopEvicted` stands for: job-stopped, this long after every eviction.
_AUTO_STOP = 1.0


class Events:
    """`refused`: requests that should have been accepted, with the index of their event (-1: a first object)."""

    def __init__(self, form: ScenarioFile, world: Stage, recorder: Recorder, watchman: Watchman) -> None:
        self.refused: list[tuple[int, str]] = []
        self.current = 0
        self._form = form
        self._world = world
        self._recorder = recorder
        self._watchman = watchman
        self._manifests = by_name(form.objects)
        self._uids: dict[str, str] = {}
        self._left = {event.ref for event in form.events if isinstance(event, MergePatch) and _runs_a_job(event)}
        self._may_fail = {a.request for a in form.expect if isinstance(a, RequestIs) and not a.allowed}

    def start(self) -> None:
        """What exists from the start, in the order of the file."""
        for manifest in self._recorder.foreign.prepared(from_the_start(self._form)):
            self._create(-1, manifest, None, ADMINISTRATOR, False)

    def window(self, following: Sequence[Event]) -> None:
        """Between these events and the `following` ones: whether evicted jobs stop by themselves."""
        auto = any(isinstance(event, Tick) and event.autoStopEvicted for event in following)
        self._world.operators.stop_after = _AUTO_STOP if auto else None

    def carry_out(self, index: int, event: Event) -> None:
        """Do what the event says. What cannot happen at this moment is noted as refused."""
        self.current = index
        try:
            self._carry_out(index, event)
        except NotPossible as error:
            self.refused.append((index, str(error)))

    def _carry_out(self, index: int, event: Event) -> None:
        match event:
            case Create(repeat=int(repeat), every=float(every)):
                for turn in range(repeat):
                    self._world.at(self._world.now + turn * every, lambda: self._create_event(index, event))
                self._world.clock.fire(self._world.now)
            case Create():
                self._create_event(index, event)
            case MergePatch() | JsonPatch():
                self._patch(index, event)
            case Delete():
                self._delete(index, event)
            case AdmissionReview():
                self._review(event)
            case Finish(ref=ref):
                for target in self._refs(ref):
                    self._world.finish(target)
            case JobStopped(ref=ref):
                for target in self._refs(ref):
                    self._world.stopped(target)
            case Plain(op=op):
                self._plain(op)
            case ConflictInjector():
                self._inject(event)
            case ForbidReads(kinds=kinds):
                self._world.api.forbid(kinds)
            case Cluster(resources=resources) if self._recorder.foreign.names:
                self._recorder.foreign.resize(resources)
                self._convert_again()
            case SetRequest(requests=requests) if requests.keys() <= self._recorder.foreign.names:
                self._recorder.foreign.demand.update(requests)
            case Cluster(resources=resources):
                self._place_anew([cluster_of(resources)])
            case SetRequest(requests=requests):
                self._place_anew(pods_of(requests, self._form.objects))
            case StartReplicas(replicas=replicas):
                self._world.start_replicas(replicas)
            case KillLeader(afterWrites=after_writes):
                self._world.kill_leader(after_writes)
            case Tick():
                pass
            case _:
                raise TypeError(f"{event.op} cannot be run here: its need is not supported")

    def _plain(self, op: str) -> None:
        if op == "restart-controller":
            self._world.start_product()
        elif op == "rotate-serving-cert":
            self._world.rotate_certificate()
        else:
            self._world.pause(op == "scheduler-pause")

    # requests

    def _create_event(self, index: int, event: Create) -> None:
        self._create(index, self._manifests[event.ref], event.id, _user(event.actor), bool(event.dryRun))

    def _create(self, index: int, manifest: Manifest, id: str | None, user: str, dry_run: bool) -> None:
        sent = self._filled(manifest)
        answer = self._world.api.create(sent, user=user, dry_run=dry_run)
        placeholder = manifest["metadata"].get("uid")
        if placeholder and answer.body is not None:
            self._uids[placeholder] = answer.body["metadata"]["uid"]
        if answer.body is not None and not self._left.isdisjoint(names_of(manifest)):
            self._world.operators.leave(ref_of(answer.body))
        self._answered(index, f"create {ref_of(sent)}", id, sent, answer)

    def _patch(self, index: int, event: MergePatch | JsonPatch) -> None:
        body: Any = self._filled(event.patch)
        subresource = event.subresource if isinstance(event, MergePatch) else None
        version = (event.as_ if isinstance(event, MergePatch) else None) or STORED
        if isinstance(event, MergePatch) and subresource == "status":
            _dated(body, stamp(self._world.now))
        for ref in self._refs(event.ref):
            before = self._world.api.peek(ref) or {}
            answer = self._world.api.patch(ref, body, subresource=subresource, user=_user(event.actor), version=version)
            self._answered(index, f"patch {ref}", event.id, before, answer)

    def _delete(self, index: int, event: Delete) -> None:
        if event.ref is not None:
            refs = self._refs(event.ref)
        else:
            refs = [ref_of(workload) for workload in self._recorder.workloads_of(event.workloadOf or "")]
        for ref in refs:
            before = self._world.api.peek(ref) or {}
            answer = self._world.api.delete(ref, user=_user(event.actor))
            self._answered(index, f"delete {ref}", event.id, before, answer)

    def _review(self, event: AdmissionReview) -> None:
        manifest = self._filled(self._manifests[event.ref])
        answer = self._world.api.review(manifest, update=event.operation == "UPDATE")
        self._watchman.heard(answer.hooks)
        self._recorder.note_request(event.id, Asked(self._recorder.t, event.ref, manifest, answer))

    def _answered(self, index: int, what: str, id: str | None, sent: Frozen, answer: Answer) -> None:
        self._watchman.heard(answer.hooks)
        if id is not None:
            self._recorder.note_request(id, Asked(self._recorder.t, what, sent, answer))
        if not answer.ok and id not in self._may_fail and not self._asserted(id):
            self.refused.append((index, f"{what} was refused: {answer.code} {answer.message}"))

    def _asserted(self, id: str | None) -> bool:
        """Its expectation speaks for itself."""
        return id is not None and any(isinstance(a, RequestIs) and a.request == id for a in self._form.expect)

    def _convert_again(self) -> None:
        """Other systems' queues divide what the cluster has."""
        for wanted in self._recorder.foreign.converted():
            ref = ref_of(wanted)
            if "spec" in wanted:
                answer = self._world.api.patch(ref, {"spec": wanted["spec"]})
                self._answered(self.current, f"patch {ref}", None, wanted, answer)

    def _place_anew(self, manifests: Iterable[Manifest]) -> None:
        """Each in the place of the one of its name: what elastic quotas are reckoned from."""
        for manifest in manifests:
            if self._world.api.peek(ref_of(manifest)) is not None:
                self._world.api.delete(ref_of(manifest))
            self._create(self.current, manifest, None, ADMINISTRATOR, False)

    # disturbance

    def _inject(self, event: ConflictInjector) -> None:
        turns = int(event.for_ / event.every)
        for turn in range(turns):
            body = {"metadata": {"annotations": {"acme.io/touched": str(turn)}}}
            self._world.at(self._world.now + turn * event.every, self._touch(event.ref, body))

    def _touch(self, name: str, body: Object) -> Callable[[], None]:
        def touch() -> None:
            for ref in self._refs(name):
                self._world.api.patch(ref, body)

        return touch

    # names

    def _refs(self, name: str) -> list[Ref]:
        target = self._recorder.ref(name)
        if not target.name.endswith("*"):
            return [target]
        return [ref_of(manifest) for manifest in self._recorder.find(name)]

    def _filled(self, value: Any) -> Any:
        """A copy with `$(workloadOf …)` and placeholder uids replaced by what they stand for now."""
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            return _WORKLOAD_OF.sub(self._workload_name, self._uids.get(value, value))
        return copied(value)

    def _workload_name(self, match: re.Match[str]) -> str:
        found = self._recorder.workloads_of(match.group(1))
        if not found:
            raise NotPossible(f"{match.group(0)}: {match.group(1)} owns no Workload at t={self._recorder.t:g}")
        return str(found[0]["metadata"]["name"])


def _user(actor: str | None) -> str:
    return ADMINISTRATOR if actor is None else _ACTORS[actor]


def _runs_a_job(event: MergePatch) -> bool:
    """Whose status the file writes, no operator writes: what is expected of the one would depend on the other. A batch
    Job has more in its status than whether it runs, and is run all the same."""
    return event.subresource == "status" and not event.ref.startswith("Job/")


def _dated(body: Any, now: str) -> None:
    """Give conditions and check states the present moment where the file leaves it out."""
    status = body.get("status") if isinstance(body, dict) else None
    if not isinstance(status, dict):
        return
    for key in ("conditions", "admissionChecks"):
        for entry in status.get(key) or ():
            if isinstance(entry, dict):
                entry.setdefault("lastTransitionTime", now)
