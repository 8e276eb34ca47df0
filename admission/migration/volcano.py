"""Volcano's Queues (`scheduling.volcano.sh/v1beta1`): deserved, guarantee and capability of any resource, or weights.

With `deserved` or `guarantee` anywhere the capacity plugin divides, and weights mean nothing; else the proportion
plugin divides the cluster by weight.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from admission.migration.documents import Opened, kept_labels, named_badly, of_kind, opened, tell_annotations
from admission.migration.fields import Fields, Findings
from admission.migration.queues import ForeignQueue, Quota, Tree, of_unlisted, tell_priorities

GROUP = "scheduling.volcano.sh"
ROOT = "root"
NODE_GROUP = "volcano.sh/nodegroup-name"  # label of nodes that queues' affinities speak of
_DEQUEUE = "volcano.sh/dequeue-strategy"
_OVERCOMMIT = "volcano.sh/overcommit-factor"
_STATES = ("Closed", "Closing")


def read_volcano(documents: Sequence[Any], total: Mapping[str, int], findings: Findings) -> Tree:
    """The tree of all Queues among the documents. `total`: what the cluster has, empty where that is not known."""
    found = []
    for index, document in of_kind(documents, GROUP, "Queue"):
        if (this := opened(index, document, findings)) is not None:
            found.append(_Read(this, document))
    listed = {resource for one in found for resource in (*one.deserved, *one.guarantee)}
    named = listed | {resource for one in found for resource in one.capability} | set(total)
    by_weight = not listed
    if by_weight and found and not total:
        why = (
            "divides the cluster, whose size is not known: say --cluster; until then the queue owns nothing and borrows"
        )
        for one in found:
            if one.name != ROOT:
                findings.note(one.about, "spec.weight", one.weight, why)
    tell_priorities({one.name: (one.parent, one.priority) for one in found}, findings)
    queues = [one.queue(named, listed, _shares(found, total) if by_weight else {}) for one in found if one.name != ROOT]
    for one in found:
        if one.name == ROOT and (one.capability or one.deserved):
            why = "the root is the cluster: say it by --cluster"
            findings.note(one.about, "spec", {"capability": one.capability, "deserved": one.deserved}, why)
    return Tree(ROOT, queues)


class _Read:
    """One Queue, all of whose fields were looked at."""

    def __init__(self, one: Opened, document: Mapping[str, Any]) -> None:
        spec = one.top.child("spec")
        self.name, self.about = one.name, one.top.about
        parent = spec.text("parent")
        self.parent = "" if parent in ("", ROOT) else parent
        self.weight = spec.integer("weight", 1)
        self.priority = spec.integer("priority", 0)
        self.capability = spec.amounts("capability")
        self.deserved = spec.amounts("deserved")
        self.guarantee = spec.child("guarantee").amounts("resource")
        self.group = _group(spec)
        status = document.get("status")
        state = spec.text("state") or (status.get("state") if isinstance(status, Mapping) else "")
        self.held = state in _STATES
        strategy = spec.text("dequeueStrategy") or one.annotations.pop(_DEQUEUE, "")
        self.strict = "fifo" in strategy.lower()
        if spec.take("reclaimable") is False:
            spec.drop("reclaimable", "what a queue has borrowed can be taken back here: give it what it must keep")
        if _OVERCOMMIT in one.annotations:
            factor = one.annotations.pop(_OVERCOMMIT)
            why = "quota is not overcommitted: raise what the queue owns instead"
            one.top.findings.note(self.about, f"metadata.annotations[{_OVERCOMMIT}]", factor, why)
        spec.take("type")
        spec.drop("extendClusters", "queues of other clusters are not federated")
        self.labels = kept_labels(one)
        tell_annotations(one)
        one.top.tell_rest()
        self._spec = spec

    def queue(self, named: set[str], listed: set[str], shares: Mapping[str, Mapping[str, int]]) -> ForeignQueue:
        quotas = {resource: self._quota(resource, listed, shares) for resource in sorted(named)}
        made = ForeignQueue(self.name, self.parent, self.about, quotas, strict=self.strict, held=self.held)
        made.flavor, made.labels = self.group, self.labels
        made.node_labels = {NODE_GROUP: self.group} if self.group else {}
        if not listed and self.weight != 1:
            made.weight = str(max(self.weight, 0))
        elif self.weight != 1:
            self._spec.findings.note(self.about, "spec.weight", self.weight, "beside `deserved` it has no meaning")
        return made

    def _quota(self, resource: str, listed: set[str], shares: Mapping[str, Mapping[str, int]]) -> Quota:
        most = self.capability.get(resource)
        if not listed:
            owned: int | None = shares.get(self.name, {}).get(resource, 0)
        elif resource in self.deserved or resource in self.guarantee:
            owned = max(self.deserved.get(resource, 0), self.guarantee.get(resource, 0))
        else:
            owned = of_unlisted(bool(self.deserved or self.guarantee), resource in listed)
        if owned is not None and most is not None:
            owned = min(owned, most)
        kept = min(self.guarantee.get(resource, 0), owned or 0)
        return Quota(owned, most, kept)


def _shares(found: Sequence[_Read], total: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """What each queue's weight is of what its parent has, rounded down."""
    shares: dict[str, dict[str, int]] = {}
    weights: dict[str, int] = {}  # of all children, by parent
    for one in found:
        if one.name != ROOT:
            weights[one.parent] = weights.get(one.parent, 0) + max(one.weight, 0)
    waiting = [one for one in found if one.name != ROOT]
    while waiting:
        ready = [one for one in waiting if not one.parent or one.parent in shares]
        if not ready:  # a circle, or parents that are not there
            break
        for one in ready:
            above = total if not one.parent else shares[one.parent]
            siblings = weights[one.parent]
            shares[one.name] = {
                resource: amount * max(one.weight, 0) // siblings if siblings else 0
                for resource, amount in above.items()
            }
        waiting = [one for one in waiting if one.name not in shares]
    return shares


def _group(spec: Fields) -> str:
    """The one group of nodes that the queue must run on; affinities that say more are told."""
    affinity = spec.child("affinity")
    wanted = affinity.child("nodeGroupAffinity")
    groups = wanted.texts("requiredDuringSchedulingIgnoredDuringExecution")
    why = "a queue has one flavor here: give it the groups by hand"
    if len(groups) > 1 or any(named_badly(group) for group in groups):
        wanted.drop("requiredDuringSchedulingIgnoredDuringExecution", why)
    wanted.drop("preferredDuringSchedulingIgnoredDuringExecution", why)
    affinity.drop("nodeGroupAntiAffinity", why)
    return groups[0] if len(groups) == 1 and not named_badly(groups[0]) else ""
