"""What a QueuePolicy says of itself: whether it counts, and who has how much under it."""

from typing import Any

from admission.model import names
from admission.model.amounts import text
from admission.model.effects import Patch
from admission.model.kinds import Ref
from admission.model.queue_policy import QueuePolicy, Target, Use
from admission.reconcile.status import conditions_json
from admission.reconcile.transitions import set_condition
from admission.reconcile.wishes import NOTHING, Wishes

Standing = tuple[bool, str, str]  # of condition Active: status, reason, message


def ready(target: Target) -> Standing:
    return True, "Ready", f"It counts for {target} and what is below"


def invalid(problem: str) -> Standing:
    return False, "Invalid", problem


def conflict(target: Target, rival: str) -> Standing:
    return False, "Conflict", f"QueuePolicy {rival} is for {target}, too, and comes first by name: join them in one"


def missing(target: Target) -> Standing:
    return False, "TargetNotFound", f"There is no {target}: create it, or correct spec.target"


def reconcile_queue_policy(policy: QueuePolicy, standing: Standing, uses: tuple[Use, ...] | None, now: float) -> Wishes:
    """Its status, written when it changes. `uses`: as they are told; None: not yet."""
    if policy.deleting:
        return NOTHING
    conditions = set_condition(policy.conditions, names.ACTIVE, *standing, now, policy.generation)
    status: dict[str, Any] = {} if conditions == policy.conditions else {"conditions": conditions_json(conditions)}
    if uses is not None and uses != policy.users:
        status["users"] = [_use_json(use) for use in uses]
    if not status:
        return NOTHING
    ref = Ref("QueuePolicy", "", policy.name)
    return Wishes(effects=(Patch(ref, {"status": status}, "status", policy.resource_version),))


def _use_json(use: Use) -> dict[str, Any]:
    wire: dict[str, Any] = {"name": use.name, "running": use.running, "pending": use.pending}
    if use.resources:
        wire["resources"] = {resource: text(resource, units) for resource, units in use.resources}
    return wire
