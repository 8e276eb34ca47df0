"""The memory of the scheduler: who waits where, who holds what, what was tried; told what changed, it judges.

Everything a decision needs lives here: the quota tree, the holders, one line per ClusterQueue, the sticky preemptors,
the progress of flavor scans. `run` plays scheduling cycles on the assumed state.
"""

from collections.abc import Iterable, Mapping

from admission.model.configuration import DEFAULTS, Configuration
from admission.model.decisions import Admit, Hold, Preempt
from admission.model.names import PODS_READY, WorkloadKey
from admission.model.queues import ClusterQueue, Cohort, FlavorResource, Namespace, ResourceFlavor
from admission.model.workload import Workload
from admission.rules import cycle
from admission.rules.consumption import Consumption
from admission.rules.estate import Estate
from admission.rules.holders import Holder, Holders
from admission.rules.nomination import look, survey
from admission.rules.policing import identity_of
from admission.rules.policy_changes import PolicyChanges
from admission.rules.queue import Queue, Waiting
from admission.rules.rounds import Rounds, Run
from admission.rules.waking import Waking
from admission.tree import Node, Tree
from admission.tree.shares import Share, share

__all__ = ["Run", "Scheduler"]


class Scheduler:
    """Deterministic: the same calls in the same order give the same runs."""

    def __init__(self, configuration: Configuration = DEFAULTS) -> None:
        self.paused = False  # while True, run() looks at nobody and decides nothing
        self._estate = Estate(configuration)
        self._waking = Waking(self._estate)
        self.policies = PolicyChanges(self._estate, self._waking)

    @property
    def tree(self) -> Tree:
        return self._estate.tree

    @property
    def holders(self) -> Holders:
        return self._estate.holders

    @property
    def unready(self) -> list[WorkloadKey]:
        """Who holds quota and has pods that are not ready, where that holds back all others."""
        return list(self._estate.unready)

    @property
    def queues(self) -> Mapping[str, Queue]:
        """By name, also those that are only named by who waits."""
        return self._estate.queues

    @property
    def active(self) -> Mapping[str, ClusterQueue]:
        """The queues that may admit."""
        return self._estate.active

    @property
    def attempts(self) -> tuple[int, int]:
        """Cycles so far that looked at somebody: admitting nobody, admitting."""
        fruitless, successful = self._estate.attempts
        return fruitless, successful

    # -- what people configure -------------------------------------------------------------------------------------

    def put_namespace(self, namespace: Namespace) -> None:
        """New or changed labels; wakes what is parked in queues that match it now."""
        self._relabel(namespace.name, namespace.labels)

    def drop_namespace(self, name: str) -> None:
        """Its workloads match no queue any more."""
        self._relabel(name, None)

    def _relabel(self, name: str, labels: Mapping[str, str] | None) -> None:
        estate = self._estate
        if estate.namespaces.get(name) == labels:
            return
        queues = list(estate.queues.values())
        accepted = [estate.accepts(queue, name) for queue in queues]
        if labels is None:
            del estate.namespaces[name]
        else:
            estate.namespaces[name] = labels
        estate.era += 1
        for queue, before in zip(queues, accepted, strict=True):
            after = estate.accepts(queue, name)
            if after and not before:
                self._waking.flush(queue.name)
            elif before and not after:
                self._waking.stir(queue.name)

    def put_flavor(self, flavor: ResourceFlavor) -> None:
        """Wakes the queues that use it when it appears or its labels, taints or tolerations change."""
        before = self._estate.flavors.get(flavor.name)
        self._estate.flavors[flavor.name] = flavor
        if before is None or (before.node_labels, before.taints, before.tolerations) != (
            flavor.node_labels, flavor.taints, flavor.tolerations,
        ):  # fmt: skip
            self._flavor_changed(flavor.name)

    def drop_flavor(self, name: str) -> None:
        """Nothing can be assigned to it any more; wakes the queues that list it, so that they say so."""
        if self._estate.flavors.pop(name, None) is not None:
            self._flavor_changed(name)

    def _flavor_changed(self, name: str) -> None:
        self._estate.era += 1
        for queue in self._estate.queues.values():
            if queue.menu is not None and any(name in group.flavors for group in queue.menu.groups.values()):
                self._waking.flush(queue.name)

    def put_cohort(self, cohort: Cohort) -> None:
        """Quota and parent; wakes its whole tree, the one it leaves too."""
        node = self.tree.cohort(cohort.name)
        parent = node.above.name if node is not None and node.above is not None else ""
        wanted = (cohort.quotas(), cohort.parent, cohort.weight)
        if node is not None and node.declared and (node.quotas, parent, node.weight) == wanted:
            return
        self._waking.before_reshaping(node)
        self.tree.put_cohort(cohort.name, cohort.parent, cohort.quotas(), cohort.weight)
        self._waking.reshaped(self.tree.cohort(cohort.name))

    def drop_cohort(self, name: str) -> None:
        """Its own quota and parent vanish; it lives on without them while somebody names it."""
        self._waking.before_reshaping(self.tree.cohort(name))
        self.tree.drop_cohort(name)
        self._waking.reshaped(self.tree.cohort(name))

    def put_cluster_queue(self, spec: ClusterQueue, active: bool) -> None:
        """A spec, new or changed, and whether the queue may admit; wakes its whole tree when something changed.

        `active` is the caller's word (stopPolicy, missing flavors, deletion). A cycle among its cohorts is seen here.
        """
        queue = self._line(spec.name)
        if queue.spec is not None and queue.active == active and _rules(queue.spec) == _rules(spec):
            self._estate.respecify(queue, spec)
            return
        node = self.tree.queue(spec.name)
        self._waking.before_reshaping(node)
        self.tree.put_queue(spec.name, spec.cohort, spec.quotas(), spec.weight)
        queue.configure(spec, active, self._estate.configuration, self._estate.consumption)
        if node is None:
            node = self.tree.queue(spec.name)
            for holder in self.holders.of(spec.name):
                if node is not None:
                    self.tree.add(node, holder.usage)
        self._waking.reshaped(self.tree.queue(spec.name))

    def drop_cluster_queue(self, name: str) -> None:
        """Quota and usage leave the tree; who waits keeps waiting, who holds is counted again when it comes back."""
        queue = self._estate.queues.get(name)
        if queue is None or queue.spec is None:
            return
        self._waking.before_reshaping(self.tree.queue(name))
        self.tree.drop_queue(name)
        queue.configure(None, active=False)
        if not queue.everyone:
            del self._estate.queues[name]
        self._waking.reshaped(None)

    # -- who waits and who holds -----------------------------------------------------------------------------------

    def push(self, workload: Workload, queue: str, now: float) -> None:
        """It waits in `queue` (which need not exist yet), new or changed.

        The caller sees to it that it is admissible and its back-off has expired. A parked workload stays parked unless
        its spec, reclaimable pods, Evicted or Requeued condition changed. A holder is not queued.
        """
        key = workload.key
        if key in self.holders:
            return
        waiting = self._estate.waiting.get(key)
        if waiting is not None and waiting.queue == queue:
            asked = (waiting.workload.generation, waiting.workload.priority)
            if self._line(queue).update(waiting, workload):
                self._estate.policing.join(waiting)
                self._waking.stir(queue)
                if asked != (workload.generation, workload.priority):  # else it may be the echo of what we wrote
                    self._estate.disturbed(queue)
            return
        self.remove(key)
        if not workload.evicted and key not in self._estate.ousted:
            self._estate.disturbed(queue)
        waiting = self._estate.waiting[key] = Waiting(workload, queue, self._estate.ordering.rank(workload))
        waiting.kind = self.policies.kind(waiting)
        self._estate.policing.join(waiting)
        self._line(queue).join(waiting)
        self._waking.stir(queue)

    def remove(self, key: WorkloadKey) -> None:
        """It waits no longer. Unknown keys are fine."""
        waiting = self._estate.waiting.pop(key, None)
        if waiting is None:
            return
        self._estate.yielding.content(key)
        queue = self._line(waiting.queue)
        queue.leave(waiting)
        self._estate.policing.leave(key, queue.name)
        self._waking.stir(queue.name)
        if queue.spec is None and not queue.everyone:
            del self._estate.queues[queue.name]

    def charge(self, workload: Workload, usage: Mapping[FlavorResource, int]) -> None:
        """It holds `usage` in the queue of its admission from now on; again for the same key: replaces.

        A queue that does not exist is fine: the usage counts from when it appears. Raises ValueError without admission.
        """
        if workload.admission is None:
            raise ValueError(f"{workload.key} holds no quota: it has no admission; release it instead")
        self.remove(workload.key)
        ordering = self._estate.ordering
        reserved = workload.conditions.get("QuotaReserved")
        after = Holder(
            workload.key,
            workload.admission.cluster_queue,
            usage,
            ordering.priority(workload),
            workload.uid,
            ordering.queue_time(workload),
            reserved.since if reserved is not None and reserved.true else None,
            workload.evicted,
            workload.is_true(PODS_READY),
            f"{workload.namespace}/{workload.queue_name}",
            identity_of(workload),
            workload.labels,
        )
        before = self.holders.get(workload.key)
        if before is not None and before.queue == after.queue and before.usage == usage:
            self._amend(before, after)
        else:
            self._replace(before, after)
        self._unblock()

    def _amend(self, holder: Holder, after: Holder) -> None:
        holder.ready = after.ready
        self._estate.note_ready(holder)
        if holder == after:
            return
        self._estate.era += 1
        if holder.priority != after.priority:
            self._waking.flush(holder.queue)
        elif holder.evicted != after.evicted:
            self._waking.stir(holder.queue)
        self._estate.holders.add(after)

    def _replace(self, before: Holder | None, after: Holder) -> None:
        if before is not None:
            self._estate.let_go(before.key)
            kept = before.queue == after.queue and all(after.usage.get(fr, 0) >= n for fr, n in before.usage.items())
            if not kept:
                self._waking.flush(before.queue)
        self._estate.hold(after)
        self._waking.stir(after.queue)

    def release(self, key: WorkloadKey, now: float) -> None:
        """Its quota is free; wakes what is parked in the whole tree. Unknown keys are fine."""
        holder = self._estate.let_go(key)
        if holder is not None:
            self._waking.flush(holder.queue)
            if not holder.evicted and key not in self._estate.ousted:
                self._estate.disturbed(holder.queue)
            self._unblock()

    def _unblock(self) -> None:
        """Everybody that holds quota is ready: heads that waited for that get another look, in one cycle."""
        if self._estate.blocked and not self._estate.unready:
            for queue in self._estate.blocked:
                self._waking.stir(queue)
            self._estate.blocked.clear()

    @property
    def consumption(self) -> Consumption | None:
        """What LocalQueues have used; None while admission fair sharing is off. After a change, `reorder`."""
        return self._estate.consumption

    def reorder(self, queue: str) -> None:
        """What LocalQueues of `queue` have used is another amount: somebody else may be its head."""
        self._estate.era += 1  # victims are chosen by it, too
        self._waking.stir(queue)

    def flush(self, queue: str) -> None:
        """Wakes what is parked in the whole tree of `queue`."""
        self._waking.flush(queue)

    def _line(self, name: str) -> Queue:
        queue = self._estate.queues.get(name)
        if queue is None:
            queue = self._estate.queues[name] = Queue(name, self._estate.ordering)
        return queue

    # -- judging ---------------------------------------------------------------------------------------------------

    def run(self, now: float, budget: int, nominations: int = 2000) -> Run:
        """Cycles on the assumed state until they change nothing.

        `budget`: at most so many effects (an Admit is one, each newly issued victim is one; one preemption larger than
        the whole budget is still issued). `nominations`: no new cycle begins beyond so many looks at a workload.
        An Admit is charged and its workload waits no longer; victims are marked evicted and keep their quota until
        `release`. When a write fails, say so by release() and push(), or for a victim by charge().
        """
        if self.paused:
            return Run((), False)
        self.policies.wake(now)
        # Whoever is set aside from here on was looked at after the change that is to wake the others.
        self._waking.fix_wakeable()
        rounds = Rounds(self._estate, self._waking.stirred, now)
        run = rounds.run(budget, nominations)
        # Who is set aside is woken last: preemptors whose victims have left, and heads that block their queue, come
        # first. In Kueue they have a second's lead.
        if not run.more and self._waking.wake():
            run = rounds.run(budget, nominations)
        self.policies.wake(now)
        left = budget - len(run.decisions)
        return Run((*run.decisions, *self.policies.evictions(now)), run.more) if left > 0 else run

    @property
    def restless(self) -> bool:
        """Something has happened since the last run."""
        return not self.paused and self._waking.noted

    def inspect(self, key: WorkloadKey, now: float) -> Hold | Admit | Preempt:
        """What a nomination would say now, changing nothing; a Hold lists every flavor and resource, for the fewest
        pods that would do.

        Raises KeyError when `key` does not wait.
        """
        estate = self._estate
        waiting = estate.waiting[key]
        queue = estate.queues[waiting.queue]
        if queue.spec is None:
            return Hold(key, "Misconfigured", f"ClusterQueue {queue.name} not found", False)
        if queue.name not in estate.active:
            return Hold(key, "Suspended", f"ClusterQueue {queue.name} is inactive", False)
        nomination = look(estate, queue, waiting, now)
        verdict = cycle.alone(estate, nomination, now)
        if verdict.step == cycle.ADMIT:
            return Admit(key, nomination.assignment.admission(queue.name), nomination.assignment.borrowing)
        if verdict.newly:
            return Preempt(key, nomination.victims)
        shortages = survey(estate, queue, waiting, nomination.assignment, now) if not nomination.refusal else ()
        victims = tuple(victim.workload for victim in nomination.victims)
        return Hold(key, verdict.reason, verdict.message, self.parked(key), shortages, victims)

    # -- questions -------------------------------------------------------------------------------------------------

    def holds(self, key: WorkloadKey) -> bool:
        """Counts as usage."""
        return key in self.holders

    def waits(self, key: WorkloadKey) -> bool:
        """Is queued, ready or parked."""
        return key in self._estate.waiting

    def position(self, key: WorkloadKey) -> int | None:
        """Place in its queue, 0 is the head; ready and parked alike. None: it does not wait."""
        waiting = self._estate.waiting.get(key)
        return None if waiting is None else self._line(waiting.queue).position(waiting)

    def pending(self, queue: str) -> list[WorkloadKey]:
        """Who waits in `queue`, in order."""
        line = self._estate.queues.get(queue)
        return line.in_order() if line is not None else []

    def parked(self, key: WorkloadKey) -> bool:
        """Waits set aside until something changes that could help it."""
        waiting = self._estate.waiting.get(key)
        if waiting is None:
            return False
        line = self._line(waiting.queue)
        if self._waking.awaits(line.name) and (
            not waiting.parked or self._estate.accepts(line, waiting.workload.namespace)
        ):
            return False  # the next run wakes it
        return line.is_parked(waiting)

    def last(self, key: WorkloadKey) -> Hold | None:
        """The last answer for a waiting workload; None before the first."""
        waiting = self._estate.waiting.get(key)
        if waiting is None:
            return None
        return self.policies.surplus(waiting) or self._line(waiting.queue).last_answer(waiting)

    def usage(self, queue: str) -> dict[FlavorResource, int]:
        """What the holders of `queue` hold together; nothing zero."""
        node = self.tree.queue(queue)
        return dict(node.usage) if node is not None else {}

    def borrowed(self, queue: str) -> dict[FlavorResource, int]:
        """The part of usage above the queue's own nominal quota; only what is above. Nothing without a cohort."""
        node = self.tree.queue(queue)
        if node is None or node.above is None:
            return {}
        over = {fr: units - node.subtree.get(fr, 0) for fr, units in node.usage.items()}
        return {fr: units for fr, units in over.items() if units > 0}

    def share(self, node: Node | None) -> Share | None:
        """How much a queue or cohort borrows of what it could; None while fair sharing is off."""
        return share(node) if node is not None and self._estate.fairness is not None else None

    def reserving(self, queue: str) -> int:
        """How many workloads hold quota of `queue`."""
        return len(self.holders.of(queue))


def _rules(spec: ClusterQueue) -> Iterable[object]:
    """The part of a spec that can change a decision."""
    return (
        spec.cohort, spec.groups, spec.strict_fifo, spec.namespace_selector, spec.preemption, spec.fungibility,
        spec.weight, spec.usage_based,
    )  # fmt: skip
