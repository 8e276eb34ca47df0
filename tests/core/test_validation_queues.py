"""What is refused about cluster queues, cohorts and flavors: every fault at once, in Kueue's words."""

from typing import Any

import pytest

from admission.validation.cluster_queue import check_cluster_queue
from admission.validation.cohort import check_cohort
from admission.validation.resource_flavor import check_resource_flavor

GROUPS = "spec.resourceGroups"


def quota(name: str = "cpu", nominal: Any = "4", **limits: Any) -> dict[str, Any]:
    return {"name": name, "nominalQuota": nominal, **limits}


def group(*resources: str, flavors: tuple[str, ...] = ("std",), **limits: Any) -> dict[str, Any]:
    covered = list(resources or ("cpu",))
    quotas = [quota(name, **limits) for name in covered]
    return {"coveredResources": covered, "flavors": [{"name": name, "resources": quotas} for name in flavors]}


def queue_faults(old: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    before = None if old is None else {"spec": old}
    return [str(error) for error in check_cluster_queue({"metadata": {"name": "q"}, "spec": spec}, before)]


def cohort_faults(**spec: Any) -> list[str]:
    return [str(error) for error in check_cohort({"spec": spec}, None)]


def flavor_faults(**spec: Any) -> list[str]:
    return [str(error) for error in check_resource_flavor({"spec": spec}, None)]


QUOTA = f"{GROUPS}[0].flavors[0].resources[0]"
KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"resourceGroups": [group()]},
        {"resourceGroups": [group("cpu", "memory", flavors=("a", "b")), group("nvidia.com/gpu", flavors=("c",))]},
        {"cohortName": "all", "resourceGroups": [group(borrowingLimit="0", lendingLimit="4")]},
        {"cohortName": "all", "resourceGroups": [group(nominal="1.5", lendingLimit="1500m")]},
        {"resourceGroups": [group(nominal="0")], "namespaceSelector": None},
        {"namespaceSelector": {"matchLabels": {"a": ""}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}},
        {"fairSharing": {"weight": 0}},
        {"fairSharing": {"weight": "2n"}},
        {"preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}},
        {"preemption": {"borrowWithinCohort": {"policy": "Never"}}},
        {
            "flavorFungibility": {
                "whenCanBorrow": "TryNextFlavor",
                "whenCanPreempt": "TryNextFlavor",
                "preference": "PreemptionOverBorrowing",
            }
        },
        {
            "resourceGroups": [group()],
            "admissionChecksStrategy": {"admissionChecks": [{"name": "c", "onFlavors": ["std"]}, {"name": "d"}]},
        },
    ],
)
def test_a_right_cluster_queue_is_accepted(spec: dict[str, Any]) -> None:
    assert queue_faults(**spec) == []


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (
            {"resourceGroups": [group(nominal="-1")]},
            f'{QUOTA}.nominalQuota: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            {"resourceGroups": [group(nominal="many")]},
            (
                f"{QUOTA}.nominalQuota: Invalid value: \"many\": 'many' is not a quantity: write a number with an "
                "optional suffix, like 500m, 2 or 1Gi"
            ),
        ),
        (
            {"resourceGroups": [group(borrowingLimit="1")]},
            f'{QUOTA}.borrowingLimit: Invalid value: "1": must be nil when cohort is empty',
        ),
        (
            {"cohortName": "all", "resourceGroups": [group(borrowingLimit="-1")]},
            f'{QUOTA}.borrowingLimit: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            {"resourceGroups": [group(lendingLimit="1")]},
            f'{QUOTA}.lendingLimit: Invalid value: "1": must be nil when cohort is empty',
        ),
        (
            {"cohortName": "all", "resourceGroups": [group(lendingLimit="4001m")]},
            f'{QUOTA}.lendingLimit: Invalid value: "4001m": must be less than or equal to the nominalQuota',
        ),
        (
            {"resourceGroups": [{**group("cpu"), "coveredResources": ["memory"]}]},
            f'{QUOTA}.name: Invalid value: "cpu": must match the name in coveredResources',
        ),
        (
            {"resourceGroups": [group("cpu"), group("cpu", flavors=("other",))]},
            f'{GROUPS}[1].coveredResources[0]: Duplicate value: "cpu"',
        ),
        (
            {"resourceGroups": [group("cpu"), group("memory")]},
            f'{GROUPS}[1].flavors[0].name: Duplicate value: "std"',
        ),
        ({"resourceGroups": [group("@cpu")]}, f'{GROUPS}[0].coveredResources[0]: Invalid value: "@cpu": {KEY}'),
        (
            {"fairSharing": {"weight": "-1"}},
            'spec.fairSharing: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            {"fairSharing": {"weight": "1n"}},
            'spec.fairSharing: Invalid value: "1n": When not 0, weight must be > 10e-9',
        ),
        (
            {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}},
            (
                'spec.preemption: Invalid value: {"borrowWithinCohort":{"policy":"LowerPriority"},'
                '"reclaimWithinCohort":"Never"}: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never'
            ),
        ),
        (
            {
                "flavorFungibility": {
                    "whenCanBorrow": "TryNextFlavor",
                    "whenCanPreempt": "MayStopSearch",
                    "preference": "x",
                }
            },
            (
                'spec.flavorFungibility.preference: Invalid value: "x": preference "x" requires both whenCanBorrow and '
                "whenCanPreempt to be TryNextFlavor"
            ),
        ),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            (
                "spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` "
                "is 'In' or 'NotIn'"
            ),
        ),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
            (
                "spec.namespaceSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is "
                "'Exists' or 'DoesNotExist'"
            ),
        ),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
            'spec.namespaceSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
        ),
        (
            {
                "resourceGroups": [group()],
                "admissionChecksStrategy": {"admissionChecks": [{"name": "c", "onFlavors": ["typo"]}]},
            },
            (
                "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: Unsupported value: "
                '"typo": supported values: "std"'
            ),
        ),
        (
            {"resourceGroups": [group(flavors=tuple(f"f{i}" for i in range(257)))]},
            f"{GROUPS}: Invalid value: 257: total number of flavors across all resourceGroups must be ≤ 256, got 257",
        ),
        (
            {"resourceGroups": [group(*(f"r{i}" for i in range(257)))]},
            (
                f"{GROUPS}: Invalid value: 257: total number of covered resources across all resourceGroups must be "
                "≤ 256, got 257"
            ),
        ),
        (
            {"resourceGroups": [group("a", "b", "c", flavors=tuple(f"f{i}" for i in range(171)))]},
            (
                f"{GROUPS}[0]: Invalid value: 513: number of flavor-resource combinations in a resourceGroup must be "
                "≤ 512, got 513"
            ),
        ),
    ],
)
def test_a_wrong_cluster_queue_is_refused(spec: dict[str, Any], fault: str) -> None:
    assert queue_faults(**spec) == [fault]


def test_all_faults_are_told_at_once() -> None:
    faults = queue_faults(
        resourceGroups=[group(nominal="-1", borrowingLimit="1", lendingLimit="-2")], fairSharing={"weight": "-1"}
    )
    assert [fault.split(":")[0] for fault in faults] == [
        f"{QUOTA}.nominalQuota",
        f"{QUOTA}.borrowingLimit",
        f"{QUOTA}.lendingLimit",
        f"{QUOTA}.lendingLimit",
        "spec.fairSharing",
    ]


def _checks(*flavors: str) -> dict[str, Any]:
    return {"admissionChecks": [{"name": "c", "onFlavors": list(flavors)}]}


def test_a_queue_that_already_named_an_unknown_flavor_can_still_be_edited_elsewhere() -> None:
    old = {"resourceGroups": [group()], "admissionChecksStrategy": _checks("typo")}
    assert queue_faults(old, **{**old, "cohortName": "all"}) == []
    assert len(queue_faults(old, **{**old, "admissionChecksStrategy": _checks("typo", "other")})) == 2
    assert len(queue_faults(old, **{**old, "resourceGroups": [group(flavors=("new",))]})) == 1


def test_a_policy_of_concurrent_admission_cannot_change() -> None:
    old = {"concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}}
    assert queue_faults(old, **old) == []
    assert queue_faults(old)[0].endswith("field is immutable")


def test_a_queue_being_deleted_can_lose_its_finalizer_however_wrong_it_is() -> None:
    dying = {
        "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"resourceGroups": [group(nominal="-1")]},
    }
    assert check_cluster_queue(dying, dying) == []


def test_a_cohort_may_lend_more_than_it_owns_but_needs_a_parent_for_limits() -> None:
    assert cohort_faults(parentName="all", resourceGroups=[group(lendingLimit="100")]) == []
    assert cohort_faults(resourceGroups=[group(lendingLimit="1")]) == [
        f'{QUOTA}.lendingLimit: Invalid value: "1": must be nil when parent is empty'
    ]
    assert cohort_faults(fairSharing={"weight": "-1"}) == [
        'spec.fairSharing: Invalid value: "-1": must be greater than or equal to 0'
    ]


def test_a_cohort_may_be_its_own_parent_since_cycles_are_told_by_status() -> None:
    assert cohort_faults(parentName="self") == []


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"nodeLabels": {"-": "x"}}, f'spec.nodeLabels: Invalid value: "-": {KEY}'),
        ({"nodeTaints": [{"key": "", "effect": "NoSchedule"}]}, "spec.nodeTaints[0].key"),
        ({"nodeTaints": [{"key": "a", "value": "b c", "effect": "NoSchedule"}]}, "spec.nodeTaints[0].value"),
        (
            {"nodeTaints": [{"key": "a", "value": v, "effect": "NoSchedule"} for v in "xy"]},
            (
                'spec.nodeTaints[1]: Duplicate value: {"effect":"NoSchedule","key":"a","value":"y"}: '
                "taints must be unique by key and effect pair"
            ),
        ),
        ({"tolerations": [{"operator": "Exists"}, {"key": "a b"}]}, "spec.tolerations[1].key"),
    ],
)
def test_a_wrong_flavor_is_refused(spec: dict[str, Any], fault: str) -> None:
    assert flavor_faults(**spec)[0].startswith(fault)


def test_a_right_flavor_is_accepted() -> None:
    taints = [{"key": "gpu", "value": "yes", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    assert flavor_faults(nodeLabels={"pool.acme.io/kind": "gpu"}, nodeTaints=taints, tolerations=[{"key": "gpu"}]) == []
