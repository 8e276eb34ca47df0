"""The language of JobKind, piece by piece: where things lie, how pods are counted, what a status means."""

from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs.described import described
from admission.jobs.descriptor import Descriptor
from admission.jobs.expressions import Scope, holds, number
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.model.job_kind import JobKindRules, ValueTest, conflict, forbidden, invalid, not_served, ready
from admission.readers.job_kind import read_job_kind, read_rules
from admission.readers.places import BadPlace, read_place
from tests.core.manifests.pods import Object, metadata
from tests.core.test_jobs import merged
from tests.refusals.job_kind import job_kind

POD = {"spec": {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}]}}
MANIFEST = {
    "spec": {
        "replicas": 3,
        "text": "12",
        "debt": -2,
        "lines": [4, -3],
        "yes": True,
        "groups": [{"name": "a", "size": 2}, {"name": "b", "size": 5}, "junk"],
        "map": {"y": {"size": 1}, "x": {"size": 2}},
    },
    "metadata": {"annotations": {"example.com/pods": "4"}},
    "status": {"phase": "Running", "parts": [{"phase": "Done"}, {"phase": "Failed"}]},
}


def rules(**spec: Any) -> JobKindRules:
    found, errors = read_rules(job_kind(**spec))
    assert found is not None, errors
    return found


def kind(**spec: Any) -> Descriptor:
    return described("Sweep.v1.experiments.example", rules(**spec))


def sweep(status: Object | None = None, **spec: Any) -> Object:
    whole = {"suspend": True, "groups": [{"name": "Wide", "replicas": 2, "template": POD}], **spec}
    return {"kind": "Sweep", "metadata": metadata(), "spec": whole, "status": status or {}}


def seen(manifest: Object, **rule: Any) -> Job:
    return kind(**rule).read(manifest)


# --- places and numbers


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("spec.replicas", [3]),
        ("spec.nothing.there", []),
        ("spec.replicas.deeper", []),
        ('metadata.annotations["example.com/pods"]', ["4"]),
        ("metadata.annotations['example.com/pods']", ["4"]),
        ("spec.groups[1].name", ["b"]),
        ("spec.groups[7].name", []),
        ("spec.groups[*].size", [2, 5]),
        ("spec.map[*].size", [2, 1]),
        ("spec.groups[name=b].size", [5]),
        ('spec.groups[name="b"].size', [5]),
        ("spec.groups[size=2].name", ["a"]),
        ("spec.groups[name=@name].size", [2]),
        ("$.status.phase", ["Running"]),
    ],
)
def test_a_path_leads_to_values(path: str, found: list[object]) -> None:
    assert Scope(MANIFEST, name="A").found(read_place(path)) == found


@pytest.mark.parametrize("path", ["", ".", "spec.", "spec..x", "a b", "a[", "a[]", "a[-1]", "a[*", "$", "a.[0]", "é"])
def test_what_is_no_path_says_from_where_on(path: str) -> None:
    with pytest.raises(BadPlace, match="is not a path from"):
        read_place(path)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (7, 7),
        ("spec.replicas", 3),
        ("spec.text", 12),
        ("spec.yes", None),
        ("spec.groups[*].size", 7),
        ({"path": "spec.nothing", "default": 2}, 2),
        ({"product": ["spec.replicas", {"min": [4, "spec.text"]}]}, 12),
        ({"sum": ["spec.replicas", 1]}, 4),
        ({"sum": ["spec.replicas", "spec.debt"]}, 3),
        ("spec.lines[*]", 4),
        ({"max": ["spec.replicas", "spec.nothing"]}, 3),
        ({"product": ["spec.replicas", "spec.nothing"]}, 3),
        ({"min": ["spec.nothing"]}, None),
    ],
)
def test_numbers_are_worked_out(expression: object, value: int | None) -> None:
    rule = rules(podSets=[{"name": "main", "count": expression, "template": "spec.template"}]).pod_sets[0]
    assert number(rule.count, Scope(MANIFEST)) == value


@pytest.mark.parametrize(
    ("test", "true"),
    [
        ({"path": "status.phase", "in": ["Running", "Done"]}, True),
        ({"path": "status.phase", "in": ["Done"]}, False),
        ({"path": "status.parts[*].phase", "in": ["Failed"]}, True),
        ({"path": "spec.yes", "in": [1]}, False),
        ({"path": "spec.yes", "in": [True]}, True),
        ({"path": "status.phase", "notIn": ["Done"]}, True),
        ({"path": "status.nothing", "notIn": ["Done"]}, False),
        ({"path": "spec.replicas", "atLeast": 3}, True),
        ({"path": "spec.replicas", "atLeast": "spec.text"}, False),
        ({"path": "spec.replicas", "atLeast": "spec.nothing"}, False),
        ({"path": {"sum": ["spec.groups[*].size", 1]}, "atLeast": 8}, True),
        ({"path": "status.phase", "exists": True}, True),
        ({"path": "status.nothing", "exists": True}, False),
        ({"path": "status.nothing", "exists": False}, True),
    ],
)
def test_values_are_asked(test: Object, true: bool) -> None:
    started = rules(started=test).started
    assert isinstance(started, ValueTest)
    assert holds(started, Scope(MANIFEST)) is true


# --- pods


def test_entries_of_a_list_are_pod_sets_in_their_order_and_lower_case() -> None:
    groups = [{"name": "Zoo", "replicas": 0, "template": POD}, {"name": "ape", "template": POD}]
    assert [(one.name, one.count) for one in seen(sweep(groups=groups)).pod_sets] == [("zoo", 0), ("ape", 1)]


def test_entries_of_a_map_are_pod_sets_those_with_known_keys_first() -> None:
    groups = {"z": {"template": POD}, "b": {"template": POD}, "WORKER": {"template": POD}}
    rule = {"forEach": "spec.groups", "keys": ["worker"], "template": "template"}
    assert [one.name for one in seen(sweep(groups=groups), podSets=[rule]).pod_sets] == ["worker", "b", "z"]


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([], "spec.groups: Required value: the job has no pods that could be counted"),
        ([{"template": POD}], "spec.groups[0].name: Required value: name the pods, like worker"),
        ([{"name": "a_b", "template": POD}], 'spec.groups[0].name: Invalid value: "a_b": must consist of'),
        ([{"name": "a", "template": POD}] * 2, 'spec.groups[1].name: Duplicate value: "a"'),
        ([{"name": "a"}], "spec.groups[0].template.spec: Required value: pods of a have no template"),
        ([{"name": f"n{at}", "template": POD} for at in range(19)], "has more than the 18 pod sets"),
    ],
)
def test_a_job_of_which_no_workload_can_be_made_is_told_why(groups: list[Object], problem: str) -> None:
    assert seen(sweep(groups=groups)).problem.startswith(problem)


def test_numbers_of_many_parts_are_refused_as_each_job_would_have_to_be_asked_for_all_of_them() -> None:
    many: Object = {"sum": [{"sum": ["spec.n"] * 16}] * 16}
    found, errors = read_rules(job_kind(podSets=[{"name": "main", "count": many, "template": "spec.template"}]))
    assert found is None
    assert "numbers of more than 256 parts" in str(errors[0])


def test_a_list_without_end_keeps_nobody_busy() -> None:
    each = [{"forEach": "spec.groups", "name": "name", "count": {"sum": ["$.spec.groups[*].n"]}, "template": "t"}]
    began = process_time()
    read = seen(sweep(groups=[{"name": f"n{at}", "n": 1, "t": POD} for at in range(5000)]), podSets=each)
    assert read.problem.startswith("has more than the 18 pod sets")
    assert process_time() - began < 1


def test_a_pod_set_whose_template_may_be_missing_is_left_out() -> None:
    sets = [
        {"name": "main", "count": 2, "template": "spec.main"},
        {"name": "driver", "optional": True, "template": "spec.driver"},
    ]
    assert [one.name for one in seen(sweep(main=POD), podSets=sets).pod_sets] == ["main"]
    assert [one.name for one in seen(sweep(main=POD, driver=POD), podSets=sets).pod_sets] == ["main", "driver"]


def test_a_job_may_start_with_fewer_pods_and_gets_its_number_back() -> None:
    rule = {"name": "main", "count": "spec.most", "minCount": "spec.least", "template": "spec.template"}
    known, held = kind(podSets=[rule]), sweep(most=9, least=3, template=POD)
    assert known.read(held).pod_sets[0].min_count == 3
    started = merged(held, known.start(held, [PodSetInfo("main", 5, {}, (), {}, {})]))
    assert started["spec"]["most"] == 5
    assert merged(started, known.restore(started, {"spec": {"podSets": known.pod_sets(held)}})) == held


def test_requests_that_a_kind_states_elsewhere_take_the_place_of_those_of_the_template() -> None:
    rule = {
        "forEach": "spec.groups",
        "name": "name",
        "template": "template",
        "requests": {"cpu": "cores", "memory": "1Gi", "example.com/gpu": "gpus"},
    }
    known, held = kind(podSets=[rule]), sweep(groups=[{"name": "a", "cores": 1.5, "template": POD}])
    assert known.read(held).pod_sets[0].requests == {"cpu": 1500, "memory": 1 << 30}
    started = merged(held, known.start(held, [PodSetInfo("a", 1, {"pool": "spot"}, (), {}, {})]))
    assert started["spec"]["groups"][0]["template"]["spec"] == {**POD["spec"], "nodeSelector": {"pool": "spot"}}
    assert merged(started, known.restore(started, {"spec": {"podSets": known.pod_sets(held)}})) == held


def test_the_container_that_has_the_requests_can_be_named() -> None:
    rule = {"name": "main", "podSpec": "spec.pod", "container": "worker", "requests": {"cpu": "2"}}
    template = kind(podSets=[rule]).pod_sets(sweep(pod=POD["spec"]))[0]["template"]
    assert [(one["name"], one["resources"]["requests"]["cpu"]) for one in template["spec"]["containers"]] == [
        ("c", "1"),
        ("worker", "2"),
    ]


def test_pods_that_are_needed_no_more_give_their_quota_back() -> None:
    rule = {**job_kind()["spec"]["podSets"][0], "reclaimable": "$.status.done[group=@name].pods"}
    assert seen(sweep({"done": [{"group": "Wide", "pods": 1}]}), podSets=[rule]).reclaimable == {"wide": 1}
    assert seen(sweep({"done": [{"group": "Wide", "pods": 9}]}), podSets=[rule]).reclaimable == {"wide": 2}
    assert seen(sweep(), podSets=[rule]).reclaimable == {}


# --- what holds a job, and what it says of itself


@pytest.mark.parametrize(
    ("suspend", "held", "released"),
    [
        ({"path": "spec.suspend"}, {"suspend": True}, {"suspend": False}),
        ({"path": "spec.started", "held": False}, {"started": False}, {"started": True}),
        ({"path": "spec.state", "held": "Paused"}, {"state": "Paused"}, {}),
        ({"path": "spec.state", "held": "Paused", "released": "Run"}, {"state": "Paused"}, {"state": "Run"}),
        ({"path": "spec.run.slots", "held": 0, "released": 1}, {"run": {"slots": 0}}, {"run": {"slots": 1}}),
    ],
)
def test_a_job_is_held_by_a_field(suspend: Object, held: Object, released: Object) -> None:
    hold = kind(suspend=suspend).hold
    assert merged({"spec": released}, hold.patch(held=True)) == {"spec": held}
    assert merged({"spec": held}, hold.patch(held=False)) == {"spec": released}
    assert hold.holds({"spec": held})
    assert not hold.holds({"spec": released})


def test_a_job_is_held_by_an_annotation() -> None:
    hold = kind(suspend={"annotation": "example.com/hold"}).hold
    assert hold.patch(held=True) == {"metadata": {"annotations": {"example.com/hold": "true"}}}
    assert hold.patch(held=False) == {"metadata": {"annotations": {"example.com/hold": None}}}


def test_a_queue_in_the_kinds_own_words_counts_where_there_is_no_label() -> None:
    named, unnamed = sweep(queue="theirs"), sweep(queue="theirs")
    unnamed["metadata"] = {**unnamed["metadata"], "labels": {}}
    assert seen(named, queue="spec.queue").queue_name == "main"
    assert seen(unnamed, queue="spec.queue").queue_name == "theirs"
    assert seen(unnamed).queue_name == ""


def test_without_words_of_their_own_active_and_ready_mean_started() -> None:
    started = {"path": "status.phase", "in": ["Running"]}
    job = seen(sweep({"phase": "Running"}), started=started)
    assert (job.active, job.pods_ready) == (True, True)
    ready_later = {"path": "status.ready", "atLeast": 1}
    job = seen(sweep({"phase": "Running"}), started=started, podsReady=ready_later)
    assert (job.active, job.pods_ready) == (True, False)


def test_what_its_operator_will_not_start_is_on_hold() -> None:
    rule = {"path": "status.phase", "in": ["Rejected"]}
    assert seen(sweep({"phase": "Rejected"}), onHold=rule).on_hold
    assert not seen(sweep({"phase": "New"}), onHold=rule).on_hold


def test_a_job_ends_by_a_value_with_a_message_from_somewhere() -> None:
    finished = {
        "succeeded": {"condition": "Complete", "reasons": ["AllDone"]},
        "failed": {"path": "status.phase", "in": ["Failed", "Aborted"], "message": "status.why"},
    }
    assert seen(sweep({"phase": "Aborted", "why": "too late"}), finished=finished).end == JobEnd(False, "too late")
    done = {"type": "Complete", "status": "True", "reason": "AllDone", "message": "3 of 3"}
    assert seen(sweep({"phase": "Failed", "conditions": [done]}), finished=finished).end == JobEnd(True, "3 of 3")
    early = {**done, "reason": "Skipped"}
    assert seen(sweep({"conditions": [early]}), finished=finished).end is None


# --- the JobKind itself


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ({"kind": "Sweep.v1.experiments.example"}, "Sweep.v1.experiments.example"),
        ({"kind": "Sweep.v1.experiments.example", "plural": "sweeps"}, "Sweep.v1.experiments.example"),
        ({"kind": "Ox.v1.farm.example", "plural": "oxen"}, "Ox.v1.farm.example:oxen"),
    ],
)
def test_its_kind_is_spelled_out_with_a_plural_that_cannot_be_guessed(stated: Object, key: str) -> None:
    found = read_job_kind(job_kind(**stated))
    assert (found.kind, found.problem) == (key, "")


def test_one_that_cannot_be_used_says_all_that_is_wrong() -> None:
    found = read_job_kind(job_kind(suspend={"path": "spec..x"}, stop="Delete", queue="a b"))
    assert found.rules is None
    assert "spec.suspend.path: Invalid value" in found.problem
    assert "spec.queue: Invalid value" in found.problem


def test_its_condition_says_what_to_do() -> None:
    kind_ = "Ox.v1.farm.example:oxen"
    assert ready(kind_).active
    assert not_served(kind_).message.startswith("The API server does not serve oxen of farm.example/v1: install")
    assert "ClusterRole" in forbidden(kind_, "list").message
    assert conflict(kind_, "other").message == (
        "JobKind other describes kind Ox.v1.farm.example already: delete one of the two"
    )
    assert "are built in" in conflict(kind_, "").message
    assert invalid("x").reason == "Invalid"


@pytest.mark.parametrize("field", ["held", "released"])
def test_one_that_is_nested_without_end_has_that_wrong(field: str) -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    found = read_job_kind(job_kind(suspend={"path": "spec.x", field: deep}))
    assert found.problem == "spec: Invalid value: is nested too deeply: flatten its fields"


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["spec.a", "a..b", "", "True", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["path", "sum", "in"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(st.sampled_from(["suspend", "podSets", "finished", "started", "kind", "stop", "queue", "other"]), junk)
@settings(max_examples=25)
def test_any_json_is_read_or_has_something_wrong(field: str, value: object) -> None:
    found, errors = read_rules(job_kind(**{field: value}))
    assert (found is None) == bool(errors)
    assert all(error.path for error in errors)
