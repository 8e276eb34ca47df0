"""Our kinds as models: the law that they and the readers agree, defaults, pruning, field errors."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.api.cluster_queue import ClusterQueue
from admission.api.crd import SERVED
from admission.api.defaults import prune, with_defaults
from admission.api.field_errors import OMITTED, FieldError, child, forbidden, invalid, key, required, too_many
from admission.api.resource_flavor import ResourceFlavor
from admission.api.violations import violations
from admission.api.workload import Workload
from admission.model.amounts import amount, exact
from admission.model.queues import Quota
from admission.readers.cluster_queue import read_cluster_queue
from admission.readers.flavor import read_flavor
from admission.readers.workload import read_workload
from tests.core.crd_cases import ALLOWED, ON_CREATE, ON_STATUS, ON_UPDATE, POD_SET, VALID, Object, Refusal, of, reserved

quantities = st.integers(0, 10**6) | st.from_regex(r"[0-9]{1,3}(\.[0-9])?(m|k|Ki|M|Gi|e3)?", fullmatch=True)


@st.composite
def cluster_queues(draw: st.DrawFn) -> Object:
    resources = draw(st.lists(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), min_size=1, unique=True))

    def quota(name: str) -> Object:
        limits = st.fixed_dictionaries(
            {"nominalQuota": quantities}, optional={"borrowingLimit": quantities, "lendingLimit": quantities}
        )
        return {"name": name, **draw(limits)}

    names = draw(st.lists(st.sampled_from(["spot", "on-demand", "old"]), min_size=1, max_size=2, unique=True))
    group = {
        "coveredResources": resources,
        "flavors": [{"name": name, "resources": [quota(resource) for resource in resources]} for name in names],
    }
    optional: dict[str, st.SearchStrategy[Any]] = {
        "queueingStrategy": st.sampled_from(["StrictFIFO", "BestEffortFIFO"]),
        "stopPolicy": st.sampled_from(["None", "Hold", "HoldAndDrain"]),
        "preemption": st.fixed_dictionaries(
            {"reclaimWithinCohort": st.sampled_from(["LowerPriority", "Any"])},
            optional={"borrowWithinCohort": st.just({"policy": "LowerPriority", "maxPriorityThreshold": 7})},
        ),
        "fairSharing": st.fixed_dictionaries({"weight": st.sampled_from([0, 2, "500m", "1.5"])}),
        "namespaceSelector": st.sampled_from([{}, {"matchLabels": {"team": "a"}}]),
    }
    spec = draw(st.fixed_dictionaries({}, optional=optional))
    return of("ClusterQueue", spec={"cohortName": "all", "resourceGroups": [group], **spec})


@given(cluster_queues())
@settings(max_examples=40)
def test_model_and_reader_see_the_same_cluster_queue(manifest: Object) -> None:
    filled = with_defaults("ClusterQueue", manifest)
    assert violations("ClusterQueue", filled) == []
    spec, read = ClusterQueue.model_validate(filled).spec, read_cluster_queue(manifest)
    assert spec is not None
    assert spec.resource_groups is not None
    assert spec.preemption is not None
    assert spec.preemption.borrow_within_cohort is not None
    assert read.quotas() == {
        (flavor.name, quota.name): Quota(
            amount(quota.name, quota.nominal_quota),
            None if quota.borrowing_limit is None else amount(quota.name, quota.borrowing_limit),
            None if quota.lending_limit is None else amount(quota.name, quota.lending_limit),
        )
        for group in spec.resource_groups
        for flavor in group.flavors
        for quota in flavor.resources
    }
    assert read.strict_fifo == (spec.queueing_strategy == "StrictFIFO")
    assert (read.cohort, read.stop_policy) == (spec.cohort_name, spec.stop_policy)
    assert read.preemption.reclaim_within_cohort == spec.preemption.reclaim_within_cohort
    assert read.preemption.borrow_within_cohort == spec.preemption.borrow_within_cohort.policy
    assert read.preemption.max_priority_threshold == spec.preemption.borrow_within_cohort.max_priority_threshold
    assert read.weight == (exact(str(spec.fair_sharing.weight)) if spec.fair_sharing else 1)
    assert (read.namespace_selector is None) == (spec.namespace_selector is None)


pod_sets = st.lists(
    st.fixed_dictionaries(
        {"template": st.just(POD_SET["template"])}, optional={"count": st.integers(1, 9), "minCount": st.just(1)}
    ),
    min_size=1,
    max_size=3,
).map(lambda found: [{**pod_set, "name": f"p{position}"} for position, pod_set in enumerate(found)])


@given(
    st.fixed_dictionaries(
        {"podSets": pod_sets, "priority": st.integers(-(2**31), 2**31 - 1)},
        optional={
            "queueName": st.just("main"),
            "active": st.booleans(),
            "maximumExecutionTimeSeconds": st.integers(1, 99),
            "priorityClassRef": st.just({"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}),
        },
    )
)
@settings(max_examples=40)
def test_model_and_reader_see_the_same_workload(spec: Object) -> None:
    manifest = of("Workload", spec=spec)
    filled = with_defaults("Workload", manifest)
    assert violations("Workload", filled) == []
    seen, read = Workload.model_validate(filled).spec, read_workload(manifest)
    assert seen is not None
    assert seen.pod_sets is not None
    assert [(each.name, each.count, each.min_count) for each in read.pod_sets] == [
        (each.name, each.count, each.min_count) for each in seen.pod_sets
    ]
    assert (read.priority, read.active, read.maximum_execution_seconds) == (
        seen.priority,
        seen.active,
        seen.maximum_execution_time_seconds,
    )
    assert read.queue_name == (seen.queue_name or "")
    assert (read.priority_class and read.priority_class.name) == (
        seen.priority_class_ref and seen.priority_class_ref.name
    )


def test_model_and_reader_see_the_same_flavor() -> None:
    manifest = of(
        "ResourceFlavor",
        spec={
            "nodeLabels": {"pool": "gpu"},
            "nodeTaints": [{"key": "gpu", "effect": "NoSchedule"}],
            "tolerations": [{"key": "gpu", "effect": "NoExecute", "tolerationSeconds": 5}],
        },
    )
    spec, read = ResourceFlavor.model_validate(manifest).spec, read_flavor(manifest)
    assert spec is not None
    assert spec.node_taints is not None
    assert spec.tolerations is not None
    assert read.node_labels == spec.node_labels
    assert [(taint.key, taint.effect) for taint in read.taints] == [
        (each.key, each.effect) for each in spec.node_taints
    ]
    assert [each.seconds for each in read.tolerations] == [each.toleration_seconds for each in spec.tolerations]


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_what_is_valid_passes_schema_rules_and_model(kind: str) -> None:
    filled = with_defaults(kind, VALID[kind])
    assert violations(kind, filled) == []
    SERVED[kind].model.model_validate(filled)
    assert prune(kind, filled) == filled
    assert with_defaults(kind, filled) == filled


@pytest.mark.parametrize("refusal", ON_CREATE + ON_UPDATE + ON_STATUS, ids=str)
def test_what_is_wrong_is_refused_by_name(refusal: Refusal) -> None:
    kind = refusal.wrong["kind"]
    old = None if refusal.old is None else with_defaults(kind, refusal.old)
    said = [str(error) for error in violations(kind, with_defaults(kind, refusal.wrong), old)]
    assert any(refusal.said in sentence for sentence in said), said


@pytest.mark.parametrize(("old", "new"), ALLOWED)
def test_a_change_within_the_rules_is_allowed(old: Object, new: Object) -> None:
    kind = new["kind"]
    assert violations(kind, with_defaults(kind, new), with_defaults(kind, old)) == []


def test_what_was_wrong_before_and_did_not_change_is_tolerated() -> None:
    old = with_defaults("ClusterQueue", of("ClusterQueue", spec={"queueingStrategy": "Random"}))
    new = deepcopy(old)
    new["spec"]["stopPolicy"] = "Hold"
    assert violations("ClusterQueue", new, old) == []
    new["spec"]["queueingStrategy"] = "Other"
    assert len(violations("ClusterQueue", new, old)) == 1


def test_defaults_reach_into_objects_that_nobody_wrote() -> None:
    spec = with_defaults("ClusterQueue", of("ClusterQueue", spec={"cohortName": None}))["spec"]
    assert spec == {
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": {"policy": "Never"},
            "withinClusterQueue": "Never",
        },
    }


def test_a_kind_without_spec_gets_none() -> None:
    assert with_defaults("ClusterQueue", of("ClusterQueue")) == of("ClusterQueue")


def test_pod_templates_keep_what_the_schema_does_not_know() -> None:
    template = {"spec": {"newField": {"deep": None}, "containers": []}, "metadata": {"labels": {"a": "b"}}}
    manifest = of("Workload", spec={"podSets": [{"template": template, "typo": 1}], "typo": 2}, typo=3)
    kept = prune("Workload", manifest)
    assert kept == of("Workload", spec={"podSets": [{"template": template}]})
    assert with_defaults("Workload", kept)["spec"]["podSets"][0]["template"] == template


def test_rules_wait_until_the_structure_is_right() -> None:
    said = violations("Workload", reserved(podSets="none"), reserved())
    assert [error.path for error in said] == ["spec.podSets"]


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        (invalid("a", "x", "is odd"), 'a: Invalid value: "x": is odd'),
        (invalid("a[0]", {"b": 1, "a": [True]}, "no"), 'a[0]: Invalid value: {"a":[true],"b":1}: no'),
        (invalid("a", None, ""), "a: Invalid value: null"),
        (invalid("", OMITTED, "no"), "<nil>: Invalid value: no"),
        (required("a"), "a: Required value"),
        (forbidden("a", "never"), "a: Forbidden: never"),
        (too_many("a", 3, 1), "a: Too many: 3: must have at most 1 item"),
        (FieldError(key(child("a", "b"), "c/d"), "Not found", "x"), 'a.b[c/d]: Not found: "x"'),
    ],
)
def test_errors_print_as_kubernetes_prints_them(error: FieldError, printed: str) -> None:
    assert str(error) == printed
