"""What stamping did to an object, for people: one line for each field, and why other rules did not match."""

from typing import NamedTuple


class Line(NamedTuple):
    """`rule`: who did it, like "JobProfile etl". `before`, `after`: None where nothing stands."""

    rule: str
    field: str
    before: str | None
    after: str | None


class Skipped(NamedTuple):
    """A rule that did nothing, and why."""

    rule: str
    why: str
