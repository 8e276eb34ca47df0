"""Workload: the rest of its status."""

from typing import Any

from tests.refusals.objects import NOT_A_NAME, SINCE, WORKLOAD, condition, names
from tests.refusals.row import ABSENT, Row, create, put

CHECKS = "status.admissionChecks"
UPDATES = f"{CHECKS}[0].podSetUpdates"
STATS = "status.schedulingStats.evictions"


def check(name: str = "budget", **fields: Any) -> dict[str, Any]:
    return {"name": name, "state": "Pending", "message": "", "lastTransitionTime": SINCE, **fields}


def _counts() -> list[Row]:
    reclaimed, requests = "status.reclaimablePods", "status.resourceRequests"
    evictions = [{"reason": f"R{n}", "underlyingCause": "", "count": 1} for n in range(257)]
    named = [{"name": name} for name in names(19)]
    return [
        create("a number of requeues is not negative", WORKLOAD, "status.requeueState.count", 0, -1,
               "should be greater than or equal to 0"),
        create("a time of requeueing is one", WORKLOAD, "status.requeueState.requeueAt", SINCE, "soon",
               "must be of type date-time"),
        create("conditions differ", WORKLOAD, "status.conditions", [condition("Evicted")], [condition("Evicted")] * 2,
               'Duplicate value: {"type":"Evicted"}', "status.conditions[1]"),
        create("a condition's reason is a word", WORKLOAD, "status.conditions", [condition(reason="A1_b:c,d")],
               [condition(reason="1a")], NOT_A_NAME, "status.conditions[0].reason"),
        create("a condition's type has a name of at most 63 characters", WORKLOAD, "status.conditions",
               [condition("a.b/" + "C" * 63)], [condition("a.b/" + "C" * 64)],
               "name part must be no more than 63 bytes", "status.conditions[0].type", "webhook"),
        create("at most 16 conditions", WORKLOAD, "status.conditions", [condition(name) for name in names(16)],
               [condition(name) for name in names(17)], "must have at most 16 items"),
        create("reclaimed pods are of a pod set", WORKLOAD, reclaimed, [{"name": "main", "count": 3}],
               [{"name": "other", "count": 1}], 'Unsupported value: "other": supported values: "main"',
               f"{reclaimed}[other].name", "webhook"),
        create("no more pods are reclaimed than there are", WORKLOAD, reclaimed, [{"name": "main", "count": 3}],
               [{"name": "main", "count": 4}], "Invalid value: 4: should be less or equal to 3",
               f"{reclaimed}[main].count", "webhook"),
        create("a number of reclaimed pods is not negative", WORKLOAD, reclaimed, [{"name": "main", "count": 0}],
               [{"name": "main", "count": -1}], "should be greater than or equal to 0", f"{reclaimed}[0].count"),
        create("reclaimed pods are told once", WORKLOAD, reclaimed, [{"name": "main", "count": 1}],
               [{"name": "main", "count": 1}] * 2, 'Duplicate value: {"name":"main"}', f"{reclaimed}[1]"),
        create("requests of at most 18 pod sets", WORKLOAD, requests, named[:18], named, "must have at most 18 items"),
        create("requests are told once", WORKLOAD, requests, named[:1], named[:1] * 2,
               'Duplicate value: {"name":"n0"}', f"{requests}[1]"),
        create("a request is a quantity", WORKLOAD, requests, [{"name": "main", "resources": {"cpu": "1"}}],
               [{"name": "main", "resources": {"cpu": "one"}}], NOT_A_NAME, f"{requests}[0].resources.cpu"),
        create("past time is a number", WORKLOAD, "status.accumulatedPastExecutionTimeSeconds", 5, "5",
               "must be of type integer"),
        create("at most 256 sorts of evictions", WORKLOAD, STATS, evictions[:256], evictions,
               "must have at most 256 items"),
        create("sorts of evictions differ", WORKLOAD, STATS, evictions[:2], evictions[:1] * 2, "Duplicate value",
               f"{STATS}[1]"),
        create("a number of evictions is not negative", WORKLOAD, STATS, [{**evictions[0], "count": 0}],
               [{**evictions[0], "count": -1}], "should be greater than or equal to 0", f"{STATS}[0].count"),
        create("a number of evictions is stated", WORKLOAD, STATS, evictions[:1],
               [{"reason": "R", "underlyingCause": ""}], "Required value", f"{STATS}[0].count"),
    ]  # fmt: skip


def _clusters() -> list[Row]:
    nodes = [{"name": name} for name in names(9)]
    gates = [{"name": name, "position": "Open", "lastTransitionTime": SINCE} for name in names(9)]
    return [
        create("at most 20 clusters are nominated", WORKLOAD, "status.nominatedClusterNames", list(names(20)),
               list(names(21)), "must have at most 20 items"),
        create("a nominated cluster has at most 256 characters", WORKLOAD, "status.nominatedClusterNames",
               ["n" * 256], ["n" * 257], "Too long: may not be more than 256 bytes",
               "status.nominatedClusterNames[0]"),
        create("at most 8 unhealthy nodes", WORKLOAD, "status.unhealthyNodes", nodes[:8], nodes,
               "must have at most 8 items"),
        create("unhealthy nodes differ", WORKLOAD, "status.unhealthyNodes", nodes[:2], nodes[:1] * 2,
               'Duplicate value: {"name":"n0"}', "status.unhealthyNodes[1]"),
        create("an unhealthy node has a name", WORKLOAD, "status.unhealthyNodes", nodes[:1], [{}], "Required value",
               "status.unhealthyNodes[0].name"),
        create("at most 8 states of preemption gates", WORKLOAD, "status.preemptionGates", gates[:8], gates,
               "must have at most 8 items"),
        create("a preemption gate is open or closed", WORKLOAD, "status.preemptionGates",
               [{**gates[0], "position": "Closed"}], [{**gates[0], "position": "Ajar"}], 'Unsupported value: "Ajar"',
               "status.preemptionGates[0].position"),
        create("states of preemption gates differ", WORKLOAD, "status.preemptionGates", gates[:2], gates[:1] * 2,
               'Duplicate value: {"name":"n0"}', "status.preemptionGates[1]"),
    ]  # fmt: skip


def _checks() -> list[Row]:
    stated = put(WORKLOAD, {CHECKS: [check()]})
    changed = [{"name": "main"}]
    many = [check(name) for name in names(9)]

    def told(rule: str, good: object, bad: object, words: str, path: str = "", **more: Any) -> Row:
        return create(rule, stated, UPDATES, good, bad, words, UPDATES + path, **more)

    def one(**fields: Any) -> list[dict[str, Any]]:
        return [{"name": "main", **fields}]

    return [
        create("at most 8 checks", WORKLOAD, CHECKS, many[:8], many, "must have at most 8 items"),
        create("checks differ", WORKLOAD, CHECKS, many[:2], many[:1] * 2, 'Duplicate value: {"name":"n0"}',
               f"{CHECKS}[1]"),
        create("a check has a name", stated, f"{CHECKS}[0].name", "a", "", "should be at least 1 chars long"),
        create("a check's name has at most 316 characters", stated, f"{CHECKS}[0].name", "n" * 316, "n" * 317,
               "Too long: may not be more than 316 bytes"),
        create("states of checks", stated, f"{CHECKS}[0].state", "Retry", "Failed", 'Unsupported value: "Failed"'),
        create("a check has a time", stated, f"{CHECKS}[0].lastTransitionTime", SINCE, ABSENT, "Required value"),
        create("a check has a message", stated, f"{CHECKS}[0].message", "", ABSENT, "Required value"),
        create("a check's message has at most 32768 characters", stated, f"{CHECKS}[0].message", "m" * 32768,
               "m" * 32769, "Too long: may not be more than 32768 bytes"),
        create("a wait is not negative", stated, f"{CHECKS}[0].requeueAfterSeconds", 0, -1,
               "should be greater than or equal to 0"),
        create("a number of retries is not negative", stated, f"{CHECKS}[0].retryCount", 0, -1,
               "should be greater than or equal to 0"),
        told("at most 18 updates", changed * 18, changed * 19, "must have at most 18 items"),
        told("an update is for a pod set", changed, [{"name": "other"}],
             'Unsupported value: "other": supported values: "main"', "[0].name", by="webhook"),
        told("an update's name is a label", changed, [{"name": "a.b"}], NOT_A_NAME, "[0].name"),
        told("at most 8 tolerations", one(tolerations=[{"key": "a"}] * 8), one(tolerations=[{"key": "a"}] * 9),
             "must have at most 8 items", "[0].tolerations"),
        told("only Exists tolerates every key", one(tolerations=[{"operator": "Exists"}]),
             one(tolerations=[{"operator": "Equal"}]), "operator must be Exists when 'key' is empty",
             "[0].tolerations"),
        told("a toleration's key is a label key", one(tolerations=[{"key": "a.b/c"}]),
             one(tolerations=[{"key": "a b"}]), "name part must consist of alphanumeric",
             "[0].tolerations[0].key", by="webhook"),
        told("an annotation is a label key", one(annotations={"a.b/c": "d e"}), one(annotations={"a b": ""}),
             "name part must consist of alphanumeric", "[0].annotations", by="webhook"),
        told("a label is a label key", one(labels={"a.b/c": "d"}), one(labels={"a b": "d"}),
             "name part must consist of alphanumeric", "[0].labels", by="webhook"),
        told("a label has a label value", one(labels={"a": "d"}), one(labels={"a": "d e"}),
             "a valid label must be an empty string or consist of alphanumeric", "[0].labels", by="webhook"),
        told("a node selector's label is a label key", one(nodeSelector={"a.b/c": "d"}),
             one(nodeSelector={"a b": "d"}), "name part must consist of alphanumeric", "[0].nodeSelector",
             by="webhook"),
        told("a node selector has a label value", one(nodeSelector={"a": "d"}), one(nodeSelector={"a": "d e"}),
             "a valid label must be an empty string or consist of alphanumeric", "[0].nodeSelector", by="webhook"),
    ]  # fmt: skip


ROWS = [*_counts(), *_clusters(), *_checks()]
