"""From the hints of a job to our own labels and annotations on it, or to why they contradict each other."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from admission.api.documents import Unreadable
from admission.api.field_errors import OMITTED, FieldError, invalid
from admission.api.field_errors import key as entry_of
from admission.jobs.descriptor import Descriptor
from admission.jobs.places import Path, value_at
from admission.jobs.templated import shown
from admission.model.names import MIN_PARALLELISM
from admission.readers.narrow import entries
from admission.stamping.foreign_hints.alias import OF_THE_JOB, OF_THE_PODS, Ecosystem, Meaning
from admission.stamping.foreign_hints.gang import minimum_for, smaller_ray_gang
from admission.stamping.foreign_hints.places import metadata_of_pods
from admission.stamping.foreign_hints.reading import Hint, read_hints

_LEAST: Path = ("metadata", "annotations", MIN_PARALLELISM)
OURS = "lockgate"  # the system of a hint that is said in our own words already


class Written(NamedTuple):
    """One of our keys that was set: by the hint of which system, where, and what it says now."""

    system: str
    source: str  # the hint, where it stands
    field: str
    value: str


class Translation(NamedTuple):
    written: tuple[Written, ...] = ()
    refusals: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def translate(
    manifest: dict[str, Any], kind: str, descriptor: Descriptor | None, systems: Sequence[Ecosystem]
) -> Translation:
    """Writes what the hints of these systems mean into the manifest, in place; with refusals, nothing of it counts.

    `descriptor`: of the job's kind; None for a Pod, which says something only where nobody else made it. Raises
    Unreadable where something else than an object lies.
    """
    if descriptor is None and _is_owned(manifest):  # who made the pod is queued, not the pod
        return Translation()
    templates = metadata_of_pods(manifest, descriptor)
    hints, warnings = read_hints(manifest, kind, systems, templates)
    if not hints:
        return Translation(warnings=tuple(warnings))
    work = _Work(manifest, kind, templates, warnings)
    for meaning in OF_THE_JOB:
        work.of_the_job(meaning, [hint for hint in hints if hint.meaning is meaning])
    work.of_the_pods([hint for hint in hints if hint.meaning in OF_THE_PODS])
    if descriptor is not None:
        work.gang(descriptor, [hint for hint in hints if hint.meaning is Meaning.GANG], systems)
    return Translation(tuple(work.written), tuple(work.refusals), tuple(work.warnings))


def _is_owned(manifest: dict[str, Any]) -> bool:
    owners = entries(value_at(manifest, ("metadata", "ownerReferences")))
    return any(owner.get("controller") is True for owner in owners)


class _Work:
    def __init__(self, manifest: dict[str, Any], kind: str, templates: list[Path], warnings: list[str]) -> None:
        self.manifest = manifest
        self.kind = kind
        self.templates = templates
        self.written: list[Written] = []
        self.refusals: list[FieldError] = []
        self.warnings = list(warnings)

    def of_the_job(self, meaning: Meaning, hints: list[Hint]) -> None:
        if hints:
            self._settle(hints, ("metadata", "labels", meaning.key))

    def of_the_pods(self, hints: list[Hint]) -> None:
        if hints and not self.templates and self.kind != "Pod":
            self.warnings += [f"{one.place}: {one.value!r} is not taken over: no pod template says it" for one in hints]
            return
        for at in self.templates or [("metadata",)]:
            here = [hint for hint in hints if hint.at in (None, at)]
            required = [hint for hint in here if hint.meaning is Meaning.REQUIRED_TOPOLOGY]
            preferred = [hint for hint in here if hint.meaning is Meaning.PREFERRED_TOPOLOGY]
            if required and preferred:  # a pod template has one wish here
                self._warn_once(f"{preferred[0].place}: {preferred[0].value!r} is not taken over beside a required one")
                preferred = []
            for chosen in (required, preferred):
                if chosen:
                    self._settle(chosen, (*at, "annotations", chosen[0].meaning.key))

    def gang(self, descriptor: Descriptor, hints: list[Hint], systems: Sequence[Ecosystem]) -> None:
        if any(system.name == "kai" for system in systems):
            self.warnings += smaller_ray_gang(self.kind, self.manifest)
        numbers = [hint for hint in hints if hint.ours.isascii() and hint.ours.isdigit() and len(hint.ours) < 10]
        self.warnings += [
            f"{hint.place}: {hint.value!r} is not taken over: must be a number of pods"
            for hint in hints
            if hint not in numbers
        ]
        if not numbers:
            return
        by_template = {hint.at: int(hint.ours) for hint in numbers if hint.at is not None}
        if len(set(by_template.values())) > 1:  # gangs of their own, which one job cannot have
            told = " and ".join(f"{hint.value} at {hint.place}" for hint in numbers)
            self.warnings.append(f"a gang of {told} is not taken over: the job is admitted with all of its pods")
            return
        first = numbers[0]
        pod_sets = descriptor.pod_sets(self.manifest)
        least, told = minimum_for(self.kind, self.manifest, pod_sets, first.place, int(first.ours))
        if told:
            self.warnings.append(told)
        if _disagreeing(numbers):
            self.refusals += _disagreements(numbers)
        elif least is not None or value_at(self.manifest, _LEAST) is not None:
            self._settle(numbers, _LEAST)

    def _settle(self, hints: list[Hint], path: Path) -> None:
        """All agree, with each other and with what is said in our words already; then it is said in ours."""
        field = entry_of(shown(path[:-1]), str(path[-1]))
        stated = value_at(self.manifest, path)
        if isinstance(stated, str) and stated:
            hints = [Hint(hints[0].meaning, OURS, field, stated, stated, None), *hints]
        if _disagreeing(hints):
            self.refusals += _disagreements(hints)
        elif hints[0].system != OURS:
            _put(self.manifest, path, hints[0].ours)
            self.written.append(Written(hints[0].system, hints[0].place, field, hints[0].ours))

    def _warn_once(self, told: str) -> None:
        if told not in self.warnings:
            self.warnings.append(told)


def _disagreeing(hints: Sequence[Hint]) -> bool:
    return len({hint.ours for hint in hints}) > 1


def _disagreements(hints: Sequence[Hint]) -> Iterator[FieldError]:
    """One for each neighbour that says otherwise."""
    for one, other in pairwise(hints):
        if one.ours != other.ours:
            said = f"{one.place} says {one.value!r}: both name the {one.meaning.word}, take one of them away"
            yield invalid(other.place, other.value, said)


def _put(manifest: dict[str, Any], path: Path, value: str) -> None:
    here: Any = manifest
    for depth, part in enumerate(path[:-1], 1):
        inner = here[part] if isinstance(part, int) else here.get(part)
        if inner is None:
            inner = here[part] = {}
        if not isinstance(inner, list if isinstance(path[depth], int) else dict):
            raise Unreadable(invalid(shown(path[:depth]), OMITTED, "must be an object"))
        here = inner
    here[path[-1]] = value
