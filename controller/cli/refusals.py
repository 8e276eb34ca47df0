"""What an API server or webhook says when it refuses, taken apart: one fault per field, with its line in the file.

Messages come wrapped (`admission webhook "…" denied the request: `, `Job "a" is invalid: […]`) and name the field that
a reader is shown already; what is left is the reason.
"""

import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from controller.cli.manifests import Manifest, Problem, text_of
from controller.kit.documents import Path, line_of

_WRAPPINGS = (
    re.compile(r'^admission webhook "[^"]*" denied the request: '),
    re.compile(r'^[\w.]+ "[^"]*" is (invalid|forbidden): '),
)
_KINDS = "Invalid value|Required value|Unsupported value|Forbidden|Duplicate value|Not found|Too many|Too long"
_KEY = r"\[[^\]\s]+\]"
_FIELD = re.compile(rf"(?:^|(?<=, ))((?:[A-Za-z][\w-]*)(?:\.[A-Za-z][\w-]*|{_KEY})*): (?={_KINDS})")
_PART = re.compile(r"\[(\d+)\]|\[([^\]]+)\]|([^.\[\]]+)")
_REMEDY = "mend it as the message says"


def problems_of(message: str, source: Manifest) -> Iterator[Problem]:
    """One problem for each field that the message names; one about the whole object when it names none."""
    for field, reason in _taken_apart(message):
        if not field and "already exists" in reason:
            field = "metadata.name"
        where = (*source.path, *path_of(field))
        line = line_of(text_of(FilePath(source.file)), source.document, where)
        remedy = "add it" if reason == "Required value" else _REMEDY
        yield Problem(source.file, source.document, line, field, f"is refused: {reason}", remedy)


def _taken_apart(message: str) -> list[tuple[str, str]]:
    """Pairs of a field, "" for the object itself, and what is said of it."""
    for wrapping in _WRAPPINGS:
        message = wrapping.sub("", message)
    if message.startswith("[") and message.endswith("]"):
        message = message[1:-1]
    before, *rest = _FIELD.split(message)
    pairs = [("", before.removesuffix(", "))] if before else []
    return pairs + [(field, said.removesuffix(", ")) for field, said in zip(rest[::2], rest[1::2], strict=True)]


def path_of(field: str) -> Path:
    """`spec.containers[0].image` and `metadata.labels[a.b/c]` as paths into the object."""
    return tuple(int(index) if index else key or name for index, key, name in _PART.findall(field))
