"""One complaint about one field, worded as the Kubernetes API server words it.

Schema validation, CEL rules and webhook checks all speak through this type, so that a person reads the same sentence
whoever refused.
"""

import json
from dataclasses import dataclass
from enum import Enum
from typing import Literal

ErrorKind = Literal[
    "Invalid value",
    "Required value",
    "Unsupported value",
    "Forbidden",
    "Duplicate value",
    "Not found",
    "Too many",
    "Too long",
]

# The rest always shows the value: a person should not have to look up what they wrote.
_WITHOUT_VALUE = ("Required value", "Forbidden", "Too long")


class Omitted(Enum):
    """Stands for a value too large to repeat."""

    OMITTED = "omitted"


OMITTED = Omitted.OMITTED


@dataclass(frozen=True, slots=True)
class FieldError:
    """`path` as Kubernetes prints it (`spec.podSets[0].count`), "" for the object itself; `value` is JSON-shaped or
    OMITTED; `detail` may be empty."""

    path: str
    kind: ErrorKind
    value: object = None
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.path or '<nil>'}: {self.body}"

    @property
    def body(self) -> str:
        """The complaint without its path: what a Status cause carries as its message."""
        silent = self.kind in _WITHOUT_VALUE or self.value is OMITTED
        said = self.kind if silent else f"{self.kind}: {_shown(self.value)}"
        return f"{said}: {self.detail}" if self.detail else said


def invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(path, "Invalid value", value, detail)


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(path, "Required value", "", detail)


def unsupported(path: str, value: object, supported: tuple[str, ...]) -> FieldError:
    quoted = ", ".join(_shown(choice) for choice in supported)
    return FieldError(path, "Unsupported value", value, f"supported values: {quoted}" if supported else "")


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, "Forbidden", "", detail)


def duplicate(path: str, value: object) -> FieldError:
    return FieldError(path, "Duplicate value", value)


def not_found(path: str, value: object) -> FieldError:
    return FieldError(path, "Not found", value)


def too_many(path: str, actual: int, most: int) -> FieldError:
    return FieldError(path, "Too many", actual, f"must have at most {most} {'item' if most == 1 else 'items'}")


def too_long(path: str, most: int) -> FieldError:
    return FieldError(path, "Too long", "", f"may not be more than {most} {'byte' if most == 1 else 'bytes'}")


def child(path: str, name: str) -> str:
    """The path of a field below `path`; "" is the object itself."""
    return f"{path}.{name}" if path else name


def key(path: str, name: str) -> str:
    """The path of a map's entry: `metadata.labels[team]`."""
    return f"{path}[{name}]"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
