"""Kubernetes label selectors: read once, asked often."""

from collections.abc import Mapping
from typing import NamedTuple


class LabelRule(NamedTuple):
    """One requirement: In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False


class Selector(NamedTuple):
    """All rules must match; no rules match everything."""

    rules: tuple[LabelRule, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        for rule in self.rules:  # noqa: SIM110  # a generator takes twice as long, and this is asked for every job
            if not rule.matches(labels):
                return False
        return True


EVERYTHING = Selector(())
