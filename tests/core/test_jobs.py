"""A batch Job as the core sees it: read, composed into a Workload, started, stopped, restored."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import JOB_KINDS
from admission.jobs.batch_job import forget_start, read, restore, start, suspend
from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose, workload_name
from admission.model.effects import PodSetInfo
from admission.model.job import JobEnd
from admission.model.kinds import KINDS
from admission.model.workload import Toleration
from tests.core.crd_cases import SINCE, condition

Object = dict[str, Any]

LABELS = {
    "batch.kubernetes.io/controller-uid": "u-1",
    "batch.kubernetes.io/job-name": "train",
    "controller-uid": "u-1",
    "job-name": "train",
}


def job(template: Object | None = None, notes: dict[str, str] | None = None, **spec: Any) -> Object:
    """A Job as the API server holds it, suspended."""
    plain: Object = {"metadata": {"labels": dict(LABELS)}, "spec": {"containers": [{"name": "c", "image": "none"}]}}
    metadata: Object = {
        "name": "train",
        "namespace": "lab",
        "uid": "u-1",
        "resourceVersion": "7",
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
    }
    if notes:
        metadata["annotations"] = {f"kueue.x-k8s.io/{key}": value for key, value in notes.items()}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"suspend": True, "parallelism": 3, "completions": 3, "template": template or plain, **spec},
    }


def info(count: int = 3, **fields: Any) -> PodSetInfo:
    given_: Object = {"node_selector": {}, "tolerations": (), "labels": {}, "annotations": {}, **fields}
    return PodSetInfo("main", count, **given_)


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def workload_of(manifest: Object) -> Object:
    return compose("Job", manifest, "w")


def test_the_registry_knows_only_kinds_that_have_a_place() -> None:
    assert set(JOB_KINDS) <= set(KINDS)


def test_what_is_read_are_facts_of_the_job() -> None:
    status = {"startTime": SINCE, "active": 1, "ready": 2, "succeeded": 1}
    seen = read({**job(notes={"stopping": "true"}), "status": status})
    assert (seen.suspended, seen.stopping, seen.started, seen.active, seen.pods_ready) == (True,) * 5
    assert (seen.queue_name, seen.resource_version, seen.pod_sets[0].count) == ("main", 7, 3)


@pytest.mark.parametrize(
    ("spec", "count"),
    [({}, 1), ({"parallelism": 4}, 4), ({"parallelism": 4, "completions": 2}, 2), ({"parallelism": 0}, 0)],
)
def test_no_more_pods_than_completions_are_asked_for(spec: Object, count: int) -> None:
    assert read({"spec": {"template": {}, **spec}}).pod_sets[0].count == count


@pytest.mark.parametrize(
    ("type", "status", "end"),
    [
        ("Complete", "True", JobEnd(True, "done")),
        ("Failed", "True", JobEnd(False, "done")),
        ("Failed", "False", None),
        ("Suspended", "True", None),
    ],
)
def test_a_job_ends_complete_or_failed(type: str, status: str, end: JobEnd | None) -> None:
    conditions = [condition(type, status=status, message="done")]
    assert read({**job(), "status": {"conditions": conditions}}).end == end


@pytest.mark.parametrize(
    ("spec", "status", "pods"),
    [
        ({"parallelism": 5, "completions": 5}, {"succeeded": 2}, {"main": 2}),
        ({"parallelism": 3, "completions": 9}, {"succeeded": 2}, {}),
        ({"parallelism": 3, "completions": 9}, {"succeeded": 8}, {"main": 2}),
        ({"parallelism": 1, "completions": 9}, {"succeeded": 9}, {}),
        (
            {"parallelism": 5, "completions": 5, "completionMode": "Indexed"},
            {"completedIndexes": "0,2-3", "failedIndexes": "3,77", "succeeded": 9},
            {"main": 3},
        ),
    ],
)
def test_pods_that_are_not_needed_again_are_given_back(spec: Object, status: Object, pods: dict[str, int]) -> None:
    assert read({**job(**spec), "status": status}).reclaimable == pods


def test_a_job_without_template_says_so() -> None:
    assert read({"spec": {}}).problem == "spec.template: Required value"


def test_starting_is_one_patch_with_all_that_the_admission_brings() -> None:
    brought = info(
        node_selector={"pool": "gpu"},
        tolerations=(Toleration("gpu", "Exists", "", "NoSchedule", 30),),
        labels={"kueue.x-k8s.io/podset": "main"},
        annotations={"kueue.x-k8s.io/workload": "w"},
    )
    assert start(job(), [brought]) == {
        "spec": {
            "suspend": False,
            "template": {
                "metadata": {
                    "labels": {"kueue.x-k8s.io/podset": "main"},
                    "annotations": {"kueue.x-k8s.io/workload": "w"},
                },
                "spec": {
                    "nodeSelector": {"pool": "gpu"},
                    "tolerations": [
                        {"key": "gpu", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 30}
                    ],
                },
            },
        }
    }


def test_a_toleration_that_is_there_already_is_not_given_twice() -> None:
    template = {"spec": {"tolerations": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}
    patch = start(job(template), [info(tolerations=(Toleration("gpu", "Equal", "yes", "NoSchedule"),))])
    assert merged(job(template), patch)["spec"]["template"]["spec"] == template["spec"]


@pytest.mark.parametrize(
    ("template", "brought"),
    [
        ({"spec": {"nodeSelector": {"pool": "cpu"}}}, {"node_selector": {"pool": "gpu"}}),
        ({"metadata": {"labels": {"team": "a"}}, "spec": {}}, {"labels": {"team": "b"}}),
        ({"metadata": {"annotations": {"note": "a"}}, "spec": {}}, {"annotations": {"note": "b"}}),
    ],
)
def test_a_template_that_contradicts_the_admission_can_never_start(template: Object, brought: Object) -> None:
    with pytest.raises(PermanentProblem, match="conflict for"):
        start(job(template), [info(**brought)])


def test_the_name_of_an_earlier_workload_is_no_conflict() -> None:
    template = {"metadata": {"annotations": {"kueue.x-k8s.io/workload": "old"}}, "spec": {}}
    patch = start(job(template), [info(annotations={"kueue.x-k8s.io/workload": "new"})])
    assert patch["spec"]["template"] == {"metadata": {"annotations": {"kueue.x-k8s.io/workload": "new"}}}


def test_a_job_takes_exactly_one_info() -> None:
    with pytest.raises(PermanentProblem, match="expecting 1 podset, got 2"):
        start(job(), [info(), info()])


def test_a_job_that_accepts_fewer_pods_starts_with_those_it_got() -> None:
    notes = {"job-min-parallelism": "2", "job-completions-equal-parallelism": "true"}
    manifest = job(notes=notes)
    running = merged(manifest, start(manifest, [info(count=2)]))
    assert (running["spec"]["parallelism"], running["spec"]["completions"]) == (2, 2)
    stopped = merged(running, restore(running, workload_of(manifest)))
    assert stopped == manifest


def test_restoring_from_a_workload_of_other_pod_sets_only_takes_the_mark_away() -> None:
    other: Object = {"spec": {"podSets": [{}, {}]}}
    assert (
        restore(job(), other)
        == restore(job(), None)
        == {"metadata": {"annotations": {"kueue.x-k8s.io/stopping": None}}}
    )


words = st.sampled_from(["pool", "zone", "team"])
maps = st.dictionaries(words, st.sampled_from(["a", "b"]), max_size=2)
tolerations = st.lists(st.fixed_dictionaries({"key": words}, optional={"effect": st.just("NoSchedule")}), max_size=2)


@st.composite
def templates(draw: st.DrawFn) -> Object:
    """Pod templates with and without each of the fields that starting touches, empty ones too."""
    known: Object = {"labels": maps, "annotations": maps}
    metadata: Object = draw(st.fixed_dictionaries({}, optional=known))
    if draw(st.booleans()):
        metadata["labels"] = {**metadata.get("labels", {}), **LABELS}
    optional: Object = {"nodeSelector": maps, "tolerations": tolerations, "schedulingGates": st.just([{"name": "g"}])}
    spec: Object = draw(st.fixed_dictionaries({}, optional=optional))
    spec["containers"] = [{"name": "c", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]
    even_empty = draw(st.booleans())
    return {"metadata": metadata, "spec": spec} if metadata or even_empty else {"spec": spec}


tolerated = st.lists(st.sampled_from([Toleration("pool", "Equal", "", ""), Toleration("x", "Exists", "", "")]))


@given(templates(), maps, tolerated)
@settings(max_examples=50)
def test_start_then_stop_gives_the_job_back_byte_for_byte(
    template: Object, brought: dict[str, str], tolerations: list[Toleration]
) -> None:
    _start_then_stop(template, brought, tolerations)


@pytest.mark.long
@given(templates(), maps, tolerated)
@settings(max_examples=5000)
def test_start_then_stop_gives_any_job_back_byte_for_byte(
    template: Object, brought: dict[str, str], tolerations: list[Toleration]
) -> None:
    _start_then_stop(template, brought, tolerations)


def _start_then_stop(template: Object, brought: dict[str, str], tolerations: list[Toleration]) -> None:
    manifest = job(template)
    before = deepcopy(manifest)
    workload = workload_of(manifest)
    fresh = {f"new-{key}": value for key, value in brought.items()}
    added = info(node_selector=fresh, labels=fresh, annotations=fresh, tolerations=tuple(tolerations))
    running = merged(manifest, start(manifest, [added]))
    assert running["spec"]["suspend"] is False
    held = merged({**running, "status": {"startTime": SINCE}}, suspend())
    assert read(held).stopping
    forgotten = merged(held, forget_start())
    assert not read(forgotten).started
    stopped = merged(forgotten, restore(forgotten, workload))
    stopped.pop("status")
    stopped["metadata"].pop("annotations")
    assert stopped == before == manifest


def test_a_workload_is_composed_from_its_job() -> None:
    manifest = job(notes={"admission-gated-by": "acme.io/budget"})
    manifest["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "90"
    made = compose("Job", manifest, "w", 5, ("kueue.x-k8s.io", "WorkloadPriorityClass", "high"))
    template = made["spec"]["podSets"][0].pop("template")
    assert template["metadata"] == {"labels": {"batch.kubernetes.io/job-name": "train"}}
    assert made == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "w",
            "namespace": "lab",
            "labels": {"kueue.x-k8s.io/job-uid": "u-1"},
            "annotations": {"kueue.x-k8s.io/admission-gated-by": "acme.io/budget"},
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": "train",
                    "uid": "u-1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "active": True,
            "queueName": "main",
            "priority": 5,
            "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"},
            "maximumExecutionTimeSeconds": 90,
            "podSets": [{"name": "main", "count": 3}],
        },
    }


def test_a_job_without_a_queue_has_a_workload_that_names_none() -> None:
    """An empty name is none that the schema takes."""
    manifest = job()
    del manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    assert "queueName" not in compose("Job", manifest, "w")["spec"]


def test_the_workload_has_each_variable_once_and_the_job_keeps_its_own() -> None:
    env = [{"name": "MODE", "value": "a"}, {"name": "N", "value": "1"}, {"name": "MODE", "value": "b"}]
    manifest = job({"spec": {"containers": [{"name": "c", "env": env}]}})
    container = workload_of(manifest)["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "MODE", "value": "b"}, {"name": "N", "value": "1"}]
    assert len(env) == 3


def test_a_short_name_fits_into_the_value_of_a_label() -> None:
    long, short = (workload_name("Job", "x" * 200, "1", short=short) for short in (False, True))
    assert (len(long), len(short)) == (210, 63)
    assert long[-5:] == short[-5:]
    assert workload_name("Job", "x", "1", short=True) == workload_name("Job", "x", "1")


def test_the_name_tells_apart_jobs_of_one_name_over_time() -> None:
    # sha1("Job\nbatch\ntrain\nu-1"), as Kueue names it: existing Workloads are found again.
    assert workload_name("Job", "train", "u-1") == "job-train-d688a"
    assert workload_name("Job", "train", "u-2") != workload_name("Job", "train", "u-1")
    assert len(workload_name("Job", "n" * 253, "u")) == 253
