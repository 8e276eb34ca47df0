"""A job on its way in, as far as stamping looks at it.

Of a batch Job, by far the most common, the few fields in question are all that is decoded. Of any other kind the
labels are looked at first, and the rest only once it is known that the job has to wait.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import msgspec

from admission.api.documents import Document, Unreadable, view, whole
from admission.api.field_errors import OMITTED, invalid
from admission.jobs.descriptor import Descriptor
from admission.jobs.hold import SUSPEND, Hold
from admission.jobs.places import nested
from admission.model.kinds import KINDS
from admission.model.names import QUEUE_NAME, WORKLOAD_ANNOTATION
from admission.readers.narrow import mapping
from admission.stamping.ancestors import OwnerReference
from admission.stamping.patches import PatchOperation, set_field


class Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None

    @property
    def queue_name(self) -> str:
        return (self.labels or {}).get(QUEUE_NAME, "")


class Incoming(Protocol):
    """All may raise Unreadable."""

    @property
    def metadata(self) -> Metadata: ...

    @property
    def queue_hint(self) -> str:
        """The kind's own way of naming a queue, for a job without the label; "" where it has none."""
        ...

    @property
    def held(self) -> bool: ...

    @property
    def held_by_others(self) -> bool:
        """Somebody else keeps it from starting, in a kind whose users do that by the same field."""
        ...

    @property
    def hold(self) -> Hold: ...

    @property
    def carries_admission(self) -> bool:
        """Starting a job marks its pods with their Workload in the same write that releases it."""
        ...

    @property
    def skipped(self) -> bool:
        """Whether its kind says that it is none of our business."""
        ...

    def holding(self) -> PatchOperation:
        """What holds it."""
        ...


def incoming(kind: str, descriptor: Descriptor, document: Document) -> Incoming:
    """`kind`: as in `Ref.kind`. Raises Unreadable."""
    return view(document, _BatchJob) if kind == "Job" else _AnyJob(kind, descriptor, document)


class _Template(msgspec.Struct):
    metadata: Metadata | None = None


class _Spec(msgspec.Struct):
    suspend: bool | None = None
    template: _Template | None = None


class _BatchJob(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def queue_hint(self) -> str:
        return ""

    @property
    def held(self) -> bool:
        return bool(self.spec.suspend)

    @property
    def held_by_others(self) -> bool:
        return False

    @property
    def hold(self) -> Hold:
        return SUSPEND

    @property
    def carries_admission(self) -> bool:
        template = self.spec.template
        return WORKLOAD_ANNOTATION in (
            (template.metadata.annotations if template and template.metadata else None) or {}
        )

    @property
    def skipped(self) -> bool:
        return False

    def holding(self) -> PatchOperation:
        return set_field(("spec", "suspend"), True)


class _Labelled(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)


class _AnyJob:
    def __init__(self, kind: str, descriptor: Descriptor, document: Document) -> None:
        self.metadata = view(document, _Labelled).metadata
        self.hold = descriptor.hold
        self._built_in = kind in KINDS
        self._descriptor = descriptor
        self._document = document

    @cached_property
    def _manifest(self) -> Mapping[str, Any]:
        return whole(self._document)

    @property
    def queue_hint(self) -> str:
        return "" if self._built_in else self._descriptor.read(self._manifest).queue_name

    @property
    def held(self) -> bool:
        return self.hold.holds(self._manifest)

    @property
    def held_by_others(self) -> bool:
        return self.hold.is_foreign(self._manifest)

    @property
    def carries_admission(self) -> bool:
        templates = (mapping(pod_set.get("template")) for pod_set in self._descriptor.pod_sets(self._manifest))
        # A kind that has no templates carries it itself.
        return WORKLOAD_ANNOTATION in (self.metadata.annotations or {}) or any(
            WORKLOAD_ANNOTATION in mapping(mapping(each.get("metadata")).get("annotations")) for each in templates
        )

    @property
    def skipped(self) -> bool:
        return self._descriptor.read(self._manifest).skipped

    def holding(self) -> PatchOperation:
        return held_at(self._manifest, self.hold)


def held_at(manifest: Mapping[str, Any], hold: Hold) -> PatchOperation:
    """One operation that holds the job, and makes what is missing on the way. Raises Unreadable where something else
    than a mapping lies there."""
    path, here = tuple(str(part) for part in hold.path), manifest
    for depth, part in enumerate(path[:-1], 1):
        inner = here.get(part)
        if inner is None:
            return set_field(path[:depth], nested(path[depth:], hold.held))
        if not isinstance(inner, Mapping):
            raise Unreadable(invalid(".".join(path[:depth]), OMITTED, "must be an object"))
        here = inner
    return set_field(path, hold.held)
