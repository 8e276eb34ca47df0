"""The product's webhooks as the API server calls them: those that mutate first, then all that validate."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from admission.answers import Operation, Request, answer, hooks_for, pods
from admission.answers.configurations import asked_about
from admission.answers.hooks import Hook
from admission.jobs.registry import JobKinds
from admission.model.accelerators import CONFIG_MAP, Catalogue
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.elastic_quota import QUOTA_NAME, Bindings
from admission.model.job_profile import JobProfile, in_order
from admission.model.kinds import Ref, kind_of
from admission.model.names import NAMESPACE_NAME
from admission.model.queue_policy import Target
from admission.model.queues import LocalQueue, PriorityClass, global_default
from admission.readers.catalogue import read_catalogue
from admission.readers.colocation_profile import read_colocation_profile
from admission.readers.elastic_quota import read_elastic_quota
from admission.readers.job_profile import read_job_profile
from admission.readers.priority_class import read_priority_class
from admission.readers.queue_policy import read_queue_policy
from admission.resources.catalogue import CATALOGUE
from admission.rules.effective_policy import Policies, path_of
from admission.stamping.identity import TRUSTED
from admission.world.answers import Calls, HookCall, denied
from admission.world.objects import Frozen, Object
from admission.world.patches import patched

ADMINISTRATOR = "admin"  # whom Kubernetes lets do anything


class StoredView:
    """What webhooks may look up, straight from what is stored."""

    def __init__(
        self,
        configuration: Configuration,
        peek: Callable[[Ref], Frozen | None],
        scan: Callable[[str], Iterable[Frozen]],
    ) -> None:
        self.configuration = configuration
        self._scan = scan
        self.job_kinds = JobKinds(configuration.frameworks)
        self._peek = peek
        self._policies = Policies()
        self._read_policies: tuple[Frozen, ...] = ()
        self._read_profiles: tuple[tuple[Frozen, ...], tuple[JobProfile, ...]] = ((), ())

    @property
    def job_profiles(self) -> tuple[JobProfile, ...]:
        stored = tuple(self._scan("JobProfile"))
        before, profiles = self._read_profiles
        if len(stored) != len(before) or any(new is not old for new, old in zip(stored, before, strict=True)):
            profiles = in_order({one.name: one for one in map(read_job_profile, stored)})
            self._read_profiles = (stored, profiles)
        return profiles

    @property
    def colocation_profiles(self) -> list[ColocationProfile]:
        return [read_colocation_profile(found) for found in self._scan("ClusterColocationProfile")]

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        if name:
            found = self._peek(Ref("PriorityClass", "", name))
            return None if found is None else read_priority_class(found)
        return global_default(read_priority_class(found) for found in self._scan("PriorityClass"))

    def elastic_quotas(self, *, fresh: bool = False) -> Bindings:
        return Bindings(read_elastic_quota(found) for found in self._scan("ElasticQuota"))

    def quota_has_pods(self, name: str) -> bool:
        labels = ((pod["metadata"].get("labels") or {}) for pod in self._scan("Pod"))
        return any(said.get(QUOTA_NAME) == name for said in labels)

    @property
    def queue_policies(self) -> Policies:
        stored = tuple(self._scan("QueuePolicy"))
        if stored != self._read_policies:
            self._policies, self._read_policies = Policies(map(read_queue_policy, stored)), stored
        return self._policies

    def policy_path(self, namespace: str, local_queue: str) -> Iterator[Target]:
        queue = self.local_queue(namespace, local_queue)
        return path_of(namespace, local_queue, queue.cluster_queue if queue is not None else "", self._above)

    def _above(self, kind: str, name: str) -> str:
        found = self._peek(Ref(kind, "", name)) or {}
        return str((found.get("spec") or {}).get("cohortName" if kind == "ClusterQueue" else "parentName") or "")

    def priority_class_value(self, name: str) -> int | None:
        found = self._peek(Ref("WorkloadPriorityClass", "", name))
        return None if found is None else int(found.get("value") or 0)

    @property
    def accelerators(self) -> Catalogue:
        found = self._peek(Ref("ConfigMap", self.configuration.namespace, CONFIG_MAP))
        return CATALOGUE if found is None else CATALOGUE.changed(read_catalogue(found).changes)

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        found = self._peek(Ref("LocalQueue", namespace, name))
        if found is None:
            return None
        return LocalQueue(namespace, name, str((found.get("spec") or {}).get("clusterQueue", "")))

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        found = self._peek(Ref("Namespace", "", namespace))
        return None if found is None else found["metadata"].get("labels") or {}

    def has_priority_class(self, name: str) -> bool:
        return self._peek(Ref("WorkloadPriorityClass", "", name)) is not None

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> Mapping[str, Any] | None:
        # An owner reference may speak of another version than the one that is stored.
        known = self.job_kinds.named(api_version.rpartition("/")[0], kind) or kind
        return self._peek(Ref(known.partition(":")[0], namespace, name))


class Webhooks:
    """`calls` collects what was asked. A refusal is raised as `answers.Refused`."""

    def __init__(self, view: StoredView) -> None:
        self.view = view

    def mutated(
        self, ref: Ref, old: Frozen | None, new: Object, subresource: str | None, user: str, calls: Calls
    ) -> Object:
        """`new` after every mutating webhook that this write concerns."""
        for hook in self._concerned(ref, old, subresource):
            if hook.verb == "mutate":
                call = self._ask(hook, ref, old, new, subresource, user, calls)
                if call.patch:
                    new = patched(new, call.patch)
        return new

    def validate(
        self, ref: Ref, old: Frozen | None, new: Frozen, subresource: str | None, user: str, calls: Calls
    ) -> None:
        """Ask every validating webhook that this write concerns."""
        for hook in self._concerned(ref, old, subresource):
            if hook.verb == "validate":
                self._ask(hook, ref, old, new, subresource, user, calls)

    def let_go(self, ref: Ref, old: Frozen, user: str, calls: Calls) -> None:
        """Ask every webhook that the object's deletion concerns."""
        for hook in hooks_for(ref.kind, "DELETE"):
            self._ask(hook, ref, old, None, None, user, calls)

    def _concerned(self, ref: Ref, old: Frozen | None, subresource: str | None) -> tuple[Hook, ...]:
        if "." in ref.kind:  # the API server asks about what is described, and about nothing else that it may hold
            kind = kind_of(ref.kind)
            if self.view.job_kinds.named(kind.group, kind.kind) is None:
                return ()
        if ref.kind == "Pod":
            if not asked_about(self.view.configuration).matches({NAMESPACE_NAME: ref.namespace}):
                return ()
            wanted = pods.verbs(self.view)
            return tuple(hook for hook in hooks_for("Pod", _operation(old), subresource or "") if hook.verb in wanted)
        return hooks_for(ref.kind, _operation(old), subresource or "")

    def _ask(
        self,
        hook: Hook,
        ref: Ref,
        old: Frozen | None,
        new: Frozen | None,
        subresource: str | None,
        user: str,
        calls: Calls,
    ) -> HookCall:
        operation = "DELETE" if new is None else _operation(old)
        groups = (TRUSTED,) if user == ADMINISTRATOR else ()
        request = Request(operation, ref.namespace, new, old, subresource or "", user, groups)
        said = answer(hook.path, request, self.view)
        call = HookCall(hook.path, said.allowed, said.code, said.message, said.patch)
        calls.append(call)
        if not call.allowed:
            raise denied(call, hook.name)
        return call


def _operation(old: Frozen | None) -> Operation:
    return "CREATE" if old is None else "UPDATE"
