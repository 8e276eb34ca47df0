"""Between v1beta1 and v1beta2 nothing is lost that both can say; what is no object of ours is told so."""

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.api.crd import SERVED, VERSIONS, schema_of
from admission.api.defaults import prune, with_defaults
from admission.api.violations import violations
from admission.conversion import Unconvertible, convert
from admission.model.topology_assignment import HOSTNAME, Domain, domains_of, slices_of
from tests.core.crd_cases import POD_SET, VALID, Object, of
from tests.core.schema_objects import NAMES, objects

OLD, NEW = "v1beta1", "v1beta2"
ASSIGNMENT = "status.admission.podSetAssignments[].topologyAssignment"
CLASSES = {
    "kueue.x-k8s.io/workloadpriorityclass": ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}


@st.composite
def domains(draw: st.DrawFn) -> tuple[list[str], list[Domain]]:
    levels = draw(st.sampled_from([["rack"], ["rack", HOSTNAME], [HOSTNAME]]))
    values = st.tuples(*(st.sampled_from(NAMES) for _ in levels))
    found = draw(st.lists(st.tuples(values, st.integers(1, 3)), max_size=5))
    return levels, [Domain(*each) for each in found]


def _one_by_one(drawn: tuple[list[str], list[Domain]]) -> Object:
    levels, found = drawn
    return {"levels": levels, "domains": [{"values": list(each.values), "count": each.pods} for each in found]}


SPECIAL: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    NEW: {
        "metadata": st.just({"name": "a", "labels": {"a": "b"}}),
        "spec.podSets[].template": st.just(POD_SET["template"]),
        "spec.priorityClassRef": st.sampled_from(
            [{"group": group, "kind": kind, "name": "gold"} for group, kind in CLASSES.values()]
        ),
        ASSIGNMENT: domains().map(lambda drawn: {"levels": drawn[0], "slices": slices_of(*drawn)}),
    },
    OLD: {
        "metadata": st.just({"name": "a", "labels": {"a": "b"}}),
        "spec.podSets[].template": st.just(POD_SET["template"]),
        ASSIGNMENT: domains().map(_one_by_one),
    },
}


@cache  # a strategy is costly to make and is asked for at every example
def any_of(kind: str, version: str) -> st.SearchStrategy[Object]:
    """Any object of the kind in this version."""
    made: st.SearchStrategy[Object] = objects(schema_of(kind, version), SPECIAL[version])
    return made.map(lambda fields: {**fields, "apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind})


def edit(manifest: Object, path: str, change: Callable[[Object], None]) -> None:
    """Change, in place, every object at a path; `[]` are entries of a list."""
    first, _, rest = path.partition(".")
    inside = manifest.get(first.removesuffix("[]"))
    for each in inside if isinstance(inside, list) else [inside] if inside is not None else []:
        if rest:
            edit(each, rest, change)
        else:
            change(each)


def dropping(*names: str) -> Callable[[Object], None]:
    def change(holder: Object) -> None:
        for name in names:
            holder.pop(name, None)

    return change


def expanded(assignment: Object) -> None:
    """Slices are free to be others, as long as they name the same domains."""
    if "slices" in assignment:
        assignment["slices"] = domains_of(assignment)


def sayable_in_old(manifest: Object) -> Object:
    """A v1beta2 object without what v1beta1 has no word for."""
    told = deepcopy(manifest)
    edit(told, "spec", dropping("concurrentAdmissionPolicy", "preemptionGates"))
    edit(told, "status", dropping("preemptionGates"))
    edit(told, "spec.podSets[].topologyRequest", dropping("podsetSliceRequiredTopologyConstraints"))
    edit(told, ASSIGNMENT, expanded)
    return told


def sayable_in_new(manifest: Object) -> Object:
    """A v1beta1 object without what v1beta2 has no word for, and with the present words of what has two."""
    told = deepcopy(manifest)
    kind = told["kind"]
    if kind in ("ClusterQueue", "Cohort"):
        edit(told, "status.fairSharing", dropping("admissionFairSharingStatus"))
    if kind == "LocalQueue":
        edit(told, "status", dropping("flavors"))
    if kind == "AdmissionCheck":
        edit(told, "spec", dropping("retryDelayMinutes"))
    if kind == "ClusterQueue":
        edit(told, "status", dropping("pendingWorkloadsStatus"))
        edit(told, "spec", _present_words)
    if kind == "Workload":
        edit(told, "spec", _class_with_source)
    return told


def _present_words(spec: Object) -> None:
    if names := spec.pop("admissionChecks", None):
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in dict.fromkeys(names)]}
    if not spec.get("admissionChecksStrategy", {}).get("admissionChecks"):
        spec.pop("admissionChecksStrategy", None)
    search = spec.get("flavorFungibility", {})
    for field, word in (("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")):
        if search.get(field) == word:
            search[field] = "MayStopSearch"


def _class_with_source(spec: Object) -> None:
    if "priorityClassName" not in spec or spec.get("priorityClassSource") not in CLASSES:
        dropping("priorityClassName", "priorityClassSource")(spec)


KINDS = pytest.mark.parametrize("kind", sorted(SERVED))


@KINDS
@given(data=st.data())
def test_the_way_through_v1beta1_and_back_keeps_what_it_can_say(kind: str, data: st.DataObject) -> None:
    manifest = data.draw(any_of(kind, NEW))
    before = deepcopy(manifest)
    old = convert(manifest, OLD)
    assert manifest == before
    assert prune(kind, old, OLD) == old
    back = convert(old, NEW)
    edit(back, ASSIGNMENT, expanded)
    assert back == sayable_in_old(manifest)


@KINDS
@given(data=st.data())
def test_the_way_through_v1beta2_and_back_keeps_what_it_can_say(kind: str, data: st.DataObject) -> None:
    manifest = data.draw(any_of(kind, OLD))
    before = deepcopy(manifest)
    new = convert(manifest, NEW)
    assert manifest == before
    assert prune(kind, new, NEW) == new
    assert convert(new, OLD) == sayable_in_new(manifest)


@KINDS
@given(data=st.data())
def test_what_one_version_accepts_the_other_accepts_too(kind: str, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(VERSIONS))
    other = OLD if version == NEW else NEW
    manifest = with_defaults(kind, data.draw(any_of(kind, version)), version)
    if not violations(kind, manifest, version=version):
        assert violations(kind, with_defaults(kind, convert(manifest, other), other), version=other) == []


garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", *VERSIONS, "MayStopSearch"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "levels", "x"]), inner),
    max_leaves=4,
)


@given(data=st.data())
def test_garbage_is_converted_or_told_never_a_crash(data: st.DataObject) -> None:
    kind, version = (
        data.draw(st.sampled_from(["ClusterQueue", "LocalQueue", "Workload"])),
        data.draw(st.sampled_from(VERSIONS)),
    )
    manifest = deepcopy(data.draw(any_of(kind, version)))
    at: Any = manifest
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
            at = at[key]
        else:
            at[key] = data.draw(garbage)
            break
    for wanted in VERSIONS:
        with suppress(Unconvertible):
            assert convert(manifest, wanted)["apiVersion"].endswith(wanted)


def test_a_queue_of_old_words_is_a_queue_of_present_ones() -> None:
    old = of(
        "ClusterQueue",
        apiVersion="kueue.x-k8s.io/v1beta1",
        spec={
            "cohort": "team",
            "admissionChecks": ["audit", "budget", "audit"],
            "admissionChecksStrategy": {"admissionChecks": [{"name": "other"}]},
            "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
        },
    )
    assert convert(old, NEW)["spec"] == {
        "cohortName": "team",
        "admissionChecksStrategy": {"admissionChecks": [{"name": "audit"}, {"name": "budget"}]},
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"},
    }
    assert convert(convert(old, NEW), OLD)["spec"]["cohort"] == "team"


@pytest.mark.parametrize(("source", "told"), CLASSES.items())
def test_a_class_is_named_with_its_source_or_its_group_and_kind(source: str, told: tuple[str, str]) -> None:
    fields = {"priorityClassName": "gold", "priorityClassSource": source}
    new = convert(of("Workload", apiVersion="kueue.x-k8s.io/v1beta1", spec=fields), NEW)
    assert new["spec"] == {"priorityClassRef": {"group": told[0], "kind": told[1], "name": "gold"}}
    assert convert(new, OLD)["spec"] == fields


@pytest.mark.parametrize("fields", [{}, {"priorityClassName": "", "priorityClassSource": ""}])
def test_a_workload_without_a_class_gets_none(fields: Object) -> None:
    assert convert(of("Workload", apiVersion="kueue.x-k8s.io/v1beta1", spec=fields), NEW)["spec"] == {}


def _workload_on(assignment: Object) -> Object:
    return of("Workload", status={"admission": {"podSetAssignments": [{"topologyAssignment": assignment}]}})


@pytest.mark.parametrize(
    ("manifest", "version", "said"),
    [
        ({**VALID["Workload"], "kind": "Pod"}, OLD, "kind: 'Pod' is not a kind of kueue.x-k8s.io"),
        ({**VALID["Workload"], "kind": ["Workload"]}, OLD, "kind: "),
        ({**VALID["Workload"], "apiVersion": "kueue.x-k8s.io/v1"}, OLD, "apiVersion: 'kueue.x-k8s.io/v1' is unknown"),
        ({**VALID["Workload"], "apiVersion": None}, OLD, "apiVersion: None is unknown"),
        (VALID["Workload"], "v2", "version 'v2' is unknown: v1beta2 and v1beta1 are served"),
        (of("Workload", spec=[]), OLD, "spec: [] is not an object"),
        (of("Workload", spec={"podSets": [POD_SET, 7]}), OLD, "spec.podSets[1]: 7 is not an object"),
        (
            _workload_on({"levels": ["rack"], "slices": [{"domainCount": 10**9}]}),
            OLD,
            "status.admission.podSetAssignments[0].topologyAssignment: slices: 1000000000 domains: at most",
        ),
        (_workload_on({"levels": ["rack"], "slices": 3}), OLD, "slices: not of the shape"),
        (
            _workload_on({"levels": [HOSTNAME], "domains": [{"values": ["a", "b"], "count": 1}]})
            | {"apiVersion": "kueue.x-k8s.io/v1beta1"},
            NEW,
            "topologyAssignment.domains[0].values: 1 levels need as many names",
        ),
    ],
)
def test_what_cannot_be_converted_is_told_by_its_field(manifest: Object, version: str, said: str) -> None:
    with pytest.raises(Unconvertible) as caught:
        convert(manifest, version)
    assert said in str(caught.value)


def test_the_same_version_is_the_same_object() -> None:
    assert convert(VALID["Workload"], NEW) == VALID["Workload"]


def _slices(*names: str, pods: int = 1) -> list[Object]:
    return slices_of([HOSTNAME], [Domain((name,), pods) for name in names])


def _roots(*roots: str, **around: str) -> Object:
    return {
        "domainCount": len(roots),
        "valuesPerLevel": [{"individual": {**around, "roots": list(roots)}}],
        "podCounts": {"universal": 1},
    }


def test_what_domains_have_in_common_is_said_once() -> None:
    assert _slices() == []
    assert _slices("n1", "n2") == [_roots("1", "2", prefix="n")]
    assert _slices("a.lab", "b.lab") == [_roots("a", "b", suffix=".lab")]
    assert _slices("aba", "ababa") == [_roots("", "ab", suffix="aba")]
    assert _slices("n") == [{"domainCount": 1, "valuesPerLevel": [{"universal": "n"}], "podCounts": {"universal": 1}}]


def test_different_pod_counts_are_listed() -> None:
    found = slices_of(["rack"], [Domain(("r",), 1), Domain(("r",), 2)])
    assert found[0]["podCounts"] == {"individual": [1, 2]}
    assert found[0]["valuesPerLevel"] == [{"universal": "r"}]


def test_nodes_of_several_pools_get_a_slice_for_each_pool_where_that_is_shorter() -> None:
    pools = [
        f"cluster-of-the-{pool}-department-node-{number:04}" for pool in ("physics", "maths") for number in range(9)
    ]
    found = _slices(*pools)
    assert [part["domainCount"] for part in found] == [9, 9]
    assert found[0]["valuesPerLevel"][0]["individual"]["prefix"] == "cluster-of-the-physics-department-node-000"
    assert len(_slices("a-1", "a-2", "b-1", "b-2")) == 1


@given(domains())
def test_slices_name_the_domains_that_they_were_made_of(drawn: tuple[list[str], list[Domain]]) -> None:
    levels, found = drawn
    assert domains_of({"levels": levels, "slices": slices_of(levels, found)}) == found
