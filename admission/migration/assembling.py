"""From a tree of queues of another system to Cohorts, ClusterQueues and LocalQueues.

What a queue owns is its nominal quota; a cohort owns what of its quota its children don't, so that a subtree owns what
its queue did. What is guaranteed without a bound becomes the whole cluster's amount, or a number that no cluster
reaches, and is lent to nobody: borrowed quota would keep a queue from taking back what it owns of another resource.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from admission.migration.checking import check
from admission.migration.fields import Findings
from admission.migration.objects import local_queue, made, queue_policy
from admission.migration.queues import ForeignQueue, Quota, Tree
from admission.model.amounts import text

# More than any cluster has, and so little that sums over all queues of a large tree stay within 63 bits.
_BOUNDLESS = {"cpu": 10**12, "memory": 100 * 2**50, "ephemeral-storage": 100 * 2**50}
_BOUNDLESS_COUNT = 10**9


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the files do not say. `total`: what the cluster has, in our units; empty: not known."""

    total: Mapping[str, int] = field(default_factory=dict)
    namespaces: Sequence[str] = ()
    flavor: str = "default"


def assemble(tree: Tree, around: Surroundings, findings: Findings) -> list[dict[str, Any]]:
    """The objects, in an order in which they can be applied; none for a tree that is none, which is a fault."""
    check(tree, findings)
    return [] if findings.faults else list(_Assembly(tree, around, findings).objects())


class _Assembly:
    def __init__(self, tree: Tree, around: Surroundings, findings: Findings) -> None:
        self.tree = tree
        self.around = around
        self.findings = findings
        self.by_name = {queue.name: queue for queue in tree.queues}
        self.children: dict[str, list[ForeignQueue]] = {}
        for queue in tree.queues:
            self.children.setdefault(queue.parent, []).append(queue)
        named = [resource for queue in tree.queues for resource in queue.quotas]
        self.resources = list(dict.fromkeys(("cpu", "memory", *sorted({*named, *around.total}))))
        self.flavor: dict[str, str] = {}  # of each queue: its own, or that of the nearest queue above that has one
        self.bounded: dict[str, frozenset[str]] = {}  # resources of which somebody above has so much and no more
        self.owns: dict[str, dict[str, int]] = {}
        self._walk()

    def _walk(self) -> None:
        """From the top down: what is beyond a change of flavor bounds nobody."""
        order = [queue for queue in self.tree.queues if queue.parent not in self.by_name]
        for queue in order:  # grows while it is walked
            order += self.children.get(queue.name, ())
            above = self.by_name.get(queue.parent)
            inherited = self.around.flavor if above is None else self.flavor[above.name]
            self.flavor[queue.name] = queue.flavor or inherited
            self.bounded[queue.name] = frozenset()
            if above is not None and self.flavor[queue.name] == inherited:
                stated = {name for name, one in above.quotas.items() if (one.owned, one.most) != (None, None)}
                self.bounded[queue.name] = self.bounded[above.name] | stated
        for queue in reversed(order):
            self.owns[queue.name] = {resource: self._subtree(queue, resource) for resource in self.resources}

    def _subtree(self, queue: ForeignQueue, resource: str) -> int:
        """What it and all below it own together, as far as it counts for who is above. What is not bounded at all is
        lent to nobody."""
        owned = self._quota(queue, resource).owned
        if owned is None and resource not in self.bounded[queue.name]:
            return 0
        return max(owned or 0, self._below(queue, resource))

    def _below(self, queue: ForeignQueue, resource: str) -> int:
        return sum(self.owns[child.name][resource] for child in self._beneath(queue))

    def objects(self) -> Iterator[dict[str, Any]]:
        if not self.tree.queues:
            return
        if any(queue.weight for queue in self.tree.queues):
            why = "weights count where the Configuration has fairSharing"
            self.findings.note("fairSharing", "weight", [q.name for q in self.tree.queues if q.weight], why)
        yield from self._flavors()
        for name, value in self.tree.classes.items():
            yield made("WorkloadPriorityClass", name, None, value=value)
        rooted = any(queue.parent not in self.by_name and not self._is_apart(queue) for queue in self.tree.queues)
        if rooted:
            yield self._root()
        self._tell_flavors()
        inner = [queue for queue in self.tree.queues if self._is_inner(queue)]
        leaves = [queue for queue in self.tree.queues if not self._is_inner(queue)]
        for queue in inner:
            if queue.name not in self.children:
                self.findings.note(queue.about, "", None, "has no queues below it, so that no job can go there")
            yield self._cohort(queue)
        for queue in leaves:
            yield self._cluster_queue(queue)
        for queue in leaves:
            for namespace in dict.fromkeys((*queue.namespaces, *self.around.namespaces)):
                yield local_queue(queue.name, namespace)
        if rooted and self.tree.policy:
            yield queue_policy(self.tree.root, "Cohort", self.tree.policy)
        for queue in self.tree.queues:
            policy = {**(self.tree.policy if self._is_apart(queue) else {}), **queue.policy}
            if policy:
                yield queue_policy(queue.name, "Cohort" if self._is_inner(queue) else "ClusterQueue", policy)

    def _is_inner(self, queue: ForeignQueue) -> bool:
        return queue.inner or queue.name in self.children

    def _tell_flavors(self) -> None:
        for queue in self.tree.queues:
            above = self.by_name.get(queue.parent)
            if above is not None and self.flavor[queue.name] != self.flavor[above.name]:
                why = f"the queue above is of flavor {self.flavor[above.name]}: this one owns nothing from there"
                self.findings.note(queue.about, "flavor", self.flavor[queue.name], why)

    def _is_apart(self, queue: ForeignQueue) -> bool:
        return queue.apart and self._is_inner(queue)

    def _flavors(self) -> Iterator[dict[str, Any]]:
        labels: dict[str, Mapping[str, str]] = {}
        for queue in self.tree.queues:
            flavor = self.flavor[queue.name]
            labels[flavor] = {**labels.get(flavor, {}), **queue.node_labels}
        for name, nodes in labels.items():
            yield made("ResourceFlavor", name, {"nodeLabels": dict(nodes)} if nodes else {})

    # quotas

    def _quota(self, queue: ForeignQueue, resource: str) -> Quota:
        return queue.quotas.get(resource, Quota(None))

    def _beneath(self, queue: ForeignQueue) -> list[ForeignQueue]:
        """Children on the same nodes: what others own is no part of what their parent owns."""
        flavor = self.flavor[queue.name]
        return [child for child in self.children.get(queue.name, ()) if self.flavor[child.name] == flavor]

    def _boundless(self, resource: str) -> int:
        return self.around.total.get(resource, _BOUNDLESS.get(resource, _BOUNDLESS_COUNT))

    def _entry(self, queue: ForeignQueue, resource: str) -> dict[str, str]:
        quota, inner = self._quota(queue, resource), self._is_inner(queue)
        below = self._below(queue, resource)
        if quota.owned is None:
            return self._open_entry(queue, resource, quota, below)
        nominal = max(quota.owned - below, 0)
        if inner and below > quota.owned:
            self.findings.note(
                queue.about,
                resource,
                text(resource, quota.owned),
                f"its children own more, {text(resource, below)}, and keep it: the parent's share is no bound for them",
            )
        entry = {"name": resource, "nominalQuota": text(resource, nominal)}
        if not quota.borrows:
            entry["borrowingLimit"] = "0"
        elif quota.most is not None:
            entry["borrowingLimit"] = text(resource, max(quota.most - max(quota.owned, below), 0))
        if not quota.lends or quota.kept:
            entry["lendingLimit"] = text(resource, max(quota.owned - quota.kept, 0) if quota.lends else 0)
        return entry

    def _open_entry(self, queue: ForeignQueue, resource: str, quota: Quota, below: int) -> dict[str, str]:
        """Of a resource that is guaranteed without a bound."""
        if resource in self.bounded[queue.name]:
            self.findings.note(
                queue.about, resource, "unlimited", "a queue above has only so much: it is borrowed from there"
            )
            entry = {"name": resource, "nominalQuota": "0"}
            return entry if quota.most is None else entry | {"borrowingLimit": text(resource, quota.most)}
        amount = self._boundless(resource)
        if quota.most is not None:
            amount = min(amount, quota.most)
        if quota.most is not None or resource in self.around.total:
            amount = max(amount - below, 0)
        nominal = text(resource, amount)
        return {"name": resource, "nominalQuota": nominal, "borrowingLimit": "0", "lendingLimit": "0"}

    def _groups(self, flavor: str, quotas: list[dict[str, str]]) -> list[dict[str, Any]]:
        return [
            {
                "coveredResources": [quota["name"] for quota in quotas],
                "flavors": [{"name": flavor, "resources": quotas}],
            }
        ]

    # objects

    def _root(self) -> dict[str, Any]:
        """It owns what the cluster has beyond what queues own."""
        top = [queue for queue in self.tree.queues if queue.parent not in self.by_name and not self._is_apart(queue)]
        flavors = list(dict.fromkeys(self.flavor[queue.name] for queue in top))
        rest = {
            resource: total - sum(self.owns[queue.name][resource] for queue in top)
            for resource, total in self.around.total.items()
        }
        spec: dict[str, Any] = {}
        if len(flavors) == 1 and any(amount > 0 for amount in rest.values()):
            quotas = [
                {"name": resource, "nominalQuota": text(resource, max(amount, 0))} for resource, amount in rest.items()
            ]
            spec["resourceGroups"] = self._groups(flavors[0], quotas)
        elif self.around.total and len(flavors) > 1:
            self.findings.note(
                "the cluster", "total", dict.fromkeys(flavors, "?"), "which flavor has how much of it is not known"
            )
        return made("Cohort", self.tree.root, spec)

    def _cohort(self, queue: ForeignQueue) -> dict[str, Any]:
        quotas = [self._entry(queue, resource) for resource in self.resources]
        spec: dict[str, Any] = {} if queue.apart else {"parentName": self._parent(queue)}
        if queue.apart:  # with nobody beside it there is nothing to lend or borrow
            quotas = [{key: quota[key] for key in ("name", "nominalQuota")} for quota in quotas]
        spec["resourceGroups"] = self._groups(self.flavor[queue.name], quotas)
        if queue.weight:
            spec["fairSharing"] = {"weight": queue.weight}
        return made("Cohort", queue.name, spec, queue.labels)

    def _parent(self, queue: ForeignQueue) -> str:
        return queue.parent if queue.parent in self.by_name else self.tree.root

    def _cluster_queue(self, queue: ForeignQueue) -> dict[str, Any]:
        quotas = [self._entry(queue, resource) for resource in self.resources]
        spec: dict[str, Any] = {
            "cohortName": self._parent(queue),
            "namespaceSelector": {},
            "queueingStrategy": "StrictFIFO" if queue.strict else "BestEffortFIFO",
            "preemption": {
                "withinClusterQueue": queue.preemption.within,
                "reclaimWithinCohort": queue.preemption.reclaim,
            },
            "resourceGroups": self._groups(self.flavor[queue.name], quotas),
        }
        if queue.weight:
            spec["fairSharing"] = {"weight": queue.weight}
        if queue.held:
            spec["stopPolicy"] = "Hold"
        return made("ClusterQueue", queue.name, spec, queue.labels)
