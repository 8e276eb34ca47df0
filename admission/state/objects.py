"""Every object we know, and the indexes that answer what reconcile functions ask (the View)."""

from collections.abc import Iterator
from typing import Any

from admission.jobs import JobKinds
from admission.model.configuration import Configuration
from admission.model.elastic_quota import ElasticQuota
from admission.model.job import Job
from admission.model.job_kind import JobKind
from admission.model.kinds import Ref, maybe_kind
from admission.model.names import WorkloadKey
from admission.model.queue_policy import QueuePolicy
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
from admission.model.workload import Workload
from admission.reconcile.view import Serving, Tally
from admission.rules.scheduler import Scheduler
from admission.state.profiles import Profiles
from admission.state.requests import Requests
from admission.state.slots import Slot


class Objects:
    """Tables by name. Those that we write to hold slots, the rest plain values."""

    def __init__(self, configuration: Configuration, scheduler: Scheduler, profiles: Profiles) -> None:
        self.configuration = configuration
        self.job_kinds = JobKinds(configuration.frameworks)
        self.workloads: dict[WorkloadKey, Slot[Workload]] = {}
        self.jobs: dict[Ref, Slot[Job]] = {}
        self.cluster_queues: dict[str, Slot[ClusterQueue]] = {}
        self.local_queues: dict[str, Slot[LocalQueue]] = {}
        self.described: dict[str, Slot[JobKind]] = {}
        self.profiles = profiles
        self.servings: dict[str, Serving] = {}
        self.flavors: dict[str, Slot[ResourceFlavor]] = {}
        self.admission_checks: dict[str, Slot[AdmissionCheck]] = {}
        self.topologies: dict[str, Topology] = {}
        self.cohorts: dict[str, Slot[Cohort]] = {}
        self.elastic_quotas: dict[str, Slot[ElasticQuota]] = {}  # by namespace/name
        self.queue_policies: dict[str, Slot[QueuePolicy]] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.workload_priority_classes: dict[str, PriorityClass] = {}
        self.pod_priority_classes: dict[str, PriorityClass] = {}
        self.requests = Requests(configuration.resources, configuration.namespace)
        self._scheduler = scheduler
        self._by_owner: dict[str, dict[WorkloadKey, None]] = {}
        self._by_local_queue: dict[str, dict[WorkloadKey, None]] = {}
        self._by_class: dict[str, dict[WorkloadKey, None]] = {}
        self._queues_of: dict[str, dict[str, None]] = {}  # ClusterQueue -> its LocalQueues
        self._indexed: dict[WorkloadKey, tuple[str, str, str]] = {}
        self._by_uid: dict[str, Ref] = {}  # jobs
        self._children: dict[str, dict[Ref, None]] = {}  # uid of a controlling owner -> jobs, whatever the owner is
        self._borrowers: dict[tuple[str, str], dict[Ref, None]] = {}  # kind, name of a template's object -> jobs
        self._no_jobs: dict[str, None] = {}  # of those uids, the ones that are certainly no job's
        self._departed: dict[str, None] = {}  # uids of jobs that were seen to go, while Workloads of theirs are left

    def slot(self, ref: Ref) -> Slot[Any] | None:
        """Whatever we write to, by its name; None: unknown."""
        match ref.kind:
            case "Workload":
                return self.workloads.get(WorkloadKey(f"{ref.namespace}/{ref.name}"))
            case "ClusterQueue":
                return self.cluster_queues.get(ref.name)
            case "JobKind":
                return self.described.get(ref.name)
            case "QueuePolicy":
                return self.queue_policies.get(ref.name)
            case "JobProfile":
                return self.profiles.slots.get(ref.name)
            case "Cohort":
                return self.cohorts.get(ref.name)
            case "ElasticQuota":
                return self.elastic_quotas.get(f"{ref.namespace}/{ref.name}")
            case "LocalQueue":
                return self.local_queues.get(f"{ref.namespace}/{ref.name}")
            case "ResourceFlavor":
                return self.flavors.get(ref.name)
            case "AdmissionCheck":
                return self.admission_checks.get(ref.name)
            case _:
                return self.jobs.get(ref)

    # --- the View

    def cluster_queue(self, name: str) -> ClusterQueue | None:
        slot = self.cluster_queues.get(name)
        return slot.observed if slot else None

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        slot = self.local_queues.get(f"{namespace}/{name}")
        return slot.observed if slot else None

    def flavor(self, name: str) -> ResourceFlavor | None:
        slot = self.flavors.get(name)
        return slot.observed if slot else None

    def admission_check(self, name: str) -> AdmissionCheck | None:
        slot = self.admission_checks.get(name)
        return slot.observed if slot else None

    def topology(self, name: str) -> Topology | None:
        return self.topologies.get(name)

    def namespace(self, name: str) -> Namespace | None:
        return self.namespaces.get(name)

    def workload_priority_class(self, name: str) -> PriorityClass | None:
        return self.workload_priority_classes.get(name)

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        if name:
            return self.pod_priority_classes.get(name)
        defaults = [one for one in self.pod_priority_classes.values() if one.global_default]
        return min(defaults, key=lambda one: (one.value, one.name), default=None)

    def job(self, ref: Ref) -> Job | None:
        slot = self.jobs.get(ref)
        return slot.current if slot else None

    def job_of(self, uid: str) -> Job | None:
        ref = self._by_uid.get(uid)
        return self.job(ref) if ref is not None else None

    def serving(self, kind: str) -> Serving | None:
        return self.servings.get(kind)

    def is_of_a_job(self, workload: Workload) -> bool:
        """Its owner is of a kind of jobs that is managed here, whose pods we know of."""
        return workload.owner is not None and self.as_job(workload.owner) is not None

    def as_job(self, owner: Ref) -> Ref | None:
        """The owner as we call it, in whatever version the reference speaks of its kind; None: it is no job."""
        served = maybe_kind(owner.kind)
        kind = self.job_kinds.named(served.group, served.kind) if served is not None else None
        return owner._replace(kind=kind) if kind is not None else None

    def unheard_of(self, owner: Ref, uid: str) -> Ref | None:
        return None if uid in self._no_jobs or uid in self._departed else self.as_job(owner)

    def stamped_by(self, profile: str) -> Tally | None:
        return self.profiles.tally(profile)

    def makes_queue(self, queue: str, template: str) -> bool:
        return self.profiles.makes_queue(queue, template)

    def workload(self, ref: Ref) -> Workload | None:
        slot = self.workloads.get(WorkloadKey(f"{ref.namespace}/{ref.name}"))
        return slot.current if slot else None

    def workloads_of(self, uid: str) -> list[Workload]:
        found = (self.workloads[key].current for key in sorted(self._by_owner.get(uid, ())))
        return [workload for workload in found if workload is not None]

    @property
    def marks(self) -> tuple[str, ...]:
        return self._scheduler.policies.policing.policies.label_keys

    def longest_run(self, workload: Workload) -> int | None:
        stated, queue = workload.maximum_execution_seconds, workload.admission
        policing = self._scheduler.policies.policing
        if queue is None or not policing.active:
            return stated
        allowed = policing.max_runtime(workload, queue.cluster_queue)
        return min((one for one in (stated, allowed) if one is not None), default=None)

    def departed(self, uid: str) -> bool:
        return uid in self._departed

    def depart(self, uid: str) -> None:
        """The job of this uid is gone for certain."""
        if uid in self._by_owner:
            self._departed[uid] = None

    def cohort_path(self, cluster_queue: str) -> str:
        node = self._scheduler.tree.queue(cluster_queue)
        names = [cluster_queue]
        seen = set()
        while node is not None and node.parent is not None and node.parent.name not in seen:
            node = node.parent
            seen.add(node.name)
            names.append(node.name)
        return "/" + "/".join(reversed(names))

    # --- indexes

    def index_job(self, before: Job | None, after: Job | None) -> None:
        """Files a job under its own uid, its owner's, and the objects in which templates of it lie."""
        self._index_loans(before, after)
        if before is not None and (after is None or (before.uid, before.owner_uid) != (after.uid, after.owner_uid)):
            self._by_uid.pop(before.uid, None)
            siblings = self._children.get(before.owner_uid)
            if siblings is not None:
                siblings.pop(before.ref, None)
                if not siblings:
                    del self._children[before.owner_uid]
                    self._no_jobs.pop(before.owner_uid, None)
        if after is not None:
            self._by_uid[after.uid] = after.ref
            self._no_jobs.pop(after.uid, None)
            if after.owner_uid:
                self._children.setdefault(after.owner_uid, {})[after.ref] = None

    def _index_loans(self, before: Job | None, after: Job | None) -> None:
        for one in before.borrowed if before is not None else ():
            borrowers = self._borrowers.get((one.source.kind, one.source.name))
            if before is not None and borrowers is not None:
                borrowers.pop(before.ref, None)
                if not borrowers:
                    del self._borrowers[(one.source.kind, one.source.name)]
        for one in after.borrowed if after is not None else ():
            if after is not None:
                self._borrowers.setdefault((one.source.kind, one.source.name), {})[after.ref] = None

    def borrowers(self, kind: str, source: Ref | None = None) -> list[Job]:
        """Jobs with a template in this object, or in any of the kind."""
        if source is not None:
            found = list(self._borrowers.get((source.kind, source.name), ()))
        else:
            found = [ref for (of, _), refs in self._borrowers.items() if of == kind for ref in refs]
        slots = (self.jobs[ref].observed for ref in found if ref in self.jobs)
        return [job for job in slots if job is not None and (not source or source.namespace in ("", job.ref.namespace))]

    def children_of(self, uid: str) -> list[Ref]:
        """Jobs whose controlling owner is the object of this uid."""
        return list(self._children.get(uid, ()))

    def exclude(self, uid: str) -> None:
        """The owner of this uid was looked for and is no job."""
        if uid in self._children:
            self._no_jobs[uid] = None

    def index(self, key: WorkloadKey, workload: Workload | None) -> None:
        """Files a workload under its owner, its LocalQueue and its priority class; None takes it out."""
        entry = None
        if workload is not None:
            ref = workload.priority_class
            by_class = ref.name if ref is not None and ref.kind == "WorkloadPriorityClass" else ""
            entry = (workload.owner_uid, f"{workload.namespace}/{workload.queue_name}", by_class)
        old = self._indexed.get(key)
        if entry == old:
            return
        tables = (self._by_owner, self._by_local_queue, self._by_class)
        for table, name in zip(tables, old or (), strict=False):
            table[name].pop(key, None)
            if not table[name]:
                del table[name]
                self._departed.pop(name, None)
        if entry is None:
            self._indexed.pop(key, None)
            return
        self._indexed[key] = entry
        for table, name in zip(tables, entry, strict=True):
            table.setdefault(name, {})[key] = None

    def index_queue(self, key: str, before: LocalQueue | None, after: LocalQueue | None) -> None:
        mine = self._queues_of.get(before.cluster_queue) if before is not None else None
        if before is not None and mine is not None:
            mine.pop(key, None)
            if not mine:
                del self._queues_of[before.cluster_queue]
        if after is not None:
            self._queues_of.setdefault(after.cluster_queue, {})[key] = None

    def in_local_queue(self, key: str) -> list[WorkloadKey]:
        return list(self._by_local_queue.get(key, ()))

    def in_namespace(self, name: str) -> list[WorkloadKey]:
        """Used when its LimitRanges change, which is rare: LocalQueues are looked through, not workloads."""
        queues = [key for key in self._by_local_queue if key.startswith(f"{name}/")]
        return [key for queue in queues for key in self.in_local_queue(queue)]

    def with_runtime_class(self, name: str) -> list[WorkloadKey]:
        """Used when it changes, which as good as never happens."""
        found = ((key, slot.current) for key, slot in self.workloads.items())
        return [key for key, one in found if one is not None and name in one.runtime_classes]

    def local_queues_of(self, cluster_queue: str) -> list[str]:
        return list(self._queues_of.get(cluster_queue, ()))

    def of_class(self, name: str) -> list[WorkloadKey]:
        return list(self._by_class.get(name, ()))

    def queues_with_flavor(self, flavor: str) -> Iterator[ClusterQueue]:
        for slot in self.cluster_queues.values():
            queue = slot.observed
            if queue is not None and any(one.name == flavor for group in queue.groups for one in group.flavors):
                yield queue

    def queues_with_check(self, check: str) -> Iterator[ClusterQueue]:
        for slot in self.cluster_queues.values():
            queue = slot.observed
            if queue is not None and any(rule.name == check for rule in queue.checks):
                yield queue

    def jobs_with_made_queue(self) -> list[Ref]:
        """Jobs whose LocalQueue a profile has made; used when a profile or a template changes, which is rare."""
        found = ((ref, slot.observed) for ref, slot in self.jobs.items())
        return [ref for ref, job in found if job is not None and job.queue_from]

    def jobs_where(self, namespace: str = "", priority_class: str = "") -> Iterator[Ref]:
        """Jobs of a namespace, or of a priority class; used when either changes, which is rare."""
        for ref, slot in self.jobs.items():
            job = slot.observed
            if job is None or (namespace and ref.namespace != namespace):
                continue
            if not priority_class or job.priority_class == priority_class:
                yield ref
