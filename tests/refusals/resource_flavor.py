"""ResourceFlavor: labels, taints and tolerations, and what a topology fixes."""

from typing import Any

from tests.refusals.objects import FILLED, LONG_NAME, NO_NAME, NOT_A_NAME, names, of
from tests.refusals.row import create, put, update

FLAVOR = of("ResourceFlavor", {"nodeLabels": {"pool": "spot"}})
PLACED = put(FLAVOR, {"spec.topologyName": "racks", "spec.tolerations": [{"key": "spot", "operator": "Exists"}]})
LABELS, TAINTS, TOLERATIONS = "spec.nodeLabels", "spec.nodeTaints", "spec.tolerations"


def taint(key: str = "spot", value: str = "yes", effect: str = "NoSchedule") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


def toleration(**fields: Any) -> list[dict[str, Any]]:
    return [{"key": "spot", "operator": "Exists", **fields}]


ROWS = [
    create("at most 8 node labels", FLAVOR, LABELS, dict.fromkeys(names(8), ""), dict.fromkeys(names(9), ""),
           "must have at most 8 items"),
    create("a node label is a label key", FLAVOR, LABELS, {"a.b/c": "d"}, {"a b": "d"},
           "name part must consist of alphanumeric", by="webhook"),
    create("a node label's prefix is a subdomain", FLAVOR, LABELS, {"a.b/c": "d"}, {"A_B/c": "d"},
           "prefix part a lowercase RFC 1123 subdomain", by="webhook"),
    create("a node label's name has at most 63 characters", FLAVOR, LABELS, {"n" * 63: "d"}, {"n" * 64: "d"},
           "name part must be no more than 63 bytes", by="webhook"),
    create("a node label's value is a label value", FLAVOR, LABELS, {"a": "b"}, {"a": "b c"},
           "a valid label must be an empty string or consist of alphanumeric", by="webhook"),
    create("a node label's value has at most 63 characters", FLAVOR, LABELS, {"a": "b" * 63}, {"a": "b" * 64},
           "must be no more than 63 bytes", by="webhook"),
    create("at most 8 taints", FLAVOR, TAINTS, [taint(name) for name in names(8)], [taint(name) for name in names(9)],
           "must have at most 8 items"),
    create("a taint has a key", FLAVOR, TAINTS, [taint()], [{"effect": "NoSchedule"}], "Required value",
           f"{TAINTS}[0].key", kueue=FILLED),
    create("a taint has an effect", FLAVOR, TAINTS, [taint()], [{"key": "spot"}], "Required value",
           f"{TAINTS}[0].effect", kueue=FILLED),
    create("effects of taints", FLAVOR, TAINTS, [taint(effect="NoExecute")], [taint(effect="Never")],
           "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"),
    create("a taint's key is a label key", FLAVOR, TAINTS, [taint("a.b/c")], [taint("a b")],
           "name part must consist of alphanumeric", f"{TAINTS}[0].key", "webhook"),
    create("a taint's value is a label value", FLAVOR, TAINTS, [taint(value="")], [taint(value="b c")],
           "a valid label must be an empty string or consist of alphanumeric", f"{TAINTS}[0].value", "webhook"),
    create("taints differ in key or effect", FLAVOR, TAINTS, [taint(), taint(effect="NoExecute")],
           [taint(), taint(value="no")], "taints must be unique by key and effect pair", f"{TAINTS}[1]", "webhook"),
    create("at most 8 tolerations", FLAVOR, TOLERATIONS, toleration() * 8, toleration() * 9,
           "must have at most 8 items"),
    create("only Exists tolerates every key", FLAVOR, TOLERATIONS, [{"operator": "Exists"}], [{"operator": "Equal"}],
           "operator must be Exists when 'key' is empty, which means 'match all values and all keys'"),
    create("only NoExecute is tolerated for a time", FLAVOR, TOLERATIONS,
           toleration(effect="NoExecute", tolerationSeconds=5), toleration(effect="NoSchedule", tolerationSeconds=5),
           "effect must be 'NoExecute' when 'tolerationSeconds' is set"),
    create("operators of tolerations", FLAVOR, TOLERATIONS, toleration(operator="Equal"), toleration(operator="Like"),
           "supported toleration values: 'Equal'(default), 'Exists'"),
    create("Exists has no value", FLAVOR, TOLERATIONS, toleration(operator="Equal", value="v"), toleration(value="v"),
           "a value must be empty when 'operator' is 'Exists'"),
    create("effects of tolerations", FLAVOR, TOLERATIONS, toleration(effect="PreferNoSchedule"),
           toleration(effect="Never"), "supported taint effect values"),
    create("a toleration's key is a label key", FLAVOR, TOLERATIONS, toleration(key="a.b/c"), toleration(key="a b"),
           "name part must consist of alphanumeric", f"{TOLERATIONS}[0].key", "webhook"),
    create("the topology's name is a subdomain", FLAVOR, "spec.topologyName", "a.b", NO_NAME, NOT_A_NAME),
    create("the topology's name has at most 253 characters", FLAVOR, "spec.topologyName", "n" * 253, LONG_NAME,
           "Too long: may not be more than 253 bytes"),
    create("a topology needs node labels", FLAVOR, "spec", PLACED["spec"], {"topologyName": "racks"},
           "at least one nodeLabel is required when topology is set"),
    update("the topology stays", PLACED, "spec.topologyName", "racks", "rows",
           "topologyName is immutable when topologyName is set", "spec"),
    update("the topology does not go", PLACED, "spec", {**PLACED["spec"], "nodeTaints": [taint()]},
           {**FLAVOR["spec"], "tolerations": PLACED["spec"]["tolerations"]},
           "topologyName is immutable when topologyName is set"),
    update("node labels stay with a topology", PLACED, "spec", PLACED["spec"],
           {**PLACED["spec"], "nodeLabels": {"pool": "other"}}, "nodeLabels are immutable when topologyName is set"),
    update("tolerations stay with a topology", PLACED, "spec", PLACED["spec"], {**PLACED["spec"], "tolerations": []},
           "tolerations are immutable when topologyName is set"),
    update("a topology may come where node labels are", FLAVOR, "spec", {**PLACED["spec"], "nodeLabels": {"a": ""}},
           {"topologyName": "racks"}, "at least one nodeLabel is required when topology is set"),
]  # fmt: skip
