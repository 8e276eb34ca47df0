"""Readers give the core's values for what the API server holds, whatever that is."""

import tracemalloc
from fractions import Fraction
from typing import Any

import pytest

from admission.jobs import READERS
from admission.model.kinds import COUNTED, WATCHED, Ref
from admission.model.queues import ClusterQueue, QueueStatus, Quota
from admission.model.selectors import LabelRule
from admission.model.workload import NodeRule, Toleration, Workload
from admission.readers.cluster_queue import read_cluster_queue
from admission.readers.flavor import read_flavor
from admission.readers.pod_set import pod_set
from admission.readers.selector import read_label_selector
from admission.readers.workload import read_workload
from tests.core.crd_cases import SINCE, condition, of


def template(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "none", **fields}]}}


def test_every_watched_kind_has_a_reader() -> None:
    assert set(READERS) == {*WATCHED, *COUNTED}


def test_a_workload_in_full() -> None:
    read = read_workload(
        {
            "metadata": {
                "name": "w",
                "namespace": "lab",
                "uid": "u-1",
                "resourceVersion": "42",
                "creationTimestamp": "1970-01-01T00:01:00Z",
                "labels": {"kueue.x-k8s.io/job-uid": "j-1"},
                "ownerReferences": [
                    {"apiVersion": "example.com/v1", "kind": "Other", "name": "o", "uid": "o-1"},
                    {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j-1", "controller": True},
                ],
            },
            "spec": {
                "queueName": "main",
                "priority": -5,
                "podSets": [{"name": "main", "count": 3, "minCount": 2, "template": template()}],
            },
            "status": {
                "conditions": [condition("QuotaReserved")],
                "admission": {
                    "clusterQueue": "team",
                    "podSetAssignments": [
                        {"name": "main", "flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": "1500m", "memory": "-1"}}
                    ],
                },
                "requeueState": {"count": 2, "requeueAt": "1970-01-01T00:02:00Z"},
                "reclaimablePods": [{"name": "main", "count": 1}],
                "admissionChecks": [{"name": "c", "state": "Ready", "lastTransitionTime": SINCE, "message": "go"}],
                "schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 7}]},
            },
        }
    )
    assert (read.key, read.resource_version, read.created, read.priority) == ("lab/w", 42, 60.0, -5)
    assert (read.owner, read.owner_uid, read.job_uid) == (Ref("Job", "lab", "train"), "j-1", "j-1")
    assert (read.pod_sets[0].count, read.pod_sets[0].min_count) == (3, 2)
    assert read.reserved
    assert read.admission is not None
    assert read.admission.assignments[0].count == 3
    assert read.admission.assignments[0].usage == {"cpu": 1500, "memory": 0}
    assert (read.requeue_at, read.requeue_count) == (120.0, 2)
    assert read.reclaimable == {"main": 1}
    assert [check.state for check in read.checks] == ["Ready"]
    assert read.evictions == (("Preempted", "", 7),)


def test_an_owner_of_another_group_is_not_taken_for_ours() -> None:
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    read = read_workload({"metadata": {"namespace": "lab", "ownerReferences": [owner]}})
    assert (read.owner, read.owner_uid, read.owned) == (Ref("Job.v1alpha1.batch.volcano.sh", "lab", "j"), "u", True)


def test_a_cluster_queue_in_full() -> None:
    flavor = {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": 2, "borrowingLimit": "1500m"}]}
    read = read_cluster_queue(
        of(
            "ClusterQueue",
            spec={
                "cohortName": "all",
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
                "queueingStrategy": "StrictFIFO",
                "preemption": {
                    "withinClusterQueue": "LowerPriority",
                    "borrowWithinCohort": {"policy": "LowerPriority"},
                },
                "fairSharing": {"weight": "0.5"},
                "namespaceSelector": {"matchLabels": {"team": "a"}},
            },
            status={"conditions": [condition("Active")], "pendingWorkloads": 3},
        )
    )
    assert read.quotas() == {("spot", "cpu"): Quota(2000, 1500, None)}
    assert (read.cohort, read.strict_fifo, read.weight) == ("all", True, Fraction(1, 2))
    assert read.preemption.borrow_within_cohort == "LowerPriority"
    assert read.namespace_selector is not None
    assert read.namespace_selector.rules == (LabelRule("team", "In", ("a",)),)
    assert read.status.rest == '{"pendingWorkloads":3}'
    assert read.status.conditions["Active"].true


def test_nothing_stated_is_a_queue_that_admits_nothing() -> None:
    assert read_cluster_queue({"metadata": {"name": "q"}}) == ClusterQueue("q", status=QueueStatus())


def test_a_limit_that_cannot_be_read_is_not_unlimited() -> None:
    flavor = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1", "borrowingLimit": "lots"}]}
    read = read_cluster_queue({"spec": {"resourceGroups": [{"flavors": [flavor]}]}})
    assert read.quotas()["f", "cpu"].borrowing_limit == 0


@pytest.mark.parametrize("broken", [{"matchLabels": {"a": 1}}, {"matchExpressions": ["a"]}, {"matchExpressions": [{}]}])
def test_a_selector_that_cannot_be_read_selects_nothing(broken: Any) -> None:
    selector = read_label_selector(broken)
    assert selector is not None
    assert not selector.matches({"a": "1", "": ""})


def test_a_toleration_without_operator_means_equal() -> None:
    plain, spelled = {"key": "gpu", "value": "yes"}, {"key": "gpu", "value": "yes", "operator": "Equal"}
    read = read_flavor({"spec": {"tolerations": [plain, spelled, {"operator": "Exists", "tolerationSeconds": 5}]}})
    assert read.tolerations[0] == read.tolerations[1] == Toleration("gpu", "Equal", "yes", "")
    assert read.tolerations[2] == Toleration("", "Exists", "", "", 5)


def test_a_term_about_single_nodes_rules_out_no_flavor() -> None:
    terms = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    read = pod_set("main", {"spec": {"affinity": {"nodeAffinity": required}}}, 1)
    assert read.affinity == ((), (NodeRule("zone", "In", ("a", "b")),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"resources": {"requests": {"memory": "1500M"}}}, {"resources": {"requests": {"memory": "1500000k"}}}),
        ({"resources": {"limits": {"cpu": "1"}}}, {"resources": {"limits": {"cpu": "1000m"}, "requests": {}}}),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]},
            {"env": [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]},
        ),
        ({"env": []}, {}),
        ({"resources": {"requests": {}}}, {"resources": {}}),
        ({"resources": {"limits": {}}, "tty": False}, {}),
        ({"volumeMounts": [{"name": "a", "readOnly": False}]}, {"volumeMounts": [{"name": "a"}]}),
        (
            {"readinessProbe": {"exec": {"command": ["a"]}, "periodSeconds": 0}},
            {"readinessProbe": {"exec": {"command": ["a"]}}},
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]},
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]},
        ),
        ({"args": ["a"], "command": ["b"]}, {"command": ["b"], "args": ["a"]}),
    ],
)
def test_spelling_does_not_change_the_shape(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert pod_set("main", template(**one), 1).shape == pod_set("main", template(**other), 1).shape


@pytest.mark.parametrize(
    "other",
    [
        {"image": "other"},
        {"args": ["b", "a"]},
        {"resources": {"requests": {"cpu": "2"}}},
        {"resources": {"requests": {"cpu": 0}}},
        {"securityContext": {"allowPrivilegeEscalation": False}},
        {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "3"}]},
    ],
)
def test_what_runs_changes_the_shape(other: dict[str, Any]) -> None:
    one = {"args": ["a", "b"], "env": [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]}
    assert pod_set("main", template(**one), 1).shape != pod_set("main", template(**{**one, **other}), 1).shape


def test_labels_of_one_run_do_not_split_what_is_shared() -> None:
    one = pod_set("main", {"metadata": {"labels": {"controller-uid": "1"}}, **template()}, 1)
    assert pod_set("main", {"metadata": {"labels": {"controller-uid": "2"}}, **template()}, 1) is one


def test_equal_workloads_cost_little_memory() -> None:
    """3 KiB each is the budget of the whole core; the reader may take two thirds of it."""

    def workload(number: int) -> dict[str, Any]:
        metadata = {
            "name": f"job-train-{number:06}-1a2b3",
            "namespace": "lab",
            "uid": f"0f0f0f0f-0000-4000-8000-{number:012}",
            "resourceVersion": str(1_000_000 + number),
            "creationTimestamp": SINCE,
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "labels": {"kueue.x-k8s.io/job-uid": f"1f0f0f0f-0000-4000-8000-{number:012}"},
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": f"train-{number}", "uid": "u", "controller": True}
            ],
        }
        status = {"conditions": [condition("QuotaReserved", status="False", message="insufficient quota" * 5)]}
        return {
            "metadata": metadata,
            "spec": {"queueName": "q", "podSets": [{"template": template()}]},
            "status": status,
        }

    tracemalloc.start()
    try:
        kept: list[Workload] = [read_workload(workload(0))]
        before, _ = tracemalloc.get_traced_memory()
        kept += [read_workload(workload(number)) for number in range(1, 1001)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / 1000 <= 2048
    assert kept[0].pod_sets[0] is kept[-1].pod_sets[0]
