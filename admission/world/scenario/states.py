"""The state words of a scenario as predicates on a Workload object, and the condition behind each."""

from admission.model.names import ADMITTED, EVICTED, FINISHED, QUOTA_RESERVED
from admission.world.objects import Frozen, condition, holds

BEHIND = {
    "pending": QUOTA_RESERVED,
    "inadmissible": QUOTA_RESERVED,
    "quotaReserved": QUOTA_RESERVED,
    "admitted": ADMITTED,
    "evicted": EVICTED,
    "deactivated": EVICTED,
    "finished": FINISHED,
}


def is_in(workload: Frozen, state: str) -> bool:
    """Whether the word holds. The words overlap."""
    match state:
        case "pending":
            return not holds(workload, QUOTA_RESERVED)
        case "inadmissible":
            tried = condition(workload, QUOTA_RESERVED)
            return tried is not None and tried["status"] == "False" and not is_in(workload, "finished")
        case "deactivated":
            return (workload.get("spec") or {}).get("active") is False
        case _:
            return holds(workload, BEHIND[state])


def states_of(workload: Frozen) -> list[str]:
    """All words that hold, the most telling first."""
    order = ("finished", "deactivated", "evicted", "admitted", "quotaReserved", "inadmissible", "pending")
    return [state for state in order if is_in(workload, state)]
