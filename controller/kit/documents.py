"""Text of a file into plain objects, as strictly as `kubectl apply` and safely with hostile input.

YAML is built from the parser's events rather than by a loader: so a repeated key is seen, an alias bomb is counted
before it unfolds, nesting cannot exhaust the stack, and no tag can make anything but strings, numbers, lists and maps.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

MAX_DEPTH = 100  # levels; a pod template has about 15
MAX_ALIASED = 100_000  # values that aliases stand for, in one document; a bomb has billions
Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """A path as Kubernetes prints it: `spec.containers[0].image`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


class BadDocument(Exception):
    """What is wrong and how to mend it; `line` counts from 1."""

    def __init__(self, problem: str, document: int, line: int | None) -> None:
        super().__init__(problem)
        self.document = document
        self.line = line


class Document(NamedTuple):
    number: int  # from 1
    line: int  # where it starts, from 1
    content: Any


_INTEGER = re.compile(r"[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((w for y in ("y", "yes", "on", "true") for w in (y, y.capitalize(), y.upper()) if w[1:]), True),
    **dict.fromkeys((w for n in ("n", "no", "off", "false") for w in (n, n.capitalize(), n.upper()) if w[1:]), False),
}
_CORE = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 400  # digits; beyond it is text, as an integer it would only burn CPU


@lru_cache(maxsize=65536)
def _plain(text: str) -> Any:
    """A scalar without quotes, read as Kubernetes' YAML does (1.1 booleans, no dates)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "").lower()
        sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits.removeprefix("+"))
        for prefix, radix in (("0b", 2), ("0x", 16), ("0o", 8), ("0", 8)):
            if digits.startswith(prefix) and digits != "0":
                return sign * int(digits.removeprefix(prefix), radix)
        return sign * int(digits)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Raises ValueError with the reason for a tag or value that JSON does not have."""
    if event.tag is None or event.tag == "!":
        return _plain(event.value) if event.implicit[0] else event.value
    name = event.tag.removeprefix(_CORE)
    if name in ("str", "timestamp"):
        return event.value
    if name in ("int", "float", "bool", "null"):
        return _plain(event.value)
    raise ValueError(f"tag {event.tag[:80]!r} is not allowed; write plain strings, numbers, lists and maps")


@dataclass(slots=True)
class _Open:
    """A list or map under construction."""

    content: Any
    anchor: str | None
    size: int = 1  # values in it, aliases unfolded
    key: str | None = None  # of a map: read, its value is next
    merges: list[Any] = field(default_factory=list)


class _Builder:
    def __init__(self, lines: dict[Path, int] | None) -> None:
        self.lines = lines
        self.number = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.aliased = 0
        self.start = 1
        self.event: Any = None

    def fault(self, problem: str) -> BadDocument:
        return BadDocument(problem, max(self.number, 1), self.event.start_mark.line + 1 if self.event else None)

    def run(self, text: str) -> Iterator[Document]:
        try:
            for self.event in yaml.parse(text, Loader=yaml.CSafeLoader):
                event = self.event
                if isinstance(event, yaml.ScalarEvent):
                    value = self._value(event)
                    if event.anchor:
                        self.anchors[event.anchor] = (value, 1)
                    yield from self._put(value, 1)
                elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                    self._open(event)
                elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                    yield from self._close()
                elif isinstance(event, yaml.AliasEvent):
                    yield from self._alias(event.anchor or "")
                elif isinstance(event, yaml.DocumentStartEvent):
                    self.number += 1
                    self.start = self.event.end_mark.line + 1
                    self.anchors, self.aliased = {}, 0
                    if self.lines is not None:
                        self.lines.clear()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = error.problem or "cannot be parsed"
            raise BadDocument(
                f"is not YAML: {problem}; mend the text there",
                max(self.number, 1),
                mark.line + 1 if mark else None,
            ) from error
        except yaml.YAMLError as error:
            raise BadDocument(f"is not YAML: {error}; mend the text there", max(self.number, 1), None) from error

    def _value(self, event: yaml.ScalarEvent) -> Any:
        try:
            return _scalar(event)
        except ValueError as error:
            raise self.fault(str(error)) from error

    def _open(self, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self.fault(f"is nested deeper than {MAX_DEPTH} levels; flatten it")
        if event.tag and event.tag not in ("!", _CORE + "map", _CORE + "seq"):
            raise self.fault(f"tag {event.tag[:80]!r} is not allowed; write plain strings, numbers, lists and maps")
        content: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor:  # until it is closed an alias to it would be a circle
            self.anchors.pop(event.anchor, None)
        if self.stack and isinstance(self.stack[-1].content, list):
            self._mark(len(self.stack[-1].content))
        self.stack.append(_Open(content, event.anchor))

    def _close(self) -> Iterator[Document]:
        done = self.stack.pop()
        for merged in done.merges:
            for key, value in merged.items():
                done.content.setdefault(key, value)
        if done.anchor:
            self.anchors[done.anchor] = (done.content, done.size)
        yield from self._put(done.content, done.size)

    def _alias(self, name: str) -> Iterator[Document]:
        if name not in self.anchors:
            raise self.fault(f"alias *{name[:80]} names no finished value above it; write the value out")
        value, size = self.anchors[name]
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise self.fault(f"aliases unfold to more than {MAX_ALIASED} values; write the values out")
        yield from self._put(value, size)

    def _path(self) -> Path:
        """Of the list or map that is open now."""
        return tuple(open_.key if open_.key is not None else len(open_.content) for open_ in self.stack[:-1])

    def _mark(self, name: str | int) -> None:
        """The entry of what is open now begins here, unless it has begun before."""
        if self.lines is not None:
            self.lines.setdefault((*self._path(), name), self.event.start_mark.line + 1)

    def _put(self, value: Any, size: int) -> Iterator[Document]:
        """Hands a finished value to what is open around it, or out."""
        if not self.stack:
            yield Document(self.number, self.start, value)
            return
        top = self.stack[-1]
        top.size += size
        if isinstance(top.content, list):
            self._mark(len(top.content))
            top.content.append(value)
        elif top.key is None:
            self._key(top, value)
        else:
            self._entry(top, top.key, value)

    def _key(self, top: _Open, value: Any) -> None:
        if isinstance(value, bool | int | float):
            value = json.dumps(value)
        if not isinstance(value, str):
            raise self.fault("has a key that is not a string; quote it")
        if value in top.content:
            raise self.fault(f"{dotted((*self._path(), value))} is given twice; keep one")
        top.key = value
        self._mark(value)

    def _entry(self, top: _Open, key: str, value: Any) -> None:
        top.key = None
        if key != "<<":
            top.content[key] = value
            return
        maps = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in maps):
            raise self.fault("<< merges something that is not a map; give it an alias of a map")
        top.merges += maps


def read_yaml(text: str) -> Iterator[Document]:
    """Every document of a YAML text. Raises BadDocument."""
    return _Builder(None).run(text)


def line_of(text: str, number: int, path: Path) -> int | None:
    """The line of a value, or of the nearest that is above it and has one. Reads again: only errors ask for it."""
    lines: dict[Path, int] = {}
    try:
        found = next((one for one in _Builder(lines).run(text) if one.number == number), None)
    except BadDocument:  # JSON that is not quite YAML
        return None
    if found is None:
        return None
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), found.line)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{twin} is given twice; keep one")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value; write a number")


def read_json(text: str) -> Iterator[Document]:
    """The one document of a JSON text. Raises BadDocument."""
    try:
        content = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadDocument(f"is not JSON: {error.msg}; mend the text there", 1, error.lineno) from error
    except ValueError as error:  # a twin, NaN, or an integer of thousands of digits
        raise BadDocument(str(error), 1, None) from error
    except RecursionError as error:
        raise BadDocument(f"is nested deeper than {MAX_DEPTH} levels; flatten it", 1, None) from error
    _check_depth(content)
    yield Document(1, 1, content)


def _check_depth(content: Any) -> None:
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise BadDocument(f"is nested deeper than {MAX_DEPTH} levels; flatten it", 1, None)
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
