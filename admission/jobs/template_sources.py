"""Pod templates that lie in other objects than the jobs made from them: all that are known, found by a job's word."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from admission.api.field_errors import FieldError, invalid, required
from admission.jobs.descriptor import Manifest
from admission.jobs.expressions import Scope
from admission.jobs.templated import shown
from admission.model.job_kind import Elsewhere, Place
from admission.model.kinds import Ref, kind_of
from admission.model.template_source import TemplateSource
from admission.readers.metadata import read_metadata
from admission.readers.narrow import is_mapping, mapping, text


def read_template_source(kind: str, manifest: Manifest, places: Collection[Place]) -> TemplateSource:
    """Total. `kind`: as in `Ref.kind`."""
    meta = read_metadata(manifest)
    found = {place: Scope(manifest).value(place) for place in places}
    templates = {place: template for place, template in found.items() if is_mapping(mapping(template).get("spec"))}
    return TemplateSource(Ref(kind, meta.namespace, meta.name), meta.resource_version, templates)


class TemplateSources:
    """What is known of such objects."""

    def __init__(self) -> None:
        self._known: dict[Ref, TemplateSource] = {}

    def put(self, source: TemplateSource) -> bool:
        """False: nothing that matters has changed, or the news is old."""
        before = self._known.get(source.ref)
        if before is not None and before.resource_version > source.resource_version:
            return False
        self._known[source.ref] = source
        return before is None or before.templates != source.templates

    def drop(self, ref: Ref) -> bool:
        """False: it was not known."""
        return self._known.pop(ref, None) is not None

    def forget(self, kind: str) -> None:
        """Nobody tells of objects of this kind any more."""
        self._known = {ref: source for ref, source in self._known.items() if ref.kind != kind}

    def find(self, ref: Ref) -> TemplateSource | None:
        """In this namespace, or without one where the kind is cluster-scoped."""
        return self._known.get(ref) or self._known.get(ref._replace(namespace=""))


@dataclass(frozen=True, slots=True)
class Loan:
    """What a job is lent. `source`: None, where it names none that could be looked for; `problem`: why there is no
    template."""

    source: Ref | None
    template: Mapping[str, Any] | None
    problem: FieldError | None = None


def lent(elsewhere: Elsewhere, scope: Scope, sources: TemplateSources) -> Loan:
    """Total."""
    at, stated = shown(scope.path(elsewhere.ref)), scope.value(elsewhere.ref)
    kind, namespace = kind_of(elsewhere.kind), text(mapping(scope.manifest.get("metadata")).get("namespace"))
    name, wrong = _named(at, stated, kind.kind, kind.group, namespace)
    if wrong is not None:
        return Loan(None, None, wrong)
    ref = Ref(elsewhere.kind, namespace, name)
    source = sources.find(ref)
    if source is None:
        why = f"there is no {kind.kind} of {kind.group} of this name: create it, or name another"
        return Loan(ref, None, FieldError(at, "Not found", name, why))
    template = source.templates.get(elsewhere.place)
    if template is None:
        why = f"this {kind.kind} has no pod template at {elsewhere.path}"
        return Loan(ref, None, invalid(at, name, why))
    return Loan(ref, template)


def names_one(elsewhere: Elsewhere, scope: Scope) -> bool:
    """Whether the job says anything at all of such an object."""
    return scope.value(elsewhere.ref) is not None


def _named(at: str, stated: object, kind: str, group: str, namespace: str) -> tuple[str, FieldError | None]:
    if isinstance(stated, str) and stated:
        return stated, None
    if not is_mapping(stated):
        return "", required(at, f"name the {kind} whose pod template is meant")
    name = text(stated.get("name"))
    if not name:
        return "", required(f"{at}.name", f"name the {kind} whose pod template is meant")
    said = text(stated.get("apiGroup")) or text(stated.get("apiVersion")).rpartition("/")[0]
    for field, value, wanted in (
        ("kind", stated.get("kind"), kind),
        ("apiGroup" if stated.get("apiGroup") else "apiVersion", said, group),
        ("namespace", stated.get("namespace"), namespace),  # else whoever reads Workloads here would read there, too
    ):
        if value and value != wanted:
            return name, invalid(f"{at}.{field}", value, f"must be {wanted}, or left out")
    return name, None
