"""The text of a scenario file as a tree that still knows its lines, and its problems in words.

A key given twice is a problem: YAML would silently drop one of the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

# Characters. The largest honest scenario has some tens of kilobytes; a file of 10 MB is not one.
LONGEST = 2_000_000
_DEEPEST = 60  # levels; deeper nesting would only exhaust the stack of whoever reads it

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong where. `line` counts from 1; 0 where no line can be named."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class BadFile(Exception):
    """The file is no scenario; all that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


def spelled(path: Path) -> str:
    """A path as people write it: `expect[3].flavors.main`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class Source:
    """One YAML document: its value, and the place of everything in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise BadFile([Problem("", 0, f"{len(text)} characters: a scenario has at most {LONGEST}")])
        try:
            self._root = _only_document(text)
            self.value = _value(self._root, ())
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark is not None else 0
            raise BadFile([Problem("", line, f"not YAML: {error.problem or error.context}")]) from error
        except yaml.YAMLError as error:
            raise BadFile([Problem("", 0, f"not YAML: {error}")]) from error
        except RecursionError as error:
            raise BadFile([Problem("", 0, "nested too deeply: no scenario needs that")]) from error

    def node(self, path: Path) -> yaml.Node | None:
        """The node at the end of a path, if the file has it."""
        here: yaml.Node | None = self._root
        for part in path:
            here = _child(here, part)
            if here is None:
                return None
        return here

    def line(self, path: Path) -> int:
        """The line of a path, or of the nearest part of it that the file has."""
        for length in range(len(path), -1, -1):
            node = self.node(path[:length])
            if node is not None:
                return int(node.start_mark.line) + 1
        return 1


def _only_document(text: str) -> yaml.Node:
    documents = list(yaml.compose_all(text, _LOADER))
    if len(documents) != 1 or documents[0] is None:
        raise BadFile([Problem("", 1, f"has {len(documents)} YAML documents: a scenario is exactly one")])
    return documents[0]


def _child(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part]  # type: ignore[no-any-return]
    return None


def _value(node: yaml.Node, path: Path) -> Any:
    if len(path) > _DEEPEST:
        raise BadFile([Problem(spelled(path[:4]) + "…", node.start_mark.line + 1, "nested too deeply")])
    if isinstance(node, yaml.MappingNode):
        result: dict[str, Any] = {}
        for key, value in node.value:
            name = _scalar(key, path)
            if not isinstance(name, str):
                message = f"the key {key.value} is no string: put it in quotes"
                raise BadFile([Problem(spelled(path), key.start_mark.line + 1, message)])
            if name in result:
                message = f"the key {name} is given twice: remove one"
                raise BadFile([Problem(spelled(path), key.start_mark.line + 1, message)])
            result[name] = _value(value, (*path, name))
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, index)) for index, item in enumerate(node.value)]
    return _scalar(node, path)


# libyaml reads ten times as fast; a PyYAML built without it has only its own.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTRUCTOR = yaml.SafeLoader("")
_PLAIN = ("str", "int", "float", "bool", "null")


def _scalar(node: yaml.Node, path: Path) -> Any:
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if not isinstance(node, yaml.ScalarNode) or kind not in (*_PLAIN, "timestamp"):
        raise BadFile([Problem(spelled(path), node.start_mark.line + 1, f"{node.tag} has no meaning in JSON")])
    if kind == "timestamp":
        return node.value  # Kubernetes' times are strings
    try:
        return _CONSTRUCTOR.construct_object(node, deep=True)
    except (ValueError, yaml.YAMLError) as error:
        raise BadFile([Problem(spelled(path), node.start_mark.line + 1, f"{node.value!r}: {error}")]) from error
