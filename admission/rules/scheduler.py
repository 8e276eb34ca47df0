"""The memory of the scheduler: who waits where, who holds what, what was tried; told what changed, it judges.

Everything a decision needs lives here: the quota tree, the holders, one heap and one parked set per ClusterQueue, the
sticky preemptors, the progress of flavor scans. `run` plays scheduling cycles on the assumed state.
"""

from collections.abc import Mapping
from typing import NamedTuple

from admission.model.decisions import Admit, Decision, Hold, Preempt
from admission.model.names import WorkloadKey
from admission.model.queues import ClusterQueue, Cohort, FlavorResource, Namespace, ResourceFlavor
from admission.model.workload import Workload


class Run(NamedTuple):
    """What a run decided, in order; `more`: the budget ended it, call again at once."""

    decisions: tuple[Decision, ...]
    more: bool


class Scheduler:
    """Deterministic: the same calls in the same order give the same runs."""

    paused: bool = False  # while True, run() looks at nobody and decides nothing

    def put_namespace(self, namespace: Namespace) -> None:
        """New or changed labels; wakes what is parked in queues that match it now."""
        raise NotImplementedError

    def drop_namespace(self, name: str) -> None:
        """Its workloads match no queue any more."""
        raise NotImplementedError

    def put_flavor(self, flavor: ResourceFlavor) -> None:
        """Wakes the queues that use it when it appears or its labels, taints or tolerations change."""
        raise NotImplementedError

    def drop_flavor(self, name: str) -> None:
        """Nothing can be assigned to it any more; wakes the queues that list it, so that they say so."""
        raise NotImplementedError

    def put_cohort(self, cohort: Cohort) -> None:
        """Quota and parent; wakes its whole tree (the old and the new one)."""
        raise NotImplementedError

    def drop_cohort(self, name: str) -> None:
        """Its own quota and parent vanish; it lives on without them while somebody names it."""
        raise NotImplementedError

    def put_cluster_queue(self, queue: ClusterQueue, active: bool) -> None:
        """A spec, new or changed, and whether the queue may admit; wakes its whole tree when something changed.

        `active` is the caller's word (stopPolicy, missing flavors, deletion). A cycle among its cohorts is seen here.
        """
        raise NotImplementedError

    def drop_cluster_queue(self, name: str) -> None:
        """Quota and usage leave the tree; who waits keeps waiting, who holds is counted again when it comes back."""
        raise NotImplementedError

    def push(self, workload: Workload, queue: str, now: float) -> None:
        """It waits in `queue` (which need not exist yet), new or changed.

        The caller sees to it that it is admissible and its back-off has expired. A parked workload stays parked unless
        its spec, reclaimable pods, Evicted or Requeued condition changed. A holder is not queued.
        """
        raise NotImplementedError

    def remove(self, key: WorkloadKey) -> None:
        """It waits no longer. Unknown keys are fine."""
        raise NotImplementedError

    def charge(self, workload: Workload, usage: Mapping[FlavorResource, int]) -> None:
        """It holds `usage` in the queue of its admission from now on; again for the same key: replaces.

        A queue that does not exist is fine: the usage counts from when it appears.
        """
        raise NotImplementedError

    def release(self, key: WorkloadKey, now: float) -> None:
        """Its quota is free; wakes what is parked in the whole tree. Unknown keys are fine."""
        raise NotImplementedError

    def flush(self, queue: str) -> None:
        """Wakes what is parked in the whole tree of `queue`."""
        raise NotImplementedError

    def holds(self, key: WorkloadKey) -> bool:
        """Counts as usage."""
        raise NotImplementedError

    def waits(self, key: WorkloadKey) -> bool:
        """Is queued, ready or parked."""
        raise NotImplementedError

    def run(self, now: float, budget: int, nominations: int = 2000) -> Run:
        """Cycles on the assumed state until they change nothing.

        `budget`: at most so many effects (an Admit is one, each newly issued victim is one; one preemption larger than
        the whole budget is still issued). `nominations`: no new cycle begins beyond so many looks at a workload.
        An Admit is charged and its workload waits no longer; victims are marked evicted and keep their quota until
        `release`. When a write fails, say so by release() and push(), or for a victim by charge().
        """
        raise NotImplementedError

    def position(self, key: WorkloadKey) -> int | None:
        """Place in its queue, 0 is the head; ready and parked alike. None: it does not wait."""
        raise NotImplementedError

    def pending(self, queue: str) -> list[WorkloadKey]:
        """Who waits in `queue`, in order."""
        raise NotImplementedError

    def parked(self, key: WorkloadKey) -> bool:
        """Waits set aside until something changes that could help it."""
        raise NotImplementedError

    def last(self, key: WorkloadKey) -> Hold | None:
        """The last answer for a waiting workload; None before the first."""
        raise NotImplementedError

    def inspect(self, key: WorkloadKey, now: float) -> Hold | Admit | Preempt:
        """What a nomination would say now, changing nothing; a Hold lists every flavor and resource.

        Raises KeyError when `key` does not wait.
        """
        raise NotImplementedError

    def usage(self, queue: str) -> dict[FlavorResource, int]:
        """What the holders of `queue` hold together."""
        raise NotImplementedError

    def borrowed(self, queue: str) -> dict[FlavorResource, int]:
        """The part of usage above the queue's own nominal quota; only what is above."""
        raise NotImplementedError

    def reserving(self, queue: str) -> int:
        """How many workloads hold quota of `queue`."""
        raise NotImplementedError
