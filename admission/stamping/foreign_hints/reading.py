"""Which hints a job carries, where, and what they mean here; nothing is judged or changed yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.api.field_errors import key as entry_of
from admission.jobs.places import Path, value_at
from admission.jobs.templated import shown
from admission.readers.narrow import mapping
from admission.stamping.foreign_hints.alias import Alias, Ecosystem, Meaning, Untranslated, Where

_MAPS: Mapping[str, str] = {"label": "labels", "annotation": "annotations"}


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


def read_hints(
    manifest: Mapping[str, Any], kind: str, systems: Sequence[Ecosystem], templates: Sequence[Path]
) -> Found:
    """All hints of these systems. Total: what has not the shape it should have says nothing."""
    hints: list[Hint] = []
    warnings: list[str] = []
    for system in systems:
        primary = list(_of(system, kind, manifest, templates, warnings, fallback=False))
        said = {hint.meaning for hint in primary}
        secondary = _of(system, kind, manifest, templates, warnings, fallback=True)
        hints += [*primary, *(hint for hint in secondary if hint.meaning not in said)]
        warnings += _untranslated(system, manifest, templates)
    return Found(hints, list(dict.fromkeys(warnings)))


def _of(
    system: Ecosystem,
    kind: str,
    manifest: Mapping[str, Any],
    templates: Sequence[Path],
    warnings: list[str],
    *,
    fallback: bool,
) -> Iterator[Hint]:
    for alias in system.aliases:
        if alias.fallback != fallback or (alias.kinds and kind not in alias.kinds):
            continue
        if alias.when is not None and _field(manifest, alias.when[0]) != alias.when[1]:
            continue
        for place, value, at in _stated(manifest, alias, templates):
            try:
                yield Hint(alias.meaning, system.name, place, value, alias.ours(value), at)
            except ValueError as why:
                warnings.append(f"{place}: {value!r} is not taken over: {why}")


def _untranslated(system: Ecosystem, manifest: Mapping[str, Any], templates: Sequence[Path]) -> Iterator[str]:
    for one in system.untranslated:
        for place, value, _ in _stated(manifest, one, templates):
            yield f"{place}: {value!r} is not taken over: {one.why}"


def _stated(
    manifest: Mapping[str, Any], hint: Alias | Untranslated, templates: Sequence[Path]
) -> Iterator[tuple[str, str, Path | None]]:
    """Where it is said, what, and in which metadata."""
    if hint.where == "field":
        if value := _field(manifest, hint.key):
            yield hint.key, value, None
        return
    for at in (None, *templates):
        value = _entry(manifest, at, hint.where, hint.key)
        if value:
            yield entry_of(shown((*(at or ("metadata",)), _MAPS[hint.where])), hint.key), value, at


def _entry(manifest: Mapping[str, Any], at: Path | None, where: Where, key: str) -> str:
    value = mapping(value_at(manifest, (*(at or ("metadata",)), _MAPS[where]))).get(key)
    return value if isinstance(value, str) else ""


def _field(manifest: Mapping[str, Any], dotted: str) -> str:
    value = value_at(manifest, tuple(dotted.split(".")))
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int and abs(value) < 2**63 else ""
