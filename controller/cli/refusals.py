"""What an API server or webhook says when it refuses, taken apart: one fault per field, with its line in the file.

Messages come wrapped (`admission webhook "…" denied the request: `, `Job "a" is invalid: […]`) and name the field that
a reader is shown already; what is left is the reason.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any

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
        remedy = _missing(source.content, path_of(field)) if reason == "Required value" else _REMEDY
        yield Problem(source.file, source.document, line, field, f"is refused: {reason}", remedy)


def _missing(content: Any, path: Path) -> str:
    """What to do about a field that is not there: it may have been written, and misspelt."""
    *around, name = path or ("",)
    for step in around:
        try:
            content = content[step]
        except (LookupError, TypeError):  # what is refused may be there by default only
            return "add it"
    written = [str(key) for key in content] if isinstance(content, Mapping) else []
    # More or longer names than any object of fields has are those of a map, and comparing them takes its time.
    near = get_close_matches(str(name), [one for one in written[:64] if len(one) <= 64], n=1)
    return f"add it, or write {name} for {near[0]}" if near and near[0] != name else "add it"


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
