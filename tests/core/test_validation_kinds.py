"""What is refused about jobs of every kind but batch Job: common rules, and topology on each of their pod templates."""

from typing import Any

import pytest

from admission.jobs.registry import JOB_KINDS
from admission.model.gates import Gates
from tests.core.manifests.pods import Object
from tests.core.test_job_kinds_in_state import SWEEP, job_kind, sweep
from tests.core.test_jobs import merged
from tests.core.test_stamping import Cluster
from tests.core.test_stamping_kinds import any_job, asked, cluster_of
from tests.refusals.other_jobs import POD, SPECS
from tests.refusals.row import ABSENT, put

P = "kueue.x-k8s.io/"
QUEUE = f"metadata.labels[{P}queue-name]"
CLASS = f"metadata.labels[{P}priority-class]"
LONGEST = f"metadata.labels[{P}max-exec-time-seconds]"
PREBUILT = f"metadata.labels[{P}prebuilt-workload-name]"
GATED = f"metadata.annotations[{P}admission-gated-by]"
ELASTIC = f"metadata.annotations[{P}elastic-job]"
FINALIZERS = "metadata.finalizers"
CREATED_ALIKE = [kind for kind in JOB_KINDS if kind != "Job"]
every_kind = pytest.mark.parametrize("kind", CREATED_ALIKE)

# Kinds with rules of their own; any spec will do for the others.
NEEDED = {kind: SPECS[kind] for kind in ("RayJob", "RayCluster", "SparkApplication", "Workflow")}


def right(kind: str, **metadata: Any) -> Object:
    """A job that nothing is wrong with; it runs."""
    made = any_job(kind)
    made["spec"] = NEEDED.get(kind, {})
    made["metadata"] |= metadata
    return made


def held(kind: str, manifest: Object) -> Object:
    result: Object = merged(manifest, JOB_KINDS[kind].hold.patch(held=True))
    return result


def said(kind: str, new: Object, old: Object | None = None, cluster: Cluster | None = None) -> str:
    return asked(kind, cluster or Cluster(), new, old, "validate").message


@every_kind
def test_a_right_job_is_accepted_and_so_is_its_start_and_its_stop(kind: str) -> None:
    running = right(kind)
    waiting = held(kind, running)
    assert (
        said(kind, running) == said(kind, waiting) == said(kind, running, waiting) == said(kind, waiting, running) == ""
    )


@every_kind
@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (QUEUE, "No_Name", "a lowercase RFC 1123 subdomain"),
        (LONGEST, "1m", "invalid syntax"),
        (LONGEST, "0", "should be greater than 0"),
        (GATED, "a.io/b,a.io/b", "duplicate gate name: a.io/b"),
    ],
)
def test_labels_are_judged_as_those_of_jobs(kind: str, at: str, value: str, words: str) -> None:
    message = said(kind, put(right(kind), {at: value}))
    assert message.startswith(f"{at}: Invalid value: ")
    assert words in message


@every_kind
@pytest.mark.parametrize(
    ("at", "before", "after", "words"),
    [
        (QUEUE, "q", "other", "field is immutable"),
        (QUEUE, "q", ABSENT, "field is immutable"),
        (LONGEST, "60", "90", "field is immutable"),
        (LONGEST, ABSENT, "90", "field is immutable"),
        (CLASS, ABSENT, "high", "WorkloadPriorityClass cannot be added to a non-suspended workload"),
    ],
)
def test_what_stays_while_a_job_runs_may_change_while_it_waits(
    kind: str, at: str, before: Any, after: Any, words: str
) -> None:
    old = put(right(kind), {at: before})
    new = put(old, {at: after})
    assert said(kind, new, old).startswith(f"{at}: Invalid value: ")
    assert words in said(kind, new, old)
    assert said(kind, held(kind, new), held(kind, old)) == ""


@every_kind
def test_a_job_that_waits_keeps_some_queue_where_there_is_a_default(kind: str) -> None:
    waiting = held(kind, right(kind))
    left = put(waiting, {QUEUE: ABSENT})
    assert said(kind, left, waiting) == ""
    message = said(kind, left, waiting, Cluster(defaults=("lab",)))
    assert message == f'{QUEUE}: Invalid value: "": queue-name must not be empty in namespace with default queue'


PREBUILT_ALLOWED = {"JobSet", "TFJob", "PaddleJob", "PyTorchJob", "XGBoostJob", "MPIJob", "RayJob", "RayCluster"}


@every_kind
def test_a_workload_made_beforehand_is_for_kinds_that_kueue_takes_it_for(kind: str) -> None:
    message = said(kind, put(right(kind), {PREBUILT: "w"}))
    if kind in PREBUILT_ALLOWED:
        assert message == ""
    else:
        told = f"{any_job(kind)['apiVersion']}, Kind={kind}"
        assert message == f'{PREBUILT}: Forbidden: Is not supported for "{told}"'


@every_kind
def test_only_rays_kinds_may_call_themselves_elastic(kind: str) -> None:
    message = said(kind, put(right(kind), {ELASTIC: "true"}))
    if kind in ("RayJob", "RayCluster"):
        assert message == ""
    else:
        assert message.startswith(f"{ELASTIC}: Forbidden: elastic job is not supported for")


@every_kind
def test_whoever_takes_a_finalizer_away_is_not_asked_about_the_rest(kind: str) -> None:
    wrong = put(right(kind), {QUEUE: "No_Name", FINALIZERS: ["acme.io/hold"]})
    assert said(kind, put(wrong, {FINALIZERS: []}), wrong) == ""
    assert said(kind, wrong | {"status": {"phase": "Running"}}, wrong) == ""
    assert said(kind, put(wrong, {"metadata.labels[team]": "a"}), wrong) != ""
    assert (
        said(kind, put(wrong, {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z", "metadata.labels[a]": "b"})) == ""
    )


@pytest.mark.parametrize("kind", ["RayJob", "RayCluster", "SparkApplication"])
def test_ray_and_spark_jobs_that_leave_their_queue_are_judged_while_the_gate_is_on(kind: str) -> None:
    running = right(kind)
    left = put(running, {QUEUE: ABSENT})
    assert said(kind, left, running) == f'{QUEUE}: Invalid value: "": field is immutable'
    off = Cluster(gates=Gates({"ValidateRayAndSparkJobUpdates": False}))
    assert said(kind, left, running, off) == ""
    assert said(kind, put(left, {LONGEST: "no"}), left) == ""  # never queued: not ours to judge
    assert said(kind, put(left, {LONGEST: "no"}), left, Cluster(manage_jobs_without_queue_name=True)) != ""


def test_a_described_kind_is_judged_by_the_common_rules() -> None:
    cluster = cluster_of(job_kind())
    made = sweep()
    assert said(SWEEP, made, cluster=cluster) == ""
    message = said(SWEEP, put(made, {PREBUILT: "w"}), cluster=cluster)
    assert message == f'{PREBUILT}: Forbidden: Is not supported for "experiments.example/v1, Kind=Sweep"'
    near = put(made, {f"spec.template.metadata.annotations[{P}podset-slice-size]": "2"})
    assert said(SWEEP, near, cluster=cluster).startswith(
        f"spec.template.metadata.annotations[{P}podset-slice-size]: Forbidden: "
    )


# topology


def template(**notes: str) -> Object:
    """Names without prefix, underscores for dashes."""
    return {
        "metadata": {"annotations": {f"{P}podset-{name.replace('_', '-')}": note for name, note in notes.items()}},
        "spec": POD,
    }


def replicas(count: int, **notes: str) -> Object:
    return {"replicas": count, "template": template(**notes)}


def job_set(*counts: int, **notes: str) -> Object:
    jobs = [
        {"name": f"j{at}", "replicas": count, "template": {"spec": {"template": template(**notes)}}}
        for at, count in enumerate(counts)
    ]
    return any_job("JobSet") | {"spec": {"replicatedJobs": jobs}}


WRONG = {"required_topology": "a b"}
BAD = replicas(1, **WRONG)
DRIVER = {**NEEDED["SparkApplication"]["driver"], "annotations": template(**WRONG)["metadata"]["annotations"]}


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("TFJob", {"tfReplicaSpecs": {"PS": replicas(1), "Chief": BAD}}, "tfReplicaSpecs[Chief].template.metadata"),
        ("MPIJob", {"mpiReplicaSpecs": {"Worker": BAD}}, "mpiReplicaSpecs[Worker].template.metadata"),
        ("JobSet", job_set(1, **WRONG)["spec"], "replicatedJobs[0].template.spec.template.metadata"),
        (
            "RayCluster",
            {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [{"groupName": "w", **BAD}]},
            "workerGroupSpecs[0].template.metadata",
        ),
        (
            "RayJob",
            {**NEEDED["RayJob"], "rayClusterSpec": {"headGroupSpec": {"template": template(**WRONG)}}},
            "rayClusterSpec.headGroupSpec.template.metadata",
        ),
        ("SparkApplication", {**NEEDED["SparkApplication"], "driver": DRIVER}, "driver"),
    ],
)  # fmt: skip
def test_topology_is_judged_where_the_annotations_are(kind: str, spec: Object, path: str) -> None:
    message = said(kind, any_job(kind) | {"spec": spec})
    assert message.startswith(f'spec.{path}.annotations[{P}podset-required-topology]: Invalid value: "a b": name part')


def test_a_slice_has_no_more_pods_than_its_pod_set() -> None:
    sliced = {"slice_required_topology": "rack", "slice_size": "3"}
    assert said("JobSet", job_set(3, **sliced)) == ""
    assert "must not be greater than pod set count 2" in said("JobSet", job_set(2, **sliced))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((1, 4), ""),
        ((1,), "can only define groups of exactly 2 pod sets, got: 1 pod set(s)"),
        ((1, 2, 3), "can only define groups of exactly 2 pod sets, got: 3 pod set(s)"),
        ((2, 4), "at least one pod set has only 1 replica, got: 2 replica(s) and 4 replica(s) in the group"),
    ],
)
def test_pod_sets_placed_as_one_are_a_leader_and_its_workers(counts: tuple[int, ...], words: str) -> None:
    message = said("JobSet", job_set(*counts, group_name="g", required_topology="rack"))
    assert words in message
    assert bool(message) == bool(words)


def test_pod_sets_placed_as_one_want_the_same_level() -> None:
    launcher = replicas(1, group_name="g", required_topology="rack")
    worker = replicas(2, group_name="g", required_topology="block")
    spec = {"mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker}}
    first, second = (f"spec.mpiReplicaSpecs[{name}].template.metadata.annotations" for name in ("Launcher", "Worker"))
    wishes = f"'{P}podset-required-topology' or '{P}podset-preferred-topology'"
    assert said("MPIJob", any_job("MPIJob") | {"spec": spec}) == (
        f"[{first}: Invalid value: must specify {wishes} topology consistent with '{second}' in group 'g', "
        f"{second}: Invalid value: must specify {wishes} topology consistent with '{first}' in group 'g']"
    )
    kubeflow = {"tfReplicaSpecs": {"Chief": launcher, "Worker": worker}}
    assert said("TFJob", any_job("TFJob") | {"spec": kubeflow}) == ""
