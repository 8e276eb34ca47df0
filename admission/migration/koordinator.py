"""Koordinator's ElasticQuotas, an ElasticQuotaTree, and ElasticQuotaProfiles: min, max, weight and namespaces.

min is what is owned, max the most; what neither names is not bounded. A quota with children is a cohort.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from admission.migration.documents import Opened, kept_labels, named_badly, of_kind, opened, tell_annotations
from admission.migration.fields import Fields, Findings
from admission.migration.queues import ONLY_PREEMPTIBLE_WORK_BORROWS, ForeignQueue, Quota, Tree
from admission.model.amounts import BadQuantity, amount, text

GROUP = "scheduling.sigs.k8s.io"
PROFILES = "quota.koordinator.sh"
ROOT = "koordinator-root-quota"
BUILT_IN = (ROOT, "koordinator-system-quota", "koordinator-default-quota")
_Q = "quota.scheduling.koordinator.sh/"
# Written by Koordinator itself: numbers of the moment.
_PUBLISHED = (
    "runtime", "request", "child-request", "guaranteed", "allocated", "non-preemptible-request", "non-preemptible-used",
    "total-resource", "unschedulable-resource",
)  # fmt: skip
_UNLIMITED = 2**31 - 1  # from here on a value of an ElasticQuotaTree is no bound


def read_koordinator(documents: Sequence[Any], findings: Findings) -> Tree:
    """The tree of all quotas among the documents. Notes and faults go to `findings`."""
    pools = dict(_profiles(documents, findings))
    queues = list(_quotas(documents, pools, findings))
    for index, document in of_kind(documents, GROUP, "ElasticQuotaTree"):
        one = opened(index, document, findings)
        if one is not None:
            root = one.top.child("spec").child("root")
            root.about = f"{one.top.about}, root"
            queues += _nodes(root, "", findings, True)
            tell_annotations(one)
            one.top.tell_rest()
    return Tree(ROOT, queues, policy=ONLY_PREEMPTIBLE_WORK_BORROWS)


def _quotas(
    documents: Sequence[Any], pools: Mapping[str, Mapping[str, str]], findings: Findings
) -> Iterator[ForeignQueue]:
    for index, document in of_kind(documents, GROUP, "ElasticQuota"):
        one = opened(index, document, findings)
        if one is not None and one.name not in BUILT_IN:
            yield _quota(one, pools)


def _quota(one: Opened, pools: Mapping[str, Mapping[str, str]]) -> ForeignQueue:
    spec, labels = one.top.child("spec"), one.labels
    least, most = spec.amounts("min"), spec.amounts("max")
    for resource in least:
        if resource not in most:
            spec.fault("min", f"names {resource}, which max does not", "add it to max, as Koordinator's webhook asks")
    parent = labels.pop(f"{_Q}parent", "")
    queue = ForeignQueue(one.name, "" if parent in BUILT_IN else parent, one.top.about, {})
    queue.inner = labels.pop(f"{_Q}is-parent", "") == "true"
    lends = labels.pop(f"{_Q}allow-lent-resource", "") != "false"
    queue.apart = labels.pop(f"{_Q}is-root", "") == "true"
    tree = labels.pop(f"{_Q}tree-id", "")
    if tree in pools and not named_badly(pools[tree]["name"]):
        queue.flavor = pools[tree]["name"]
        queue.node_labels = {key: value for key, value in pools[tree].items() if key != "name"}
    if tree and not queue.apart and not queue.parent:
        why = "the root of this tree is not among the files: the quota is put beside those of the default tree"
        one.top.findings.note(queue.about, f"metadata.labels[{_Q}tree-id]", tree, why)
    labels.pop(f"{_Q}profile", None)
    for key, why in (
        ("allow-force-update", "sums of quotas are not checked here"),
        ("ignore-default-tree", "trees have quotas of their own here"),
    ):
        if value := labels.pop(f"{_Q}{key}", ""):
            one.top.findings.note(queue.about, f"metadata.labels[{_Q}{key}]", value, why)
    queue.quotas = {resource: Quota(least.get(resource, 0), most[resource], lends=lends) for resource in most}
    _annotations(one, queue, most)
    queue.labels = kept_labels(one)
    one.top.tell_rest()
    return queue


def _annotations(one: Opened, queue: ForeignQueue, most: Mapping[str, int]) -> None:
    notes, findings = one.annotations, one.top.findings
    for key in _PUBLISHED:
        notes.pop(f"{_Q}{key}", None)
    namespaces = _json(one, f"{_Q}namespaces")
    listed = [name for name in namespaces if isinstance(name, str)] if isinstance(namespaces, list) else []
    own = [one.namespace] if one.namespace == one.name else []
    if not queue.inner:
        queue.namespaces = tuple(name for name in dict.fromkeys((*listed, *own)) if not named_badly(name))
    weights = _json(one, f"{_Q}shared-weight")
    if isinstance(weights, Mapping) and weights:
        _weight(one, queue, weights, most)
    for key, why in (
        ("admission", "the most that may be asked for at creation is what a QueuePolicy says by user or group"),
        ("max-strict-check-resource-keys", "a lowered quota is accepted, and kept from then on"),
        ("resource-keys", "a quota names its resources here"),
    ):
        if value := notes.pop(f"{_Q}{key}", ""):
            findings.note(queue.about, f"metadata.annotations[{_Q}{key}]", value, why)
    tell_annotations(one)


def _weight(one: Opened, queue: ForeignQueue, weights: Mapping[str, Any], most: Mapping[str, int]) -> None:
    """Koordinator weighs each resource; here a queue has one weight: that of cpu, else of the first."""
    units: dict[str, int] = {}
    for resource, value in weights.items():
        with suppress(BadQuantity):
            units[resource] = amount(resource, value if isinstance(value, str | int | float) else "")
    if not units or all(units[resource] == most.get(resource) for resource in units):
        return  # the default: each weighs its max
    chosen = "cpu" if "cpu" in units else min(units)
    queue.weight = text(chosen, max(units[chosen], 0))
    if len(units) > 1:
        why = f"a queue has one weight for all resources: that of {chosen}"
        one.top.findings.note(queue.about, f"metadata.annotations[{_Q}shared-weight]", weights, why)


def _json(one: Opened, key: str) -> Any:
    text_ = one.annotations.pop(key, "")
    if not text_:
        return None
    try:
        return json.loads(text_)
    except (ValueError, RecursionError):
        why = "is not JSON, so it says nothing"
        one.top.findings.note(one.top.about, f"metadata.annotations[{key}]", text_, why)
        return None


def _nodes(node: Fields, parent: str, findings: Findings, root: bool) -> Iterator[ForeignQueue]:
    """A node of an ElasticQuotaTree, and those below it. Its root is the tree's total."""
    name = node.text("name")
    node.about = f"quota {name}"
    least, most = node.amounts("min"), node.amounts("max")
    attributes = node.child("attributes")
    for key in attributes.names():
        attributes.drop(key, "nothing here knows this attribute")
    namespaces, children = node.texts("namespaces"), node.children("children")
    if named_badly(name):
        node.fault("name", "is no name that an object can have", "use lower-case letters, digits, - and .")
        return
    if not root:
        queue = ForeignQueue(name, parent, node.about, {}, inner=bool(children))
        queue.namespaces = tuple(one for one in namespaces if not named_badly(one)) if not children else ()
        queue.quotas = {
            resource: Quota(least.get(resource, 0), None if _is_open(resource, most) else most[resource])
            for resource in sorted({*least, *most})
        }
        yield queue
    elif least or most:
        findings.note(node.about, "max", node.take("max"), "the root is the cluster: say it by --cluster")
    for child in children:
        yield from _nodes(child, "" if root else name, findings, False)


def _is_open(resource: str, most: Mapping[str, int]) -> bool:
    if resource not in most:
        return True
    return most[resource] >= _UNLIMITED * (1000 if resource == "cpu" else 1) and resource != "memory"


def _profiles(documents: Sequence[Any], findings: Findings) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Tree ids, with the name of their pool of nodes as `name` and the nodes' labels."""
    for index, document in of_kind(documents, PROFILES, "ElasticQuotaProfile"):
        one = opened(index, document, findings)
        if one is None:
            continue
        spec = one.top.child("spec")
        name, selector = spec.text("quotaName", one.name), spec.child("nodeSelector")
        labels = selector.child("matchLabels")
        nodes = {key: labels.text(key) for key in labels.names()}
        selector.drop("matchExpressions", "a flavor names nodes by equal labels only")
        spec.drop("resourceRatio", "quotas do not follow the nodes: give the root its amounts")
        spec.drop("quotaLabels", "quotas have no labels from a profile")
        tree = one.labels.get(f"{_Q}tree-id", "")
        tell_annotations(one)
        one.top.tell_rest()
        if tree:
            yield tree, {**nodes, "name": name}
