"""Workload: what does not change any more while it holds quota, runs, or has been answered."""

from typing import Any

from tests.refusals.objects import HOLDING, WORKLOAD, assignment, holding, pod_set, workload
from tests.refusals.row import ABSENT, Row, Write, put, update
from tests.refusals.workload import CLASS, ELASTIC, POD_CLASS, PODS, RANKED
from tests.refusals.workload_status import CHECKS, UPDATES, check

RUNNING = holding(workload(maximumExecutionTimeSeconds=60), "QuotaReserved", "Admitted")
HELD_CLASS = holding(RANKED)
HELD_POD_CLASS = holding(workload(priority=5, priorityClassRef=POD_CLASS))
ELASTIC_HOLDING = put(HOLDING, {ELASTIC: "true"})
REPLACED = "metadata.annotations[kueue.x-k8s.io/workload-slice-replacement-for]"


def while_not(rule: str, old: dict[str, Any], free: dict[str, Any], at: str, value: object, words: str, path: str,
              **more: Any) -> Row:  # fmt: skip
    """The same change, once where nothing holds it back."""
    return Row(rule, Write(put(free, {at: value}), free), Write(put(old, {at: value}), old), path, words, **more)


def _spec() -> list[Row]:
    ref = "spec.priorityClassRef"
    free_class = workload(priority=5, priorityClassRef=POD_CLASS)
    return [
        while_not("the queue stays", HOLDING, WORKLOAD, "spec.queueName", "other",
                  "queueName is immutable while workload quota reserved", "<nil>", by="schema"),
        while_not("the longest time stays", RUNNING, holding(workload(maximumExecutionTimeSeconds=60)),
                  "spec.maximumExecutionTimeSeconds", 90,
                  "maximumExecutionTimeSeconds is immutable while workload quota reserved", "<nil>", by="schema"),
        while_not("no priority class goes", HELD_CLASS, RANKED, ref, ABSENT,
                  "priorityClassRef is immutable while workload quota reserved", "<nil>", by="schema"),
        while_not("no priority class comes", holding(workload(priority=5)), workload(priority=5), ref, CLASS,
                  "priorityClassRef is immutable while workload quota reserved", "<nil>", by="schema"),
        update("the sort of priority class stays", HELD_CLASS, ref, {**CLASS, "name": "low"},
               {**POD_CLASS, "name": "high"}, "priorityClassRef.kind is immutable while workload quota reserved",
               "<nil>"),
        while_not("the PriorityClass stays", HELD_POD_CLASS, free_class, f"{ref}.name", "low",
                  "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload quota "
                  "reserved", "<nil>", by="schema"),
        while_not("the number of pod sets stays", HOLDING, WORKLOAD, PODS, [pod_set(), pod_set("more")],
                  "podSetAssignments must have the same number of podSets as the spec", "<nil>", by="schema"),
        while_not("a pod set stays", HOLDING, WORKLOAD, f"{PODS}[0].template.spec.nodeSelector", {"a": "b"},
                  "field is immutable", f"{PODS}[0]", by="webhook",
                  kueue="words: it writes the path as spec.podSets.0, which is no path"),
        while_not("a count does not grow", HOLDING, WORKLOAD, f"{PODS}[0].count", 4, "field is immutable",
                  f"{PODS}[0]", by="webhook", kueue="words: it writes the path as spec.podSets.0, which is no path"),
        while_not("a count does not shrink unless the workload is elastic", HOLDING, ELASTIC_HOLDING,
                  f"{PODS}[0].count", 2, "field is immutable", f"{PODS}[0]", by="webhook",
                  kueue="accepts: it asks whether elastic jobs are possible, not whether this is one"),
    ]  # fmt: skip


def _status() -> list[Row]:
    reclaimed, at = "status.reclaimablePods", "status.admission"
    reclaiming = put(HOLDING, {reclaimed: [{"name": "main", "count": 2}]})
    ready = put(WORKLOAD, {CHECKS: [check(state="Ready", podSetUpdates=[{"name": "main", "labels": {"a": "b"}}])]})
    other = [{"name": "main", "labels": {"a": "c"}}]
    nominated = put(WORKLOAD, {"status.nominatedClusterNames": ["one", "two"]})
    elsewhere = put(WORKLOAD, {"status.clusterName": "one"})

    def given(name: str) -> dict[str, Any]:
        return {"clusterName": name}

    replacement = put(WORKLOAD, {REPLACED: "default/a"})
    return [
        update("reclaimed pods are not taken back", reclaiming, reclaimed, [{"name": "main", "count": 3}],
               [{"name": "main", "count": 1}], "Invalid value: 1: cannot be less than 2", f"{reclaimed}[main].count",
               "webhook"),
        update("reclaimed pods are not forgotten", reclaiming, reclaimed, [{"name": "main", "count": 2}], [],
               "Required value: cannot be removed", f"{reclaimed}[main]", "webhook"),
        update("quota is given and taken as a whole", HOLDING, "status", {},
               put(HOLDING, {f"{at}.clusterQueue": "other"})["status"], "field is immutable", at, "webhook"),
        update("an assignment stays, but for its domains", HOLDING, f"{at}.podSetAssignments",
               [assignment(delayedTopologyRequest="Pending")], [assignment(flavors={"cpu": "other"})],
               "field is immutable", at, "webhook"),
        update("an update stays while its check is Ready", ready, CHECKS,
               [check(state="Pending", podSetUpdates=other)], [check(state="Ready", podSetUpdates=other)],
               "field is immutable", UPDATES, "webhook"),
        update("a cluster was nominated", nominated, "status", given("two"), given("three"),
               'Invalid value: "three": when setting clusterName it must be one of the nominatedClusterNames',
               "status.clusterName", "webhook"),
        Row("only a replacement runs in a cluster that was not nominated",
            Write(put(replacement, {"status": given("two")}), replacement, status=True),
            Write(put(WORKLOAD, {"status": given("two")}), WORKLOAD, status=True),
            "status.clusterName", "when setting clusterName it must be one of the nominatedClusterNames", "webhook"),
        update("the cluster stays", elsewhere, "status", {}, given("two"), "clusterName is immutable once set",
               "status", legacy=True),
        update("a cluster ends the nomination", nominated, "status", given("one"),
               {**given("one"), "nominatedClusterNames": ["one"]},
               "clusterName and nominatedClusterNames are mutually exclusive", "status"),
        update("a cluster's name has at most 256 characters",
               put(WORKLOAD, {"status.nominatedClusterNames": ["n" * 256]}), "status", given("n" * 256),
               given("n" * 257), "Too long: may not be more than 256 bytes", "status.clusterName"),
    ]  # fmt: skip


ROWS = [*_spec(), *_status()]
