"""What the webhooks know of the cluster: local queues, namespaces, described kinds of jobs and whatever stamps jobs by
watching, owners of jobs by asking once.

A review never waits for the watches; it may see what was true a moment ago, as any client may. Owners are fetched on
a miss and remembered briefly.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any

from admission.answers import pods
from admission.answers.hooks import Verb
from admission.jobs.described import described
from admission.jobs.registry import JobKinds
from admission.model.accelerators import CONFIG_MAP
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.elastic_quota import Bindings
from admission.model.job_profile import JobProfile, in_order
from admission.model.kinds import Ref
from admission.model.queue_policy import Target
from admission.model.queues import LocalQueue, Namespace, PriorityClass, global_default
from admission.readers.catalogue import read_catalogue
from admission.readers.colocation_profile import read_colocation_profile
from admission.readers.job_kind import read_job_kind
from admission.readers.job_profile import read_job_profile
from admission.readers.local_queue import read_local_queue
from admission.readers.namespace import read_namespace
from admission.readers.narrow import integer
from admission.readers.priority_class import read_priority_class
from admission.resources.catalogue import CATALOGUE
from admission.rules.effective_policy import Policies
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kube.client import Client
from controller.kube.errors import Forbidden, NotFound
from controller.kube.reflector import Changed, Gone, Missing, Reflector, Synced
from controller.kube.store import Store
from webhooks.policies import KnownPolicies
from webhooks.quotas import ALL as ALL_QUOTAS
from webhooks.quotas import Quotas

OWNER_SECONDS = 5.0  # a job's siblings are created together; longer, and a renamed or replaced owner is misjudged
MOST_OWNERS = 4096  # manifests of jobs, some 10 KB each
FETCH_SECONDS = 2.0  # leaves room for two hops within the time a review has

log = Log("webhooks.view")


class OwnerUnknown(Exception):
    """The answer needs an owner that has to be fetched first: `await view.fetch(error)`, then ask again."""

    def __init__(self, ref: Ref) -> None:
        super().__init__(str(ref))
        self.ref = ref


class ClusterView:
    """`admission.answers.View` on a live cluster. `watches` must run; `synced` tells when it is complete.

    A cluster that knows nothing of JobKinds, or does not let us see them, has none: nobody waits for that to change.
    `entries_due` tells when all is known that webhooks come and go with, and after somebody cleared it, when that has
    changed since.
    """

    def __init__(self, client: Client, configuration: Configuration, clock: Clock = SYSTEM) -> None:
        self.configuration = configuration
        self.accelerators = CATALOGUE
        self.job_kinds = JobKinds(configuration.frameworks)
        self.synced, self.entries_due = asyncio.Event(), asyncio.Event()
        self._about_pods: tuple[Verb, ...] | None = None
        self._kinds_listed = False
        self._client = client
        self._clock = clock
        self._queues: Store[LocalQueue] = Store()
        self._namespaces: Store[Namespace] = Store()
        self._profiles: Store[JobProfile] = Store()
        self._colocation: Store[ColocationProfile] = Store()
        self._classes: Store[PriorityClass] = Store()
        self.job_profiles: tuple[JobProfile, ...] = ()
        self.colocation_profiles: tuple[ColocationProfile, ...] = ()
        self._quotas = Quotas(client, clock)
        self._policies = KnownPolicies(client, clock)
        self._owners: dict[Ref, tuple[float, Mapping[str, Any] | None]] = {}

    def watches(self) -> dict[str, Coroutine[Any, Any, None]]:
        """The loops that keep it in step, by name."""
        return {
            "watch local queues": self._watch("LocalQueue", self._queues, read_local_queue),
            "watch namespaces": self._watch("Namespace", self._namespaces, read_namespace),
            "watch job kinds": self._watch_job_kinds(),
            "watch accelerators": self._watch_accelerators(),
            **self._policies.watches(self._note_synced),
            "watch elastic quotas": self._quotas.watch(self._note_synced, self._note_pods),
            "watch job profiles": self._watch(
                "JobProfile", self._profiles, read_job_profile, self._order_profiles, optional=True
            ),
            "watch colocation profiles": self._watch(
                "ClusterColocationProfile",
                self._colocation,
                read_colocation_profile,
                self._order_colocation,
                optional=True,
            ),
            "watch priority classes": self._watch(
                "PriorityClass", self._classes, read_priority_class, self._note_pods, optional=True
            ),
        }

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        return self._queues.get(Ref("LocalQueue", namespace, name))

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        found = self._namespaces.get(Ref("Namespace", "", namespace))
        return None if found is None else found.labels

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> Mapping[str, Any] | None:
        """Raises OwnerUnknown when it has to be fetched."""
        known = self.job_kinds.named(api_version.rpartition("/")[0], kind)
        return self._known(Ref(known, namespace, name)) if known and namespace and name else None

    def has_priority_class(self, name: str) -> bool:
        """Raises OwnerUnknown when it has to be fetched."""
        return self._known(Ref("WorkloadPriorityClass", "", name)) is not None

    @property
    def queue_policies(self) -> Policies:
        return self._policies.policies

    def policy_path(self, namespace: str, local_queue: str) -> Iterator[Target]:
        queue = self.local_queue(namespace, local_queue)
        return self._policies.path(namespace, local_queue, queue.cluster_queue if queue is not None else "")

    def priority_class_value(self, name: str) -> int | None:
        """Raises OwnerUnknown when it has to be fetched."""
        found = self._known(Ref("WorkloadPriorityClass", "", name))
        return None if found is None else integer(found.get("value"))

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        if name:
            return self._classes.get(Ref("PriorityClass", "", name))
        return global_default(self._classes.values())

    def elastic_quotas(self, *, fresh: bool = False) -> Bindings:
        """Raises OwnerUnknown when they have to be listed."""
        if fresh and not self._quotas.fresh:
            raise OwnerUnknown(ALL_QUOTAS)
        return self._quotas.bindings

    def quota_has_pods(self, name: str) -> bool:
        """Raises OwnerUnknown when they have to be asked for."""
        known = self._quotas.has_pods(name)
        if known is None:
            raise OwnerUnknown(Ref("Pod", "", name))
        return known

    def _known(self, ref: Ref) -> Mapping[str, Any] | None:
        known = self._owners.get(ref)
        if known is None or self._clock.steady() - known[0] > OWNER_SECONDS:
            raise OwnerUnknown(ref)
        return known[1]

    async def fetch(self, missing: OwnerUnknown) -> None:
        """One GET. What does not exist or may not be read is remembered as absent. Raises ApiError."""
        if missing.ref.kind in ("ElasticQuota", "Pod"):
            await self._quotas.fetch(missing.ref, FETCH_SECONDS)
            return
        found: Mapping[str, Any] | None
        try:
            manifest = await self._client.get(missing.ref, within=FETCH_SECONDS)
            found = {name: manifest[name] for name in ("metadata", "value") if name in manifest}
        except (NotFound, Forbidden):
            found = None
        self._owners.pop(missing.ref, None)
        while len(self._owners) >= MOST_OWNERS:
            del self._owners[next(iter(self._owners))]  # the oldest
        self._owners[missing.ref] = (self._clock.steady(), found)

    async def _watch(
        self, kind: str, store: Store[Any], read: Any, then: Callable[[], None] | None = None, *, optional: bool = False
    ) -> None:
        """`then`: to be done after each news. `optional`: a cluster that does not serve the kind, or does not let us
        see it, has no such objects."""
        async for delta in Reflector(self._client, kind, optional=optional, clock=self._clock).deltas():
            match delta:
                case Changed(ref, manifest, version):
                    store.put(ref, read(manifest), version)
                case Gone(ref, version):
                    store.drop(ref, version)
                case Synced() | Missing():
                    store.synced = True
                    self._note_synced()
            if then is not None:
                then()

    def _order_profiles(self) -> None:
        self.job_profiles = in_order({one.name: one for one in self._profiles.values()})
        self._note_pods()

    def _order_colocation(self) -> None:
        self.colocation_profiles = tuple(sorted(self._colocation.values(), key=lambda one: one.name))
        self._note_pods()

    async def _watch_accelerators(self) -> None:
        """Nobody waits for these: without them the catalogue is the one that is built in."""
        reflector = Reflector(
            self._client,
            "ConfigMap",
            namespace=self.configuration.namespace,
            fields=f"metadata.name={CONFIG_MAP}",
            optional=True,
            clock=self._clock,
        )
        async for delta in reflector.deltas():
            match delta:
                case Changed(_, manifest, _):
                    found = read_catalogue(manifest)
                    self.accelerators = CATALOGUE.changed(found.changes)
                    for fault in found.faults:
                        log.warning("an entry of the catalogue of accelerators is left out", why=fault)
                case Gone():
                    self.accelerators = CATALOGUE

    async def _watch_job_kinds(self) -> None:
        async for delta in Reflector(self._client, "JobKind", optional=True, clock=self._clock).deltas():
            match delta:
                case Changed(ref, manifest, _):
                    found = read_job_kind(manifest)
                    if found.rules is None:
                        self.job_kinds.forget(ref.name)
                    else:
                        self.job_kinds.describe(ref.name, found.kind, described(found.kind, found.rules))
                case Gone(ref, _):
                    self.job_kinds.forget(ref.name)
                case Synced() | Missing():
                    self._kinds_listed = True
                    self._note_synced()
            if self.synced.is_set():
                self.entries_due.set()

    def _note_synced(self) -> None:
        watched = (self._queues, self._namespaces, self._profiles, self._colocation, self._classes)
        listed = self._kinds_listed and self._quotas.synced and self._policies.synced
        if listed and all(store.synced for store in watched):
            self.synced.set()
            self._about_pods = pods.verbs(self)
            self.entries_due.set()

    def _note_pods(self) -> None:
        if self.synced.is_set() and (now := pods.verbs(self)) != self._about_pods:
            self._about_pods = now
            self.entries_due.set()
