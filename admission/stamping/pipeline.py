"""All that is stamped onto a new job, or onto a new Pod, in its order: what other systems' words mean, JobProfiles,
ClusterColocationProfiles, and one translation of resources with the class that came of it.

Works on a manifest that may be changed in place; what is there before and after is the answer.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from admission.api.field_errors import FieldError, key
from admission.jobs.descriptor import Descriptor
from admission.jobs.places import Path, value_at
from admission.jobs.pods_within import pods_within
from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.job_profile import JobProfile
from admission.model.names import QUEUE_FROM, QUEUE_NAME, ROLLOUT, STAMPED, WRITTEN_BY_STAMPING
from admission.model.qos import FindClass, Koordinator, band
from admission.readers.narrow import canonical, items, mapping, strings
from admission.readers.stamps import Stamps, read_stamps
from admission.stamping import foreign_hints
from admission.stamping.ancestors import FindOwner
from admission.stamping.colocation import (
    Around,
    CannotStamp,
    Colocated,
    colocate,
    is_settled,
    set_priority_class,
)
from admission.stamping.difference import difference
from admission.stamping.lines import Line, Skipped
from admission.stamping.matching import Subject, mismatch, object_mismatch
from admission.stamping.profiles import (
    RESOURCES,
    Setting,
    Settled,
    keep_account,
    of_the_job,
    of_the_pods,
    put,
    settle,
    shown_field,
)
from admission.stamping.rollout import number_of
from admission.stamping.translation import note_extended_resources, translate

_ANNOTATIONS = ("metadata", "annotations")


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be stamped, and what is known around the job. `systems`: whose words count in the namespace."""

    profiles: Sequence[JobProfile] = ()
    colocation: Collection[ColocationProfile] = ()
    systems: Sequence[str] = ()
    class_named: FindClass = lambda name: None
    job_kinds: JobKinds = field(default_factory=JobKinds)
    owner: FindOwner = lambda api_version, kind, name: None
    koordinator: Koordinator = field(default_factory=Koordinator)
    uid: str = ""  # of the review
    telling: bool = False  # every line is wanted, whatever it costs


class Stamped(NamedTuple):
    lines: tuple[Line, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    refusals: tuple[FieldError, ...] = ()


def stamp_manifest(manifest: dict[str, Any], subject: Subject, descriptor: Descriptor | None, rules: Rules) -> Stamped:
    """In place. `descriptor`: of the kind of job; None: a Pod. Raises Unreadable, CannotStamp."""
    work = _Work(manifest, subject, descriptor, rules)
    work.choose()
    refusals = work.translate_hints()
    if refusals:
        return Stamped(refusals=refusals, warnings=tuple(work.warnings))
    if descriptor is not None:
        work.stamp_job()
        for pod in pods_within(descriptor, manifest):
            first = len(work.lines)
            work.stamp_pod(pod.seen, str(pod) if rules.telling else "", template=True)
            kept = ((one, pod.field(one.field)) for one in work.lines[first:])
            work.lines[first:] = [one._replace(field=field) for one, field in kept if field]
            pod.keep()
    elif not work.was_made_from_a_stamped_template():
        work.stamp_pod(manifest, "", template=False)
    return Stamped(tuple(work.lines), tuple(work.skipped), tuple(dict.fromkeys(work.warnings)))


class _Work:
    def __init__(self, manifest: dict[str, Any], subject: Subject, descriptor: Descriptor | None, rules: Rules) -> None:
        self.manifest = manifest
        self.subject = subject
        self.descriptor = descriptor
        self.rules = rules
        self.matched: list[JobProfile] = []
        self.number: int | None = None  # drawn when somebody asks
        self.lines: list[Line] = []
        self.skipped: list[Skipped] = []
        self.warnings: list[str] = []

    def choose(self) -> None:
        """The profiles that are for it. A profile that has stamped it already stays: its own labels may be another
        profile's business, and the author's have been looked at."""
        called, labels = self.subject.called, self._labels_of_the_author()
        stamped = read_stamps(value_at(self.manifest, _ANNOTATIONS))
        for profile in self.rules.profiles:
            why = mismatch(profile, self.subject, called)
            if not why and profile.name not in stamped:
                why = object_mismatch(profile, labels)
            if not why and profile.percent < 100 and self._number() >= profile.percent:
                why = f"spec.percent: not among the {profile.percent} % that are drawn, its number is {self._number()}"
            if why:
                self.skipped.append(Skipped(f"JobProfile {profile.name}", why))
            else:
                self.matched.append(profile)

    def translate_hints(self) -> tuple[FieldError, ...]:
        """The words of other systems become ours, before anything else is asked."""
        systems, unknown = foreign_hints.ecosystems(
            [*self.rules.systems, *(name for profile in self.matched for name in profile.foreign_hints)]
        )
        if unknown:
            told = f"namespace {self.subject.namespace}: label {foreign_hints.NAMESPACE_LABEL}: no system is called "
            self.warnings.append(told + " or ".join(unknown))
        if not systems:
            return ()
        said = foreign_hints.translate(self.manifest, self.subject.kind, self.descriptor, systems)
        self.warnings += said.warnings
        self.lines += [Line(f"{one.system} ({one.source})", one.field, None, one.value) for one in said.written]
        return said.refusals

    def stamp_job(self) -> None:
        """The job object itself."""
        profiles = [one for one in self.matched if "Job" in one.targets]
        before = strings(value_at(self.manifest, _ANNOTATIONS))
        settled = self._settled(self.manifest, profiles, of_the_job, "")
        put(self.manifest, (*_ANNOTATIONS, ROLLOUT), None if self.number is None else str(self.number))
        queue = strings(value_at(self.manifest, ("metadata", "labels"))).get(QUEUE_NAME, "")
        template = next((one.stamp.queue_template for one in reversed(profiles) if one.stamp.queue == queue), "")
        put(self.manifest, (*_ANNOTATIONS, QUEUE_FROM), template or None)
        for profile in self.matched:  # whatever it gave, and where: so its jobs can be counted
            settled.stamps.setdefault(profile.name, {})
        keep_account(self.manifest, settled.stamps)
        after = strings(value_at(self.manifest, _ANNOTATIONS))
        for name in sorted(WRITTEN_BY_STAMPING):
            if name in before and before[name] != after.get(name):
                where = key("metadata.annotations", name)
                self.warnings.append(f"{where}: is written by Lockgate alone: what it said is not taken over")

    def was_made_from_a_stamped_template(self) -> bool:
        """Of a Pod. Without an owner nobody but its author can have written the mark, or we have, a moment ago."""
        owners = value_at(self.manifest, ("metadata", "ownerReferences"))
        owned = any(mapping(one).get("controller") is True for one in items(owners))
        return owned and (STAMPED in strings(value_at(self.manifest, _ANNOTATIONS)) or is_settled(self.manifest))

    def stamp_pod(self, pod: dict[str, Any], where: str, *, template: bool) -> None:
        """A pod or a pod template."""
        profiles = [one for one in self.matched if "PodTemplates" in one.targets or not template]
        named = value_at(pod, ("spec", "priorityClassName"))
        settled = self._settled(pod, profiles, of_the_pods, where)
        self._follow_class(pod, named, template)
        colocated = self._colocated(pod, where, template)
        translating = [one for one in profiles if one.stamp.translate]
        if translating or colocated.translate:
            self._translate(pod, translating, where, settled.stamps)
        if not template:
            note_extended_resources(pod)  # also where the author has asked for batch resources
        if self.number is not None:
            put(pod, (*_ANNOTATIONS, ROLLOUT), str(self.number))
        keep_account(pod, settled.stamps)

    def _settled(
        self,
        target: dict[str, Any],
        profiles: Sequence[JobProfile],
        settings: Callable[[JobProfile], Iterator[Setting]],
        where: str,
    ) -> Settled:
        settled = settle(target, profiles, settings, where if self.rules.telling else None)
        self.lines += settled.lines
        self.warnings += settled.warnings
        return settled

    def _follow_class(self, pod: dict[str, Any], before: object, template: bool) -> None:
        """What goes with a priority class goes with the new one."""
        spec = pod.get("spec")
        name = value_at(pod, ("spec", "priorityClassName"))
        if not isinstance(spec, dict) or not isinstance(name, str) or name == before:
            return
        found = self.rules.class_named(name)
        if found is not None:
            set_priority_class(spec, found, template=template)
        elif not template:
            told = "spec.stamp.priorityClassName: there is no PriorityClass"
            who = next(one.name for one in self.matched if one.stamp.priority_class_name == name)
            raise CannotStamp(f"JobProfile {who}: {told} {name}: create it, or name another")

    def _colocated(self, pod: dict[str, Any], where: str, template: bool) -> Colocated:
        profiles, rules = self.rules.colocation, self.rules
        if not profiles:
            return Colocated()
        number = self._number() if any(one.percent < 100 for one in profiles) else 0
        around = Around(self.subject.namespace_labels, number, rules.class_named, rules.koordinator.strict)
        lines: list[Line] | None = [] if rules.telling else None
        found = colocate(pod, profiles, around, template=template, lines=lines)
        self.lines += (one._replace(field=f"{where}.{one.field}" if where else one.field) for one in lines or ())
        for match in found.matches if rules.telling else ():
            if not match.applies:
                self.skipped.append(Skipped(f"ClusterColocationProfile {match.profile.name}", match.why_not))
        return found

    def _translate(self, pod: dict[str, Any], profiles: Sequence[JobProfile], where: str, stamps: Stamps) -> None:
        koordinator = self.rules.koordinator
        rule = f"JobProfile {profiles[-1].name}" if profiles else "ClusterColocationProfiles"
        before = _resources(pod)
        with self._told(pod, rule, where):
            translate(pod, band(pod, koordinator.bands, self._value_of))
        if before != _resources(pod):
            note_extended_resources(pod)
            if profiles:
                stamps.setdefault(profiles[-1].name, {})[RESOURCES] = None

    def _value_of(self, name: str) -> int | None:
        """Of a PriorityClass. One that does not exist yet is taken for what its name says."""
        found = self.rules.class_named(name)
        if found is not None:
            return found.value
        return next((each.default for each in self.rules.koordinator.bands if each.priority_class == name), None)

    def _number(self) -> int:
        if self.number is None:
            kind, namespace = self.subject.kind, self.subject.namespace
            rules = self.rules
            self.number = number_of(kind, namespace, self.manifest, rules.uid, rules.job_kinds, rules.owner)
        return self.number

    def _labels_of_the_author(self) -> dict[str, str]:
        """The labels without what earlier profiles have given."""
        labels = strings(value_at(self.manifest, ("metadata", "labels")))
        stamped = read_stamps(value_at(self.manifest, _ANNOTATIONS))
        for profile in self.rules.profiles if stamped else ():
            given = stamped.get(profile.name, {})
            for setting in of_the_job(profile):
                name = str(setting.path[-1])
                if setting.name in given and labels.get(name) == setting.value:
                    before = given[setting.name]
                    if before is None:
                        del labels[name]
                    else:
                        labels[name] = before
        return labels

    @contextmanager
    def _told(self, pod: dict[str, Any], rule: str, where: str) -> Iterator[None]:
        """Lines for whatever happens to the pod meanwhile."""
        if not self.rules.telling:
            yield
            return
        before = deepcopy(pod)
        yield
        self.lines += lines_between(before, pod, rule, where)


def lines_between(before: dict[str, Any], after: dict[str, Any], rule: str, where: str = "") -> list[Line]:
    """One for each field in which they differ. `where`: of both in the whole object."""
    return [_line(rule, where, before, operation) for operation in difference(before, after)]


def _resources(pod: dict[str, Any]) -> list[Any]:
    """What its containers ask for, as it is now."""
    spec = mapping(pod.get("spec"))
    containers = [*items(spec.get("initContainers")), *items(spec.get("containers"))]
    return [deepcopy(mapping(one).get("resources")) for one in containers]


def _line(rule: str, where: str, before: dict[str, Any], operation: Mapping[str, Any]) -> Line:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in str(operation["path"]).split("/")[1:]]
    path: Path = ()
    for part in parts:
        path = (*path, int(part) if isinstance(value_at(before, path), list) else part)
    old, new = value_at(before, path), operation.get("value")
    return Line(rule, shown_field(where, path), _text(old), _text(new))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else canonical(value)
