"""What the places, counts and tests of a JobKind say of one manifest. Total: whatever JSON has there, or has not."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from admission.jobs.descriptor import Manifest
from admission.jobs.places import Path
from admission.model.job_kind import (
    Combined,
    ConditionTest,
    Every,
    Expression,
    Place,
    Stated,
    Step,
    Test,
    Where,
)
from admission.model.workload import Condition
from admission.readers.metadata import read_conditions
from admission.readers.narrow import entries, is_mapping, items, mapping

MOST = 2**31 - 1  # counts of pod sets are int32
_DIGITS = 10  # of the largest such number


@dataclass(frozen=True, slots=True)
class Scope:
    """Where places are looked for: the manifest, the entry of `forEach` and where that lies, the pod set's name."""

    manifest: Manifest
    entry: object = None
    at: Path = ()
    name: str = ""

    def path(self, place: Place) -> Path:
        """Of a place without `[*]` and the like, from the manifest on."""
        steps = tuple(step for step in place.steps if isinstance(step, str | int))
        return (*self.at, *steps) if place.from_entry else steps

    def found(self, place: Place) -> list[Any]:
        """All values there, null left out."""
        values: list[Any] = [self.entry if place.from_entry else self.manifest]
        for step in place.steps:
            values = [inner for value in values for inner in self._below(value, step)]
        return values

    def value(self, place: Place) -> Any:
        """The one value there, the first of several; None where there is none."""
        return next(iter(self.found(place)), None)

    def _below(self, value: Any, step: Step) -> Sequence[Any]:
        if isinstance(step, Where):
            return [entry for entry in entries(value) if self._says(entry.get(step.field), step.value)]
        if step is Every.EVERY:
            inner = [value[key] for key in sorted(value)] if is_mapping(value) else items(value)
        elif isinstance(step, int):
            inner = items(value)[step : step + 1]
        else:
            inner = [mapping(value).get(step)]
        return [one for one in inner if one is not None]

    def _says(self, stated: object, wanted: str | None) -> bool:
        if wanted is not None:
            return (stated if isinstance(stated, str) else _written(stated)) == wanted
        return isinstance(stated, str) and stated.lower() == self.name.lower()


def number(expression: Expression, scope: Scope) -> int | None:
    """What it comes to; the sum, where a place has several numbers. None: nothing says anything."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, Stated):
        numbers = [one for value in scope.found(expression.place) if (one := _number(value)) is not None]
        if len(numbers) > 1:  # none takes away from others: nor does it in who makes the pods
            return sum(max(one, 0) for one in numbers)
        return numbers[0] if numbers else expression.default
    parts = [max(one, 0) for part in expression.of if (one := number(part, scope)) is not None]
    return _combined(expression, parts) if parts else None


def count(expression: Expression, scope: Scope, default: int) -> int:
    """So many pods; never less than none, nor more than a Workload can say."""
    found = number(expression, scope)
    return min(max(default if found is None else found, 0), MOST)


def holds(test: Test | None, scope: Scope) -> bool:
    """Without a test, no."""
    if test is None:
        return False
    if isinstance(test, ConditionTest):
        return condition(test, scope.manifest) is not None
    if test.at_least is not None:
        found, wanted = number(test.of, scope), number(test.at_least, scope)
        return found is not None and wanted is not None and found >= wanted
    values = scope.found(test.of.place) if isinstance(test.of, Stated) else []
    if test.values is not None:
        return any(_same(value, wanted) for value in values for wanted in test.values)
    if test.others is not None:
        return any(not any(_same(value, other) for other in test.others) for value in values)
    return bool(values) is test.there


def condition(test: ConditionTest, manifest: Manifest) -> Condition | None:
    """The condition of which the test holds."""
    found = read_conditions(mapping(manifest.get("status")).get("conditions")).get(test.type)
    if found is None or found.status != test.status or (test.reasons and found.reason not in test.reasons):
        return None
    return found


def _combined(expression: Combined, parts: Sequence[int]) -> int:
    match expression.how:
        case "product":
            return prod(parts)
        case "sum":
            return sum(parts)
        case "min":
            return min(parts)
        case "max":
            return max(parts)


def _number(value: object) -> int | None:
    """Annotations are texts: so are their numbers."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) <= _DIGITS else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _same(value: object, wanted: object) -> bool:
    return value == wanted and isinstance(value, bool) is isinstance(wanted, bool)


def _written(value: object) -> str:
    """As JSON has it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
