"""What is refused about a Workload: what would corrupt the books, and every change to what it holds quota for."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.validation.workload import check_workload
from admission.validation.workload_update import same

ASSIGNMENTS = "status.admission.podSetAssignments"


def container(**resources: dict[str, str]) -> dict[str, Any]:
    return {"name": "c", "image": "none", "resources": resources}


def pod_set(name: str = "main", count: int = 2, **more: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [container(requests={"cpu": "1"})]}}
    return {"name": name, "count": count, "template": template, **more}


def workload(*pod_sets: dict[str, Any], **status: Any) -> dict[str, Any]:
    made = {"metadata": {"name": "w"}, "spec": {"queueName": "q", "podSets": list(pod_sets or (pod_set(),))}}
    return {**made, "status": status} if status else made


RESERVED = [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}]


def assignment(name: str = "main", count: int = 2, **usage: str) -> dict[str, Any]:
    usage = usage or {"cpu": "2"}
    return {"name": name, "count": count, "flavors": dict.fromkeys(usage, "std"), "resourceUsage": usage}


def admitted(*pod_sets: dict[str, Any], assignments: tuple[dict[str, Any], ...] = (), **status: Any) -> dict[str, Any]:
    admission = {"clusterQueue": "cq", "podSetAssignments": list(assignments or (assignment(),))}
    return workload(*pod_sets, conditions=RESERVED, admission=admission, **status)


def faults(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """The same for parsed manifests and for bytes off the wire."""
    said = [str(error) for error in check_workload(new, old)]
    before = None if old is None else msgspec.json.encode(old)
    assert said == [str(error) for error in check_workload(msgspec.json.encode(new), before)]
    return said


def edited(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one place set; digits are indexes."""
    made = deepcopy(manifest)
    *parents, last = path.split(".")
    target: Any = made
    for part in parents:
        target = target[int(part)] if part.isdigit() else target.setdefault(part, {})
    target[int(last) if last.isdigit() else last] = value
    return made


def test_right_workloads_are_accepted() -> None:
    for made in (
        workload(),
        workload(pod_set("driver", 1), pod_set("executor", 5, minCount=2)),
        admitted(reclaimablePods=[{"name": "main", "count": 2}]),
        workload(pod_set(template={"spec": {"containers": [container(requests={"cpu": "0"})]}})),
        {"metadata": {"name": "empty"}, "spec": {}},
    ):
        assert faults(made) == []


TEMPLATE = "spec.podSets[0].template"


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("spec.containers.0.resources.requests", {"cpu": "-4"}, "spec.containers[0].resources.requests[cpu]"),
        ("spec.containers.0.resources.limits", {"memory": "-1Gi"}, "spec.containers[0].resources.limits[memory]"),
        ("spec.initContainers", [container(requests={"cpu": "-1m"})], "spec.initContainers[0].resources.requests[cpu]"),
        ("spec.resources", {"requests": {"cpu": -1}}, "spec.resources.requests[cpu]"),
        ("spec.resources", {"limits": {"acme.io/x": "-1"}}, "spec.resources.limits[acme.io/x]"),
    ],
)
def test_negative_amounts_give_no_credit(path: str, value: Any, where: str) -> None:
    said = faults(edited(workload(), f"spec.podSets.0.template.{path}", value))
    assert len(said) == 1
    assert said[0].startswith(f"{TEMPLATE}.{where}: Invalid value: ")
    assert said[0].endswith("must be greater than or equal to 0")


def _faulty() -> Iterator[tuple[dict[str, Any], str]]:
    made = workload(pod_set("a", 2, minCount=1), pod_set("b", 2, minCount=1))
    yield made, "spec.podSets: Invalid value: 2: at most one podSet can use minCount"
    pods = edited(workload(), "spec.podSets.0.template.spec.containers.0.resources.requests", {"pods": "1"})
    where = f"{TEMPLATE}.spec.containers[0].resources.requests[pods]"
    yield pods, f'{where}: Invalid value: "pods": the key is reserved for internal kueue use'
    size = workload(pod_set(topologyRequest={"podSetSliceSize": 2}))
    where = "spec.podSets[0].topologyRequest.podSetSliceSize"
    yield size, f"{where}: Forbidden: may not be set when podSetSliceRequiredTopology is not specified"
    topology = workload(pod_set(topologyRequest={"podSetSliceRequiredTopology": "rack"}))
    yield topology, f"{where}: Required value: must be set when podSetSliceRequiredTopology is specified"
    yield (
        workload(conditions=RESERVED),
        ("status.admission: Required value: must be set while the QuotaReserved condition is true"),
    )
    yield admitted(assignments=(assignment("other"),)), f'{ASSIGNMENTS}[0].name: Not found: "other"'
    yield (
        admitted(assignments=(assignment(cpu="3m"),)),
        (f'{ASSIGNMENTS}[0].resourceUsage[cpu]: Invalid value: "3m": is not a multiple of 2'),
    )
    yield (
        workload(reclaimablePods=[{"name": "x", "count": 1}]),
        ('status.reclaimablePods[x].name: Unsupported value: "x": supported values: "main"'),
    )
    yield (
        workload(reclaimablePods=[{"name": "main", "count": 3}]),
        ("status.reclaimablePods[main].count: Invalid value: 3: should be less or equal to 2"),
    )
    yield (
        workload(admissionChecks=[{"name": "c", "state": "Ready", "podSetUpdates": [{"name": "x"}]}]),
        ('status.admissionChecks[0].podSetUpdates[0].name: Unsupported value: "x": supported values: "main"'),
    )


@pytest.mark.parametrize(("made", "fault"), list(_faulty()))
def test_a_wrong_workload_is_refused(made: dict[str, Any], fault: str) -> None:
    assert faults(made) == [fault]


def test_labels_of_pods_that_no_pod_could_carry_are_refused() -> None:
    said = faults(edited(workload(), "spec.podSets.0.template.metadata", {"labels": {"a": "b c"}}))
    assert said[0].startswith(f'{TEMPLATE}.metadata.labels: Invalid value: "b c": a valid label must be')


def test_without_a_reservation_everything_may_change() -> None:
    assert faults(workload(pod_set("other", 9)), workload()) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("count", 3),
        ("name", "other"),
        ("template.spec.containers.0.image", "other"),
        ("template.spec.priority", 0),
        ("template.spec.nodeSelector", {"a": "b"}),
        ("template.spec.containers.0.resources.requests", {"cpu": "1.5"}),
    ],
)
def test_what_quota_is_held_for_does_not_change(path: str, value: Any) -> None:
    old = admitted()
    said = faults(edited(old, f"spec.podSets.0.{path}", value), old)
    assert any(
        fault.startswith("spec.podSets[0]: Invalid value") and fault.endswith("field is immutable") for fault in said
    )


def test_another_spelling_of_the_same_is_no_change() -> None:
    old = admitted()
    new = edited(old, "spec.podSets.0.template.spec.containers.0.resources.requests", {"cpu": "1000m"})
    assert faults(edited(new, "spec.podSets.0.template.spec.nodeSelector", {}), old) == []
    assert faults(edited(old, "status.admission.podSetAssignments.0.resourceUsage", {"cpu": "2000m"}), old) == []


def test_pod_sets_are_neither_added_nor_removed_while_quota_is_held() -> None:
    old = admitted()
    assert faults(edited(old, "spec.podSets", [pod_set(), pod_set("more")]), old)[-1].endswith("field is immutable")


def test_an_admission_is_set_and_unset_as_a_whole() -> None:
    assert faults(admitted(), workload()) == []
    assert faults(workload(), admitted()) == []
    for path, value in (
        ("clusterQueue", "other"),
        ("podSetAssignments.0.flavors", {"cpu": "spot"}),
        ("podSetAssignments.0.resourceUsage", {"cpu": "4"}),
        ("podSetAssignments.0.count", 1),
    ):
        said = faults(edited(admitted(), f"status.admission.{path}", value), admitted())
        assert len(said) == 1
        assert said[0].startswith("status.admission: Invalid value")


def test_topology_may_be_assigned_later() -> None:
    later = edited(admitted(), "status.admission.podSetAssignments.0.topologyAssignment", {"levels": ["rack"]})
    assert faults(later, admitted()) == []


def _reclaims(*counts: tuple[str, int]) -> dict[str, Any]:
    return admitted(pod_set(), pod_set("b"), reclaimablePods=[{"name": name, "count": count} for name, count in counts])


def test_quota_given_back_is_given_back() -> None:
    old = _reclaims(("main", 1))
    assert faults(_reclaims(("main", 2), ("b", 1)), old) == []
    assert faults(_reclaims(("main", 0)), old) == [
        "status.reclaimablePods[main].count: Invalid value: 0: cannot be less than 1"
    ]
    assert faults(_reclaims(), old) == ["status.reclaimablePods[main]: Required value: cannot be removed"]
    assert faults(workload(pod_set(), pod_set("b")), old) == []


def test_what_a_ready_check_asks_of_pods_stays_while_it_is_ready() -> None:
    def checked(state: str, key: str) -> dict[str, Any]:
        update = {"name": "main", "tolerations": [{"key": key, "operator": "Exists"}]}
        return workload(admissionChecks=[{"name": "c", "state": state, "podSetUpdates": [update]}])

    said = faults(checked("Ready", "b"), checked("Ready", "a"))
    assert len(said) == 1
    assert said[0].startswith("status.admissionChecks[0].podSetUpdates: Invalid value")
    assert faults(checked("Pending", "b"), checked("Ready", "a")) == []
    assert faults(checked("Ready", "b"), checked("Pending", "a")) == []


def test_a_cluster_is_one_of_those_that_were_nominated() -> None:
    old = workload(nominatedClusterNames=["a", "b"])
    assert faults(workload(clusterName="b"), old) == []
    assert faults(workload(clusterName="c"), old) == [
        'status.clusterName: Invalid value: "c": when setting clusterName it must be one of the nominatedClusterNames'
    ]


def _wrong_from_before() -> dict[str, Any]:
    return edited(workload(), "spec.podSets.0.template.spec.containers.0.resources.requests", {"cpu": "-4"})


def test_an_object_that_predates_a_rule_can_still_be_admitted_finished_and_deleted() -> None:
    old = _wrong_from_before()
    assert faults({**old, "status": {"conditions": [{"type": "Finished", "status": "True"}]}}, old) == []
    dying = edited(old, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z")
    assert faults(edited(dying, "spec.active", False), dying) == []
    assert faults(edited(old, "spec.active", False), old)  # judged again once its spec is touched


def test_a_reservation_without_admission_from_before_can_converge() -> None:
    old = workload(conditions=RESERVED)
    assert faults(edited(old, "metadata.annotations", {"a": "b"}), old) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "1", "1000m", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "requests"]), inner, max_size=2),
    max_leaves=8,
)


@given(left=JSON, right=JSON)
def test_being_the_same_is_an_equivalence(left: Any, right: Any) -> None:
    assert same(left, left)
    assert same(left, right) == same(right, left)


@given(value=JSON)
def test_null_and_empty_members_make_no_difference(value: Any) -> None:
    padded = {**value, "n": None, "e": {}, "l": [], "s": ""} if isinstance(value, Mapping) else value
    assert same(value, padded)
