"""ClusterColocationProfiles on a pod or on the pod template of a job, which is changed in place.

Profiles are matched once, with the pod as it arrived, and applied by name: of two that set one field, the later counts.
Where Koordinator's own webhook does something by accident (an empty label for a missing one, one percent too much, an
order of chance) this does what was meant; docs/koordinator.md lists all of it.

The annotation `lockgate.dev/colocation` says which profiles were applied, and which labels and annotations stood there
before: whoever is stamped again is stamped as it arrived first, and pods of a stamped template are left alone.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from operator import attrgetter
from typing import Any, NamedTuple

from admission.model.colocation_profile import ColocationProfile
from admission.model.qos import QOS_CLASS, SUB_PRIORITY, FindClass
from admission.model.queues import PriorityClass
from admission.readers.narrow import mapping, strings, text
from admission.stamping.difference import difference
from admission.stamping.lines import Line
from admission.stamping.strategic_merge import CannotMerge, merged_pod

COLOCATION = "lockgate.dev/colocation"

Pod = dict[str, Any]


class CannotStamp(Exception):
    """The pod can't be made as a profile wants it; the message says which profile, and why."""


class Match(NamedTuple):
    """How a profile stands to a pod. `matched` says that it is meant, `drawn` that it is in the share, too."""

    profile: ColocationProfile
    matched: bool
    drawn: bool = False
    why_not: str = ""  # why it is not applied, for people

    @property
    def applies(self) -> bool:
        return self.matched and self.drawn


class Around(NamedTuple):
    """What surrounds a pod. `namespace`: its labels; None: there is none. `number`: from 0 to 99, alike for all pods
    of one workload; profiles for so many of a hundred, or fewer, are not for them."""

    namespace: Mapping[str, str] | None
    number: int
    class_named: FindClass
    strict: bool = False


class Colocated(NamedTuple):
    """`translate`: cpu and memory are still to become those of the class."""

    matches: tuple[Match, ...] = ()
    translate: bool = False


def is_settled(pod: Mapping[str, Any]) -> bool:
    """Whether it was made from a template that was stamped. Only to be asked of what something controls: anybody can
    write such an annotation."""
    return COLOCATION in mapping(mapping(pod.get("metadata")).get("annotations"))


def colocate(
    pod: Pod,
    profiles: Collection[ColocationProfile],
    around: Around,
    *,
    template: bool,
    lines: list[Line] | None = None,
) -> Colocated:
    """In place: all profiles that are meant. `lines` gathers what each did; the others are told of with it, too.

    Raises CannotStamp.
    """
    _undo(pod)
    matches = tuple(matching(profiles, pod, around, others=lines is not None))
    if not any(one.matched for one in matches):
        return Colocated(matches)
    was = {field: dict(mapping(mapping(pod.get("metadata")).get(field))) for field in _NOTED}
    for one in matches:
        if one.applies:
            before = deepcopy(pod) if lines is not None else {}
            stamp(pod, one.profile, around.class_named, template=template)
            if lines is not None:
                lines += _lines(one.profile, before, pod)
    _note(pod, matches, was)
    return Colocated(matches, translates(matches, around.strict))


def means(
    profiles: Iterable[ColocationProfile], metadata: Mapping[str, Any], namespace: Mapping[str, str] | None
) -> bool:
    """Whether there is anything to do about a pod or template with this metadata."""
    if COLOCATION in mapping(metadata.get("annotations")):
        return True
    labels = strings(metadata.get("labels"))
    return any(not _mismatch(profile, labels, namespace) for profile in profiles)


def matching(
    profiles: Iterable[ColocationProfile], pod: Mapping[str, Any], around: Around, others: bool = True
) -> Iterator[Match]:
    """By name: those that match and, with `others`, those that do not."""
    labels = strings(mapping(pod.get("metadata")).get("labels"))
    for profile in sorted(profiles, key=_by_name):
        why_not = _mismatch(profile, labels, around.namespace)
        if why_not:
            if others:
                yield Match(profile, False, False, why_not)
        elif around.number < profile.percent:
            yield Match(profile, True, True)
        else:
            yield Match(profile, True, False, f"spec.probability: not among the {profile.percent} % that are drawn")


def translates(matches: Sequence[Match], strict: bool) -> bool:
    """Whether cpu and memory become those of the class. Compatible: also a profile counts here that matches and was
    not drawn, for better or worse."""
    counted = [one for one in matches if (one.applies if strict else one.matched)]
    return bool(counted) and not any(one.profile.skips_translation for one in counted)


def stamp(pod: Pod, profile: ColocationProfile, class_named: FindClass, *, template: bool) -> None:
    """In place. Of a template the pods get the value of their priority class when they are made, never before.

    Raises CannotStamp.
    """
    metadata = _within(pod, "metadata")
    _set(metadata, "labels", profile.labels)
    _set(metadata, "annotations", profile.annotations)
    _set(metadata, "labels", _mapped(metadata.get("labels"), profile.label_keys))
    _set(metadata, "annotations", _mapped(metadata.get("annotations"), profile.annotation_keys))
    _set(metadata, "labels", _suffixed(metadata.get("labels"), profile.label_suffixes))
    if profile.scheduler_name:
        _within(pod, "spec")["schedulerName"] = profile.scheduler_name
    if profile.qos_class:
        _set(metadata, "labels", {QOS_CLASS: profile.qos_class})
    if profile.priority_class:
        set_priority_class(_within(pod, "spec"), _found(profile, class_named), template=template)
    if profile.sub_priority is not None:
        _set(metadata, "labels", {SUB_PRIORITY: str(profile.sub_priority)})
    if profile.patch:
        _patch(pod, profile)


def set_priority_class(spec: Pod, wanted: PriorityClass, *, template: bool) -> None:
    """In place, on a pod's spec. Kubernetes has looked at the old class by now, and compares what it finds later."""
    spec["priorityClassName"] = wanted.name
    if template:
        spec.pop("priority", None)
        spec.pop("preemptionPolicy", None)
    else:
        spec["priority"], spec["preemptionPolicy"] = wanted.value, wanted.preemption_policy


def _mismatch(profile: ColocationProfile, labels: Mapping[str, str], namespace: Mapping[str, str] | None) -> str:
    """Asked of every profile for every job: most of the time that stamping takes."""
    if profile.problem:
        return profile.problem
    if profile.namespaces.rules:
        if namespace is None:
            return "spec.namespaceSelector: there is no such namespace"
        if not profile.namespaces.matches(namespace):
            return "spec.namespaceSelector does not match the labels of the namespace"
    if not profile.pods.matches(labels):
        return "spec.selector does not match the labels of the pod"
    return ""


_NOTED = ("labels", "annotations")
_by_name = attrgetter("name")


def _note(pod: Pod, matches: Sequence[Match], was: Mapping[str, Mapping[str, Any]]) -> None:
    said: dict[str, Any] = {"profiles": [one.profile.name for one in matches if one.applies]}
    metadata = _within(pod, "metadata")
    for field in _NOTED:
        now = mapping(metadata.get(field))
        changed = {
            name: was[field].get(name) for name in {**now, **was[field]} if now.get(name) != was[field].get(name)
        }
        if changed:
            said[field] = changed
    _set(metadata, "annotations", {COLOCATION: json.dumps(said, separators=(",", ":"), sort_keys=True)})


def _undo(pod: Pod) -> None:
    """Labels and annotations as they were before any profile. Everything else is set, never added to."""
    if not is_settled(pod):
        return
    metadata = pod["metadata"]
    try:
        said = json.loads(text(metadata["annotations"].pop(COLOCATION)) or "{}")
    except (ValueError, RecursionError):
        said = {}
    for field in _NOTED:
        for name, before in mapping(mapping(said).get(field)).items():
            if isinstance(before, str):
                _within(metadata, field)[name] = before
            elif before is None and isinstance(metadata.get(field), dict):
                metadata[field].pop(name, None)


def _lines(profile: ColocationProfile, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Line]:
    found = []
    for operation in difference(before, after):
        path = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        found.append(Line(f"ClusterColocationProfile {profile.name}", *_change(path, before, operation)))
    return found


def _change(path: list[str], before: Any, operation: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    """The field as people write it, and both values as text."""
    field, here = "", before
    for part in path:
        here = here[int(part)] if isinstance(here, list) else mapping(here).get(part)
        field += f"[{part}]" if "/" in part or part.isdigit() else f".{part}" if field else part
    return field, _shown(here), _shown(operation.get("value"))


def _shown(value: Any) -> str | None:
    return value if isinstance(value, str | None) else json.dumps(value, ensure_ascii=False)


def _mapped(stated: object, keys: Mapping[str, str]) -> dict[str, str]:
    """All read before any is written, so that chains have one outcome. Of a missing source comes nothing."""
    found = strings(stated)
    return {keys[source]: found[source] for source in sorted(keys) if source in found}


def _suffixed(stated: object, suffixes: Mapping[str, str]) -> dict[str, str]:
    """Once: a value that ends like this already has had it."""
    found = strings(stated)
    return {
        name: found[name] + suffix
        for name, suffix in suffixes.items()
        if name in found and not found[name].endswith(suffix)
    }


def _found(profile: ColocationProfile, class_named: FindClass) -> PriorityClass:
    found = class_named(profile.priority_class)
    if found is None:
        raise CannotStamp(
            f"ClusterColocationProfile {profile.name}: spec.priorityClassName: there is no PriorityClass "
            f"{profile.priority_class}: create it, or name another"
        )
    return found


def _patch(pod: Pod, profile: ColocationProfile) -> None:
    patch = {field: profile.patch[field] for field in ("metadata", "spec") if field in profile.patch}
    try:
        changed = merged_pod(pod, deepcopy(patch))
    except CannotMerge as error:
        raise CannotStamp(f"ClusterColocationProfile {profile.name}: spec.patch: {error}") from error
    pod.clear()
    pod.update(changed)


def _set(metadata: Pod, field: str, entries: Mapping[str, str]) -> None:
    if entries:
        _within(metadata, field).update(entries)


def _within(holder: Pod, field: str) -> Pod:
    """The mapping there, made where there is none."""
    if not isinstance(holder.get(field), dict):
        holder[field] = {}
    found: Pod = holder[field]
    return found
