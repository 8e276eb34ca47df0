"""Readers are total: nothing that JSON can hold stops one."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import READERS
from tests.core.crd_cases import SINCE, condition

# Few and short, so that much of what is drawn is nested rather than long.
FIELDS = ("metadata", "spec", "status", "podSets", "template", "containers", "resources", "requests", "name", "count")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", SINCE, "\ud800", "1e400"])
garbage = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=8,
)

# One object with every field that a reader looks at, right or not; each is spoilt in turn.
RICH: dict[str, Any] = {
    "metadata": {
        "name": "a",
        "namespace": "lab",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": SINCE,
        "labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/max-exec-time-seconds": "5"},
        "annotations": {"kueue.x-k8s.io/job-min-parallelism": "1"},
        "finalizers": ["f"],
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}],
    },
    "value": 1,
    "globalDefault": True,
    "spec": {
        "podSets": [{"name": "main", "count": 2, "minCount": 1, "template": {"spec": {}}}],
        "template": {
            "spec": {
                "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}],
                "containers": [
                    {
                        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
                        "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"divisor": "1"}}}],
                    }
                ],
                "resources": {"requests": {"cpu": "1"}},
                "overhead": {"cpu": "1"},
                "runtimeClassName": "sandbox",
                "nodeSelector": {"pool": "a"},
                "tolerations": [{"key": "k", "tolerationSeconds": 5}],
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}
                            ]
                        }
                    }
                },
            }
        },
        "queueName": "q",
        "priority": 1,
        "priorityClassRef": {"group": "g", "kind": "k", "name": "n"},
        "active": True,
        "maximumExecutionTimeSeconds": 5,
        "parallelism": 2,
        "completions": 2,
        "completionMode": "Indexed",
        "suspend": True,
        "cohortName": "c",
        "parentName": "c",
        "clusterQueue": "c",
        "stopPolicy": "Hold",
        "queueingStrategy": "StrictFIFO",
        "namespaceSelector": {
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}],
        },
        "preemption": {"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 1}},
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
        "fairSharing": {"weight": "1"},
        "admissionChecksStrategy": {"admissionChecks": [{"name": "c"}]},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1", "lendingLimit": "1"}]}],
            }
        ],
        "nodeLabels": {"a": "b"},
        "nodeTaints": [{"key": "k", "effect": "NoSchedule"}],
        "tolerations": [{"key": "k"}],
        "topologyName": "t",
        "limits": [{"type": "Container", "default": {"cpu": 1}, "min": {"cpu": "1"}, "max": {"cpu": "2"}}],
    },
    "overhead": {"podFixed": {"cpu": "250m"}},
    "status": {
        "conditions": [condition("Complete")],
        "admission": {
            "clusterQueue": "c",
            "podSetAssignments": [{"flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"}, "count": 1}],
        },
        "requeueState": {"count": 1, "requeueAt": SINCE},
        "reclaimablePods": [{"name": "main", "count": 1}],
        "resourceRequests": [{"name": "main", "resources": {"cpu": "1"}}],
        "admissionChecks": [{"name": "c", "state": "Ready", "lastTransitionTime": SINCE}],
        "schedulingStats": {"evictions": [{"reason": "r", "underlyingCause": "", "count": 1}]},
        "accumulatedPastExecutionTimeSeconds": 1,
        "startTime": SINCE,
        "active": 1,
        "ready": 1,
        "succeeded": 1,
        "completedIndexes": "0,2-4",
        "failedIndexes": "1",
        "uncountedTerminatedPods": {"succeeded": ["u"]},
    },
}


def spoilt(value: Any, wrong: Any) -> Iterator[Any]:
    """Copies of a JSON value, each with another part of it replaced."""
    yield wrong
    if isinstance(value, dict):
        for name, field in value.items():
            yield from ({**value, name: other} for other in spoilt(field, wrong))
    if isinstance(value, list):
        for position, entry in enumerate(value):
            yield from ([*value[:position], other, *value[position + 1 :]] for other in spoilt(entry, wrong))


@pytest.mark.parametrize("wrong", [None, True, 2**70, -1.5, "", "no", [], [None, "x"], {}, {"a": None}], ids=repr)
def test_no_wrong_field_stops_a_reader(wrong: Any) -> None:
    for manifest in spoilt(RICH, wrong):
        if isinstance(manifest, dict):
            for read in READERS.values():
                read(manifest)


@given(st.dictionaries(st.sampled_from(FIELDS), garbage, max_size=4))
@settings(max_examples=50)
def test_no_garbage_stops_a_reader(manifest: Any) -> None:
    for read in READERS.values():
        read(manifest)


@pytest.mark.long
@given(st.dictionaries(st.sampled_from(FIELDS), garbage, max_size=4))
@settings(max_examples=20_000)
def test_no_amount_of_garbage_stops_a_reader(manifest: Any) -> None:
    for read in READERS.values():
        read(manifest)
