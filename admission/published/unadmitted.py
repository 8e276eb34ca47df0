"""How many workloads are not admitted, by reason: kept as they change, shown where their LocalQueue leads to now.

Only with the gate UnadmittedWorkloadsObservability, as in Kueue.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from admission.model.gates import Gates
from admission.model.workload import Workload
from admission.published import families as f
from admission.published.queues import Sample
from admission.reconcile.unadmitted import observed, standing
from admission.state import State


class Unadmitted:
    def __init__(self, gates: Gates) -> None:
        self._on = observed(gates)
        self._counts: dict[str, Counter[tuple[str, str]]] = {}  # LocalQueue -> reason, cause -> how many

    def told(self, before: Workload | None, after: Workload | None) -> None:
        """Of a change; None: unknown until now, or gone."""
        if self._on:
            self._count(before, -1)
            self._count(after, 1)

    def _count(self, workload: Workload | None, by: int) -> None:
        why = None if workload is None else standing(workload)
        if workload is None or why is None:
            return
        key = f"{workload.namespace}/{workload.queue_name}"
        counts = self._counts.setdefault(key, Counter())
        counts[why] += by
        if not counts[why]:
            del counts[why]
        if not counts:
            del self._counts[key]

    def gauges(self, state: State, shown: Callable[[str], bool]) -> Iterator[Sample]:
        """Of all queues. `shown`: whether a LocalQueue ("namespace/name") has series of its own."""
        totals: Counter[tuple[str, str, str]] = Counter()
        for key, counts in self._counts.items():
            queue = state.objects.local_queue(*key.split("/", 1))
            if queue is None:
                continue
            for why, count in counts.items():
                totals[(queue.cluster_queue, *why)] += count
                if shown(key):
                    yield f.LOCAL_UNADMITTED, (queue.name, queue.namespace, queue.cluster_queue, *why), count
        for labels, count in totals.items():
            if state.objects.cluster_queue(labels[0]) is not None:
                yield f.UNADMITTED, labels, count
