"""Why one workload waits: asks, in this order, what would hold it back first. The first answer that applies is told.

The same order in which a workload travels: is it over, is it let in at all, does its LocalQueue lead anywhere, is its
ClusterQueue open, and only then what the scheduler says of flavors and quota.
"""

from collections.abc import Callable

from admission.explain import words
from admission.explain.explanation import Explanation, Holding, Lack
from admission.explain.states import state_word
from admission.model.decisions import Admit, Hold, Preempt, Shortage
from admission.model.durations import spoken
from admission.model.names import EVICTED, REQUEUED, WorkloadKey
from admission.model.queues import ClusterQueue, FlavorResource, Quota
from admission.model.workload import Admission, Workload
from admission.reconcile.queues import inactivity
from admission.rules.policing import BEYOND_LIMITS, REFUSED
from admission.state import State
from admission.tree.shares import dominant

_SHOWN_HOLDERS = 5  # the largest; below them nobody looks
_SHOWN_AHEAD = 5


class Explainer:
    """Explains any number of workloads of one state at one moment; what they share is looked up once."""

    def __init__(self, state: State, now: float, called: Callable[[WorkloadKey], str] | None = None) -> None:
        """`called`: what a person calls the job of a workload; else the name of the owner that State knows."""
        self._called = called or self._owner_name
        self._objects = state.objects
        self._scheduler = state.scheduler
        self._quotas = state.elastic_quotas
        self._now = now
        self._pending: dict[str, list[WorkloadKey]] = {}
        self._positions: dict[str, dict[WorkloadKey, int]] = {}
        self._holdings: dict[tuple[str, FlavorResource], list[Holding]] = {}

    def explain(self, key: WorkloadKey) -> Explanation:
        """Raises KeyError when there is no such workload."""
        workload = self._objects.workloads[key].current
        if workload is None:
            raise KeyError(key)
        return self._settled(workload) or self._not_queued(workload) or self._queued(workload)

    def position(self, key: WorkloadKey, queue: str) -> int | None:
        """0 is the head."""
        if queue not in self._positions:
            self._positions[queue] = {other: index for index, other in enumerate(self._line(queue))}
        return self._positions[queue].get(key)

    # --- what does not wait

    def _settled(self, workload: Workload) -> Explanation | None:
        state = self._state_of(workload)
        evicted = workload.conditions.get(EVICTED)
        match state:
            case "finished":
                return self._told(workload, "", "It has finished.")
            case "deactivated":
                cause = f": {evicted.message}" if evicted is not None and evicted.true and evicted.message else ""
                return self._told(
                    workload, "Deactivated", f"It is deactivated (spec.active is false){cause} and waits for no queue.",
                    never=True,
                )  # fmt: skip
            case "evicted":
                cause = f" ({evicted.reason})" if evicted is not None else ""
                return self._told(
                    workload, "", f"It was evicted{cause} and still holds its quota until it has stopped."
                )
            case "admitted":
                fewer = words.pods(workload, _counts(workload.admission))
                got = f" with {fewer}" if fewer else ""
                where = self._admitted_in(workload)
                return self._told(workload, "", f"It is admitted in queue {where}{got} and may run.")
            case "quotaReserved":
                where = self._admitted_in(workload)
                return self._told(workload, "", f"Quota is reserved in queue {where}. {words.checks(workload.checks)}")
        return None

    # --- what no queue takes

    def _not_queued(self, workload: Workload) -> Explanation | None:
        if workload.gated_by:
            return self._told(
                workload, "AdmissionGated", f"It is held by the gate {workload.gated_by} until somebody removes it.",
            )  # fmt: skip
        if workload.on_hold:
            told = "It is on hold: the operator of its job will not run that as it is. Mend the job, or submit another."
            return self._told(workload, "OnHold", told, never=True)
        if not workload.queue_name:
            return self._told(
                workload, "Misconfigured",
                "It names no queue: set the label kueue.x-k8s.io/queue-name.", never=True,
            )  # fmt: skip
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        name = f"{workload.namespace}/{workload.queue_name}"
        if local is None:
            return self._told(
                workload, "Misconfigured",
                f"Its LocalQueue {name} does not exist: create it, or correct the label kueue.x-k8s.io/queue-name.",
                never=True,
            )  # fmt: skip
        if local.stop_policy != "None":
            return self._told(
                workload, "Suspended", f"Its LocalQueue {name} is stopped (stopPolicy {local.stop_policy}).", never=True
            )
        queue = self._objects.cluster_queue(local.cluster_queue)
        if queue is None:
            return self._told(
                workload, "Misconfigured",
                f"LocalQueue {name} leads to ClusterQueue {local.cluster_queue}, which does not exist.", never=True,
            )  # fmt: skip
        return self._closed(workload, queue) or self._outside(workload, queue) or self._backing_off(workload)

    def _closed(self, workload: Workload, queue: ClusterQueue) -> Explanation | None:
        why = inactivity(self._objects, queue)
        if why is not None:
            reason = "Misconfigured" if why[0] == "FlavorNotFound" else "Suspended"
            policy = f" Its stopPolicy is {queue.stop_policy}." if queue.stop_policy != "None" else ""
            told = f"Its ClusterQueue {queue.name} is inactive: {why[1]}{policy}"
            return self._told(workload, reason, told, never=True)
        if self._scheduler.tree.cyclic(queue.name):
            return self._told(
                workload, "Suspended",
                f"Its ClusterQueue {queue.name} is inactive: the cohorts above it ({queue.cohort} and on) form a "
                "circle; change a parentName.",
                never=True,
            )  # fmt: skip
        return None

    def _outside(self, workload: Workload, queue: ClusterQueue) -> Explanation | None:
        namespace = self._objects.namespace(workload.namespace)
        selector = queue.namespace_selector
        if namespace is not None and selector is not None and selector.matches(namespace.labels):
            return None
        if namespace is None:
            why = f"Namespace {workload.namespace} does not exist."
        elif selector is None:
            why = f"ClusterQueue {queue.name} has no namespaceSelector, so it takes nobody; {{}} would take everybody."
        else:
            why = (
                f"Namespace {workload.namespace} is not selected by the namespaceSelector of ClusterQueue {queue.name}."
            )
        return self._told(workload, "Misconfigured", why, never=True)

    def _backing_off(self, workload: Workload) -> Explanation | None:
        if any(check.state == "Rejected" for check in workload.checks):
            return self._told(workload, "PendingEvaluation", words.checks(workload.checks), never=True)
        if workload.requeue_at is not None and workload.requeue_at > self._now:
            wait = spoken(workload.requeue_at - self._now)
            return self._told(workload, "PendingEvaluation", f"It was sent back and may queue again in {wait}.")
        requeued = workload.conditions.get(REQUEUED)
        if requeued is not None and not requeued.true:
            return self._told(
                workload, "PendingEvaluation", f"It was sent back ({requeued.reason}) and may not queue yet."
            )
        return None

    # --- what waits in a queue

    def _queued(self, workload: Workload) -> Explanation:
        key = workload.key
        if not self._scheduler.waits(key):
            return self._told(workload, "PendingEvaluation", "It has not reached its queue yet.")
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        queue = self._objects.cluster_queue(local.cluster_queue if local is not None else "")
        if queue is None:
            return self._told(workload, "Misconfigured", "Its ClusterQueue does not exist.", never=True)
        last, judged = self._scheduler.last(key), self._scheduler.inspect(key, self._now)
        lacks = self._lacks(queue, judged.shortages if isinstance(judged, Hold) else ())
        leaving = last.victims if last is not None else ()
        reason, why, never = self._judgement(workload, judged, last, lacks)
        why += self._elastic(queue, lacks)
        never = never and not (reason == "ExceedsMaxQuota" and self._may_grow(queue, lacks))
        line = self._line(queue.name)
        position = self.position(key, queue.name)
        strict = queue.strict_fifo and reason not in BEYOND_LIMITS and not self._passes_by(workload, queue)
        first = self._blocks(line[: position or 0]) if strict else None
        if first is not None and not never:
            head = Explainer._queued(self, self._workload(first))
            reason = "WaitingForQuota"
            why = words.strict(queue.name, self._called(first), head.why, isinstance(judged, Admit))
            never = head.never
        return Explanation(
            key, self._state_of(workload), queue.name, workload.queue_name, reason, why, position,
            tuple(line[: min(position or 0, _SHOWN_AHEAD)]), lacks, leaving, never=never, share=self._share(queue),
            fairness=self._fairness(workload, queue),
        )  # fmt: skip

    def _passes_by(self, workload: Workload, queue: ClusterQueue) -> bool:
        """Who waits ahead holds up only what it waits for."""
        policing = self._scheduler.policies.policing
        effective = policing.effective(queue.name, f"{workload.namespace}/{workload.queue_name}")
        return effective.manners.strict_fifo_scope == "Flavors"

    def _blocks(self, ahead: list[WorkloadKey]) -> WorkloadKey | None:
        """The first that a strict queue stops at: who is beyond a limit is not queued."""
        for key in ahead:
            last = self._scheduler.last(key)
            if last is None or last.reason not in BEYOND_LIMITS:
                return key
        return None

    # --- where fairness decides

    def _share(self, queue: ClusterQueue) -> int | None:
        share = self._scheduler.share(self._scheduler.tree.queue(queue.name))
        return None if share is None else share.status

    def _fairness(self, workload: Workload, queue: ClusterQueue) -> str:
        node = self._scheduler.tree.queue(queue.name)
        told = []
        if node is not None and node.parent is not None and self._scheduler.share(node) is not None:
            told.append(words.by_share(queue.name, dominant(node), node.weight))
        consumption = self._scheduler.consumption
        if consumption is not None and queue.usage_based:
            mine = f"{workload.namespace}/{workload.queue_name}"
            others = [other for other in self._objects.local_queues_of(queue.name) if other != mine]
            fewer = sum(consumption.standing(other) < consumption.standing(mine) for other in others)
            told.append(words.by_usage(workload.queue_name, fewer, len(others)))
        return " ".join(part for part in told if part)

    def _elastic(self, queue: ClusterQueue, lacks: tuple[Lack, ...]) -> str:
        quota, standing = self._quotas.quota(queue.name), self._quotas.standings.get(queue.name)
        if not queue.virtual or quota is None or standing is None:
            return ""
        return words.elastic(quota, standing, [lack.resource for lack in lacks if lack.missing])

    def _may_grow(self, queue: ClusterQueue, lacks: tuple[Lack, ...]) -> bool:
        """An elastic quota's limit is its runtime: that rises when others ask for less."""
        quota = self._quotas.quota(queue.name) if queue.virtual else None
        return quota is not None and all(lack.asked <= quota.max.get(lack.resource, lack.asked) for lack in lacks)

    def _judgement(
        self, workload: Workload, judged: Hold | Admit | Preempt, last: Hold | None, lacks: tuple[Lack, ...]
    ) -> tuple[str, str, bool]:
        """Reason, sentence, and whether only a change of spec or quota can help."""
        if last is not None and last.victims:
            names = [self._called(key) for key in last.victims]
            return "WaitingForPreemptedWorkloads", words.preempting(names), False
        match judged:
            case Admit(admission=admission):
                fewer = words.pods(workload, _counts(admission))
                how = f"With {fewer} it" if fewer else "It"
                return "PendingEvaluation", f"{how} fits and is admitted with the next decision.", False
            case Preempt(victims=victims):
                names = [self._called(victim.workload) for victim in victims]
                return "WaitingForPreemptedWorkloads", words.preempting(names), False
            case Hold(reason="ExceedsMaxQuota"):
                return "ExceedsMaxQuota", words.never_fits(lacks) + words.of_the_fewest(workload), True
            case Hold(reason="NoMatchingFlavor", message=message):
                return "NoMatchingFlavor", words.no_flavor(lacks, message), True
            case Hold(reason="WaitingForQuota", message=message):
                why = words.waits_for_quota(lacks) if lacks else f"{message}."
                return "WaitingForQuota", why + words.of_the_fewest(workload), False
            case Hold(reason="WaitingForPodsReady"):
                names = [self._called(key) for key in self._scheduler.unready]
                return "WaitingForPodsReady", words.unready(names), False
            case Hold(reason=reason, message=message):
                return reason, f"{message}.", reason in ("Misconfigured", "Suspended", REFUSED)

    def _lacks(self, queue: ClusterQueue, shortages: tuple[Shortage, ...]) -> tuple[Lack, ...]:
        return tuple(self._lack(queue, shortage) for shortage in shortages)

    def _lack(self, queue: ClusterQueue, shortage: Shortage) -> Lack:
        fr = (shortage.flavor, shortage.resource)
        quota = queue.quotas().get(fr, Quota(0))
        used = self._scheduler.usage(queue.name).get(fr, 0)
        free = min(max(0, quota.nominal - used), shortage.available)
        missing = max(0, shortage.asked - shortage.available)
        holdings = self._holders_of(queue.name, fr) if missing else []
        limit = quota.borrowing_limit
        if limit is not None and missing and used + shortage.asked > quota.nominal + limit:
            holdings = [one for one in holdings if one.cluster_queue == queue.name]  # others leaving would not help
        else:
            limit = None
        return Lack(
            shortage.pod_set,
            shortage.resource,
            shortage.flavor,
            shortage.asked,
            free,
            shortage.available - free,
            missing,
            shortage.potential,
            shortage.verdict,
            shortage.note,
            limit,
            tuple(holdings[:_SHOWN_HOLDERS]),
            max(0, len(holdings) - _SHOWN_HOLDERS),
        )

    def _holders_of(self, queue: str, fr: FlavorResource) -> list[Holding]:
        """In the whole tree of the queue, the largest first."""
        node = self._scheduler.tree.queue(queue)
        if node is None:
            return []
        at = (node.root.name, fr)
        if at not in self._holdings:
            found = [
                Holding(holder.key, self._called(holder.key), holder.queue, units, holder.evicted)
                for name in self._scheduler.tree.queues_below(node.root)
                for holder in self._scheduler.holders.of(name)
                if (units := holder.usage.get(fr, 0))
            ]
            self._holdings[at] = sorted(found, key=lambda one: (-one.units, one.workload))
        return self._holdings[at]

    # --- small words

    def _line(self, queue: str) -> list[WorkloadKey]:
        if queue not in self._pending:
            self._pending[queue] = self._scheduler.pending(queue)
        return self._pending[queue]

    def _workload(self, key: WorkloadKey) -> Workload:
        workload = self._objects.workloads[key].current
        if workload is None:
            raise KeyError(key)
        return workload

    def _owner_name(self, key: WorkloadKey) -> str:
        owner = self._workload(key).owner
        return f"{owner.namespace}/{owner.name}" if owner is not None else str(key)

    def _state_of(self, workload: Workload) -> str:
        return state_word(workload, self._scheduler.parked(workload.key))

    def _admitted_in(self, workload: Workload) -> str:
        return workload.admission.cluster_queue if workload.admission is not None else ""

    def _told(self, workload: Workload, reason: str, why: str, *, never: bool = False) -> Explanation:
        local = self._objects.local_queue(workload.namespace, workload.queue_name)
        queue = self._admitted_in(workload) or (local.cluster_queue if local is not None else "")
        return Explanation(
            workload.key, self._state_of(workload), queue, workload.queue_name, reason, why, never=never
        )  # fmt: skip


def _counts(admission: Admission | None) -> dict[str, int]:
    """Pods that each pod set got."""
    return {one.name: one.count for one in admission.assignments} if admission is not None else {}
