"""What a JobProfile says of itself: whether it counts, and how many jobs carry its stamp."""

from typing import Any

from admission.model import names
from admission.model.effects import Patch
from admission.model.job_profile import JobProfile
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.reconcile.status import conditions_json
from admission.reconcile.transitions import set_condition
from admission.reconcile.view import View
from admission.reconcile.wishes import NOTHING, Wishes

_READY = "Jobs that match are stamped on their way in"


def reconcile_job_profile(view: View, profile: JobProfile, now: float) -> Wishes:
    """Its status, written when it changes."""
    if profile.deleting:
        return NOTHING
    standing = (False, "Invalid", profile.problem) if profile.problem else (True, "Ready", _READY)
    conditions = set_condition(profile.conditions, names.ACTIVE, *standing, now, profile.generation)
    status: dict[str, Any] = {} if conditions == profile.conditions else {"conditions": conditions_json(conditions)}
    tally = view.stamped_by(profile.name)
    if tally is not None:
        if tally.jobs != profile.matched:
            status["matched"] = tally.jobs
        if tally.newest > profile.last_matched:
            status["lastMatched"] = stamp(tally.newest)
    if not status:
        return NOTHING
    ref = Ref("JobProfile", "", profile.name)
    return Wishes(effects=(Patch(ref, {"status": status}, "status", profile.resource_version),))
