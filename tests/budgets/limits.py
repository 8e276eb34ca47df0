"""Reads limits.yaml, so that a number and its reason live in one place."""

from pathlib import Path
from typing import Any

import yaml

_LIMITS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "limits.yaml").read_text(encoding="utf-8"))


def limit(subject: str, name: str) -> int:
    """The number under `subject`, `name`. Raises KeyError for one that nobody justified."""
    entry = _LIMITS[subject][name]
    if not str(entry["why"]).strip():
        raise KeyError(f"limits.yaml: {subject}.{name} has no reason")
    return int(entry["limit"])
