"""Apache YuniKorn's `queues.yaml`, bare or in its ConfigMap: partitions, and queues in queues by their paths."""

from collections.abc import Sequence
from typing import Any

from admission.migration.documents import named_badly
from admission.migration.durations import duration_text
from admission.migration.fields import Fields, Findings
from admission.migration.queues import ForeignQueue, Preemption, Quota, Tree, of_unlisted
from admission.migration.yunikorn_people import Acl, acl, limits
from admission.stamping.foreign_hints.yunikorn import queue_name

ROOT = "root"
_PARTITION = "default"
_NAMES = {"vcore": "cpu"}
# Properties of queues without a counterpart, and why that is.
_PROPERTIES = {
    "application.sort.priority": "jobs are always ordered by priority first",
    "priority.policy": "priorities are compared all over a cohort",
    "priority.offset": "priorities are compared as they are",
    "preemption.delay": "who may take quota back takes it back at once",
}
_QUEUE_ROWS = "QueuePolicy limits users and groups, not a whole queue's number of jobs"


def read_yunikorn(documents: Sequence[Any], findings: Findings) -> Tree:
    """The tree of all partitions of the documents, each a whole `queues.yaml`. Notes and faults go to `findings`."""
    read = _Read(findings)
    tops = [Fields(document, "queues.yaml", findings, index) for index, document in enumerate(documents)]
    for top in tops:
        for partition in top.children("partitions"):
            read.partition(partition)
    queues = read.queues()
    for top in tops:
        top.tell_rest()
    return Tree(ROOT, queues)


class _Queue:
    def __init__(self, path: str, parent: "_Queue | None", fields: Fields, acl: Acl, preempts: bool) -> None:
        self.path = path
        self.parent = parent
        self.fields = fields
        self.preempts = preempts
        self.name = queue_name(path)
        resources = fields.child("resources")
        self.guaranteed = resources.amounts("guaranteed", _NAMES)
        self.max = resources.amounts("max", _NAMES)
        self.inner = fields.flag("parent") or bool(fields.take("queues"))
        self.acl: Acl = acl if parent is None else parent.acl.joined(acl)
        self.rows = limits(fields)


class _Read:
    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.found: list[_Queue] = []
        self.taken: dict[str, str] = {}

    def partition(self, partition: Fields) -> None:
        name = partition.word("name") or _PARTITION
        partition.about = f"partition {name}"
        partition.drop("placementrules", "a JobProfile can give jobs their queue by namespace, user and group")
        partition.drop("nodesortpolicy", "nodes are the scheduler's business")
        partition.drop("statedumpfilepath", "nothing is dumped")
        preemption = partition.child("preemption")
        preempts = preemption.flag("enabled", True)
        preemption.drop("quotapreemptionenabled", "a QueuePolicy says for each queue whether a lowered quota evicts")
        if rows := limits(partition):
            self.findings.note(partition.about, "limits", rows, "give them to a QueuePolicy of the root cohort")
        for queue in partition.children("queues"):
            self._queue(queue, None, "" if name == _PARTITION else f"{name}.", preempts)

    def _queue(self, fields: Fields, parent: _Queue | None, prefix: str, preempts: bool) -> None:
        own = fields.word("name")
        if not own:
            fields.fault("name", "is missing", "name the queue")
            return
        path = f"{parent.path}.{own}" if parent is not None else own
        fields.about = f"queue {prefix}{path}"
        if parent is None and own.lower() != ROOT:
            fields.fault("name", "is beside the root", "put it below a queue called root")
            return
        one = _Queue(path, parent, fields, acl(fields), preempts)
        if prefix:
            one.name = queue_name(f"{prefix}{path}")
        if named_badly(one.name):
            fields.fault("name", f"becomes {one.name!r}, which no object can be called", "rename the queue")
            return
        if one.name in self.taken:
            fields.fault("name", f"becomes {one.name!r}, as {self.taken[one.name]} does", "rename one of the two")
            return
        self.taken[one.name] = path
        self.found.append(one)
        fields.drop("childtemplate", "no queue is made by jobs that name it: a JobProfile makes LocalQueues")
        for child in fields.children("queues"):
            self._queue(child, one, prefix, preempts)

    def queues(self) -> list[ForeignQueue]:
        listed = {resource for one in self.found for resource in one.guaranteed}
        named = listed | {resource for one in self.found for resource in one.max}
        return [self._made(one, named, listed) for one in self.found if not self._is_root(one)]

    def _is_root(self, one: _Queue) -> bool:
        """The root of the usual partition is the cluster, and our own root."""
        if one.name != ROOT:
            return False
        if one.max or one.guaranteed:
            why = "the root is the cluster: say it by --cluster"
            self.findings.note(one.fields.about, "resources", {"guaranteed": one.guaranteed, "max": one.max}, why)
        if one.rows:
            self.findings.note(one.fields.about, "limits", one.rows, "give them to a QueuePolicy of the root cohort")
        self._properties(one, Preemption())
        return True

    def _made(self, one: _Queue, named: set[str], listed: set[str]) -> ForeignQueue:
        quotas = {resource: _quota(one, resource, listed) for resource in sorted(named)}
        parent = "" if one.parent is None or one.parent.name == ROOT else one.parent.name
        preemption = Preemption() if one.preempts else Preemption("Never", "Never")
        made = ForeignQueue(one.name, parent, one.fields.about, quotas, inner=one.inner, preemption=preemption)
        one.fields.drop("maxapplications", _QUEUE_ROWS)
        made.policy = self._properties(one, preemption)
        if one.rows:
            made.policy["limits"] = one.rows
        if not one.inner:
            if one.acl.nobody:
                why = "nobody may submit there; here whoever may create jobs in the namespace can"
                self.findings.note(one.fields.about, "submitacl", "", why)
            elif submit := one.acl.spec():
                made.policy["submit"] = submit
        return made

    def _properties(self, one: _Queue, preemption: Preemption) -> dict[str, Any]:
        """What they say of preemption goes there; the rest into a QueuePolicy, or is told."""
        properties, policy = one.fields.child("properties"), dict[str, Any]()
        sort = properties.word("application.sort.policy")
        if sort not in ("", "fifo"):
            properties.drop("application.sort.policy", "jobs of a queue are ordered by priority, then by age")
        match properties.word("preemption.policy").lower():
            case "fence":
                preemption.reclaim = "Never"
                if one.inner:
                    properties.drop("preemption.policy", "queues below may still take back what others borrowed")
            case "disabled":
                preemption.within, preemption.reclaim = "Never", "Never"
            case "" | "default":
                pass
            case _:
                properties.drop("preemption.policy", "nothing here knows this policy")
        if delay := duration_text(properties, "quota.preemption.delay"):
            policy["quotaShrink"] = {"after": delay, "order": "BorrowedFirst"}
        for name, why in _PROPERTIES.items():
            properties.drop(name, why)
        return policy


def _quota(one: _Queue, resource: str, listed: set[str]) -> Quota:
    most = one.max.get(resource)
    owned: int | None
    if resource in one.guaranteed:
        owned = one.guaranteed[resource] if most is None else min(one.guaranteed[resource], most)
    else:
        owned = of_unlisted(bool(one.guaranteed), resource in listed)
    return Quota(owned, most)
