"""QueuePolicy, a kind of our own: targets, durations and rows that cannot be meant. Kueue has no such kind to ask."""

from tests.refusals.row import ABSENT, Object, create

TARGET, ROW = {"kind": "ClusterQueue", "name": "research"}, {"users": ["*"], "running": 20}
POLICY: Object = {
    "apiVersion": "lockgate.dev/v1alpha1",
    "kind": "QueuePolicy",
    "metadata": {"name": "research"},
    "spec": {"target": TARGET, "limits": [ROW], "preemption": {"minRuntime": "10m"}, "maxPending": 5},
}
LANE = {"kind": "LocalQueue", "name": "main", "namespace": "lab"}

ROWS = [
    create("a policy is for something", POLICY, "spec.target", TARGET, ABSENT, "Required value"),
    create("a policy is for a queue or cohort", POLICY, "spec.target.kind", "Cohort", "Namespace", "Unsupported value"),
    create(
        "a LocalQueue is somewhere",
        POLICY,
        "spec.target",
        LANE,
        {"kind": "LocalQueue", "name": "main"},
        "say where the LocalQueue is",
        "spec.target.namespace",
        "webhook",
    ),
    create(
        "a ClusterQueue is nowhere",
        POLICY,
        "spec.target",
        TARGET,
        {**TARGET, "namespace": "lab"},
        "a ClusterQueue is in no namespace: leave it out",
        "spec.target.namespace",
        "webhook",
    ),
    create(
        "a row limits somebody",
        POLICY,
        "spec.limits[0]",
        ROW,
        {"running": 1},
        "say whom it limits",
        "spec.limits[0]",
        "webhook",
    ),
    create(
        "a row limits something",
        POLICY,
        "spec.limits[0]",
        ROW,
        {"users": ["ada"]},
        "say what it limits",
        "spec.limits[0]",
        "webhook",
    ),
    create(
        "amounts of a limit are not negative",
        POLICY,
        "spec.limits[0].resources",
        {"cpu": "4"},
        {"cpu": "-4"},
        "must be 0 or more",
        "spec.limits[0].resources[cpu]",
        "webhook",
    ),
    create(
        "the longest run is a second at least",
        POLICY,
        "spec.limits[0].maxRuntime",
        "1s",
        "1ms",
        "must be at least 1s",
        None,
        "webhook",
    ),
    create(
        "a budget counts in some time",
        POLICY,
        "spec.preemption.budget",
        {"evictions": 2, "per": "5m"},
        {"evictions": 2, "per": "0"},
        "must be longer than 0",
        "spec.preemption.budget.per",
        "webhook",
    ),
    create(
        "submit names somebody",
        POLICY,
        "spec.submit",
        {"users": ["ada"]},
        {},
        "name users or groups",
        "spec.submit",
        "webhook",
    ),
    create("the scope is one of two", POLICY, "spec.strictFIFOScope", "Flavors", "Cohort", "Unsupported value"),
]
