"""What a job's manifest comes to, once for all jobs of a simulation that differ in name and time only.

A hundred thousand jobs must not take a hundred thousand passes through webhooks and validation.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose, workload_name
from admission.model import names
from admission.model.effects import EmitEvent
from admission.model.job import Job
from admission.model.kinds import Ref, kind_of
from admission.model.workload import Workload
from admission.readers.colocation_profile import read_colocation_profile
from admission.readers.local_queue import read_local_queue
from admission.readers.workload import read_workload
from admission.reconcile.job import is_managed
from admission.reconcile.priority import Priority, priority_of
from admission.reconcile.queue_from import with_queue
from admission.reconcile.requests import needs, render
from admission.reconcile.wishes import NOTHING
from admission.state import State
from admission.world.answers import Answer
from admission.world.objects import Frozen, ref_of
from admission.world.server import ApiServer
from admission.world.stories import Refusal

# The job in other words, or what says when it came: nothing that makes it another shape.
_OWN_METADATA = ("name", "generateName")
_OWN_ANNOTATIONS = (names.ARRIVAL, names.RUNTIME)
_APART = ("metadata", "spec", "status")


@dataclass(frozen=True, slots=True)
class Shape:
    """What all jobs have in common that differ in name and time only."""

    kind: str  # as in `Ref.kind`
    workload: Workload | None  # None: not managed, or `problem`
    problem: str = ""


class Shapes:
    """`state` must know all that is there before the first job comes."""

    def __init__(self, state: State, api: ApiServer) -> None:
        self._state = state
        self._api = api
        self._found: dict[str, Shape] = {}
        self._prints: dict[int, tuple[Any, str]] = {}  # by identity; holding the spec keeps its identity its own

    def of(self, manifest: Frozen) -> Shape:
        """Raises Refusal."""
        told = {key: value for key, value in manifest["metadata"].items() if key not in _OWN_METADATA}
        notes = told.get("annotations") or {}
        told["annotations"] = {key: value for key, value in notes.items() if key not in _OWN_ANNOTATIONS}
        name = manifest["metadata"].get("name") or ""
        told["name"] = name if self._drawn else len(name)  # names beyond some length are refused
        rest = {key: value for key, value in manifest.items() if key not in _APART}
        print_ = json.dumps([rest, told], sort_keys=True) + self._printed(manifest.get("spec"))
        found = self._found.get(print_)
        if found is None:
            found = self._found[print_] = self._shaped(manifest)
        return found

    @cached_property
    def _drawn(self) -> bool:
        """Some rule is for a share of the jobs, which is drawn by their names."""
        slots = self._state.objects.profiles.slots.values()
        percents = [slot.observed.percent for slot in slots if slot.observed is not None]
        percents += [read_colocation_profile(one).percent for one in self._api.scan("ClusterColocationProfile")]
        return any(percent < 100 for percent in percents)

    def name(self, job: Ref, uid: str) -> str:
        """Of its Workload."""
        short = self._state.objects.configuration.gates["ShortWorkloadNames"]
        return workload_name(job.kind, job.name, uid, short=short)

    def _printed(self, spec: Any) -> str:
        """The spec as canonical JSON; a spec that several manifests share is printed once."""
        kept = self._prints.get(id(spec))
        if kept is None:
            kept = self._prints[id(spec)] = (spec, json.dumps(spec, sort_keys=True))
        return kept[1]

    def _shaped(self, manifest: Frozen) -> Shape:
        body = accepted(self._api.create(manifest, dry_run=True))
        kind, kinds = self._kind(manifest), self._state.job_kinds
        if kind == "Workload":
            return Shape(kind, read_workload(body))
        if kind not in kinds:
            return Shape(kind, None)  # of a framework that the Configuration does not list
        job = kinds[kind].read(body)
        if not is_managed(self._state.objects, job):
            return Shape(kind, None)
        if job.problem:
            return Shape(kind, None, job.problem)
        self._make_queue(job)
        priority = priority_of(self._state.objects, job)
        if isinstance(priority, EmitEvent):
            return Shape(kind, None, priority.message)
        return self._queued(job, body, priority)

    def _make_queue(self, job: Job) -> None:
        """The LocalQueue that a profile has made for it, ahead of the first job that comes."""
        for effect in with_queue(self._state.objects, job, NOTHING).effects:
            templates = {ref: found for ref in needs(effect) if (found := self._api.peek(ref)) is not None}
            made = accepted(self._api.create(render(effect, templates).body))
            self._state.observe("LocalQueue", read_local_queue(made))

    def _queued(self, job: Job, body: Mapping[str, Any], priority: Priority) -> Shape:
        kind, name = job.ref.kind, self.name(job.ref, job.uid)
        try:
            keys = self._state.objects.marks
            composed = compose(kind, body, name, priority.value, priority.ref, keys, self._state.job_kinds)
        except PermanentProblem as problem:
            return Shape(kind, None, str(problem))
        workload = read_workload(accepted(self._api.create(composed, dry_run=True)))
        # Known to have an owner, but not which: State then leaves starting and stopping to the simulation.
        return Shape(kind, replace(workload, owned=True, owner=None, owner_uid=""))

    def _kind(self, manifest: Frozen) -> str:
        """As the core calls it: that of a described kind may name its plural, too."""
        ref = ref_of(manifest)
        if ref.kind == "Workload":
            return ref.kind
        found = kind_of(ref.kind)
        return self._state.job_kinds.named(found.group, found.kind) or ref.kind


def accepted(answer: Answer) -> Frozen:
    """What the API server made of it. Raises Refusal."""
    if answer.body is None:
        raise Refusal(answer.message)
    return answer.body
