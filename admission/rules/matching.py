"""Whether the nodes of a flavor take the pods of a pod set: taints, node selector, required node affinity.

A flavor is judged by the label keys that it declares itself; what pods say about other keys is the pod scheduler's
business once they run.
"""

from collections.abc import Mapping

from admission.model.queues import ResourceFlavor
from admission.model.workload import NodeRule, Taint
from admission.rules.asks import Ask

_KEEPS_AWAY = ("NoSchedule", "NoExecute")


def mismatch(name: str, flavor: ResourceFlavor | None, ask: Ask) -> str:
    """Why the flavor cannot serve, in Kueue's words, or ""."""
    if flavor is None:
        return f"flavor {name} not found"
    if ask.template_of and (flavor.node_labels or flavor.tolerations):
        return f"flavor {name} has node labels or tolerations, which cannot be put into the pods of {ask.template_of}"
    if flavor.taints:
        taint = _untolerated(flavor, ask)
        if taint is not None:
            return f"untolerated taint {{{taint.key} {taint.value} {taint.effect} <nil>}} in flavor {name}"
    if flavor.node_labels and (ask.node_selector or ask.affinity) and not _selected(flavor.node_labels, ask):
        return f"flavor {name} doesn't match node affinity"
    return ""


def _untolerated(flavor: ResourceFlavor, ask: Ask) -> Taint | None:
    for taint in flavor.taints:
        if taint.effect in _KEEPS_AWAY and not any(
            toleration.tolerates(taint) for toleration in (*ask.tolerations, *flavor.tolerations)
        ):
            return taint
    return None


def _selected(labels: Mapping[str, str], ask: Ask) -> bool:
    if any(key in labels and labels[key] != value for key, value in ask.node_selector):
        return False
    terms = [[rule for rule in term if rule.key in labels] for term in ask.affinity]
    # Terms are alternatives: one that says nothing about this flavor lets every node of it in.
    if not all(terms):
        return True
    return not terms or any(all(_holds(rule, labels[rule.key]) for rule in term) for term in terms)


def _holds(rule: NodeRule, label: str) -> bool:
    match rule.operator:
        case "In":
            return label in rule.values
        case "NotIn":
            return label not in rule.values
        case "Exists":
            return True
        case "Gt" | "Lt":
            return _compares(rule, label)
        case _:  # DoesNotExist: the key is the flavor's own, so it exists
            return False


def _compares(rule: NodeRule, label: str) -> bool:
    try:
        have, bound = int(label), int(rule.values[0])
    except (ValueError, IndexError):
        return False
    return have > bound if rule.operator == "Gt" else have < bound
