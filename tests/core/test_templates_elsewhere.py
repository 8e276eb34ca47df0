"""Jobs whose pod templates lie in other objects: counted from there, held up while one is missing, and never sent to
nodes that nobody can name in their pods."""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.answers import Answer
from admission.jobs import READERS
from admission.jobs.described import described
from admission.jobs.descriptor import Descriptor
from admission.jobs.template_sources import TemplateSources, read_template_source
from admission.jobs.templates import NothingLent, PermanentProblem
from admission.jobs.workload import compose
from admission.model.effects import PodSetInfo
from admission.model.kinds import Ref
from admission.readers.job_kind import read_job_kind
from admission.reconcile.view import Serving
from admission.state.state import State
from admission.validation.job_kind import check_job_kind
from tests.core import job_kind_laws as laws
from tests.core.manifests.pods import Object
from tests.core.test_jobs import merged
from tests.core.test_stamping import patched
from tests.core.test_stamping_kinds import asked, cluster_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "job-kinds" / "trainjob.yaml"
SWEEP, RUNTIME = "Sweep.v1.experiments.example", "Runtime.v1.experiments.example"
FROM = {"ref": "spec.runtimeRef", "kind": RUNTIME, "path": "spec.template"}
INFO = PodSetInfo("main", 3, {}, (), {"x": "y"}, {"kueue.x-k8s.io/workload": "w"})


def pods(cpu: str = "2", **fields: Any) -> Object:
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}], **fields}}


def job_kind(version: int = 5, pod_set: Object | None = None, **spec: Any) -> Object:
    pod_set = {"name": "main", "count": "spec.replicas", "template": {"from": FROM}, **(pod_set or {})}
    spec = {
        "kind": SWEEP,
        "suspend": {"path": "spec.suspend"},
        "podSets": [pod_set],
        "started": {"path": "status.active", "atLeast": 1},
        "finished": {"succeeded": {"condition": "Complete"}},
        **spec,
    }
    metadata = {"name": "sweep", "uid": "uid-sweep", "resourceVersion": str(version), "generation": 1}
    return {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": metadata, "spec": spec}


def runtime(name: str = "a100", version: int = 7, namespace: str = "lab", template: Any = None) -> Object:
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    if namespace:
        meta["namespace"] = namespace
    spec = {"template": pods() if template is None else template}
    return {"apiVersion": "experiments.example/v1", "kind": "Runtime", "metadata": meta, "spec": spec}


def sweep(ref: Any = "a100", version: int = 9, **spec: Any) -> Object:
    meta = {
        "name": "train", "namespace": "lab", "uid": "uid-train", "resourceVersion": str(version),
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
    }  # fmt: skip
    spec = {"suspend": True, "replicas": 3, "runtimeRef": ref, **spec}
    return {"apiVersion": "experiments.example/v1", "kind": "Sweep", "metadata": meta, "spec": spec}


def descriptor(*runtimes: Object, **pod_set: Any) -> Descriptor:
    found = read_job_kind(job_kind(pod_set=pod_set))
    assert found.rules is not None, found.problem
    sources = TemplateSources()
    for one in runtimes:
        (elsewhere,) = [rule.elsewhere for rule in found.rules.pod_sets if rule.elsewhere]
        sources.put(read_template_source(RUNTIME, one, [elsewhere.place]))
    return described(SWEEP, found.rules, sources)


# --- what a job asks for


@pytest.mark.parametrize(
    "ref",
    ["a100", {"name": "a100"}, {"name": "a100", "kind": "Runtime", "apiGroup": "experiments.example"},
     {"name": "a100", "apiVersion": "experiments.example/v1beta1", "namespace": "lab"}],
)  # fmt: skip
@pytest.mark.parametrize("namespace", ["lab", ""])
def test_pods_are_counted_from_the_object_that_the_job_names(ref: Any, namespace: str) -> None:
    job = descriptor(runtime(namespace=namespace)).read(sweep(ref))
    (main,) = job.pod_sets
    assert (main.count, dict(main.requests), job.problem) == (3, {"cpu": 2000}, "")
    assert main.template_of == "Runtime/a100"


@pytest.mark.parametrize(
    ("ref", "problem"),
    [
        (None, "spec.runtimeRef: Required value: name the Runtime whose pod template is meant"),
        (7, "spec.runtimeRef: Required value"),
        ({"kind": "Runtime"}, "spec.runtimeRef.name: Required value"),
        ("h100", 'spec.runtimeRef: Not found: "h100": there is no Runtime of experiments.example of this name'),
        ("far", 'spec.runtimeRef: Not found: "far"'),  # one of another namespace
        ("bare", 'spec.runtimeRef: Invalid value: "bare": this Runtime has no pod template at spec.template'),
        ({"name": "a100", "kind": "Class"}, 'spec.runtimeRef.kind: Invalid value: "Class": must be Runtime, or left'),
        ({"name": "a100", "apiGroup": "x.example"}, "spec.runtimeRef.apiGroup: Invalid value"),
        ({"name": "far", "namespace": "other"}, 'spec.runtimeRef.namespace: Invalid value: "other": must be lab'),
    ],
)
def test_a_job_is_told_what_it_lacks(ref: Any, problem: str) -> None:
    known = descriptor(runtime(), runtime("far", namespace="other"), runtime("bare", template={}))
    job = known.read(sweep(ref))
    assert job.problem.startswith(problem)
    with suppress(PermanentProblem, NothingLent):
        compose(SWEEP, sweep(ref), "w", kinds={SWEEP: known})


def test_without_a_reference_an_optional_pod_set_is_left_out() -> None:
    spec = job_kind(pod_set={"optional": True})
    spec["spec"]["podSets"].append({"name": "rest", "template": "spec.template"})
    rules = read_job_kind(spec).rules
    assert rules is not None
    job = described(SWEEP, rules).read(sweep(None, template=pods()))
    assert ([one.name for one in job.pod_sets], job.problem) == (["rest"], "")


def test_what_the_kind_says_itself_of_requests_comes_before_the_template() -> None:
    known = descriptor(runtime(), requests={"cpu": "spec.cpu"})
    assert dict(known.read(sweep(cpu="5")).pod_sets[0].requests) == {"cpu": 5000}
    assert dict(known.read(sweep()).pod_sets[0].requests) == {"cpu": 2000}


def test_starting_and_stopping_only_let_it_go_and_hold_it() -> None:
    known = descriptor(runtime())
    workload = compose(SWEEP, sweep(), "w", kinds={SWEEP: known})
    started = merged(sweep(), known.start(sweep(), [INFO]))
    assert started["spec"] == {**sweep()["spec"], "suspend": False}
    assert merged(started, known.restore(started, workload))["spec"] == sweep()["spec"]
    with pytest.raises(PermanentProblem, match="their template lies in a100, where nothing can be put in"):
        known.start(sweep(), [replace(INFO, node_selector={"pool": "spot"})])


@given(st.data())
@settings(max_examples=25)
def test_no_wrong_field_in_a_job_or_in_what_it_names_surprises(data: st.DataObject) -> None:
    known = descriptor(data.draw(laws.spoilt(runtime())), requests={"cpu": "spec.cpu"})
    spoilt = data.draw(laws.spoilt(sweep({"name": "a100", "kind": "Runtime"}, cpu="1")))
    job = known.read(spoilt)
    assert [(one["name"], one["count"]) for one in known.pod_sets(spoilt)] == [
        (one.name, one.count) for one in job.pod_sets
    ]
    if job.manifest:
        assert known.read(json.loads(job.manifest)) == job
    with suppress(PermanentProblem):
        known.start(spoilt, [PodSetInfo(one.name, one.count, {}, (), {}, {}) for one in job.pod_sets])
    with suppress(PermanentProblem, NothingLent):
        compose(SWEEP, spoilt, "w", kinds={SWEEP: known})


# --- in the state


def state(*manifests: Object) -> State:
    made = State()
    made.observe("Namespace", READERS["Namespace"]({"metadata": {"name": "lab"}}))
    for one in manifests:
        tell(made, one)
    return made


def tell(made: State, one: Object) -> None:
    if one["kind"] == "JobKind":
        made.observe("JobKind", READERS["JobKind"](one))
    elif one["kind"] == "Runtime":
        made.lend(read_template_source(RUNTIME, one, made.template_places[RUNTIME]))
    else:
        made.observe(SWEEP, made.job_kinds[SWEEP].read(one))


def cpu(made: State) -> int:
    made.plan(1000.0)
    job = made.objects.job(Ref(SWEEP, "lab", "train"))
    assert job is not None
    return dict(job.pod_sets[0].requests).get("cpu", 0)


def said(made: State) -> list[str]:
    return [type(planned.effect).__name__ for planned in made.plan(1000.0).effects if planned.effect.ref.kind == SWEEP]


def test_whoever_names_an_object_is_looked_at_again_when_that_comes_changes_or_goes() -> None:
    made = state(job_kind(), sweep())
    assert cpu(made) == 0
    tell(made, runtime())
    assert cpu(made) == 2000
    tell(made, runtime(version=8, template=pods("4")))
    assert cpu(made) == 4000
    tell(made, runtime(version=7))  # an old fact
    assert cpu(made) == 4000
    made.lend_no_more(Ref(RUNTIME, "lab", "a100"))
    assert cpu(made) == 0
    made.gone(Ref(SWEEP, "lab", "train"), 20)
    assert not made.objects.borrowers(RUNTIME)


def test_nobody_is_told_that_something_is_missing_before_that_is_known() -> None:
    made = state(job_kind(), sweep())
    assert not said(made)
    made.serves(RUNTIME, Serving(served=True))
    assert said(made) == ["EmitEvent"]


def test_what_must_not_be_seen_is_named_as_that() -> None:
    made = state(job_kind(), sweep())
    made.serves(SWEEP, Serving(served=True))
    made.serves(RUNTIME, Serving(served=False, forbidden=True))
    effects = [planned.effect for planned in made.plan(1000.0).effects]
    messages = [getattr(effect, "message", "") for effect in effects]
    assert any(f"may not list objects of kind {RUNTIME}: apply a ClusterRole" in message for message in messages)
    (patch,) = [effect for effect in effects if effect.ref.kind == "JobKind"]
    (active,) = patch.body["status"]["conditions"]  # type: ignore[union-attr]
    assert (active["status"], active["reason"]) == ("False", "TemplatesForbidden")


def test_a_kind_is_followed_as_long_as_templates_lie_in_it() -> None:
    made = state(job_kind(), runtime(), sweep())
    made.serves(RUNTIME, Serving(served=True))
    (place,) = made.template_places[RUNTIME]
    assert place.steps == ("spec", "template")
    elsewhere = {**FROM, "path": "spec.other"}
    tell(made, job_kind(6, {"template": {"from": elsewhere}}))
    assert made.objects.serving(RUNTIME) is None  # it has to be read anew
    assert made.job_kinds.sources.find(Ref(RUNTIME, "lab", "a100")) is None
    made.gone(Ref("JobKind", "", "sweep"), 7)
    assert not made.template_places


# --- in webhooks


@pytest.mark.parametrize("ref", ["a100", None, {"name": 7}])
def test_webhooks_hold_such_a_job_whatever_it_names_and_let_it_go_when_it_is_started(ref: Any) -> None:
    cluster, written = cluster_of(job_kind()), sweep(ref)
    del written["spec"]["suspend"]
    held = patched(written, asked(SWEEP, cluster, written).patch)
    assert held["spec"] == {**written["spec"], "suspend": True}
    started = merged(held, descriptor(runtime()).start(held, [INFO]))
    assert asked(SWEEP, cluster, started, held) == Answer()
    assert asked(SWEEP, cluster, started, held, "validate").allowed


# --- the example


def test_the_example_is_accepted_and_its_role_reaches_both_kinds() -> None:
    role, described_kind = yaml.safe_load_all(EXAMPLE.read_text())
    assert check_job_kind(described_kind, None) == []
    granted = {one: rule["verbs"] for rule in role["rules"] for one in rule["resources"]}
    assert granted["clustertrainingruntimes"] == ["list", "watch"]
    assert "patch" in granted["trainjobs"]
