"""What held jobs of a described kind before its JobKind was edited, as the status of that remembers it."""

from collections.abc import Mapping
from typing import Any

from admission.model.job_kind import FormerHold, Suspension
from admission.readers.narrow import entries, mapping, moment, words

_MOST = 4  # who changes it more often than jobs wait has jobs that nobody starts


def noted_hold(stated: object) -> Suspension | None:
    """One of them; None for what is none."""
    found = mapping(stated)
    path, held = words(found.get("path")), found.get("held")
    return Suspension(path, held, found.get("released")) if path and held is not None else None


def former_holds(status: Mapping[str, Any], noted: Suspension | None, now: Suspension) -> tuple[FormerHold, ...]:
    """The newest first, but for what holds jobs again. `noted`: what holds them by the status; `now`: what does."""
    found = [(noted_hold(one), moment(one.get("until"))) for one in entries(status.get("formerHolds"))]
    known = [(noted, None), *found] if noted is not None and not _same_hold(noted, now) else found
    return tuple(FormerHold(one, until) for one, until in known if one is not None and not _same_hold(one, now))[:_MOST]


def _same_hold(one: Suspension, other: Suspension) -> bool:
    return (one.path, one.held, type(one.held)) == (other.path, other.held, type(other.held))
