"""Pods as elastic quotas count them: sums by quota, kept up with every pod that changes.

A pod of a Workload that is charged to an elastic quota is counted there, whatever the pod itself says.
"""

from collections.abc import Callable

from admission.model.elastic_quota import Bindings, QuotaPod, Units
from admission.model.names import WorkloadKey, workload_key

PodKey = tuple[str, str]  # namespace, name


class QuotaPods:
    """`stands_for`: whether a Workload is charged to an elastic quota."""

    def __init__(self, stands_for: Callable[[WorkloadKey], bool]) -> None:
        self.asked: dict[str, dict[str, int]] = {}  # quota -> resource -> units, of all pods that live
        self.placed: dict[str, dict[str, int]] = {}  # of those that hold a node
        self._stands_for = stands_for
        self._bindings = Bindings(())
        self._pods: dict[PodKey, QuotaPod] = {}
        self._counted: dict[PodKey, tuple[str, Units, bool]] = {}
        self._of_workload: dict[WorkloadKey, dict[PodKey, None]] = {}

    def put(self, key: PodKey, pod: QuotaPod | None) -> bool:
        """The pod is now like this; None: it is gone. Whether a sum is another one now."""
        before = self._pods.pop(key, None)
        if before is not None and pod is not None and pod.resource_version < before.resource_version:
            pod = before  # an old fact
        if before is not None and before.workload:
            mine = self._of_workload[_workload(before)]
            mine.pop(key)
            if not mine:
                del self._of_workload[_workload(before)]
        if pod is not None and not pod.over:
            self._pods[key] = pod
            if pod.workload:
                self._of_workload.setdefault(_workload(pod), {})[key] = None
        return self._count(key)

    def clear(self) -> None:
        """Nobody tells of pods any more."""
        for table in (self.asked, self.placed, self._pods, self._counted, self._of_workload):
            table.clear()

    def bind(self, bindings: Bindings) -> None:
        """Quotas came, went, or list other namespaces: every pod is looked at anew."""
        self._bindings = bindings
        for key in self._pods:
            self._count(key)

    def reconsider(self, workload: WorkloadKey) -> bool:
        """It is in another queue than before."""
        changed = [self._count(key) for key in self._of_workload.get(workload, ())]
        return any(changed)

    def _count(self, key: PodKey) -> bool:
        pod, before = self._pods.get(key), self._counted.pop(key, None)
        after = None
        if pod is not None and not (pod.workload and self._stands_for(_workload(pod))):
            after = (self._bindings.quota_of(pod.quota, pod.namespace), pod.requests, pod.placed)
            self._counted[key] = after
        if before == after:
            return False
        for entry, sign in ((before, -1), (after, 1)):
            if entry is not None:
                quota, requests, placed = entry
                _add(self.asked, quota, requests, sign)
                if placed:
                    _add(self.placed, quota, requests, sign)
        return True


def _workload(pod: QuotaPod) -> WorkloadKey:
    return workload_key(pod.namespace, pod.workload)


def _add(sums: dict[str, dict[str, int]], quota: str, requests: Units, sign: int) -> None:
    sum_of = sums.setdefault(quota, {})
    for resource, units in requests.items():
        sum_of[resource] = sum_of.get(resource, 0) + sign * units
        if not sum_of[resource]:
            del sum_of[resource]
    if not sum_of:
        del sums[quota]
