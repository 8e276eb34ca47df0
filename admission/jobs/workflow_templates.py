"""The templates of an Argo Workflow: by name, with the workflow's defaults, and every place where one can stand."""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from admission.jobs.places import Path
from admission.readers.narrow import entries, is_mapping, items, mapping, text

Template = Mapping[str, Any]

# Bounds of work: every template is looked at, joined with the defaults.
_MOST_TEMPLATES = 2_000
_MOST_DEFAULTS = 500  # fields and entries of templateDefaults, however deep

# As Argo asks: the first of these that is there is what the template does.
_TYPES = ("container", "containerSet", "steps", "dag", "script", "resource", "data", "suspend", "http", "plugin")
_IN_PODS = ("container", "containerSet", "script")
_JOINED = ("sidecars", "initContainers", "volumes")  # lists that the defaults add to, by name


class Templates:
    """Those of one workflow."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._defaults = mapping(spec.get("templateDefaults"))
        self._named: dict[str, tuple[Path, Template]] = {}
        for at, stated in enumerate(items(spec.get("templates"))):
            if name := text(mapping(stated).get("name")):
                self._named.setdefault(name, (("spec", "templates", at), stated))

    def named(self, name: str) -> tuple[Path, Template] | None:
        """Where it stands, and what it says."""
        return self._named.get(name)

    def whole(self, template: Template) -> Template:
        """With what the defaults of the workflow add; they don't change what it does."""
        if not self._defaults:
            return template
        kind = type_of(template)
        filled = _filled(template, self._defaults)
        return {name: value for name, value in filled.items() if name not in _TYPES or name == kind}


def too_large(spec: Mapping[str, Any]) -> str:
    """What of it is more than anybody should look at, with the remedy, or ""."""
    if sum(1 for _ in islice(_nodes(spec.get("templateDefaults")), _MOST_DEFAULTS + 1)) > _MOST_DEFAULTS:
        return f"templateDefaults says more than {_MOST_DEFAULTS} things: say them in the templates that need them"
    if sum(1 for _ in islice(places(spec), _MOST_TEMPLATES + 1)) > _MOST_TEMPLATES:
        return f"has more than {_MOST_TEMPLATES} templates: split it into several workflows"
    return ""


def type_of(template: Template) -> str:
    return next((name for name in _TYPES if template.get(name) is not None), "")


def containers_of(template: Template) -> list[Mapping[str, Any]]:
    """Those that run at the same time in the one pod of a template; none where it makes no pod of its own."""
    kind = type_of(template)
    if kind not in _IN_PODS:
        return []
    inner = mapping(template.get(kind))
    return entries(inner.get("containers")) if kind == "containerSet" else [inner]


def calls_of(template: Template) -> list[list[tuple[Path, Mapping[str, Any]]]]:
    """What a template calls, by the group it stands in, with the path from the template: the groups of `steps` follow
    each other; the tasks of a `dag` are one group."""
    if type_of(template) == "steps":
        return [
            [(("steps", row, at), call) for at, call in enumerate(items(group)) if is_mapping(call)]
            for row, group in enumerate(items(template.get("steps")))
        ]
    if type_of(template) == "dag":
        tasks = items(mapping(template.get("dag")).get("tasks"))
        return [[(("dag", "tasks", at), task) for at, task in enumerate(tasks) if is_mapping(task)]]
    return []


def places(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Template]]:
    """Every template that is written out in the workflow, inline ones and the defaults included."""
    if is_mapping(spec.get("templateDefaults")):
        yield ("spec", "templateDefaults"), spec["templateDefaults"]
    waiting: deque[tuple[Path, Any]] = deque(
        (("spec", "templates", at), each) for at, each in enumerate(items(spec.get("templates")))
    )
    while waiting:
        path, template = waiting.popleft()
        if is_mapping(template):
            yield path, template
            waiting.extend(
                ((*path, *way, "inline"), call["inline"])
                for group in calls_of(template)
                for way, call in group
                if is_mapping(call.get("inline"))
            )


def _nodes(value: object) -> Iterator[object]:
    """All that lies inside of it."""
    waiting = deque([value])
    while waiting:
        one = waiting.popleft()
        inner = list(one.values()) if is_mapping(one) else items(one)
        yield from inner
        waiting.extend(inner)


def _filled(stated: Any, default: Any, field: str = "") -> Any:
    if is_mapping(stated) and is_mapping(default):
        both = [*default, *(name for name in stated if name not in default)]
        return {name: _filled(stated.get(name), default.get(name), name) for name in both}
    if field in _JOINED and isinstance(stated, list) and isinstance(default, list):
        known = [mapping(each).get("name") for each in stated]
        return [*stated, *(each for each in default if mapping(each).get("name") not in known)]
    return default if stated is None else stated
