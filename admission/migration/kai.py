"""KAI Scheduler's Queues (`scheduling.run.ai/v2`): quota, limit and weight of cpu, memory and GPUs, by levels.

Units are KAI's own: millicores, millions of bytes, devices with fractions. -1 means unlimited; a limit that is left out
is 0 there, so that the queue gets nothing, and a weight that is left out never takes part in what is over quota.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from admission.migration.documents import kept_labels, named_badly, of_kind, opened, tell_annotations
from admission.migration.durations import duration_text
from admission.migration.fields import Fields, Findings
from admission.migration.queues import ONLY_PREEMPTIBLE_WORK_BORROWS, ForeignQueue, Quota, Tree, tell_priorities

GROUP = "scheduling.run.ai"
GPU = "nvidia.com/gpu"
ROOT = "kai"
# The classes that KAI brings along, with their values.
CLASSES: Mapping[str, int] = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
POOL = "kai.scheduler/node-pool"
USUAL_PRIORITY = 100

# Their word, our resource, how many of our units one of theirs is.
RESOURCES: Mapping[str, tuple[str, int]] = {"cpu": ("cpu", 1), "memory": ("memory", 10**6), "gpu": (GPU, 1)}


def read_kai(documents: Sequence[Any], findings: Findings) -> Tree:
    """The tree of all Queues among the documents. Notes and faults go to `findings`."""
    queues = []
    priorities: dict[str, tuple[str, int]] = {}
    for index, document in of_kind(documents, GROUP, "Queue"):
        one = opened(index, document, findings)
        if one is None:
            continue
        spec = one.top.child("spec")
        pool = "" if named_badly(one.labels.get(POOL, "")) else one.labels.pop(POOL, "")
        queue = ForeignQueue(one.name, spec.text("parentQueue"), one.top.about, _quotas(spec), flavor=pool)
        queue.node_labels = {POOL: pool} if pool else {}
        queue.weight = _weight(spec, queue.quotas)
        queue.policy = _policy(spec)
        queue.labels = kept_labels(one)
        spec.drop("displayName", "a queue is shown by the name of its object")
        queue.priority = spec.integer("priority", USUAL_PRIORITY)
        priorities[queue.name] = (queue.parent, queue.priority)
        tell_annotations(one)
        one.top.tell_rest()
        queues.append(queue)
    tell_priorities(priorities, findings)
    return Tree(ROOT, queues, CLASSES, ONLY_PREEMPTIBLE_WORK_BORROWS)


def _quotas(spec: Fields) -> dict[str, Quota]:
    if "resources" not in spec:
        spec.fault(
            "resources", "is missing", "KAI's webhook refuses such a Queue: add quota, limit and overQuotaWeight"
        )
    resources, found = spec.child("resources"), dict[str, Quota]()
    for theirs, (ours, unit) in RESOURCES.items():
        one = resources.child(theirs)
        if one.take("limit") is None:
            why = "a limit that is left out is 0 in KAI, so the queue gets none"
            spec.findings.note(spec.about, f"spec.resources.{theirs}.limit", None, why)
        owned, most = _units(one, "quota", unit), _units(one, "limit", unit)
        if owned is not None and most is not None and most < owned:
            why = f"no more than the limit, {most} units, can be used: that is what the queue owns"
            spec.findings.note(spec.about, f"spec.resources.{theirs}.quota", one.take("quota"), why)
            owned = most
        weight = max(Fraction(one.number("overQuotaWeight") or 0), Fraction(0))
        found[ours] = Quota(owned, most, borrows=owned is None or weight > 0, weight=weight)
    return found


def _units(one: Fields, field: str, unit: int) -> int | None:
    """In our units, rounded down; None: unlimited."""
    value = one.number(field)
    if value is None:
        return 0
    if value < 0:
        if value != -1:
            one.fault(field, "is negative", "write -1 for unlimited, else 0 or more")
        return None
    exact = Fraction(value) * unit
    if exact.denominator != 1:
        one.findings.note(one.about, one.called(field), value, f"quota counts whole units: {int(exact)}")
    return int(exact)


def _weight(spec: Fields, quotas: Mapping[str, Quota]) -> str:
    """One weight for all resources: that of GPUs, else the largest. 0 is told by the quota, which borrows nothing."""
    resources = spec.child("resources")
    weights = {theirs: resources.child(theirs).number("overQuotaWeight") or 0 for theirs in RESOURCES}
    counted = {
        theirs: weight
        for theirs, weight in weights.items()
        if weight > 0 and quotas[RESOURCES[theirs][0]].owned is not None
    }
    if not counted:
        return ""
    chosen = "gpu" if "gpu" in counted else max(counted, key=lambda theirs: counted[theirs])
    for theirs, weight in counted.items():
        if weight != counted[chosen]:
            why = f"a queue has one weight for all resources: that of {chosen}, {counted[chosen]:g}"
            spec.findings.note(spec.about, f"spec.resources.{theirs}.overQuotaWeight", weight, why)
    return "" if counted[chosen] == 1 else f"{counted[chosen]:g}"


def _policy(spec: Fields) -> dict[str, Any]:
    found = {}
    for theirs, ours in (("preemptMinRuntime", "minRuntime"), ("reclaimMinRuntime", "reclaimMinRuntime")):
        if text := duration_text(spec, theirs):
            found[ours] = text
    return {"preemption": found} if found else {}
