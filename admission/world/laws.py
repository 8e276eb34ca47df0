"""Laws that hold over a whole run whatever goes wrong, judged from raw objects with arithmetic of their own.

The quota law looks at every commit that makes a Workload hold quota; the others look at a world at rest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from admission.jobs import JOB_KINDS
from admission.model.amounts import amount
from admission.model.kinds import Ref
from admission.model.names import ADMITTED, EVICTED, FINISHED, QUEUE_NAME, QUOTA_RESERVED
from admission.world.clock import EPOCH
from admission.world.objects import Frozen, holds, ref_of
from admission.world.store import Change
from admission.world.world import World

FlavorResource = tuple[str, str]
Usage = dict[FlavorResource, int]


@dataclass(frozen=True, slots=True)
class Pool:
    """A ClusterQueue or Cohort: its parent and its quotas, (nominal, borrowing limit, lending limit) in units."""

    parent: str
    quotas: Mapping[FlavorResource, tuple[int, int | None, int | None]]


@dataclass(slots=True)
class Tree:
    """The quotas in force at one moment."""

    queues: dict[str, Pool] = field(default_factory=dict)
    cohorts: dict[str, Pool] = field(default_factory=dict)

    def cohort(self, name: str) -> Pool:
        return self.cohorts.get(name, Pool("", {}))  # a cohort that only queues name exists all the same

    def quota(self, name: str, cohort: bool, fr: FlavorResource) -> int:
        """What the subtree has: its own nominal quota and what its children lend."""
        pool = self.cohort(name) if cohort else self.queues[name]
        total = pool.quotas.get(fr, (0, None, None))[0]
        if cohort:
            for child, of_cohort in self.children(name):
                total += self.quota(child, of_cohort, fr) - self.kept(child, of_cohort, fr)
        return total

    def kept(self, name: str, cohort: bool, fr: FlavorResource) -> int:
        """What the subtree has and does not lend."""
        pool = self.cohort(name) if cohort else self.queues[name]
        lending = pool.quotas.get(fr, (0, None, None))[2]
        return 0 if lending is None else max(0, self.quota(name, cohort, fr) - lending)

    def usage(self, name: str, cohort: bool, fr: FlavorResource, used: Mapping[str, Usage]) -> int:
        """What the subtree takes out of its own quota and, beyond what it keeps, of its parent's."""
        if not cohort:
            return used.get(name, {}).get(fr, 0)
        return sum(
            max(0, self.usage(child, of_cohort, fr, used) - self.kept(child, of_cohort, fr))
            for child, of_cohort in self.children(name)
        )

    def children(self, cohort: str) -> Iterator[tuple[str, bool]]:
        for name, pool in self.queues.items():
            if pool.parent == cohort:
                yield name, False
        for name, pool in self.cohorts.items():
            if pool.parent == cohort:
                yield name, True

    def beyond(self, queue: str, fr: FlavorResource, used: Mapping[str, Usage]) -> str:
        """Which node on the way from this queue to its root is above its limit, or ""."""
        name, cohort = queue, False
        while name:
            pool = self.cohort(name) if cohort else self.queues[name]
            limit, borrowing = self.quota(name, cohort, fr), pool.quotas.get(fr, (0, None, None))[1]
            usage = self.usage(name, cohort, fr, used)
            if pool.parent and borrowing is None:
                limit = usage
            elif pool.parent and borrowing is not None:
                limit += borrowing
            if usage > limit:
                return f"{name} uses {usage} of {fr[1]} in flavor {fr[0]}, {limit} allowed"
            name, cohort = pool.parent, True
        return ""

    def with_change(self, change: Change) -> "Tree":
        """The tree after this write of a ClusterQueue or Cohort."""
        queues, cohorts = dict(self.queues), dict(self.cohorts)
        side = queues if change.ref.kind == "ClusterQueue" else cohorts
        if change.type == "DELETED":
            side.pop(change.ref.name, None)
        else:
            side[change.ref.name] = _pool(change.new)
        return Tree(queues, cohorts)


class QuotaLaw:
    """No write admits a Workload beyond the quotas in force. `broken` says each time how it was.

    `memory`: seconds for which quotas that were changed still excuse a write: a plan may have been made from them.
    """

    def __init__(self, world: World, memory: float = 0.0) -> None:
        self.broken: list[str] = []
        self.admitted = 0
        self._world = world
        self._memory = memory
        self._trees: list[tuple[float, Tree]] = [(world.now, Tree())]  # since when
        self._held: dict[Ref, tuple[str, Usage]] = {}
        self._back: dict[Ref, None] = {}
        self._used: dict[str, Usage] = {}
        world.api.listen(self._note)

    def _note(self, change: Change) -> None:
        if change.ref.kind in ("ClusterQueue", "Cohort"):
            if change.old is None or change.type == "DELETED" or change.old.get("spec") is not change.new.get("spec"):
                self._trees.append((self._world.now, self._trees[-1][1].with_change(change)))
        elif change.ref.kind == "Workload":
            before = self._held.pop(change.ref, None)
            if before is not None:
                self._add(*before, -1)
            after = None if self._is_back(change, before is not None) else holding(change.new)
            if after is not None:
                self._held[change.ref] = after
                self._add(*after, 1)
                if before != after:
                    self.admitted += before is None
                    self._judge(change.ref, *after)

    def _is_back(self, change: Change, held: bool) -> bool:
        """Gone, or reactivated by somebody while it still has a reservation: that makes it count again, by no write of
        ours, and what we let into its room before we hear of it is no fault."""
        reserved = change.type != "DELETED" and holds(change.new, QUOTA_RESERVED)
        if not reserved:
            self._back.pop(change.ref, None)
        elif not held and holding(change.new) and change.old is not None and holds(change.old, QUOTA_RESERVED):
            self._back[change.ref] = None
        return change.type == "DELETED" or change.ref in self._back

    def _add(self, queue: str, usage: Usage, sign: int) -> None:
        used = self._used.setdefault(queue, {})
        for fr, units in usage.items():
            used[fr] = used.get(fr, 0) + sign * units

    def _judge(self, ref: Ref, queue: str, usage: Usage) -> None:
        since = self._world.now - self._memory
        while len(self._trees) > 1 and self._trees[1][0] < since:
            self._trees.pop(0)
        complaints = [self._complaint(tree, queue, usage) for _, tree in self._trees]
        if all(complaints):
            self.broken.append(f"at t={self._world.now - EPOCH:g} {ref} was admitted: {complaints[-1]}")

    def _complaint(self, tree: Tree, queue: str, usage: Usage) -> str:
        if queue not in tree.queues:
            return f"there is no ClusterQueue {queue}"
        found = (tree.beyond(queue, fr, self._used) for fr, units in usage.items() if units)
        return next((complaint for complaint in found if complaint), "")


class StartLaw:
    """A job is released only while the Workload is admitted that it counts under: its own, or that of the topmost job
    above it that names a queue. Watched at every release; what others make unheld is held soon after.

    `memory`: seconds for which an admission that has ended excuses a start: the request may have been on its way.
    """

    def __init__(self, world: World, memory: float = 0.0) -> None:
        self.broken: list[str] = []
        self.started = 0
        self._world = world
        self._memory = memory
        self._admitted: dict[str, float] = {}  # uid of the owner -> when one of its Workloads was last admitted
        world.subscribe("Workload", self._note_workload)
        for kind in JOB_KINDS:
            world.subscribe(kind, self._note_job)

    def _note_workload(self, change: Change) -> None:
        if change.old is not None and _runs(change.old):
            for owner in change.old["metadata"].get("ownerReferences") or ():
                self._admitted[owner["uid"]] = self._world.now

    def _note_job(self, change: Change) -> None:
        if change.old is None or change.type == "DELETED" or held(change.new) or not held(change.old):
            return
        head = head_of(self._world, change.new)
        if head is None:
            return
        self.started += 1
        last = self._admitted.get(head["metadata"]["uid"])
        if last is not None and last >= self._world.now - self._memory:
            return
        if not any(_runs(workload) for workload in workloads_of(self._world, head)):
            self.broken.append(
                f"at t={self._world.now - EPOCH:g} {change.ref} was started without an admitted Workload"
            )


def _runs(workload: Frozen) -> bool:
    return holds(workload, ADMITTED) and not holds(workload, EVICTED)


def at_rest(world: World) -> Iterator[str]:
    """What must hold when nothing is under way: what the product believes is what the API server has, and no job runs
    without quota or waits in spite of it."""
    believed: Mapping[Any, Any] = getattr(world.state, "workloads", {})
    stored = {f"{w['metadata']['namespace']}/{w['metadata']['name']}": w for w in world.api.scan("Workload")}
    for key in sorted({*believed, *stored}):
        if key not in believed or key not in stored:
            yield f"{key} exists only {'for the product' if key in believed else 'on the API server'}"
            continue
        for condition in (QUOTA_RESERVED, ADMITTED, EVICTED, FINISHED):
            if believed[key].is_true(condition) != holds(stored[key], condition):
                yield f"{key}: the product believes {condition}={believed[key].is_true(condition)}"
    for kind in JOB_KINDS:
        for job in world.api.scan(kind):
            yield from _out_of_step(world, job)


def _out_of_step(world: World, job: Frozen) -> Iterator[str]:
    head = head_of(world, job)
    if head is None or job["metadata"].get("deletionTimestamp") or JOB_KINDS[ref_of(job).kind].read(job).end:
        return
    admitted = any(_runs(workload) for workload in workloads_of(world, head))
    if not admitted and not held(job):
        yield f"{ref_of(job)} is running but not admitted"
    if admitted and held(job) and head is job:  # who made it releases any other
        yield f"{ref_of(job)} is suspended though admitted"
    if head is not job:
        yield from (f"{ref_of(job)} has a Workload besides that of {ref_of(head)}" for _ in workloads_of(world, job))


def negative_usage(world: World) -> Iterator[str]:
    """Queue statuses that show less than nothing."""
    for queue in world.api.scan("ClusterQueue"):
        for key in ("flavorsReservation", "flavorsUsage"):
            for flavor in (queue.get("status") or {}).get(key) or ():
                for resource in flavor.get("resources") or ():
                    if amount(resource["name"], resource.get("total", "0")) < 0:
                        yield f"{ref_of(queue)}: {key} of {resource['name']} is {resource['total']}"


def held(job: Frozen) -> bool:
    return JOB_KINDS[ref_of(job).kind].hold.holds(job)


def head_of(world: World, job: Frozen) -> Frozen | None:
    """The topmost one that names a queue, of a job and its controlling owners; None: there is none."""
    found: Frozen | None = None
    above: Frozen | None = job
    while above is not None:
        if QUEUE_NAME in (above["metadata"].get("labels") or {}):
            found = above
        owners = above["metadata"].get("ownerReferences") or ()
        uid = next((owner["uid"] for owner in owners if owner.get("controller")), "")
        ref = world.api.store.by_uid(uid)
        above = world.api.peek(ref) if ref is not None and ref.kind in JOB_KINDS else None
    return found


def workloads_of(world: World, job: Frozen) -> Iterator[Frozen]:
    for ref in world.api.store.dependents(job["metadata"]["uid"]):
        found = world.api.peek(ref)
        if found is not None and ref.kind == "Workload":
            yield found


def holding(workload: Frozen) -> tuple[str, Usage] | None:
    """The queue and the usage of a Workload that holds quota."""
    if not holds(workload, QUOTA_RESERVED) or holds(workload, FINISHED):
        return None
    if (workload.get("spec") or {}).get("active") is False:
        return None
    admission = (workload.get("status") or {}).get("admission") or {}
    usage: Usage = {}
    for entry in admission.get("podSetAssignments") or ():
        for resource, flavor in (entry.get("flavors") or {}).items():
            units = amount(resource, (entry.get("resourceUsage") or {}).get(resource, "0"))
            usage[flavor, resource] = usage.get((flavor, resource), 0) + units
    return str(admission.get("clusterQueue")), usage


def _pool(manifest: Frozen) -> Pool:
    spec = manifest.get("spec") or {}
    quotas = {
        (flavor["name"], resource["name"]): (
            amount(resource["name"], resource["nominalQuota"]),
            _limit(resource, "borrowingLimit"),
            _limit(resource, "lendingLimit"),
        )
        for group in spec.get("resourceGroups") or ()
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    }
    return Pool(str(spec.get("cohortName") or spec.get("parentName") or ""), quotas)


def _limit(resource: Mapping[str, Any], key: str) -> int | None:
    value = resource.get(key)
    return None if value is None else amount(resource["name"], value)
