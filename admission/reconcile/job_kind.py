"""What a JobKind object says of itself: whether jobs of its kind are queued, and if not, what to do about it."""

from typing import Any

from admission.jobs.described import lenders
from admission.model import names
from admission.model.effects import Patch
from admission.model.job_kind import (
    JobKind,
    Standing,
    Suspension,
    conflict,
    forbidden,
    invalid,
    no_templates,
    not_served,
    ready,
)
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.reconcile.status import conditions_json
from admission.reconcile.transitions import set_condition
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes


def reconcile_job_kind(view: View, job_kind: JobKind, now: float) -> Wishes:
    """Its condition Active, and what holds its jobs, written when they change."""
    standing = _standing(view, job_kind)
    if job_kind.deleting:
        return NOTHING
    status = _holds(job_kind, now)
    if standing is not None:
        active, reason, message = standing
        conditions = set_condition(job_kind.conditions, names.ACTIVE, active, reason, message, now, job_kind.generation)
        if conditions != job_kind.conditions:
            status["conditions"] = conditions_json(conditions)
    if not status:
        return NOTHING
    ref = Ref("JobKind", "", job_kind.name)
    return Wishes(effects=(Patch(ref, {"status": status}, "status", job_kind.resource_version),))


def _holds(job_kind: JobKind, now: float) -> dict[str, Any]:
    """What holds its jobs, and what did, where that is not noted yet: nobody else remembers it."""
    if job_kind.rules is None:
        return {}
    hold = job_kind.rules.suspension
    noted = job_kind.noted
    if noted is not None and (noted.path, noted.held, noted.released) == (hold.path, hold.held, hold.released):
        return {}
    former = [
        {**_hold_json(one.suspension), "until": stamp(now if one.until is None else one.until)}
        for one in job_kind.former
    ]
    return {"hold": _hold_json(hold), **({"formerHolds": former} if former else {})}


def _hold_json(hold: Suspension) -> dict[str, Any]:
    return {"path": list(hold.path), "held": hold.held, "released": hold.released}


def _standing(view: View, job_kind: JobKind) -> Standing | None:
    """None: it is not known yet whether the API server serves the kind."""
    if job_kind.rules is None:
        return invalid(job_kind.problem)
    describer = view.job_kinds.describer(job_kind.kind)
    if describer != job_kind.name:
        return conflict(job_kind.kind, describer)
    serving = view.serving(job_kind.kind)
    if serving is None:
        return None
    if serving.served:
        return _templates(view, job_kind)
    return forbidden(job_kind.kind, "list") if serving.forbidden else not_served(job_kind.kind)


def _templates(view: View, job_kind: JobKind) -> Standing | None:
    """Whether the objects can be seen, too, in which templates of its jobs lie."""
    assert job_kind.rules is not None
    servings = [(one.kind, view.serving(one.kind)) for one in lenders(job_kind.rules)]
    for kind, serving in servings:
        if serving is not None and not serving.served:
            return no_templates(kind, allowed=not serving.forbidden)
    return None if any(serving is None for _, serving in servings) else ready(job_kind.kind)
