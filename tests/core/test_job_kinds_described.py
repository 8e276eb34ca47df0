"""Kinds that are not built in, described as in examples/job-kinds: held, counted, started, stopped, finished."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.jobs.described import described
from admission.jobs.descriptor import Descriptor
from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose
from admission.model.effects import PodSetInfo
from admission.model.job import JobEnd
from admission.model.job_kind import AGGREGATE_LABEL
from admission.model.kinds import kind_of
from admission.model.workload import Toleration
from admission.readers.job_kind import read_job_kind
from admission.validation.job_kind import check_job_kind
from tests.core import job_kind_laws as laws
from tests.core.manifests.pods import Object, metadata
from tests.core.test_jobs import merged

EXAMPLES = Path(__file__).parents[2] / "examples" / "job-kinds"
FILES = ("mxjob.yaml", "notebook.yaml", "pipelinerun.yaml")
SPOT = Toleration("spot", "Exists", "", "NoSchedule")


def read(file: str) -> tuple[Object, Object]:
    """The JobKind and the ClusterRole of an example."""
    role, job_kind = yaml.safe_load_all((EXAMPLES / file).read_text())
    return job_kind, role


def descriptor(file: str) -> Descriptor:
    found = read_job_kind(read(file)[0])
    assert found.rules is not None, found.problem
    return described(found.kind, found.rules)


def pod(cpu: str, **fields: Any) -> Object:
    return {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}], **fields}


def info(name: str, count: int = 1) -> PodSetInfo:
    labels, mark = {"kueue.x-k8s.io/podset": name}, {"kueue.x-k8s.io/workload": "w"}
    return PodSetInfo(name, count, {"pool": "spot"}, (SPOT,), labels, mark)


def counted(of: Descriptor, manifest: Object) -> list[tuple[str, int, dict[str, int]]]:
    return [(one.name, one.count, dict(one.requests)) for one in of.read(manifest).pod_sets]


# --- held by a boolean


MX = descriptor("mxjob.yaml")


def mx_job(status: Object | None = None) -> Object:
    replicas = {
        "Worker": {"replicas": 4, "restartPolicy": "Never", "template": {"spec": pod("2")}},
        "Scheduler": {"template": {"metadata": {"labels": {"role": "scheduler"}}, "spec": pod("500m")}},
        "Server": {"replicas": 2, "template": {"spec": pod("1", nodeSelector={"disk": "ssd"})}},
    }
    policy = {"suspend": True, "schedulingPolicy": {"priorityClass": "high"}}
    spec = {"jobMode": "MXTrain", "runPolicy": policy, "mxReplicaSpecs": replicas}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "MXJob",
        "metadata": metadata(),
        "spec": spec,
        "status": status or {},
    }


def test_an_mx_job_is_held_and_counted() -> None:
    job = MX.read(mx_job())
    assert (job.suspended, job.problem, job.pod_priority_class) == (True, "", "high")
    assert job.ref.kind == "MXJob.v1.kubeflow.org"
    assert counted(MX, mx_job()) == [
        ("scheduler", 1, {"cpu": 500}),
        ("server", 2, {"cpu": 1000}),
        ("worker", 4, {"cpu": 2000}),
    ]


def test_an_mx_job_starts_and_is_given_back() -> None:
    held = mx_job()
    started = merged(held, MX.start(held, [info("scheduler"), info("server", 2), info("worker", 4)]))
    assert not MX.read(started).suspended
    server = started["spec"]["mxReplicaSpecs"]["Server"]["template"]
    assert server["spec"]["nodeSelector"] == {"disk": "ssd", "pool": "spot"}
    assert server["spec"]["tolerations"] == [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]
    assert server["metadata"]["labels"] == {"kueue.x-k8s.io/podset": "server"}
    assert "annotations" not in started["metadata"]
    workload = compose("MXJob.v1.kubeflow.org", held, "w", kinds={"MXJob.v1.kubeflow.org": MX})
    assert MX.stop == "Suspend"
    assert merged(started, MX.restore(started, workload)) == held


def test_an_mx_job_says_how_it_goes() -> None:
    running = {"type": "Running", "status": "True"}
    job = MX.read(mx_job({"replicaStatuses": {"Worker": {"active": 3}}, "conditions": [running]}))
    assert (job.active, job.pods_ready, job.end) == (True, True, None)
    ended = MX.read(mx_job({"conditions": [{"type": "Failed", "status": "True", "message": "worker-1 was killed"}]}))
    assert (ended.active, ended.end) == (False, JobEnd(False, "worker-1 was killed"))
    assert MX.read(mx_job({"conditions": [{"type": "Succeeded", "status": "True"}]})).end == JobEnd(True, "")


# --- held by an annotation


NOTEBOOK = descriptor("notebook.yaml")
STOPPED = "kubeflow-resource-stopped"


def notebook(stopped: str | None = "lockgate", status: Object | None = None) -> Object:
    annotations = {} if stopped is None else {STOPPED: stopped}
    spec = {"template": {"spec": pod("4", nodeSelector={"disk": "ssd"})}}
    meta = metadata(annotations={"owner": "ada", **annotations})
    return {"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "metadata": meta, "spec": spec, "status": status or {}}


def test_a_notebook_is_held_by_an_annotation_and_counted() -> None:
    assert not NOTEBOOK.read(notebook(None)).suspended
    held = merged(notebook(None), NOTEBOOK.suspend())
    assert held == notebook()
    assert NOTEBOOK.read(held).suspended
    assert counted(NOTEBOOK, held) == [("main", 1, {"cpu": 4000})]


def test_a_notebook_starts_and_is_given_back_without_labels_that_its_template_cannot_keep() -> None:
    held = notebook()
    started = merged(held, NOTEBOOK.start(held, [info("main")]))
    assert not NOTEBOOK.read(started).suspended
    assert started["metadata"]["annotations"] == {"owner": "ada", "kueue.x-k8s.io/workload": "w"}
    assert started["spec"]["template"].keys() == {"spec"}
    assert started["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "ssd", "pool": "spot"}
    workload = compose("Notebook.v1.kubeflow.org", held, "w", kinds={"Notebook.v1.kubeflow.org": NOTEBOOK})
    assert merged(started, NOTEBOOK.restore(started, workload)) == held


def test_a_notebook_that_its_user_stops_is_on_hold() -> None:
    job = NOTEBOOK.read(notebook("2026-01-02T03:04:05Z"))
    assert (job.suspended, job.on_hold) == (True, True)
    assert not NOTEBOOK.read(notebook()).on_hold
    assert not NOTEBOOK.read(notebook(None)).on_hold


def test_a_notebook_runs_until_somebody_ends_it() -> None:
    waiting = NOTEBOOK.read(notebook(None, {"containerState": {"waiting": {}}, "readyReplicas": 0}))
    assert (waiting.active, waiting.pods_ready, waiting.end) == (True, False, None)
    running = NOTEBOOK.read(notebook(None, {"containerState": {"running": {"startedAt": "x"}}, "readyReplicas": 1}))
    assert (running.active, running.pods_ready, running.end) == (True, True, None)
    assert not NOTEBOOK.read(notebook(None, {"containerState": {}, "readyReplicas": 0})).active


# --- held by a text, and deleted to be stopped


RUN = descriptor("pipelinerun.yaml")


def pipeline_run(status: Object | None = None, **spec: Any) -> Object:
    meta = metadata(annotations={"ci.example.com/cpu": "2", "ci.example.com/memory": "4Gi"})
    whole = {"pipelineRef": {"name": "build"}, "status": "PipelineRunPending", **spec}
    return {
        "apiVersion": "tekton.dev/v1",
        "kind": "PipelineRun",
        "metadata": meta,
        "spec": whole,
        "status": status or {},
    }


def test_a_pipeline_run_is_held_by_a_word_and_asks_for_what_its_annotations_say() -> None:
    submitted = pipeline_run()
    del submitted["spec"]["status"]
    assert not RUN.read(submitted).suspended
    held = merged(submitted, RUN.suspend())
    assert held == pipeline_run()
    assert RUN.read(held).suspended
    assert counted(RUN, held) == [("tasks", 1, {"cpu": 2000, "memory": 4 << 30})]
    assert not RUN.read(pipeline_run(status={}) | {"spec": {"status": "Cancelled"}}).suspended


def test_a_pipeline_run_that_says_nothing_of_what_it_needs_is_told_so() -> None:
    silent = pipeline_run()
    silent["metadata"]["annotations"] = {"ci.example.com/memory": "1Gi"}
    assert RUN.read(silent).problem == ""
    silent["metadata"]["annotations"] = {}
    problem = "metadata.annotations.ci.example.com/cpu: Required value: pods of tasks must request something"
    assert RUN.read(silent).problem == problem


def test_a_pipeline_run_starts_without_a_change_of_anything_else() -> None:
    mark = {"kueue.x-k8s.io/workload": "w"}
    assert RUN.start(pipeline_run(), [info("tasks")]) == {
        "metadata": {"annotations": mark},  # or the webhooks would take it for somebody else's start, and hold it
        "spec": {"status": None},
    }
    assert RUN.stop == "Delete"


def test_a_pipeline_run_says_how_it_goes() -> None:
    started = {"startTime": "2026-01-02T03:04:05Z", "conditions": [{"type": "Succeeded", "status": "Unknown"}]}
    job = RUN.read(pipeline_run(started))
    assert (job.active, job.pods_ready, job.end) == (True, True, None)
    pending = {"conditions": [{"type": "Succeeded", "status": "Unknown", "reason": "PipelineRunPending"}]}
    assert not RUN.read(pipeline_run(pending)).active
    failed = {"conditions": [{"type": "Succeeded", "status": "False", "message": "task lint failed"}]}
    assert RUN.read(pipeline_run(failed)).end == JobEnd(False, "task lint failed")
    done = {"conditions": [{"type": "Succeeded", "status": "True", "message": "3 tasks"}]}
    assert RUN.read(pipeline_run(done)).end == JobEnd(True, "3 tasks")


# --- all of them


JOBS = {"mxjob.yaml": mx_job(), "notebook.yaml": notebook(), "pipelinerun.yaml": pipeline_run()}


@pytest.mark.parametrize("file", FILES)
def test_an_example_is_accepted_and_its_role_reaches_its_kind(file: str) -> None:
    job_kind, role = read(file)
    assert check_job_kind(job_kind, None) == []
    kind = kind_of(job_kind["spec"]["kind"])
    assert role["metadata"]["labels"] == {AGGREGATE_LABEL: "true"}
    granted = {(group, one) for rule in role["rules"] for group in rule["apiGroups"] for one in rule["resources"]}
    assert granted == {(kind.group, kind.plural), (kind.group, f"{kind.plural}/finalizers")}


@pytest.mark.parametrize("file", FILES)
@given(st.data())
@settings(max_examples=8)
def test_no_wrong_field_surprises_a_described_kind(file: str, data: st.DataObject) -> None:
    known = descriptor(file)
    spoilt = data.draw(laws.spoilt(JOBS[file]))
    job = known.read(spoilt)
    assert [(one["name"], one["count"]) for one in known.pod_sets(spoilt)] == [
        (one.name, one.count) for one in job.pod_sets
    ]
    with suppress(PermanentProblem):
        known.start(spoilt, [info(one.name, one.count) for one in job.pod_sets])
    known.restore(spoilt, {"spec": {"podSets": known.pod_sets(JOBS[file])}})
