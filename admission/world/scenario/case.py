"""A scenario, read and checked: every form has its shape, everything it names exists."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from admission.configuration import read
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.references import reference_problems
from admission.world.scenario.source import BadFile, Path, Problem, Source, spelled


@dataclass(frozen=True, slots=True)
class Case:
    """`form` is the file in its shapes, `source` its text. Manifests in `form.objects` are the runner's to copy."""

    form: ScenarioFile
    source: Source

    @property
    def id(self) -> str:
        return self.form.id


def read_case(text: str) -> Case:
    """The scenario of a file's text. Raises BadFile with everything that is wrong with it."""
    source = Source(text)
    if not isinstance(source.value, Mapping):
        raise BadFile([Problem("", 1, "is no mapping: a scenario starts with `id:`")])
    try:
        form = ScenarioFile.model_validate(source.value)
    except ValidationError as error:
        raise BadFile(_problems(error, source)) from error
    problems = [*_config_problems(source), *_manifest_problems(form, source)]
    problems = problems or [*reference_problems(form, source)]
    if problems:
        raise BadFile(problems)
    return Case(form, source)


def _problems(error: ValidationError, source: Source) -> list[Problem]:
    found: dict[tuple[str, str], Problem] = {}
    for detail in error.errors(include_url=False):
        path = _written_path(detail["loc"], source)
        problem = Problem(spelled(path), source.line(path), _message(detail))
        found.setdefault((problem.path, problem.message), problem)
    return list(found.values())


def _written_path(loc: tuple[str | int, ...], source: Source) -> Path:
    """pydantic puts the tags of unions into its paths; the file does not have them."""
    path: Path = ()
    for index, part in enumerate(loc):
        if index == 2 and loc[0] in ("events", "expect"):
            continue  # the tag, which may look like one of the form's own keys
        last = index == len(loc) - 1
        if (last and part != "[key]") or source.node((*path, part)) is not None:
            path = (*path, part)
    return path


def _message(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "extra_forbidden":
            return "is no key of this form: check its spelling, docs/scenarios.md lists what may stand here"
        case "missing":
            return "is missing: add it"
        case "string_pattern_mismatch":
            return f"{detail['input']!r} does not have the form {detail['ctx']['pattern']}"
        case "union_tag_invalid":
            return f"{detail['ctx']['tag']!r} is unknown: one of {detail['ctx']['expected_tags']}"
        case "value_error":
            return detail["msg"].removeprefix("Value error, ")
        case _:
            wrong = detail["input"]  # a word is quoted as YAML does it, all else is spelt as it is in JSON
            plain = isinstance(wrong, str | float)
            value = repr(wrong) if plain else json.dumps(wrong, ensure_ascii=False, default=str)
            shown = value if len(value) <= 60 else value[:57] + "…"
            return f"{shown}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _config_problems(source: Source) -> list[Problem]:
    """As the processes judge the same file."""
    problems = []
    for path, problem, remedy in read(source.value.get("config")).problems:
        place = ("config", *path)
        problems.append(Problem(spelled(place), source.line(place), f"{problem}: {remedy}"))
    return problems


def _manifest_problems(form: ScenarioFile, source: Source) -> list[Problem]:
    problems = []
    for index, manifest in enumerate(form.objects):
        for path, why in _unfit(manifest):
            place = ("objects", index, *path)
            problems.append(Problem(spelled(place), source.line(place), why))
    return problems


def _unfit(manifest: Mapping[str, Any]) -> list[tuple[Path, str]]:
    found: list[tuple[Path, str]] = []
    found += [
        ((key,), "is missing or no string: every manifest has one")
        for key in ("apiVersion", "kind")
        if not isinstance(manifest.get(key), str) or not manifest[key]
    ]
    meta = manifest.get("metadata")
    if not isinstance(meta, Mapping):
        return [*found, (("metadata",), "is missing or no mapping: every manifest has one")]
    if not isinstance(meta.get("name", meta.get("generateName")), str):
        found.append((("metadata",), "has neither name nor generateName as a string: give one"))
    if not isinstance(meta.get("namespace", ""), str):
        found.append((("metadata", "namespace"), "is no string"))
    found += [(path, "must be a string") for path in _odd_maps(manifest, ())]
    return found


_STRING_MAPS = ("labels", "annotations", "nodeSelector", "matchLabels", "nodeLabels")


def _odd_maps(value: Any, path: Path) -> list[Path]:
    found: list[Path] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in _STRING_MAPS and isinstance(item, Mapping):
                found += [(*path, key, n) for n, text in item.items() if text is not None and not isinstance(text, str)]
            found += _odd_maps(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _odd_maps(item, (*path, index))
    return found
