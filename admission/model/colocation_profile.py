"""Koordinator's ClusterColocationProfile: which pods get which words of quality, and which share of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from admission.model.selectors import EVERYTHING, Selector


@dataclass(frozen=True, slots=True)
class ColocationProfile:
    """Empty and None: nothing of the sort. One with a `problem` is applied to nobody; it says why."""

    name: str
    namespaces: Selector = EVERYTHING
    pods: Selector = EVERYTHING
    percent: int = 100  # of those that match
    qos_class: str = ""
    priority_class: str = ""
    sub_priority: int | None = None
    scheduler_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    label_keys: Mapping[str, str] = field(default_factory=dict)  # source -> target
    annotation_keys: Mapping[str, str] = field(default_factory=dict)
    label_suffixes: Mapping[str, str] = field(default_factory=dict)
    patch: Mapping[str, Any] = field(default_factory=dict)
    skips_translation: bool = False
    problem: str = ""
    resource_version: int = 0
