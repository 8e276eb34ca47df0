"""How often a step or task of an Argo Workflow runs at the same time: once, or once for each item."""

import json
import re
from collections.abc import Mapping
from typing import Any

from admission.readers.narrow import entries, mapping, maybe_integer, text

FIELDS = ("withItems", "withParam", "withSequence")

_PARAMETER = re.compile(r"\{\{\s*workflow\.parameters\.([-_A-Za-z0-9]+)\s*\}\}")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


class Items:
    """Of one workflow, whose parameters stand for their values."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        stated = entries(mapping(spec.get("arguments")).get("parameters"))
        self._parameters = {text(each.get("name")): each.get("value") for each in stated}
        self._lengths: dict[str, int | None] = {}  # of lists written as text, which many calls may share

    def count(self, field: str, stated: object) -> int | None:
        """None: only known while the workflow runs."""
        return self._sequence(mapping(stated)) if field == "withSequence" else self._listed(stated)

    def _listed(self, stated: object) -> int | None:
        given = self._given(stated)
        if isinstance(given, str):
            if given not in self._lengths:
                self._lengths[given] = _length(given)
            return self._lengths[given]
        return len(given) if isinstance(given, list) else None

    def _sequence(self, stated: Mapping[str, Any]) -> int | None:
        start, end, count = (self._number(stated.get(field)) for field in ("start", "end", "count"))
        if stated.get("end") is None:
            return max(count, 0) if count is not None else None
        first = 0 if stated.get("start") is None else start
        return None if end is None or first is None else abs(end - first) + 1

    def _number(self, stated: object) -> int | None:
        given = self._given(stated)
        if isinstance(given, str):
            return int(given) if _WHOLE_NUMBER.fullmatch(given) else None
        return maybe_integer(given)

    def _given(self, stated: object) -> object:
        named = _PARAMETER.fullmatch(stated) if isinstance(stated, str) else None
        return self._parameters.get(named[1]) if named else stated


def _length(stated: str) -> int | None:
    try:
        given = json.loads(stated)
    except (ValueError, RecursionError):
        return None
    return len(given) if isinstance(given, list) else None
