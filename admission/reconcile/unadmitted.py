"""Why a workload is not admitted, in the words that Kueue's gate UnadmittedWorkloadsObservability chooses between.

With the gate the reason of QuotaReserved tells one cause from another, and Admitted=False stands beside it (Kueue
0.19).
"""

from admission.model import names
from admission.model.gates import Gates
from admission.model.workload import Workload
from admission.reconcile import transitions

NO_RESERVATION, UNSATISFIED_CHECKS = "NoReservation", "UnsatisfiedAdmissionChecks"
PENDING_EVALUATION = "PendingEvaluation"


def observed(gates: Gates) -> bool:
    return gates["UnadmittedWorkloadsObservability"]


def reason(gates: Gates, fine: str, coarse: str = names.PENDING) -> str:
    """Of QuotaReserved=False."""
    return fine if observed(gates) else coarse


def queue_reason(gates: Gates, problem: str) -> str:
    """Of a workload whose queues can't take it up; `problem` as `waiting_for_queue` words it."""
    return reason(gates, "Misconfigured" if problem.endswith("doesn't exist") else "Suspended", names.INADMISSIBLE)


def spelled_out(workload: Workload, now: float) -> Workload:
    """With Admitted=False for as long as it is not admitted, once its reservation has been spoken of."""
    if workload.admitted or workload.finished or workload.deleting:
        return workload
    after = workload
    if not workload.active and not workload.reserved:
        message = "The workload is deactivated"
        after = transitions.with_condition(after, names.QUOTA_RESERVED, False, "Deactivated", message, now)
    if workload.reserved:
        why, message = UNSATISFIED_CHECKS, "The workload has not all checks ready"
    elif names.QUOTA_RESERVED in after.conditions or names.ADMITTED in after.conditions:
        why, message = NO_RESERVATION, "The workload has no reservation"
    else:
        return after
    return transitions.with_condition(after, names.ADMITTED, False, why, message, now)


def standing(workload: Workload) -> tuple[str, str] | None:
    """Reason and underlying cause as metrics name them; None: it is admitted or over."""
    if workload.admitted or workload.finished or workload.deleting:
        return None
    admitted, reserved = (workload.conditions.get(name) for name in (names.ADMITTED, names.QUOTA_RESERVED))
    why = admitted.reason if admitted is not None else NO_RESERVATION
    if reserved is None:
        return why, PENDING_EVALUATION
    return why, "" if reserved.true else reserved.reason
