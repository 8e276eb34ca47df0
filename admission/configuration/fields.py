"""A mapping of the file taken apart field by field: what is wrong is collected, what nobody asked for is unknown.

Reading goes on after a fault with the field's default, so that a person sees all faults at once. As in Kubernetes,
null stands for absent, and names are compared exactly.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from admission.model.durations import BadDuration, duration

Default = TypeVar("Default")
Path = tuple[str | int, ...]

MAX_INT32 = 2**31 - 1
_KIND = re.compile(r"[A-Za-z0-9]+\.v[a-z0-9]+\.[a-z0-9][-a-z0-9.]*")
_LONGEST_HOURS = 2562047  # of a duration: Go, and so Kueue and Kubernetes, count nanoseconds in an int64
_LARGEST = 1e308  # about the end of float64
_LONGEST_SHOWN = 80  # characters of a value; longer ones are cut, the path says where they are


class Problem(NamedTuple):
    path: Path  # () is the file itself
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{dotted(self.path) or 'the file'}: {self.problem}: {self.remedy}"


class Note(NamedTuple):
    """Something that is right and yet does not do what its reader may expect."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.text}"


def dotted(path: Path) -> str:
    """As Kubernetes prints it: `resources.transformations[0].input`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """What to do about a name that is unknown."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else otherwise


def is_number(value: Any) -> bool:
    """What a float64 holds, as the file's numbers are in Go; YAML also knows infinity and what is no number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def is_kind(name: str) -> bool:
    """Kind.version.group.com: how a file names kinds that are not Kueue's."""
    return _KIND.fullmatch(name) is not None


class Report:
    """What one reading of a file has to say."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Note] = []
        self._sections: list[Section] = []

    def wrong(self, path: Path, problem: str, remedy: str) -> None:
        self.problems.append(Problem(path, problem, remedy))

    def note(self, path: Path, text: str) -> None:
        self.notes.append(Note(path, text))

    def section(self, content: Any, path: Path) -> "Section":
        """A complaint and an empty section where the content is no mapping."""
        if content is not None and not isinstance(content, Mapping):
            self.wrong(path, f"{shown(content)} is not a mapping", "write its fields below it")
            content = None
        section = Section(content, path, self)
        self._sections.append(section)
        return section

    def close(self) -> None:
        """Complain of every field that no reader has asked for."""
        for section in self._sections:
            section.complain_of_unknown()


class Section:
    """Each method takes one field out, complains where it is wrong, and then gives the default."""

    def __init__(self, content: Mapping[str, Any] | None, path: Path, report: Report) -> None:
        self.present = content is not None
        self.path = path
        self.report = report
        self._left: dict[str, Any] = {str(key): value for key, value in (content or {}).items()}
        self._known: list[str] = []

    def wrong(self, key: str, problem: str, remedy: str) -> None:
        self.report.wrong((*self.path, key), problem, remedy)

    def has(self, key: str) -> bool:
        return self._left.get(key) is not None

    def take(self, key: str) -> Any:
        self._known.append(key)
        return self._left.pop(key, None)

    def text(self, key: str, default: Default) -> str | Default:
        value = self.take(key)
        if value is None or isinstance(value, str):
            return value or default
        self.wrong(key, f"{shown(value)} is not a string", "quote it")
        return default

    def flag(self, key: str, default: Default) -> bool | Default:
        value = self.take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong(key, f"{shown(value)} is not a boolean", "write true or false")
        return default

    def whole(self, key: str, default: Default, least: int = -MAX_INT32 - 1, most: int = MAX_INT32) -> int | Default:
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            self.wrong(key, f"{shown(value)} is not a whole number", "write one, without quotes")
        elif not least <= value <= most:
            most_said = f"from {least}" if most == MAX_INT32 else f"between {least} and {most}"
            self.wrong(key, f"{value} is out of bounds", f"write a whole number {most_said}")
        else:
            return value
        return default

    def number(self, key: str, default: Default) -> float | Default:
        value = self.take(key)
        if value is None:
            return default
        if is_number(value):
            return float(value)
        self.wrong(key, f"{shown(value)} is not a number", "write one, without quotes")
        return default

    def seconds(self, key: str, default: Default) -> float | Default:
        """A duration from 0."""
        value = self.take(key)
        if value is None:
            return default
        try:
            if isinstance(value, str) and value.startswith("-"):
                duration(value[1:])
                self.wrong(key, f"{shown(value)} is negative", "write a duration from 0s")
                return default
            if isinstance(value, str):
                read = duration(value)
                if read <= _LONGEST_HOURS * 3600:
                    return read
                remedy = f"write {_LONGEST_HOURS}h at most"
                self.wrong(key, f"{shown(value)} is longer than a duration can be", remedy)
                return default
        except BadDuration:
            pass
        self.wrong(key, f"{shown(value)} is not a duration", "write it in quotes or plain like 90s, 10m or 1h30m")
        return default

    def choice(self, key: str, choices: Sequence[str], default: Default) -> str | Default:
        value = self.take(key)
        if value is None or value in choices:
            return value or default
        if isinstance(value, str):
            self.wrong(key, f"{shown(value)} is unknown", nearest(value, choices, f"write {' or '.join(choices)}"))
        else:
            self.wrong(key, f"{shown(value)} is not a string", f"write {' or '.join(choices)}")
        return default

    def entries(self, key: str) -> list[Any]:
        value = self.take(key)
        if value is None or isinstance(value, list):
            return value or []
        self.wrong(key, f"{shown(value)} is not a list", "write its entries with leading dashes")
        return []

    def texts(self, key: str) -> tuple[str, ...]:
        found = []
        for at, value in enumerate(self.entries(key)):
            if isinstance(value, str):
                found.append(value)
            else:
                self.report.wrong((*self.path, key, at), f"{shown(value)} is not a string", "quote it")
        return tuple(found)

    def table(self, key: str) -> dict[str, Any]:
        """A mapping whose keys are data."""
        value = self.take(key)
        if value is None or isinstance(value, Mapping):
            return {str(name): entry for name, entry in (value or {}).items()}
        self.wrong(key, f"{shown(value)} is not a mapping", "write `name: value` lines below it")
        return {}

    def part(self, key: str) -> "Section":
        """A mapping of fields; not `present` where it is absent."""
        return self.report.section(self.take(key), (*self.path, key))

    def parts(self, key: str) -> list["Section"]:
        return [self.report.section(value, (*self.path, key, at)) for at, value in enumerate(self.entries(key))]

    def without_effect(self, key: str, why: str) -> None:
        """To be asked before the field is taken: what is set and does nothing is told."""
        if self.has(key):
            self.report.note((*self.path, key), f"has no effect here: {why}")

    def complain_of_unknown(self) -> None:
        for name in self._left:
            where = dotted(self.path) or "a Configuration"
            self.wrong(name, f"is not a field of {where}", nearest(name, self._known, "remove it"))
