"""The fields of another system's object, read so that none is forgotten: what nobody took is told at the end.

Values of the wrong type are faults with their path; reading goes on, so that all of them are told at once.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.model.amounts import BadQuantity, amount
from admission.validation.syntax import label_key_faults

Path = tuple[str | int, ...]
LONGEST = 160  # characters of a value that is shown to people


class Fault(NamedTuple):
    """A value that cannot be read. `document`: the index of the object among those given; -1: `value` names it."""

    document: int
    path: Path
    value: Any
    problem: str
    remedy: str


class Note(NamedTuple):
    """Something that is not carried over. `about`: the object, as people name it; `field`: "" for all of it."""

    about: str
    field: str
    value: str
    why: str

    def __str__(self) -> str:
        field = f": {self.field} is {self.value}" if self.field else ""
        # Half a surrogate pair, which JSON can escape, could not be printed.
        return f"{self.about}{field}: {self.why}".encode("utf-8", "backslashreplace").decode()


@dataclass
class Findings:
    """What reading and assembling turned up, in order."""

    notes: list[Note]
    faults: list[Fault]

    def note(self, about: str, field: str, value: Any, why: str) -> None:
        self.notes.append(Note(about, field, told(value) if field else "", why))

    def fault(self, about: str, problem: str, remedy: str) -> None:
        """Of a whole object, wherever it was read."""
        self.faults.append(Fault(-1, (), about, problem, remedy))


def told(value: Any) -> str:
    """A value as JSON, cut where nobody would read on."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class Fields:
    """An object in a document. Taking a field marks it as seen."""

    def __init__(self, value: Any, about: str, findings: Findings, document: int, path: Path = ()) -> None:
        self.about = about
        self.findings = findings
        self.document = document
        self.path = path
        self._value: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        self._seen: set[str] = set()
        self._inner: dict[tuple[str, int], Fields] = {}
        if value is not None and not isinstance(value, Mapping):
            self._fault((), value, "is not an object", "write a map of fields")

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    def names(self) -> list[str]:
        return [name for name, value in self._value.items() if value is not None]

    def take(self, name: str) -> Any:
        """Whatever it is; None where there is nothing."""
        self._seen.add(name)
        return self._value.get(name)

    def child(self, name: str) -> "Fields":
        """The object in it, whose own fields must be taken."""
        value = self.take(name)
        return self._opened(value, name, -1)

    def children(self, name: str) -> list["Fields"]:
        """The objects of a list."""
        stated = self.take(name)
        if stated is not None and not isinstance(stated, list):
            self._fault((name,), stated, "is not a list", "write a list of objects")
            stated = None
        return [self._opened({} if one is None else one, name, index) for index, one in enumerate(stated or ())]

    def text(self, name: str, otherwise: str = "") -> str:
        value = self._typed(name, str, "is not a text", "write it in quotes")
        return value if isinstance(value, str) else otherwise

    def word(self, name: str) -> str:
        """A text, also where it was written without quotes and looks like a number; "" where there is none."""
        value = self.take(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if type(value) is int and abs(value) < 2**63 else self.text(name)

    def flag(self, name: str, otherwise: bool = False) -> bool:
        value = self._typed(name, bool, "is not true or false", "write one of the two")
        return value if isinstance(value, bool) else otherwise

    def integer(self, name: str, otherwise: int) -> int:
        value = self.take(name)
        if type(value) is int and abs(value) < 2**63:
            return value
        if value is not None:
            self._fault((name,), value, "is not a whole number", "write one")
        return otherwise

    def number(self, name: str) -> int | float | None:
        """None where there is none."""
        value = self.take(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63):
            return value
        self._fault((name,), value, "is not a number", "write one")
        return None

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        value = self.take(name)
        if value is None:
            return []
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return list(value)
        self._fault((name,), value, "is not a list of texts", "write one")
        return []

    def amounts(self, name: str, renamed: Mapping[str, str] | None = None) -> dict[str, int]:
        """A map of quantities by resource, in our units."""
        inner, found = self.child(name), dict[str, int]()
        for resource in inner.names():
            value, ours = inner.take(resource), (renamed or {}).get(resource, resource)
            if label_key_faults(ours):
                inner._fault((resource,), value, "is the amount of what no resource can be called", "rename it")
                continue
            try:
                if isinstance(value, bool) or not isinstance(value, str | int | float):
                    raise BadQuantity("is not a quantity")
                units = amount(ours, value)
            except BadQuantity:
                inner._fault(
                    (resource,), value, "is not a quantity", "write a number with an optional suffix, like 8Gi"
                )
                continue
            if units < 0:
                inner._fault((resource,), value, "is negative", "write 0 or more")
                continue
            found[ours] = units
        return found

    def drop(self, name: str, why: str) -> None:
        """A field that is understood and has no counterpart."""
        value = self.take(name)
        if value is not None and value not in ({}, [], ""):
            self.findings.note(self.about, self.called(name), value, why)

    def called(self, name: str) -> str:
        text = ""
        for part in (*self.path, name):
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
        return text

    def fault(self, name: str, problem: str, remedy: str) -> None:
        self._fault((name,), self._value.get(name), problem, remedy)

    def tell_rest(self, why: str = "nothing here knows this field") -> None:
        """Notes on every field that nobody took, in all that was opened below."""
        for about, name, value in self._rest():
            self.findings.note(about, name, value, why)

    def _rest(self) -> Iterator[tuple[str, str, Any]]:
        for name, value in self._value.items():
            if name not in self._seen and value is not None:
                yield self.about, self.called(str(name)), value
        for inner in self._inner.values():
            yield from inner._rest()

    def _opened(self, value: Any, name: str, index: int) -> "Fields":
        """Opened once, so that what was taken before stays taken."""
        if (name, index) not in self._inner:
            path = (*self.path, name) if index < 0 else (*self.path, name, index)
            self._inner[name, index] = Fields(value, self.about, self.findings, self.document, path)
        return self._inner[name, index]

    def _typed(self, name: str, type_: type[Any], problem: str, remedy: str) -> Any:
        value = self.take(name)
        if value is not None and not isinstance(value, type_):
            self._fault((name,), value, problem, remedy)
        return value

    def _fault(self, below: Path, value: Any, problem: str, remedy: str) -> None:
        self.findings.faults.append(Fault(self.document, (*self.path, *below), value, problem, remedy))
