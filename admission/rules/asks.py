"""What a workload asks for, reduced to what the judgement looks at: equal asks get equal answers."""

from typing import NamedTuple

from admission.model.workload import NodeRule, Toleration, Workload


class Ask(NamedTuple):
    """One pod set. `requests` is for all its pods together, sorted by resource."""

    name: str
    pods: int
    requests: tuple[tuple[str, int], ...]
    node_selector: tuple[tuple[str, str], ...]
    affinity: tuple[tuple[NodeRule, ...], ...]
    tolerations: tuple[Toleration, ...]
    least: int  # pods that would do; as many as `pods` when it takes all or none
    template_of: str = ""  # the object in which its template lies, where that is not the job


Asks = tuple[Ask, ...]  # with its priority, what Kueue calls the scheduling hash: equals of one queue fail alike


def asks_of(workload: Workload) -> Asks:
    """Pods that the job says it needs no more are left out."""
    reclaimable = workload.reclaimable
    asks = []
    for pod_set in workload.pod_sets:
        count = pod_set.count
        if reclaimable:
            count -= min(count, reclaimable.get(pod_set.name, 0))
        requests = tuple(sorted([(name, units * count) for name, units in pod_set.requests.items()]))
        least = count if pod_set.min_count is None else min(count, pod_set.min_count)
        rules = (pod_set.node_selector, pod_set.affinity, pod_set.tolerations)
        asks.append(Ask(pod_set.name, count, requests, *rules, least, pod_set.template_of))
    return tuple(asks)


def problem_of(workload: Workload) -> str:
    """Why its requests can never be admitted, or ""."""
    return next((pod_set.problem for pod_set in workload.pod_sets if pod_set.problem), "")
