"""Which hints a job carries, where, and what they mean here; nothing is judged or changed yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.api.field_errors import key as entry_of
from admission.jobs.places import Path, value_at
from admission.jobs.templated import shown
from admission.readers.narrow import mapping
from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Where

_MAPS: Mapping[Where, str] = {"label": "labels", "annotation": "annotations"}


@dataclass(frozen=True, slots=True)
class Hint:
    """`value` as it stands at `place`, for people; `ours` what it means; `at` the metadata it was found in, None for
    the job's own and for fields."""

    meaning: Meaning
    system: str
    place: str
    value: str
    ours: str
    at: Path | None


class Found(NamedTuple):
    hints: list[Hint]
    warnings: list[str]


Said = Mapping[tuple[Where, str], list[tuple[str, str, Path | None]]]  # place, value and metadata, by kind and key


def read_hints(
    manifest: Mapping[str, Any], kind: str, systems: Sequence[Ecosystem], templates: Sequence[Path]
) -> Found:
    """All hints of these systems. Total: what has not the shape it should have says nothing."""
    hints: list[Hint] = []
    warnings: list[str] = []
    said = _said(manifest, templates)
    for system in systems:
        primary = list(_of(system, kind, manifest, said, warnings, fallback=False))
        meant = {hint.meaning for hint in primary}
        secondary = _of(system, kind, manifest, said, warnings, fallback=True)
        hints += [*primary, *(hint for hint in secondary if hint.meaning not in meant)]
        for one in system.untranslated:
            for place, value, _ in said.get((one.where, one.key), ()):
                warnings.append(f"{place}: {value!r} is not taken over: {one.why}")
    return Found(hints, list(dict.fromkeys(warnings)))


def _said(manifest: Mapping[str, Any], templates: Sequence[Path]) -> Said:
    """All labels and annotations of the job and its templates, found in one pass."""
    found: dict[tuple[Where, str], list[tuple[str, str, Path | None]]] = {}
    for at in (None, *templates):
        metadata = mapping(value_at(manifest, at or ("metadata",)))
        for where, field in _MAPS.items():
            for key, value in mapping(metadata.get(field)).items():
                if value and isinstance(value, str):
                    place = entry_of(shown((*(at or ("metadata",)), field)), str(key))
                    found.setdefault((where, str(key)), []).append((place, value, at))
    return found


def _of(
    system: Ecosystem, kind: str, manifest: Mapping[str, Any], said: Said, warnings: list[str], *, fallback: bool
) -> Iterator[Hint]:
    for alias in system.aliases:
        if alias.fallback != fallback:
            continue
        if alias.where == "field":
            stated = _in_field(manifest, alias) if kind in alias.kinds else []
        else:
            stated = said.get((alias.where, alias.key), [])
        for place, value, at in stated:
            try:
                yield Hint(alias.meaning, system.name, place, value, alias.ours(value), at)
            except ValueError as why:
                warnings.append(f"{place}: {value!r} is not taken over: {why}")


def _in_field(manifest: Mapping[str, Any], alias: Alias) -> list[tuple[str, str, Path | None]]:
    if alias.when is not None and _field(manifest, alias.when[0]) != alias.when[1]:
        return []
    value = _field(manifest, alias.key)
    return [(alias.key, value, None)] if value else []


def _field(manifest: Mapping[str, Any], dotted: str) -> str:
    value = value_at(manifest, tuple(dotted.split(".")))
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int and abs(value) < 2**63 else ""
