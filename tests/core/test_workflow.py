"""An Argo Workflow as the core sees it: what it needs at one time, where starting writes, what its phases mean."""

from itertools import combinations
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs import workflow
from admission.jobs.antichain import heaviest_antichain
from admission.jobs.min_resources import KOORDINATOR, MIN_RESOURCES
from admission.jobs.templates import PermanentProblem
from admission.jobs.workflow_pod import NOT_COUNTED
from admission.model.effects import PodSetInfo
from admission.model.job import JobEnd
from admission.model.workload import Toleration
from admission.validation.workflow import check_workflow
from admission.world import argo_operator
from tests.core.test_jobs import merged

Object = dict[str, Any]
NOW = "2026-03-01T10:00:00Z"


def pod(name: str, cpu: str | int, **fields: Any) -> Object:
    return {"name": name, "container": {"image": "none", "resources": {"requests": {"cpu": cpu}}}, **fields}


A, B, C = pod("a", "1"), pod("b", "2"), pod("c", "4")


def steps(*groups: list[Any], **fields: Any) -> Object:
    """Template `main`: a call is the name of a template, or what a step says."""
    told = [
        [
            {"name": f"s{row}-{at}", **({"template": call} if isinstance(call, str) else call)}
            for at, call in enumerate(group)
        ]
        for row, group in enumerate(groups)
    ]
    return {"name": "main", "steps": told, **fields}


def dag(*tasks: Object, **fields: Any) -> Object:
    return {"name": "main", "dag": {"tasks": list(tasks)}, **fields}


def wf(*templates: Object, notes: dict[str, str] | None = None, **spec: Any) -> Object:
    """Held; it starts at template `main`."""
    metadata: Object = {"name": "nightly", "namespace": "lab", "uid": "u-1"}
    if notes is not None:
        metadata["annotations"] = notes
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": metadata,
        "spec": {"suspend": True, "entrypoint": "main", "templates": list(templates), **spec},
    }


def cpu(*templates: Object, **spec: Any) -> int:
    """Cores that it needs at one time."""
    read = workflow.read(wf(*templates, **spec))
    assert read.problem == ""
    milli = read.pod_sets[0].requests.get("cpu", 0)
    assert milli % 1000 == 0
    return milli // 1000


def problem(*templates: Object, **spec: Any) -> str:
    """Why it cannot be counted; the webhook says the same."""
    manifest = wf(*templates, **spec)
    told = workflow.read(manifest).problem
    assert [str(error) for error in check_workflow(manifest)] == ([told] if told else [])
    return told


def info(**fields: Any) -> PodSetInfo:
    given_: Object = {"node_selector": {}, "tolerations": (), "labels": {}, "annotations": {}, **fields}
    return PodSetInfo("main", 1, **given_)


def started(manifest: Object, **fields: Any) -> Object:
    result: Object = merged(manifest, workflow.start(manifest, [info(**fields)]))
    return result


# what runs at one time


def test_one_pod_set_stands_for_all_pods() -> None:
    (main,) = workflow.read(wf(A | {"name": "main"})).pod_sets
    assert (main.name, main.count, main.requests) == ("main", 1, {"cpu": 1000})


def test_steps_of_a_group_run_together_and_groups_one_after_another() -> None:
    assert cpu(A, B, C, steps(["a", "b"], ["c"], ["a", "a", "a"])) == 4
    assert cpu(A, B, C, steps(["a", "b", "c"], ["c"])) == 7


def test_each_resource_has_its_own_peak() -> None:
    big = {"name": "big", "container": {"resources": {"limits": {"memory": "8Gi", "cpu": "500m"}}}}
    read = workflow.read(wf(A, big, steps(["a"], ["big"])))
    assert read.pod_sets[0].requests == {"cpu": 1000, "memory": 8 << 30}


@pytest.mark.parametrize(
    ("call", "cores"),
    [
        ({"withItems": [1, 2, 3]}, 6),
        ({"withItems": []}, 0),
        ({"withParam": '["x", "y"]'}, 4),
        ({"withParam": "{{workflow.parameters.list}}"}, 8),
        ({"withSequence": {"count": 5}}, 10),
        ({"withSequence": {"count": "{{workflow.parameters.n}}"}}, 6),
        ({"withSequence": {"start": "2", "end": "4"}}, 6),
        ({"withSequence": {"start": 4, "end": 1}}, 8),
    ],
)
def test_items_count_where_they_are_known(call: Object, cores: int) -> None:
    given_ = {"parameters": [{"name": "n", "value": "3"}, {"name": "list", "value": "[1,2,3,4]"}]}
    assert cpu(B, steps([{"template": "b", **call}]), arguments=given_) == cores


@pytest.mark.parametrize(
    "call", [{"withParam": "{{steps.a.outputs.result}}"}, {"withSequence": {"count": "{{inputs.parameters.n}}"}}]
)
def test_items_known_only_at_run_time_need_a_limit_or_a_stated_need(call: Object) -> None:
    many = steps(["a"], [{"template": "b", **call}])
    told = problem(A, B, many)
    assert told.startswith("spec.templates[2].steps[1][0].with")
    assert "set spec.parallelism" in told
    assert MIN_RESOURCES in told
    assert cpu(A, B, many, parallelism=5) == 10
    assert cpu(A, B, many | {"parallelism": 3}) == 6
    assert cpu({"name": "b", "suspend": {}}, A, many) == 1  # whatever their number, they need nothing


def test_parallelism_bounds_pods_of_the_workflow_and_calls_of_a_template() -> None:
    wide = steps([{"template": "b", "withItems": list(range(50))}, "c"])
    assert cpu(B, C, wide) == 104
    assert cpu(B, C, wide, parallelism=3) == 12
    inner = steps([{"template": "b", "withItems": [1, 2]}, "c"]) | {"name": "inner"}
    assert cpu(B, C, inner, steps([{"template": "inner", "withItems": [1, 2, 3]}], parallelism=2)) == 16


def test_tasks_that_need_not_wait_for_each_other_run_together() -> None:
    tasks: list[Object] = [
        {"name": "A", "template": "a"},
        {"name": "B", "template": "b", "depends": "A.Succeeded && !C.Failed"},
        {"name": "C", "template": "c"},
        {"name": "D", "template": "c", "dependencies": ["B", "C"]},
    ]
    assert cpu(A, B, C, dag(*tasks)) == 5
    # Levels would say 5, too: but here the last one of a chain runs beside what stands alone.
    alone: list[Object] = [
        {"name": "A", "template": "a"},
        {"name": "B", "template": "c", "depends": "A"},
        {"name": "C", "template": "b"},
    ]
    assert cpu(A, B, C, dag(*alone)) == 6


def test_a_daemon_stays_until_its_template_ends() -> None:
    serving = B | {"daemon": True}
    assert cpu(serving, A, C, steps(["b"], ["a"], ["c"])) == 6
    assert cpu(serving, C, dag({"name": "S", "template": "b"}, {"name": "T", "template": "c", "depends": "S"})) == 6
    inner = steps(["b"], ["a"]) | {"name": "inner"}
    assert cpu(serving, A, C, inner, steps(["inner"], ["c"])) == 4


def test_exit_handlers_come_after_and_other_hooks_run_beside() -> None:
    assert cpu(A, B, C, steps(["a"]), onExit="c") == 4
    assert cpu(A, B, C, steps([{"template": "a", "hooks": {"exit": {"template": "b"}}}, "c"])) == 6
    assert cpu(A, B, C, steps(["a"]), hooks={"running": {"template": "b", "expression": "true"}}) == 3


def test_a_pod_is_all_its_containers() -> None:
    def asks(cores: str, **fields: Any) -> Object:
        return {"name": "x", "resources": {"requests": {"cpu": cores}}, **fields}

    assert cpu({"name": "main", "containerSet": {"containers": [asks("1"), asks("2")]}}) == 3
    assert cpu({"name": "main", "script": asks("1"), "sidecars": [asks("2")], "initContainers": [asks("5")]}) == 5
    assert cpu(pod("main", "1", sidecars=[asks("2")])) == 3


def test_defaults_of_the_workflow_hold_where_a_template_is_silent() -> None:
    bare = {"name": "main", "container": {"image": "none"}}
    default = {"container": {"resources": {"requests": {"cpu": "3"}}}, "script": {"source": "x"}}
    assert cpu(bare, templateDefaults=default) == 3
    assert cpu(pod("main", "1"), templateDefaults=default) == 1


def test_inline_templates_count_where_they_stand() -> None:
    assert cpu(A, steps([{"inline": {"container": B["container"]}}, "a"])) == 3


def test_what_a_template_creates_is_not_its_own() -> None:
    for template in ({"resource": {"action": "create", "manifest": "kind: JobSet"}}, {"http": {"url": "x"}}, {}):
        assert cpu({"name": "main", **template}) == 0


def test_what_it_makes_its_own_is_not_queued_for_itself_and_must_be_told() -> None:
    def creates(manifest: str, **fields: Any) -> Object:
        return {"name": "main", "resource": {"action": "create", "manifest": manifest, **fields}}

    job_set = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {template: {kind: ConfigMap}}\n"
    told = problem(creates(job_set, setOwnerReference=True))
    assert told.startswith("spec.templates[0].resource.setOwnerReference: Invalid value: true: ")
    assert MIN_RESOURCES in told
    assert cpu(creates(job_set)) == 0
    assert cpu(creates("kind: ConfigMap\n", setOwnerReference=True)) == 0
    assert cpu({"name": "main", "resource": {"action": "delete", "manifest": job_set, "setOwnerReference": True}}) == 0


def test_a_template_that_starts_itself_again_when_all_else_is_over_needs_no_more() -> None:
    assert cpu(A, steps(["a"], [{"template": "main", "when": "true"}])) == 1
    again = {"name": "again", "template": "main", "depends": "flip.Failed"}
    assert cpu(A, dag({"name": "flip", "template": "a"}, again)) == 1


def test_one_that_starts_itself_again_beside_others_has_no_end_but_a_limit() -> None:
    beside = steps(["a", {"template": "main", "when": "true"}])
    assert "it starts itself again" in problem(A, beside)
    assert cpu(A, beside, parallelism=4) == 4
    assert "it starts itself again" in problem(A, steps(["a"], [{"template": "main", "withItems": [1, 2]}]))
    assert "it starts itself again" in problem(
        A, steps(["a"], [{"template": "main", "withItems": [1, 2]}], parallelism=9)
    )


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        (wf(steps([{"templateRef": {"name": "lib", "template": "x"}}])), "spec.templates[0].steps[0][0].templateRef"),
        (wf(workflowTemplateRef={"name": "lib"}), "spec.workflowTemplateRef"),
        (wf(steps(["nowhere"])), "spec.templates[0].steps[0][0].template"),
        (wf(entrypoint="nowhere"), "spec.entrypoint"),
        (wf(A, entrypoint=None), "spec.entrypoint"),
    ],
)
def test_what_cannot_be_seen_is_told_unless_the_author_says_what_it_needs(manifest: Object, path: str) -> None:
    assert workflow.read(manifest).problem.startswith(f"{path}: ")
    said = merged(manifest, {"metadata": {"annotations": {MIN_RESOURCES: '{"cpu": 2, "nvidia.com/gpu": "1"}'}}})
    read = workflow.read(said)
    assert (read.problem, read.pod_sets[0].requests) == ("", {"cpu": 2000, "nvidia.com/gpu": 1})


def test_what_its_author_says_counts_whatever_the_templates_say() -> None:
    by_koordinator = wf(pod("main", "9"), notes={KOORDINATOR: "cpu: 1500m\nmemory: 2Gi\n"})
    assert workflow.read(by_koordinator).pod_sets[0].requests == {"cpu": 1500, "memory": 2 << 30}
    both = wf(pod("main", "9"), notes={KOORDINATOR: "cpu: 1", MIN_RESOURCES: "cpu: 3"})
    assert workflow.read(both).pod_sets[0].requests == {"cpu": 3000}


@pytest.mark.parametrize(
    "stated",
    [
        *("", "4 cores", "[]", "cpu: lots", "cpu: -1", "cpu: true", "{", "a: &b [*b]", "cpu: 2026-13-45", "x" * 5000),
        *('{"a b": 1}', r'{"\ud800": 1}'),
    ],
)
def test_a_stated_need_that_cannot_be_read_is_refused_with_an_example(stated: str) -> None:
    manifest = wf(pod("main", "1"), notes={MIN_RESOURCES: stated})
    (error,) = check_workflow(manifest)
    assert error.path.startswith(f"metadata.annotations[{MIN_RESOURCES}]")
    assert workflow.read(manifest).problem == str(error)


def test_what_is_left_out_is_noted_on_the_pod_set() -> None:
    odd = pod("main", "{{inputs.parameters.cpu}}", podSpecPatch='{"containers":[]}')
    (main,) = workflow.pod_sets(wf(odd))
    note = main["template"]["metadata"]["annotations"][NOT_COUNTED]
    assert "spec.templates[0].container.resources.requests[cpu]: Invalid value" in note
    assert "spec.templates[0].podSpecPatch: what it changes is not counted" in note


def test_no_manifest_keeps_us_busy() -> None:
    tangle = [{**steps(*[[f"t{at}"] for at in range(30)]), "name": f"t{name}"} for name in range(30)]
    assert "too many ways" in problem(*tangle, entrypoint="t0")
    chain = [{**steps([f"t{at + 1}"]), "name": f"t{at}"} for at in range(400)]
    assert "too many ways" in problem(*chain, entrypoint="t0")
    wide = [{"name": f"t{at}", "template": "a", "depends": f"t{at - 1}" if at % 2 else ""} for at in range(400)]
    assert cpu(A, dag(*wide)) == 400  # more than is asked exactly: each counts


def _busy() -> dict[str, Object]:
    """Manifests of some 100 KB that would take a naive look seconds to hours."""
    many = [
        {
            "name": f"a{at}",
            "container": {"resources": {"requests": {f"x.io/r{of}": 1 + (7 * at + 3 * of) % 97 for of in range(20)}}},
        }
        for at in range(300)
    ]
    halves = [
        {"name": f"t{at}", "template": f"a{at}", "dependencies": [f"t{of}" for of in range(150) if at * of % 3 == 1]}
        for at in range(300)
    ]
    anew = [{"name": f"t{at}", "template": "main", "dependencies": [f"t{at - 1}"] if at else []} for at in range(600)]
    caller = {"steps": [[{}]], "nodeSelector": {"zone": "b"}}
    listed = {"parameters": [{"name": "p", "value": str([0] * 200_000)}]}
    each = {"template": "a", "withParam": "{{workflow.parameters.p}}"}
    return {
        "who may call whom": wf(*[{"container": {}}] * 900, *[caller] * 900),
        "defaults for each": wf(*[{"container": {}}] * 1500, templateDefaults={f"f{at}": 1 for at in range(10_000)}),
        "tasks by resource": wf(*many, dag(*halves)),
        "tasks that start all anew": wf(dag(*anew)),
        "one list for all": wf(A, steps(*[[each] * 100] * 5), arguments=listed),
        "daemons that stay": wf(pod("a", 1, daemon=True), steps(*[["a"]] * 1500)),
    }


@pytest.mark.parametrize("manifest", _busy().values(), ids=_busy().keys())
def test_nor_does_one_that_is_large(manifest: Object) -> None:
    began = process_time()
    workflow.read(manifest)
    assert process_time() - began < 1


def test_what_is_too_large_to_be_looked_at_is_refused_whatever_its_author_says() -> None:
    told = {MIN_RESOURCES: '{"cpu": "1"}'}
    manifest = wf(*[A] * 2001, steps(["a"]), notes=told)
    assert workflow.read(manifest).problem == (
        "spec: Invalid value: has more than 2000 templates: split it into several workflows"
    )
    defaults = {"container": {"args": ["x"] * 500}}
    assert "templateDefaults says more than 500 things" in problem(A, steps(["a"]), templateDefaults=defaults)


_graphs = st.integers(0, 7).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(0, 5), min_size=size, max_size=size),
        st.tuples(*[st.sets(st.integers(0, at - 1)) if at else st.just(set()) for at in range(size)]),
    )
)


@given(_graphs)
@settings(max_examples=30)
def test_no_set_of_tasks_that_can_meet_is_heavier(graph: tuple[list[int], tuple[set[int], ...]]) -> None:
    weights, waits = graph
    before: list[set[int]] = []
    for one in waits:
        before.append(one.union(*[before[each] for each in one]))
    meeting = [
        chosen
        for size in range(len(weights) + 1)
        for chosen in combinations(range(len(weights)), size)
        if not any(early in before[late] for early, late in combinations(chosen, 2))
    ]
    heaviest = max(sum(weights[at] for at in chosen) for chosen in meeting)
    assert heaviest_antichain(weights, {at: sorted(one) for at, one in enumerate(waits)}) == heaviest


# start and stop


def test_starting_writes_where_each_template_looks_first() -> None:
    """Argo takes a template's own selector instead of the workflow's."""
    gpu = pod("gpu", "1", nodeSelector={"accelerator": "a100"}, tolerations=[{"key": "gpu", "operator": "Exists"}])
    held = wf(A, gpu, steps(["a", {"inline": pod("x", 1, nodeSelector={"disk": "ssd"})}, "gpu"]))
    spot = Toleration("spot", "Exists", "", "")
    running = started(held, node_selector={"pool": "a"}, tolerations=(spot,), labels={"l": "1"}, annotations={"n": "1"})
    spec, added = running["spec"], {"key": "spot", "operator": "Exists"}
    assert (spec["nodeSelector"], spec["tolerations"]) == ({"pool": "a"}, [added])
    assert spec["podMetadata"] == {"labels": {"l": "1"}, "annotations": {"n": "1"}}
    assert spec["templates"][0] == A
    assert spec["templates"][1]["nodeSelector"] == {"accelerator": "a100", "pool": "a"}
    assert spec["templates"][1]["tolerations"] == [*gpu["tolerations"], added]
    assert spec["templates"][2]["steps"][0][1]["inline"]["nodeSelector"] == {"disk": "ssd", "pool": "a"}
    back = merged(running, workflow.restore(running, None))
    assert back["spec"] == held["spec"]
    assert not back["metadata"].get("annotations")


def test_what_could_not_be_noted_is_not_started_and_holds_no_quota() -> None:
    many = [{"key": f"k{at}", "operator": "Exists", "effect": "NoSchedule"} for at in range(20)]
    with pytest.raises(PermanentProblem, match="more than fits into an annotation"):
        started(
            wf(*[pod(f"p{at}", "1", tolerations=many) for at in range(200)], steps(["p1"])), node_selector={"a": "b"}
        )


def test_flavors_are_matched_by_what_all_its_pods_say() -> None:
    gpu = pod("gpu", "1", nodeSelector={"pool": "gpu", "zone": "b"}, tolerations=[{"key": "gpu"}, {"key": "spot"}])
    plain = pod(
        "cpu", "1", nodeSelector={"pool": "cpu", "zone": "b"}, tolerations=[{"key": "spot", "operator": "Equal"}]
    )
    (main,) = workflow.read(wf(gpu, plain, steps(["gpu", "cpu"]), nodeSelector={"unused": "x"})).pod_sets
    assert main.node_selector == (("zone", "b"),)
    assert [one.key for one in main.tolerations] == ["spot"]
    with pytest.raises(PermanentProblem, match=r"conflict for spec\.nodeSelector\[pool\]"):
        started(wf(gpu, plain, steps(["gpu", "cpu"])), node_selector={"pool": "gpu"})


def test_pods_inherit_from_the_template_that_calls_theirs() -> None:
    (main,) = workflow.read(wf(A, steps(["a"], nodeSelector={"zone": "b"}), nodeSelector={"zone": "b"})).pod_sets
    assert main.node_selector == (("zone", "b"),)
    running = started(wf(A, steps(["a"], nodeSelector={"zone": "b"})), node_selector={"pool": "a"})
    assert running["spec"]["templates"][1]["nodeSelector"] == {"zone": "b", "pool": "a"}


# what its phases mean


def told(phase: str, *nodes: tuple[str, str], **status: Any) -> Object:
    listed = {f"n{at}": {"type": kind, "phase": of} for at, (kind, of) in enumerate(nodes)}
    return {**wf(pod("main", "1")), "status": {"phase": phase, "nodes": listed, **status}}


@pytest.mark.parametrize(
    ("manifest", "active", "ready"),
    [
        (told(""), False, False),
        (told("Running"), False, False),  # said of one that is held since it was made, too
        (told("Running", ("Steps", "Running"), ("Pod", "Pending")), True, False),
        (told("Running", ("Steps", "Running"), ("Pod", "Running")), True, True),
        (told("Running", ("Pod", "Succeeded"), ("Pod", "Pending")), True, True),
        (told("Running", ("Pod", "Succeeded"), ("Suspend", "Running")), False, True),
        (told("Running", conditions=[{"type": "PodRunning", "status": "True"}]), True, True),
        (told("Running", compressedNodes="H4sI"), True, False),
        (told("Running", compressedNodes="H4sI", conditions=[{"type": "PodRunning", "status": "False"}]), False, False),
        (told("Succeeded", ("Pod", "Succeeded")), False, False),
    ],
)
def test_it_is_active_while_it_has_pods_and_ready_once_one_has_begun(
    manifest: Object, active: bool, ready: bool
) -> None:
    read = workflow.read(manifest)
    assert (read.active, read.pods_ready) == (active, ready)


def test_a_pod_that_waits_for_a_lock_is_not_there_yet() -> None:
    waiting = told("Running", ("Pod", "Pending"))
    waiting["status"]["nodes"]["n0"]["synchronizationStatus"] = {"waiting": "lab/Mutex/x"}
    assert not workflow.read(waiting).active


@pytest.mark.parametrize(("phase", "success"), [("Succeeded", True), ("Failed", False), ("Error", False)])
def test_it_ends_as_its_phase_says(phase: str, success: bool) -> None:
    assert workflow.read(told(phase, message="so it was")).end == JobEnd(success, "so it was")


def test_what_the_controller_writes_means_what_it_did() -> None:
    held = wf(pod("main", "1"))
    runs = {**started(held), "status": merged({}, argo_operator.running(held, NOW))}
    read = workflow.read(runs)
    assert (read.active, read.pods_ready, read.end) == (True, True, None)
    stopped = {**held, "status": merged(runs["status"], argo_operator.stopped(runs, NOW))}
    assert not workflow.read(stopped).active
    ended = {**runs, "status": merged(runs["status"], argo_operator.finished(runs, NOW))}
    assert workflow.read(ended).end == JobEnd(True, "")
    lost = {**runs, "status": merged(runs["status"], argo_operator.failed(runs, NOW, "pod failed"))}
    assert workflow.read(lost).end == JobEnd(False, "pod failed")
