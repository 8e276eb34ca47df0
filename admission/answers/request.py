"""What a webhook is asked, what it may look up, and what it answers: values only.

The envelope on the wire (AdmissionReview) is the shell's; the in-memory world has none.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from admission.api.documents import Document
from admission.jobs.registry import JobKinds
from admission.model.accelerators import Catalogue
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import Configuration
from admission.model.elastic_quota import Bindings
from admission.model.job_profile import JobProfile
from admission.model.queue_policy import Target
from admission.model.queues import LocalQueue, PriorityClass
from admission.rules.effective_policy import Policies

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
PatchOperation = dict[str, Any]  # one operation of RFC 6902: {"op", "path", "value"}


@dataclass(frozen=True, slots=True)
class Request:
    """`object` is the object as it would be stored, `old_object` what is stored now (None when creating)."""

    operation: Operation
    namespace: str
    object: Document | None
    old_object: Document | None = None
    subresource: str = ""
    username: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""  # of the review; every one has another
    name: str = ""  # of the object; "": the API server will give it one
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """`code` is the HTTP status a refusal carries (403 by policy, 400 unreadable, 404 no such webhook)."""

    allowed: bool = True
    message: str = ""
    patch: tuple[PatchOperation, ...] = ()
    warnings: tuple[str, ...] = ()
    code: int = 200


class View(Protocol):
    """What the rules may look up. Everything may be slightly stale; nothing is written."""

    @property
    def configuration(self) -> Configuration: ...

    @property
    def job_kinds(self) -> JobKinds:
        """The kinds that are managed: jobs of others are let through as they are."""
        ...

    @property
    def job_profiles(self) -> Sequence[JobProfile]:
        """Those that count, in the order in which they are applied."""
        ...

    @property
    def colocation_profiles(self) -> Collection[ColocationProfile]: ...

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        """A core PriorityClass; the empty name asks for the cluster's global default."""
        ...

    @property
    def accelerators(self) -> Catalogue: ...

    def elastic_quotas(self, *, fresh: bool = False) -> Bindings:
        """All of them, by name. `fresh`: not older than the review; may have to be fetched, as an owner."""
        ...

    def quota_has_pods(self, name: str) -> bool:
        """Whether a pod names this elastic quota. May have to be fetched, as an owner."""
        ...

    @property
    def queue_policies(self) -> Policies: ...

    def policy_path(self, namespace: str, local_queue: str) -> Iterable[Target]:
        """What QueuePolicies may be for, that count in a LocalQueue: it and whatever is above it, upwards."""
        ...

    def priority_class_value(self, name: str) -> int | None:
        """Of a WorkloadPriorityClass; None: there is none. May have to be fetched, as an owner."""
        ...

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None: ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """None: no such namespace."""
        ...

    def has_priority_class(self, name: str) -> bool:
        """Whether there is such a WorkloadPriorityClass. May have to be fetched, as an owner."""
        ...

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> Mapping[str, Any] | None:
        """The owner's manifest, of which `metadata` is enough; None if it does not exist.

        Only asked for kinds that can be jobs of ours. A shell that must fetch it first raises an exception of its own
        through `answer` and asks again: answering has no effects.
        """
        ...
