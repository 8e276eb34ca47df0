"""Whether an update leaves a part of an object as it was."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from admission.api.documents import Document, view


class _Parts(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw(b"")


def unchanged(document: Document, before: Document, part: Literal["spec"]) -> bool:
    """May say no for mere spelling; never yes for a change."""
    if isinstance(document, Mapping) and isinstance(before, Mapping):
        return bool(document.get(part) == before.get(part))
    return bytes(view(document, _Parts).spec) == bytes(view(before, _Parts).spec)
