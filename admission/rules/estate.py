"""What a nomination reads: quota tree, holders, flavors, namespaces, who waits, and the queues that may admit."""

from collections.abc import Mapping

from admission.model.configuration import DEFAULTS, Configuration
from admission.model.names import WorkloadKey
from admission.model.queues import ClusterQueue, ResourceFlavor
from admission.rules.consumption import consumption_of
from admission.rules.fair_preemption import fairness_of
from admission.rules.holders import Holder, Holders
from admission.rules.order import Ordering
from admission.rules.policing import Policing
from admission.rules.queue import Queue, Waiting
from admission.rules.yielding import Yielding, moment
from admission.tree import Node, Tree


class Estate:
    """Filled by the scheduler. `era` counts changes that the tree's versions don't show."""

    def __init__(self, configuration: Configuration = DEFAULTS) -> None:
        self.configuration = configuration
        self.ordering = Ordering(configuration)
        self.yielding = Yielding()
        self.fairness = fairness_of(configuration, self.yielding)  # None: fair sharing is off
        self.consumption = consumption_of(configuration)  # None: admission fair sharing is off
        self.tree = Tree()
        self.holders = Holders()
        self.holders.consumption = self.consumption
        self.flavors: dict[str, ResourceFlavor] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}  # labels
        self.queues: dict[str, Queue] = {}
        self.waiting: dict[WorkloadKey, Waiting] = {}
        self.policing = Policing(self.tree, self.waiting.values, self.holders.everybody)
        self.holders.guard = self.policing
        self.ousted: dict[WorkloadKey, WorkloadKey] = {}  # victim -> for whom it had to leave
        # Whether nobody is admitted while somebody that holds quota has pods that are not ready; those, and the queues
        # whose heads wait for nothing else.
        waiting = configuration.wait_for_pods_ready
        self.one_at_a_time = waiting is not None and waiting.block_admission
        self.unready: dict[WorkloadKey, None] = {}
        self.blocked: dict[str, None] = {}
        self.era = 0
        self.attempts = [0, 0]  # cycles so far that admitted nobody, and those that did
        self._active: dict[str, ClusterQueue] | None = None
        self._members: dict[Node, list[Queue]] = {}

    def reshaped(self) -> None:
        """A queue or an edge of the tree changed."""
        self.era += 1
        self._active = None
        self._members.clear()
        self.policing.reshaped()

    def respecify(self, queue: Queue, spec: ClusterQueue) -> None:
        """The object moved on without a change that matters."""
        queue.spec = spec
        if self._active is not None and queue.name in self._active:
            self._active[queue.name] = spec

    @property
    def active(self) -> dict[str, ClusterQueue]:
        """The queues that may admit and whose holders may be preempted."""
        if self._active is None:
            self._active = {
                queue.name: queue.spec
                for queue in self.queues.values()
                if queue.spec is not None and queue.active and not self.tree.cyclic(queue.name)
            }
        return self._active

    def members(self, root: Node) -> list[Queue]:
        """The active queues of a tree, by name."""
        found = self._members.get(root)
        if found is None:
            active = self.active
            found = [self.queues[name] for name in self.tree.queues_below(root) if name in active]
            self._members[root] = found
        return found

    def accepts(self, queue: Queue, namespace: str) -> bool:
        """Whether the queue's selector matches the namespace."""
        labels = self.namespaces.get(namespace)
        if labels is None or queue.spec is None or queue.spec.namespace_selector is None:
            return False
        return queue.spec.namespace_selector.matches(labels)

    def hold(self, holder: Holder) -> None:
        """It counts from now on, in the tree too if its queue is there."""
        self.holders.add(holder)
        self.note_ready(holder)
        self.policing.hold(holder)
        node = self.tree.queue(holder.queue)
        if node is not None:
            self.tree.add(node, holder.usage)

    def let_go(self, key: WorkloadKey) -> Holder | None:
        """Its quota is free."""
        holder = self.holders.drop(key)
        self.unready.pop(key, None)
        if holder is not None:
            self.policing.release(key)
            node = self.tree.queue(holder.queue)
            if node is not None:
                self.tree.remove(node, holder.usage)
        return holder

    def note_ready(self, holder: Holder) -> None:
        """Whether others may be admitted beside it."""
        if holder.ready or not self.one_at_a_time:
            self.unready.pop(holder.key, None)
        else:
            self.unready[holder.key] = None

    def evict(self, key: WorkloadKey, by: WorkloadKey) -> None:
        """It is on its way out and still counts."""
        if len(self.ousted) > 2 * len(self.waiting):  # those whose preemptor waits no more mean nothing
            self.ousted = {victim: other for victim, other in self.ousted.items() if other in self.waiting}
        self.ousted.pop(key, None)
        self._break_circle(key, by)
        self.ousted[key] = by
        holder = self.holders.get(key)
        if holder is None:
            raise LookupError(f"{key} holds no quota and cannot be evicted")
        node = self.tree.queue(holder.queue)
        if node is not None:
            room = 2 * (len(self.waiting) + len(self.holders))
            self.yielding.forget_others(lambda one: one in self.waiting or one in self.holders, room)
            self.yielding.note(key, by, moment(node))
        holder.evicted = True
        self.era += 1

    def _break_circle(self, victim: WorkloadKey, by: WorkloadKey) -> None:
        """Who had to leave, by way of others, for its own victim need not wait for that one any more: of a circle the
        oldest part is dropped, so that there is always somebody who comes first."""
        circle: dict[WorkloadKey, None] = {}
        above: WorkloadKey | None = by
        while above is not None and above != victim and above not in circle:
            circle[above] = None
            above = self.ousted.get(above)
        if above == victim:
            del self.ousted[next(each for each in self.ousted if each in circle)]

    def disturbed(self, queue: str) -> None:
        """Something happened in the queue's tree that no decision of ours led to."""
        node = self.tree.queue(queue)
        if node is not None:
            node.root.news += 1
