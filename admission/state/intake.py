"""Facts come in: which tables, indexes and scheduler entries a new, changed or vanished object moves, and which
objects must be looked at again because of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from admission.jobs.described import described, lenders
from admission.model.accelerators import CatalogueChanges
from admission.model.job import Job
from admission.model.job_kind import JobKind
from admission.model.job_profile import JobProfile
from admission.model.kinds import Ref
from admission.model.names import WorkloadKey
from admission.model.pods import LimitRange, RuntimeClass
from admission.model.queues import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    Namespace,
    PriorityClass,
    ResourceFlavor,
    Topology,
)
from admission.model.template_source import TemplateSource
from admission.model.workload import Workload
from admission.reconcile.ancestors import DEEPEST
from admission.reconcile.view import Serving
from admission.rules.scheduler import Scheduler
from admission.state.gated import gated
from admission.state.objects import Objects
from admission.state.queues import Queues
from admission.state.sampling import Sampling
from admission.state.slots import Slot
from admission.state.workloads import Workloads, workload_key


class Intake:
    """`look_at` is told of every object whose reconcile function should run."""

    def __init__(
        self,
        objects: Objects,
        scheduler: Scheduler,
        workloads: Workloads,
        queues: Queues,
        sampling: Sampling,
        look_at: Callable[[Ref], None],
    ) -> None:
        self.now = 0.0
        self.witness: Callable[[Workload | None, Workload | None], None] | None = None
        self._objects = objects
        self._scheduler = scheduler
        self._workloads = workloads
        self._queues = queues
        self._sampling = sampling
        self._look_at = look_at
        self._unread: dict[Ref, None] = {}
        self._takers: dict[str, Callable[[str, Any], None]] = {
            "Namespace": self._namespace,
            "LimitRange": self._limit_range,
            "RuntimeClass": self._runtime_class,
            "ConfigMap": self._config_map,
            "ResourceFlavor": self._flavor,
            "Topology": self._topology,
            "AdmissionCheck": self._admission_check,
            "JobKind": self._job_kind,
            "JobProfile": self._job_profile,
            "Cohort": self._cohort,
            "ClusterQueue": self._cluster_queue,
            "LocalQueue": self._local_queue,
            "PriorityClass": self._pod_priority_class,
            "WorkloadPriorityClass": self._workload_priority_class,
        }

    def also_take(self, takers: Mapping[str, Callable[[str, Any], None]]) -> None:
        """Kinds that others take in."""
        self._takers.update(takers)

    def take(self, ref: Ref, value: Any | None) -> None:
        """The object is now like this; None: it is gone. Raises KeyError for a kind that nobody here reads."""
        if ref.kind == "Workload":
            self._workload(workload_key(ref), value)
        elif ref.kind in self._takers:
            self._takers[ref.kind](f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name, value)
        else:
            self._job(ref, value)

    # --- what people write

    def _namespace(self, name: str, value: Namespace | None) -> None:
        old = _put(self._objects.namespaces, name, value)
        if value is None:
            self._scheduler.drop_namespace(name)
        elif old is None or old.labels != value.labels:
            self._scheduler.put_namespace(value)
        else:
            return
        for ref in list(self._objects.jobs_where(namespace=name)):
            self._look_at(ref)

    def _limit_range(self, key: str, value: LimitRange | None) -> None:
        namespace, name = key.split("/", 1)
        if self._objects.requests.put_limit_range(namespace, name, value):
            for workload in self._objects.in_namespace(namespace):
                self._workloads.sync(workload, self.now)

    def _runtime_class(self, name: str, value: RuntimeClass | None) -> None:
        if self._objects.requests.put_runtime_class(name, value):
            for workload in self._objects.with_runtime_class(name):
                self._workloads.sync(workload, self.now)

    def _config_map(self, key: str, value: CatalogueChanges | None) -> None:
        ours = Ref("ConfigMap", *key.split("/", 1)) == self._objects.requests.catalogue_ref
        if ours and self._objects.requests.put_catalogue(value):
            for workload in list(self._objects.workloads):
                self._workloads.sync(workload, self.now)

    def _flavor(self, name: str, value: ResourceFlavor | None) -> None:
        old = self._objects.flavor(name)
        if not _put_slot(self._objects.flavors, name, value):
            return
        if value is None:
            self._scheduler.drop_flavor(name)
        else:
            self._scheduler.put_flavor(value)
            self._queues.touch("ResourceFlavor", name)
        if old is None or value is None or old.topology != value.topology:
            for queue in list(self._objects.queues_with_flavor(name)):
                self._judge(queue.name)

    def _topology(self, name: str, value: Topology | None) -> None:
        old = _put(self._objects.topologies, name, value)
        if (old is None) == (value is None):
            return
        for flavor in [one for one in self._objects.flavors if _topology_of(self._objects.flavor(one)) == name]:
            for queue in list(self._objects.queues_with_flavor(flavor)):
                self._judge(queue.name)

    def _admission_check(self, name: str, value: AdmissionCheck | None) -> None:
        old = self._objects.admission_check(name)
        if not _put_slot(self._objects.admission_checks, name, value):
            return
        self._queues.touch("AdmissionCheck", name)
        if _standing(old) != _standing(value):
            for queue in list(self._objects.queues_with_check(name)):
                self._judge(queue.name)

    def _job_kind(self, name: str, value: JobKind | None) -> None:
        slot = self._objects.described.get(name)
        old = slot.observed if slot is not None else None
        if not _put_slot(self._objects.described, name, value):
            return
        self._look_at(Ref("JobKind", "", name))
        if old is not None and value is not None and _says(old) == _says(value):
            return
        kinds = self._objects.job_kinds
        places = kinds.places
        if value is None or value.rules is None:
            kinds.forget(name)
        else:
            rules = value.rules
            kinds.describe(name, value.kind, described(value.kind, rules, kinds.sources, value.former), lenders(rules))
        for kind in places:
            if kinds.places.get(kind) != places[kind]:  # they are read anew, or no more
                kinds.sources.forget(kind)
                self._objects.servings.pop(kind, None)
        for ref in [ref for ref in self._objects.jobs if ref.kind not in kinds]:
            # Nobody tells of them any more; their Workloads stay as they are, since nothing is known to have ended.
            self._objects.index_job(self._objects.jobs.pop(ref).observed, None)
        for other in self._objects.described:
            self._look_at(Ref("JobKind", "", other))
        for ref in self._objects.jobs:  # an owner that was none may be one now
            self._look_at(ref)

    def _job_profile(self, name: str, value: JobProfile | None) -> None:
        profiles = self._objects.profiles
        slot = profiles.slots.get(name)
        before = slot.observed.stamp if slot is not None and slot.observed is not None else None
        if not _put_slot(profiles.slots, name, value):
            return
        if value is None:
            profiles.forget(name)
        else:
            self._look_at(Ref("JobProfile", "", name))
        if value is None or value.stamp != before:
            for ref in self._objects.jobs_with_made_queue():
                self._look_at(ref)

    def serves(self, kind: str, serving: Serving) -> None:
        """The API server was asked for objects of this kind."""
        if self._objects.servings.get(kind) != serving:
            self._objects.servings[kind] = serving
            self._look_at(Ref("JobKind", "", self._objects.job_kinds.describer(kind)))
            if kind in self._objects.job_kinds.places:
                for name in self._objects.described:
                    self._look_at(Ref("JobKind", "", name))
                for job in self._objects.borrowers(kind):
                    self._look_at(job.ref)

    def lend(self, source: TemplateSource) -> None:
        """There are templates in this object, or other ones than before."""
        if source.ref.kind in self._objects.job_kinds.places and self._objects.job_kinds.sources.put(source):
            self._read_again(source.ref)

    def lend_no_more(self, ref: Ref) -> None:
        """The object is gone, if it was one with templates."""
        if self._objects.job_kinds.sources.drop(ref):
            self._read_again(ref)

    def _read_again(self, source: Ref) -> None:
        """One by one as they are looked at: ten thousand at once would take a second."""
        for job in self._objects.borrowers(source.kind, source):
            self._unread[job.ref] = None
            self._look_at(job.ref)

    def refresh(self, ref: Ref) -> None:
        """Before a job is looked at: it is read again if a template of it has changed."""
        if ref not in self._unread:
            return
        del self._unread[ref]
        slot = self._objects.jobs.get(ref)
        job = slot.observed if slot is not None else None
        if job is not None and job.manifest:
            self._job(ref, self._objects.job_kinds[ref.kind].read(json.loads(job.manifest)))

    def _cohort(self, name: str, value: Cohort | None) -> None:
        slot = self._objects.cohorts.get(name)
        old = slot.observed if slot is not None else None
        if not _put_slot(self._objects.cohorts, name, value):
            return
        if value is None:
            self._scheduler.drop_cohort(name)
            self._queues.reshaped()
        elif old is None or _spec(old) != _spec(value):
            self._scheduler.put_cohort(value)
            self._queues.reshaped()
        self._queues.touch("Cohort", name)

    def _cluster_queue(self, name: str, value: ClusterQueue | None) -> None:
        old = self._objects.cluster_queue(name)
        if not _put_slot(self._objects.cluster_queues, name, value):
            return
        self._queues.touch("ClusterQueue", name)
        for queue in (old, value):
            for rule in queue.checks if queue else ():
                self._queues.touch("AdmissionCheck", rule.name)
            for flavor in {one.name: None for group in (queue.groups if queue else ()) for one in group.flavors}:
                self._queues.touch("ResourceFlavor", flavor)
        if old is not None and value is not None and old.virtual and value.virtual:
            self._queues.judge(name)  # nothing but its quota: whoever is in its queue stays there
        elif old is None or value is None or _spec(old) != _spec(value):
            self._judge(name)

    def _judge(self, name: str) -> None:
        self._queues.judge(name)
        for key in self._objects.local_queues_of(name):
            self._sampling.note(key)
            self._requeue(key)

    def _local_queue(self, key: str, value: LocalQueue | None) -> None:
        old = self._objects.local_queue(*key.split("/", 1))
        if not _put_slot(self._objects.local_queues, key, value):
            return
        self._objects.index_queue(key, old, value)
        self._queues.touch("LocalQueue", key)
        if value is None:
            self._sampling.forget(key)
        elif old is None or _spec(old) != _spec(value):
            self._sampling.note(key)
        if old is None and value is not None and value.namespace == self._objects.configuration.namespace:
            for ref in self._objects.jobs_with_made_queue():  # some may have waited for this template
                self._look_at(ref)
        if old is None or value is None or _spec(old) != _spec(value):
            self._requeue(key)

    def _requeue(self, local_queue: str) -> None:
        """Every workload of the LocalQueue is put where it now belongs."""
        for key in self._objects.in_local_queue(local_queue):
            self._workloads.sync(key, self.now)
            self._look_at(_ref(key))

    def _workload_priority_class(self, name: str, value: PriorityClass | None) -> None:
        _put(self._objects.workload_priority_classes, name, value)
        for key in self._objects.of_class(name):
            self._look_at(_ref(key))
        for ref in list(self._objects.jobs_where(priority_class=name)):
            self._look_at(ref)

    def _pod_priority_class(self, name: str, value: PriorityClass | None) -> None:
        old = _put(self._objects.pod_priority_classes, name, value)
        if old is None:  # jobs may have been waiting for it; a changed value never moves a Workload (Kueue 0.19)
            for ref in list(self._objects.jobs):
                self._look_at(ref)

    # --- what is queued

    def _workload(self, key: WorkloadKey, value: Workload | None) -> None:
        slot = self._objects.workloads.get(key)
        before, known = (slot.current, slot.observed) if slot is not None else (None, None)
        value = gated(value, self._objects.configuration.gates)
        if not _put_slot(self._objects.workloads, key, value):
            return
        if self.witness is not None:
            self.witness(known, value)
        self.moved(key, before)

    def moved(self, key: WorkloadKey, before: Workload | None) -> None:
        """The workload is another than `before` to us: through a fact, or through the outcome of a write."""
        self._workloads.sync(key, self.now)
        slot = self._objects.workloads.get(key)
        after = slot.current if slot is not None else None
        self._look_at(_ref(key))
        for workload in (before, after):
            if workload is not None and workload.owner is not None:
                job = self._objects.job_of(workload.owner_uid)
                self._look_at(job.ref if job is not None else workload.owner)
        if _admitted(before) != _admitted(after):
            for workload in (before, after):
                if workload is not None:
                    self._look_below(workload.owner_uid)

    def _stamped(self, job: Job | None) -> Job | None:
        """What is part of another job carries that one's stamp."""
        return None if job is None or (job.owner is not None and self._objects.as_job(job.owner)) else job

    def _look_below(self, uid: str, hops: int = DEEPEST) -> None:
        """Whatever runs by leave of this job."""
        for child in self._objects.children_of(uid) if hops else ():
            self._look_at(child)
            job = self._objects.job(child)
            if job is not None:
                self._look_below(job.uid, hops - 1)

    def _job(self, ref: Ref, value: Job | None) -> None:
        slot = self._objects.jobs.get(ref)
        old = slot.observed if slot is not None else None
        value = gated(value, self._objects.configuration.gates)
        if not _put_slot(self._objects.jobs, ref, value):
            return
        self._objects.index_job(old, value)
        self._objects.profiles.moved(self._stamped(old), self._stamped(value), self.now)
        self._look_at(ref)
        for job in (old, value):
            if job is not None and (old is None or value is None or _leads(old) != _leads(value)):
                self._look_below(job.uid)
        if value is None and old is not None:
            self._objects.depart(old.uid)
            self._objects.exclude(old.uid)
            for workload in self._objects.workloads_of(old.uid):
                self._look_at(workload.ref)


def _ref(key: WorkloadKey) -> Ref:
    return Ref("Workload", *key.split("/", 1))


def _says(job_kind: JobKind) -> tuple[Any, ...]:
    """What of it jobs are read by."""
    return job_kind.kind, job_kind.rules, job_kind.former


def _leads(job: Job) -> tuple[str, bool]:
    """What of a job those below it go by."""
    return job.queue_name, job.suspended


def _admitted(workload: Workload | None) -> bool:
    return workload is not None and workload.admitted and not workload.finished


def _topology_of(flavor: ResourceFlavor | None) -> str:
    return flavor.topology if flavor is not None else ""


def _standing(check: AdmissionCheck | None) -> tuple[str, bool] | None:
    """What of a check decides whether queues that ask for it can admit."""
    return None if check is None else (check.controller_name, check.active is True)


def _spec(queue: ClusterQueue | Cohort | LocalQueue) -> ClusterQueue | Cohort | LocalQueue:
    """The queue without what only our own status writes and bookkeeping move."""
    bare = replace(queue, status=type(queue.status)(), resource_version=0)
    return replace(bare, finalizers=()) if isinstance(bare, ClusterQueue) else bare


def _put(table: dict[str, Any], name: str, value: Any | None) -> Any | None:
    """The old value."""
    old = table.get(name)
    if value is None:
        table.pop(name, None)
    elif old is None or value.resource_version >= old.resource_version:
        table[name] = value
    return old


def _put_slot(table: dict[Any, Slot[Any]], key: Any, value: Any | None) -> bool:
    """False: an old fact, ignored."""
    if value is None:
        return table.pop(key, None) is not None
    slot = table.get(key)
    if slot is None:
        slot = table[key] = Slot()
    return slot.observe(value)
