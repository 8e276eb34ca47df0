"""One row of the table, and how rows are written down: a good manifest, one place in it, a good and a bad value."""

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

Object = dict[str, Any]
By = Literal["schema", "webhook"]


class Absent(Enum):
    """Stands for no value at all."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True)
class Write:
    """Creates `new`, or replaces `old` by it. A write of the status leaves all else as it was, and the other way round.

    `legacy`: an `old` that would be refused today; it is stored while no webhook looks.
    """

    new: Object
    old: Object | None = None
    status: bool = False
    legacy: bool = False


@dataclass(frozen=True)
class Row:
    """`refused` is refused for what is at `path` and for nothing else, and the complaint has `words` in it.

    `kueue` says what Kueue does otherwise and why it may: "accepts: …" or "words: …"; "" is the same answer.
    """

    rule: str
    accepted: Write
    refused: Write
    path: str
    words: str
    by: By
    kueue: str = ""

    def __str__(self) -> str:
        return f"{self.refused.new['kind']}: {self.rule}".replace(" ", "-")


def create(rule: str, base: Object, at: str, good: object, bad: object, words: str, path: str | None = None,
           by: By = "schema", kueue: str = "") -> Row:  # fmt: skip
    """Both values are tried at `at`, in a new object or, below `status`, in a first status."""
    return Row(rule, _written(base, at, good), _written(base, at, bad), at if path is None else path, words, by, kueue)


def update(rule: str, old: Object, at: str, good: object, bad: object, words: str, path: str | None = None,
           by: By = "schema", kueue: str = "", legacy: bool = False) -> Row:  # fmt: skip
    """Both values are tried at `at`, each replacing `old`."""
    status = at.startswith("status")
    accepted, refused = (Write(put(old, {at: value}), old, status, legacy) for value in (good, bad))
    return Row(rule, accepted, refused, at if path is None else path, words, by, kueue)


def put(base: Object, values: Mapping[str, object]) -> Object:
    """A copy with values at paths like `spec.podSets[0].count` or `metadata.labels[a.io/b]`."""
    made = deepcopy(base)
    for path, value in values.items():
        *way, last = _parts(path)
        place: Any = made
        for part in way:
            place = place[part] if isinstance(part, int) else place.setdefault(part, {})
        if value is not ABSENT:
            place[last] = deepcopy(value)
        elif not isinstance(place, dict) or last in place:
            del place[last]
    return made


def _written(base: Object, at: str, value: object) -> Write:
    made = put(base, {at: value})
    if not at.startswith("status"):
        return Write(made)
    return Write(made, {name: field for name, field in base.items() if name != "status"}, status=True)


def _parts(path: str) -> list[Any]:
    found = re.findall(r"\[([^\]]+)\]|([^.\[]+)", path)
    return [int(index) if index.isdigit() else index or name for index, name in found]
