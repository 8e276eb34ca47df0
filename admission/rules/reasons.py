"""The sentences of a Hold, in Kueue's words; people and scripts grep for them."""

from collections.abc import Sequence

from admission.model.amounts import text
from admission.rules.grades import Shortfall

_REASONS = ("WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor")  # least severe first
_SEVERITY = {reason: severity for severity, reason in enumerate(_REASONS)}

OVERLAP = "Workload has overlapping preemption targets with another workload"
NO_LONGER_FITS = "Workload no longer fits after processing another workload"
WOULD_COME_BACK = "Workload waits for one that it has made room for twice and that has not been able to use it"


def behind(key: str, what: str) -> str:
    return f"{key} is ahead of it in its strict queue and waits for {what}"


def kept_for(key: str) -> str:
    return f"what is free is kept for {key}, for which others had to leave"


NOT_READY = "waiting for all admitted workloads to be in PodsReady condition"
NAMESPACE_MISMATCH = "workload namespace doesn't match ClusterQueue selector"
NAMESPACE_UNKNOWN = "Could not obtain workload namespace"


def couldnt_assign(failures: Sequence[Sequence[Shortfall]]) -> str:
    """One sentence per pod set that does not fit."""
    parts = []
    for shortages in failures:
        lines = ", ".join(sorted([_line(shortage) for shortage in shortages]))
        parts.append(f"couldn't assign flavors to pod set {shortages[0].pod_set}: {lines}")
    return "; ".join(parts)


def pending_preemption(count: int) -> str:
    return f". Pending the preemption of {count} workload(s)"


def why_not(shortages: Sequence[Shortfall]) -> str:
    """The reason why a pod set that nothing can serve waits. A flavor is as bad as its worst resource; the mildest
    flavor counts, because any of them would do."""
    flavors: dict[str, int] = {}
    for shortage in shortages:
        severity = _SEVERITY.get(shortage.verdict)
        if severity is not None and severity >= flavors.get(shortage.flavor, 0):
            flavors[shortage.flavor] = severity
    return _REASONS[min(flavors.values())] if flavors else "NoMatchingFlavor"


def _line(short: Shortfall) -> str:
    if short.verdict == "NoMatchingFlavor":
        return short.note
    resource, flavor = short.resource, short.flavor
    if short.verdict == "ExceedsMaxQuota":
        before, current = text(resource, short.before), text(resource, short.asked - short.before)
        return (
            f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests ({before})"
            f" + current podset request ({current}) > maximum capacity ({text(resource, short.potential)})"
        )
    missing = text(resource, short.asked - short.available)
    return f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed"
