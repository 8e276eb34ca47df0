"""AdmissionChecks of a Workload: which it must pass, and what their states make of it (Kueue 0.19).

Their controllers set the states; what is decided here is which entries there are, when they start anew, and when one
of them costs the workload its quota.
"""

from collections.abc import Mapping
from dataclasses import replace

from admission.model import names
from admission.model.effects import EmitEvent
from admission.model.queues import ClusterQueue
from admission.model.workload import Admission, CheckState, Workload
from admission.reconcile import transitions
from admission.reconcile.events import evicted_event
from admission.reconcile.wishes import Wishes

PENDING, READY, RETRY, REJECTED = "Pending", "Ready", "Retry", "Rejected"

# A workload that is admitted sooner gets its checks in that write; later ones are told that they wait for them.
SHOWN_AFTER = 5.0


def required(queue: ClusterQueue, admission: Admission | None) -> list[str]:
    """Names, sorted, of the checks for these flavors; without an admission of those that hold whatever they will be."""
    every = {flavor.name for group in queue.groups for flavor in group.flavors}
    assigned = {flavor for one in admission.assignments for flavor in one.flavors.values()} if admission else set()

    def applies(on_flavors: tuple[str, ...]) -> bool:
        if not on_flavors or every <= set(on_flavors):
            return True
        return not assigned.isdisjoint(on_flavors)

    return sorted({rule.name for rule in queue.checks if applies(rule.on_flavors)})


def in_step(workload: Workload, queue: ClusterQueue, admission: Admission | None, now: float) -> Workload:
    """With exactly the entries that its queue asks for; new ones are Pending."""
    if not queue.checks and not workload.checks:
        return workload
    known = {check.name: check for check in workload.checks}
    wanted = required(queue, admission)
    if known.keys() == set(wanted):
        return workload
    return workload.but(checks=tuple([known.get(name) or CheckState(name, PENDING, now, "") for name in wanted]))


def passed(workload: Workload) -> bool:
    """All entries are Ready; so are none."""
    return all(check.state == READY for check in workload.checks)


def refused(workload: Workload) -> bool:
    """A check stands in its way until it starts anew."""
    return any(check.state in (RETRY, REJECTED) for check in workload.checks)


def backed_off(workload: Workload, now: float) -> Workload:
    """With the latest time that a check in Retry asks to wait for; a later one that is set already stays."""
    waits = [
        check.since + check.requeue_after
        for check in workload.checks
        if check.state == RETRY and check.requeue_after is not None
    ]
    until = max(waits, default=0.0)
    if until <= max(now, workload.requeue_at or 0.0):
        return workload
    return replace(workload, requeue_at=until)


def verdict(workload: Workload, now: float) -> Wishes | None:
    """What failed checks do to a workload that holds quota: Rejected ends it, Retry sends it back to the queue."""
    rejected = _named(workload, REJECTED)
    if rejected:
        message = f"{_checks(rejected)} in {REJECTED} state: {_listed(rejected)}"
        after = transitions.with_condition(workload, names.DEACTIVATION_TARGET, True, "AdmissionCheck", message, now)
        event = EmitEvent(
            workload.ref, workload.uid, "Warning", "AdmissionCheckRejected", f"Deactivated due to {message}"
        )
        return Wishes(after, events=(event,)) if after is not workload else None
    retry = _named(workload, RETRY)
    if retry:
        message = f"Evicted due to {_checks(retry)} in {RETRY} state: {_listed(retry)}"
        after = transitions.evict(backed_off(workload, now), "AdmissionCheck", message, now)
        return Wishes(after, events=(evicted_event(workload, "AdmissionCheck", message),))
    return None


def late_retry(workload: Workload, now: float) -> Workload | None:
    """A check that was set to Retry after the quota was given back would stand in the way for ever: it starts anew."""
    if workload.reserved or not any(check.state == RETRY for check in workload.checks):
        return None
    return transitions.reset_checks(backed_off(workload, now), now)


def _named(workload: Workload, state: str) -> Mapping[str, str]:
    return {check.name: check.message for check in workload.checks if check.state == state}


def _checks(named: Mapping[str, str]) -> str:
    return "AdmissionChecks" if len(named) > 1 else "AdmissionCheck"


def _listed(named: Mapping[str, str]) -> str:
    return "; ".join(f'"{name}" ({message})' if message else f'"{name}"' for name, message in sorted(named.items()))
