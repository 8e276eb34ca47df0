"""The pods that a job's manifest describes, each seen as a pod and changed as one, whatever its kind calls the fields.

for pod in pods_within(descriptor, manifest):
    pod.seen["spec"]["schedulerName"] = "…"
    pod.keep()
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from dataclasses import field as with_default
from typing import Any

from admission.jobs import batch_job, spark_application, workflow
from admission.jobs.descriptor import Descriptor
from admission.jobs.places import Path, value_at
from admission.jobs.templated import Templated, shown
from admission.jobs.workflow_templates import containers_of, places
from admission.readers.narrow import mapping

Pod = dict[str, Any]

_METADATA = ("labels", "annotations")
_PLACEMENT = ("schedulerName", "nodeSelector", "tolerations", "affinity")
# What a pod calls it -> what the kind does.
_OF_A_ROLE = {name: name for name in ("priorityClassName", *_PLACEMENT)}
_OF_A_WORKFLOW = {"priorityClassName": "podPriorityClassName", **{name: name for name in _PLACEMENT}}


@dataclass(frozen=True, slots=True)
class PodWithin:
    """`path`: where it lies, for people. `seen`: {metadata, spec}, to be changed in place; `keep` then puts the changes
    where the kind has them, as far as it has a place for them. `whole`: it lies there as pods have it."""

    path: Path
    seen: Pod
    whole: bool = True
    bare: bool = False  # a pod's spec, and nothing around it
    _holder: Pod = with_default(default_factory=dict)
    _fields: Mapping[str, str] = with_default(default_factory=dict)
    _metadata_in: str = ""  # member of the holder with labels and annotations; "": the holder itself
    _only_stated: bool = False  # what it does not say itself it takes from elsewhere, where that is changed already
    _before: Pod = with_default(default_factory=dict)

    def __str__(self) -> str:
        return shown(self.path)

    def field(self, shown_inside: str) -> str:
        """A field of the pod as the kind has it, "" where it has no place for it. `shown_inside`: as a pod has it,
        below where this one lies."""
        section, _, rest = shown_inside.removeprefix(f"{self}.").partition(".")
        if self.bare:
            return f"{self}.{rest}" if section == "spec" else ""
        if self.whole:
            return shown_inside
        if section == "metadata":
            return f"{self}.{self._metadata_in}.{rest}" if self._metadata_in else f"{self}.{rest}"
        return f"{self}.{self._fields.get(rest, rest)}"

    def keep(self) -> None:
        if self.whole:
            return
        before, after = (mapping(one.get("metadata")) for one in (self._before, self.seen))
        for name in _METADATA:
            self._keep_entries(name, mapping(before.get(name)), mapping(after.get(name)))
        old, new = mapping(self._before.get("spec")), mapping(self.seen.get("spec"))
        for name, called in self._fields.items():
            if old.get(name) == new.get(name) or (self._only_stated and called not in self._holder):
                continue
            if new.get(name) is None:
                self._holder.pop(called, None)
            else:
                self._holder[called] = new[name]

    def _keep_entries(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        changed = {key: after.get(key) for key in [*before, *after] if before.get(key) != after.get(key)}
        stated = mapping(value_at(self._holder, (*([self._metadata_in] if self._metadata_in else []), name)))
        if self._only_stated:
            changed = {key: value for key, value in changed.items() if key in stated}
        if not changed:
            return
        holder = self._holder
        if self._metadata_in:
            holder = _within(holder, self._metadata_in)
        entries = _within(holder, name)
        for key, value in changed.items():
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value


def pods_within(descriptor: Descriptor, manifest: dict[str, Any]) -> Iterator[PodWithin]:
    """Those whose place is there; a manifest that is not as its kind has it gives fewer, never an error."""
    if descriptor is batch_job:
        yield from _template(manifest, ("spec", "template"))
    elif descriptor is spark_application:
        for role in spark_application.ROLES:
            yield from _role(manifest, ("spec", role.name))
    elif descriptor is workflow:
        yield from _workflow(manifest)
    elif isinstance(descriptor, Templated):
        for at, form in {one.at: one.form for one in descriptor.groups(manifest)}.items():
            if form == "template":
                yield from _template(manifest, at)
            elif form == "spec" and isinstance(spec := value_at(manifest, at), dict):
                seen = {"metadata": {}, "spec": spec}  # it has no place for labels
                yield PodWithin(at, seen, bare=True)


def spread(descriptor: Descriptor, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """A copy in which metadata, and of the pods metadata and the fields of their specs, may be changed in place; all
    else is shared with the original. None: a kind whose fields lie otherwise."""
    if descriptor is batch_job:
        places: list[Path] = [("spec", "template")]
    elif isinstance(descriptor, Templated):
        groups = descriptor.groups(manifest)
        if any(one.form != "template" for one in groups):
            return None
        places = [one.at for one in groups]
    else:
        return None
    copy: Pod = dict(manifest)
    own = {id(copy)}
    for place in ((), *places):
        for path in (
            place,
            (*place, "metadata"),
            *((*place, "metadata", name) for name in _METADATA),
            (*place, "spec"),
        ):
            _own(copy, path, own)
    return copy


def _own(copy: Pod, path: Path, own: set[int]) -> None:
    """What lies on the path becomes the copy's own."""
    holder: Any = copy
    for part in path:
        try:
            found = holder[part]
        except (KeyError, IndexError, TypeError):
            return
        if id(found) not in own and isinstance(found, dict | list):
            found = holder[part] = found.copy()
            own.add(id(found))
        holder = found


def _template(manifest: Pod, at: Path) -> Iterator[PodWithin]:
    found = value_at(manifest, at)
    if isinstance(found, dict) and isinstance(found.get("spec"), dict):
        yield PodWithin(at, found)


def _role(manifest: Pod, at: Path) -> Iterator[PodWithin]:
    """Of a SparkApplication. Its own template gives way to its fields."""
    own = value_at(manifest, at)
    if not isinstance(own, dict):
        return
    template = mapping(own.get("template"))
    spec, metadata = mapping(template.get("spec")), mapping(template.get("metadata"))
    seen: Pod = {
        "metadata": {name: {**mapping(metadata.get(name)), **mapping(own.get(name))} for name in _METADATA},
        "spec": {name: own.get(name, spec.get(name)) for name in _OF_A_ROLE if name in own or name in spec},
    }
    yield PodWithin(at, seen, False, False, own, _OF_A_ROLE, _before=deepcopy(seen))


def _workflow(manifest: Pod) -> Iterator[PodWithin]:
    """What it says of all its pods, then what single templates say of theirs instead."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return
    pods = mapping(spec.get("podMetadata"))
    seen: Pod = {
        "metadata": {name: dict(mapping(pods.get(name))) for name in _METADATA},
        "spec": {name: spec[called] for name, called in _OF_A_WORKFLOW.items() if called in spec},
    }
    yield PodWithin(("spec",), seen, False, False, spec, _OF_A_WORKFLOW, "podMetadata", _before=deepcopy(seen))
    for at, template in list(places(spec)):
        containers = containers_of(template)
        if containers and isinstance(template, dict):
            own = mapping(template.get("metadata"))
            inner: Pod = {
                "metadata": {
                    name: {**mapping(mapping(seen["metadata"]).get(name)), **mapping(own.get(name))}
                    for name in _METADATA
                },
                "spec": {**seen["spec"], **{name: template[name] for name in _OF_A_ROLE if name in template}},
            }
            before = deepcopy(inner)
            inner["spec"]["containers"] = containers
            yield PodWithin(
                at, inner, False, False, template, _OF_A_ROLE, "metadata", _only_stated=True, _before=before
            )


def _within(holder: Pod, name: str) -> Pod:
    """The mapping there, made where there is none."""
    if not isinstance(holder.get(name), dict):
        holder[name] = {}
    found: Pod = holder[name]
    return found
