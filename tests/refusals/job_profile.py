"""JobProfile, a kind of our own: matches and stamps that cannot be meant. Kueue has no such kind to ask."""

from tests.refusals.row import Object, Row, create

STAMP: Object = {"qosClass": "BE", "labels": {"cost-center": "42"}}
PROFILE: Object = {
    "apiVersion": "lockgate.dev/v1alpha1",
    "kind": "JobProfile",
    "metadata": {"name": "etl"},
    "spec": {"match": {"kinds": ["Job.batch"]}, "stamp": STAMP, "overwrite": "IfUnset"},
}
CLASS, KINDS = "spec.stamp.qosClass", "spec.match.kinds"
SELECTOR = "spec.match.namespaceSelector"


def ours(rule: str, at: str, good: object, bad: object, words: str, path: str | None = None) -> Row:
    return create(rule, PROFILE, at, good, bad, words, path, "webhook")


ROWS = [
    create("a roll-out has a hundred parts", PROFILE, "spec.percent", 100, 101, "should be less than or equal to 100"),
    create("a QoS class is one of five", PROFILE, CLASS, "SYSTEM", "XX", "Unsupported value"),
    create(
        "somebody has a name", PROFILE, "spec.match.users", ["oidc:*"], [""], "at least 1 chars", "spec.match.users[0]"
    ),
    create(
        "a target is one of two", PROFILE, "spec.targets", ["Job"], ["Pods"], "Unsupported value", "spec.targets[0]"
    ),
    create(
        "a PriorityClass has a name",
        PROFILE,
        "spec.stamp.priorityClassName",
        "koord-batch",
        "Not_A_Name",
        "should match",
    ),
    ours("a kind has a group", KINDS, ["Job.batch"], ["Job"], "must be Kind.group: write Job.batch", f"{KINDS}[0]"),
    ours("and no version", KINDS, ["Job.batch"], ["Job.v1.batch"], "whatever the version", f"{KINDS}[0]"),
    ours(
        "In compares with values",
        SELECTOR,
        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
        {"matchExpressions": [{"key": "a", "operator": "In"}]},
        "compares with values: give one at least",
        f"{SELECTOR}.matchExpressions[0].values",
    ),
    ours(
        "a label has a name",
        SELECTOR,
        {"matchLabels": {"a": "b"}},
        {"matchLabels": {"a b": "c"}},
        "must be a name",
        f"{SELECTOR}.matchLabels",
    ),
    ours(
        "what has a field is no label",
        "spec.stamp.labels",
        {"tier": "low"},
        {"kueue.x-k8s.io/queue-name": "q"},
        "has a field of its own",
        "spec.stamp.labels[kueue.x-k8s.io/queue-name]",
    ),
    ours(
        "what is ours is no annotation",
        "spec.stamp.annotations",
        {"note": "low"},
        {"lockgate.dev/rollout": "1"},
        "has a meaning of its own",
        "spec.stamp.annotations[lockgate.dev/rollout]",
    ),
    ours("a stamp says something", "spec.stamp", STAMP, {}, "say what jobs get"),
    ours("overwriting is one of three words", "spec.overwrite", "Always", "Sometimes", "Unsupported value"),
    ours(
        "by field",
        "spec.overwrite",
        {"qosClass": "Always"},
        {"qosclass": "Always"},
        "did you mean qosClass?",
        "spec.overwrite.qosclass",
    ),
    ours("or a map", "spec.overwrite", {"default": "Never"}, 5, "must be one of Never, IfUnset, Always, or a map"),
]
