"""JobKind objects in the state: their kinds come and go, and each says whether its jobs are queued."""

from typing import Any

from admission.jobs import READERS
from admission.model.effects import EmitEvent, Outcome, Patch, RestoreJob
from admission.model.kinds import Ref
from admission.reconcile.view import Serving
from admission.state.state import State

SWEEP = "Sweep.v1.experiments.example"


def job_kind(name: str = "sweep", version: int = 5, kind: str = SWEEP, **spec: Any) -> dict[str, Any]:
    spec = {
        "kind": kind,
        "suspend": {"path": "spec.suspend"},
        "podSets": [{"name": "main", "count": "spec.replicas", "template": "spec.template"}],
        **spec,
    }
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), "generation": 1}
    return {"apiVersion": "lockgate.dev/v1alpha1", "kind": "JobKind", "metadata": metadata, "spec": spec}


def sweep(name: str = "a", version: int = 9) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "lab", "uid": f"uid-{name}", "resourceVersion": str(version)}
    template = {"spec": {"containers": [{"name": "c", "image": "none"}]}}
    spec = {"suspend": True, "replicas": 2, "template": template}
    return {"apiVersion": "experiments.example/v1", "kind": "Sweep", "metadata": metadata, "spec": spec}


def told(*manifests: dict[str, Any]) -> State:
    state = State()
    for manifest in manifests:
        state.observe("JobKind", READERS["JobKind"](manifest))
    return state


def words(state: State) -> dict[str, tuple[str, str]]:
    """What JobKinds are made to say: name -> status and reason of Active. Every write succeeds."""
    said = {}
    plan = state.plan(1000.0)
    for planned in plan.effects:
        assert isinstance(planned.effect, Patch)
        assert planned.effect.subresource == "status"
        active = planned.effect.body["status"].get("conditions", [None])[0]
        if active is not None:
            said[planned.effect.ref.name] = (active["status"], active["reason"])
        state.outcome(Outcome(planned.id, "ok", 100))
    return said


def test_it_is_active_once_its_kind_can_be_seen() -> None:
    state = told(job_kind())
    assert not words(state)  # nobody has asked the API server yet
    state = told(job_kind())
    state.serves(SWEEP, Serving(served=False))
    assert words(state) == {"sweep": ("False", "KindNotServed")}
    state = told(job_kind())
    state.serves(SWEEP, Serving(served=False, forbidden=True))
    assert words(state) == {"sweep": ("False", "Forbidden")}
    state = told(job_kind())
    state.serves(SWEEP, Serving(served=True))
    assert words(state) == {"sweep": ("True", "Ready")}


def test_what_it_has_said_it_does_not_say_again() -> None:
    state = told(job_kind())
    state.serves(SWEEP, Serving(served=True))
    assert words(state)
    active = {"type": "Active", "status": "True", "reason": "Ready", "message": f"Jobs of kind {SWEEP} are queued"}
    hold = {"path": ["spec", "suspend"], "held": True, "released": False}
    echo = {**job_kind(version=100), "status": {"conditions": [active], "hold": hold}}
    descriptor = state.job_kinds[SWEEP]
    state.observe("JobKind", READERS["JobKind"](echo))
    assert not words(state)
    assert state.job_kinds[SWEEP] is descriptor  # so nobody reads all its jobs anew


def test_a_job_that_a_write_leaves_as_it_was_is_not_written_for_ever() -> None:
    """The field that should hold it is none of its CustomResourceDefinition: the API server drops it in silence."""
    state = told(job_kind(suspend={"path": "spec.suspended"}))
    labels = {"kubernetes.io/metadata.name": "lab"}
    state.observe("Namespace", READERS["Namespace"]({"metadata": {"name": "lab", "labels": labels}}))
    job = sweep()
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    state.observe(SWEEP, state.job_kinds[SWEEP].read(job))
    writes, words = 0, []
    for second in range(0, 600, 10):
        for planned in state.plan(1000.0 + second).effects:
            if isinstance(planned.effect, RestoreJob):
                writes += 1
                state.outcome(Outcome(planned.id, "ok", 9))
            elif isinstance(planned.effect, EmitEvent):
                words.append(planned.effect.reason)
    assert 1 < writes < 20  # after a second, two, four, and so on: at last once a minute
    assert "NothingChanged" in words


def test_of_two_for_one_kind_the_first_by_name_counts_until_it_goes() -> None:
    state = told(job_kind("b"), job_kind("a", kind="Sweep.v2.experiments.example"))
    for kind in (SWEEP, "Sweep.v2.experiments.example"):
        state.serves(kind, Serving(served=True))
    assert words(state) == {"a": ("True", "Ready"), "b": ("False", "Conflict")}
    assert SWEEP not in state.job_kinds
    state.gone(Ref("JobKind", "", "a"), 200)
    assert SWEEP in state.job_kinds


def test_a_kind_that_is_built_in_stays_as_it_is() -> None:
    state = told(job_kind(kind="PyTorchJob.v1.kubeflow.org"))
    assert words(state) == {"sweep": ("False", "Conflict")}
    assert "PyTorchJob" in state.job_kinds


def test_jobs_of_a_kind_that_nobody_describes_any_more_are_forgotten_but_their_workloads_are_not_ended() -> None:
    state = told(job_kind())
    reader = state.job_kinds[SWEEP].read
    state.observe(SWEEP, reader(sweep()))
    ref = Ref(SWEEP, "lab", "a")
    assert state.objects.job(ref) is not None
    state.gone(Ref("JobKind", "", "sweep"), 10)
    assert state.objects.job(ref) is None
    assert not state.objects.departed("uid-a")
    assert SWEEP not in state.job_kinds
