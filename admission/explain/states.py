"""One word for where a workload stands, where several would hold."""

from admission.model.workload import Workload


def state_word(workload: Workload, parked: bool) -> str:
    """By precedence: finished > deactivated > evicted (while it holds quota) > admitted > quotaReserved >
    inadmissible (pending and set aside, `parked`) > pending."""
    if workload.finished:
        return "finished"
    if not workload.active:
        return "deactivated"
    if workload.reserved:
        if workload.evicted:
            return "evicted"
        return "admitted" if workload.admitted else "quotaReserved"
    return "inadmissible" if parked else "pending"
