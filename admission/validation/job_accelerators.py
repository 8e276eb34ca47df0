"""What the pod templates of a job say about accelerators, whatever its kind: refused where it contradicts itself, with
a hint where a name may be misspelt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from admission.api.documents import Document, view, whole
from admission.api.field_errors import FieldError
from admission.jobs.descriptor import Descriptor
from admission.jobs.templated import shown
from admission.model.accelerators import Catalogue
from admission.readers.narrow import mapping, text
from admission.validation.accelerators import faults, is_plain, misspelt
from admission.validation.pod_templates import Grouped
from admission.validation.unchanged import unchanged

_BARE = "!"  # behind the path of a pod spec that is no part of a template


class Said(NamedTuple):
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


class _Container(msgspec.Struct):
    resources: Any = None


class _PodSpec(msgspec.Struct, rename="camel", omit_defaults=True):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None


class _TemplateMetadata(msgspec.Struct):
    annotations: Any = None


class _Template(msgspec.Struct):
    metadata: _TemplateMetadata | None = None
    spec: _PodSpec | None = None


class _Spec(msgspec.Struct):
    template: _Template | None = None


class _Job(msgspec.Struct):
    """What a batch Job, which nearly every job is, says of accelerators."""

    spec: _Spec | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Deleted(msgspec.Struct):
    metadata: _Metadata | None = None


def check_job_accelerators(
    kind: str, descriptor: Descriptor, document: Document, before: Document | None, catalogue: Catalogue
) -> Said:
    """`kind` as in `Ref.kind`. What was wrong before is let through: no job is stuck for what it once was given.

    Raises Unreadable.
    """
    if before is not None and (unchanged(document, before, "spec") or _deleted(document)):
        return Said()
    templates = [each for each in _templates(kind, descriptor, document) if not is_plain(each[1], catalogue)]
    errors = [error for path, one in templates for error in _placed(path, faults(one, catalogue))]
    if before is None:
        return Said(tuple(errors), tuple(said for _, one in templates for said in misspelt(one, catalogue)))
    if errors:
        old = {
            str(error)
            for path, one in _templates(kind, descriptor, before)
            for error in _placed(path, faults(one, catalogue))
        }
        errors = [error for error in errors if str(error) not in old]
    return Said(tuple(errors))


def _deleted(document: Document) -> bool:
    metadata = view(document, _Deleted).metadata
    return metadata is not None and metadata.deletion_timestamp is not None


def _templates(kind: str, descriptor: Descriptor, document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """With the path of each; of kinds that hold none, with that of what its pods are made of."""
    if kind == "Job":
        job = view(document, _Job)
        if job.spec is not None and job.spec.template is not None:
            yield "spec.template", msgspec.to_builtins(job.spec.template)
    elif isinstance(descriptor, Grouped):
        for group in descriptor.groups(whole(document)):
            if group.form == "nothing":  # the template is elsewhere, or there is none
                yield f"pods of {group.name}", group.template
            else:
                yield f"{shown(group.at)}{_BARE if group.form == 'spec' else ''}", group.template
    else:
        for one in descriptor.pod_sets(whole(document)):
            yield f"pods of {text(one.get('name'), 'main')}", mapping(one.get("template"))


def _placed(path: str, found: Sequence[FieldError]) -> Iterator[FieldError]:
    return (replace(error, path=f"{path}.{error.path}".replace(f"{_BARE}.spec", "")) for error in found)
