"""Narrow views of manifests: only the fields a rule looks at, with their types checked.

A document is what came over the wire (bytes, or msgspec.Raw inside an envelope) or a manifest already parsed. Views
are never written back: what they leave out would be lost.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from admission.api.field_errors import FieldError, invalid

Document = Mapping[str, Any] | bytes | msgspec.Raw

_View = TypeVar("_View")
_JSONS = {"bool": "boolean", "str": "string", "int": "integer", "float": "number"}
_PYTHONS = re.compile(rf"\b({'|'.join(_JSONS)})\b")
_AT = re.compile(r"(?s)(?P<what>.*?)(?: - at `(?P<where>.*)`)?")


class Unreadable(Exception):
    """The document does not have the shape its kind promises; `error` names the field."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


def view(document: Document, shape: type[_View]) -> _View:
    """The document seen through `shape`. Raises Unreadable."""
    try:
        if isinstance(document, (bytes, msgspec.Raw)):
            return msgspec.json.decode(document, type=shape)
        return msgspec.convert(document, type=shape)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeError) as error:
        raise Unreadable(_as_field_error(str(error))) from error
    except RecursionError as error:
        raise Unreadable(invalid("", "", "the document is nested too deeply")) from error


def whole(document: Document) -> Mapping[str, Any]:
    """All of it. Raises Unreadable."""
    return document if isinstance(document, Mapping) else view(document, dict[str, Any])


def may_mention(document: Document, *words: bytes) -> bool:
    """Whether one of the words stands in it somewhere, without decoding it; "maybe" where it is decoded already."""
    if isinstance(document, Mapping):
        return True
    raw = bytes(document)
    return any(word in raw for word in words)


def _as_field_error(complaint: str) -> FieldError:
    found = _AT.fullmatch(complaint)
    where = (found["where"] or "$") if found else "$"
    what = found["what"] if found else complaint
    path = where.replace("key in ", "").removeprefix("$").removeprefix(".") or "object"
    words = what.replace("`", "").lower().replace(" | null", "")  # a null is read as no value
    return FieldError(path, "Invalid value", "", _PYTHONS.sub(lambda found: _JSONS[found[0]], words))
