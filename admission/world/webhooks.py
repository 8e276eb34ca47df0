"""The product's webhooks as the API server calls them: those that mutate first, then all that validate."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from admission.answers import Operation, Request, answer, hooks_for
from admission.answers.hooks import Hook
from admission.jobs.registry import JobKinds
from admission.model.accelerators import CONFIG_MAP, Catalogue
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.job_profile import JobProfile, in_order
from admission.model.kinds import Ref, kind_of
from admission.model.queues import LocalQueue, PriorityClass, global_default
from admission.readers.catalogue import read_catalogue
from admission.readers.colocation_profile import read_colocation_profile
from admission.readers.job_profile import read_job_profile
from admission.readers.priority_class import read_priority_class
from admission.resources.catalogue import CATALOGUE
from admission.world.answers import Calls, HookCall, denied
from admission.world.objects import Frozen, Object
from admission.world.patches import patched


class StoredView:
    """What webhooks may look up, straight from what is stored."""

    def __init__(
        self,
        configuration: Configuration,
        peek: Callable[[Ref], Frozen | None],
        scan: Callable[[str], Iterable[Frozen]],
    ) -> None:
        self._scan = scan
        self.configuration = configuration
        self.job_kinds = JobKinds(configuration.frameworks)
        self._peek = peek
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

    def _concerned(self, ref: Ref, old: Frozen | None, subresource: str | None) -> tuple[Hook, ...]:
        if "." in ref.kind:  # the API server asks about what is described, and about nothing else that it may hold
            kind = kind_of(ref.kind)
            if self.view.job_kinds.named(kind.group, kind.kind) is None:
                return ()
        return hooks_for(ref.kind, _operation(old), subresource or "")

    def _ask(
        self,
        hook: Hook,
        ref: Ref,
        old: Frozen | None,
        new: Frozen,
        subresource: str | None,
        user: str,
        calls: Calls,
    ) -> HookCall:
        request = Request(_operation(old), ref.namespace, new, old, subresource or "", user)
        said = answer(hook.path, request, self.view)
        call = HookCall(hook.path, said.allowed, said.code, said.message, said.patch)
        calls.append(call)
        if not call.allowed:
            raise denied(call, hook.name)
        return call


def _operation(old: Frozen | None) -> Operation:
    return "CREATE" if old is None else "UPDATE"
