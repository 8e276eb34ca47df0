"""RayJobs and RayClusters as the core sees them: which pods they are, how they start and stop, what they say of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.jobs.places import replaced
from admission.jobs.ray_job import RAY_JOB
from admission.jobs.registry import JOB_KINDS
from admission.jobs.templates import PermanentProblem
from admission.jobs.workload import compose, equivalent
from admission.model.effects import PodSetInfo
from admission.model.job import Job, JobEnd
from admission.model.workload import Toleration
from admission.readers.workload import read_workload
from tests.core.crd_cases import condition
from tests.core.manifests.pods import Sample
from tests.core.manifests.ray import clusters, jobs
from tests.core.test_jobs import merged

Object = dict[str, Any]

SPOT = Toleration("spot", "Exists", "", "", None)


def template(cpu: str = "1", **container: Any) -> Object:
    resources = {"requests": {"cpu": cpu}}
    return {"spec": {"containers": [{"name": "c", "image": "ray:2", "resources": resources, **container}]}}


def group(name: str = "w", cpu: str = "1", **fields: Any) -> Object:
    return {"groupName": name, "template": template(cpu), **fields}


def cluster_spec(*workers: Object, head: Object | None = None, **fields: Any) -> Object:
    return {"headGroupSpec": {"template": head or template()}, "workerGroupSpecs": list(workers), **fields}


def of(kind: str, spec: Object, status: Object | None = None, **notes: str) -> Object:
    metadata = {"name": "train", "namespace": "lab", "uid": "u-1", "resourceVersion": "7", "annotations": notes}
    found = {"apiVersion": "ray.io/v1", "kind": kind, "metadata": metadata, "spec": {"suspend": True, **spec}}
    return found if status is None else {**found, "status": status}


def cluster(*workers: Object, status: Object | None = None, notes: dict[str, str] | None = None, **spec: Any) -> Object:
    return of("RayCluster", cluster_spec(*workers, **spec), status, **(notes or {}))


def job(*workers: Object, status: Object | None = None, mode: str = "K8sJobMode", **spec: Any) -> Object:
    return of("RayJob", {"rayClusterSpec": cluster_spec(*workers), "submissionMode": mode, **spec}, status)


def read(manifest: Object) -> Job:
    return JOB_KINDS[manifest["kind"]].read(manifest)


def sizes(manifest: Object) -> dict[str, int]:
    return {one.name: one.count for one in read(manifest).pod_sets}


def requests(manifest: Object, name: str) -> dict[str, int]:
    (found,) = [one for one in read(manifest).pod_sets if one.name == name]
    return dict(found.requests)


def infos(manifest: Object) -> list[PodSetInfo]:
    found = []
    for one in read(manifest).pod_sets:
        labels = {"kueue.x-k8s.io/podset": one.name}
        found.append(PodSetInfo(one.name, one.count, {"rack": "a"}, (SPOT,), labels, {"kueue.x-k8s.io/workload": "w"}))
    return found


def started(manifest: Object) -> Object:
    result: Object = merged(manifest, JOB_KINDS[manifest["kind"]].start(manifest, infos(manifest)))
    return result


def stopped(manifest: Object, workload: Object | None) -> Object:
    result: Object = merged(manifest, JOB_KINDS[manifest["kind"]].restore(manifest, workload))
    return result


def workload_of(manifest: Object) -> Object:
    return compose(manifest["kind"], manifest, "w")


# which pods


def test_a_cluster_is_its_head_and_its_groups_of_workers_under_lower_case_names() -> None:
    assert sizes(cluster(group("GPU", replicas=3), group("w", replicas=0))) == {"head": 1, "gpu": 3, "w": 0}
    assert sizes(cluster()) == {"head": 1}


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({}, 1),
        ({"replicas": 2, "numOfHosts": 4}, 8),
        ({"numOfHosts": 2}, 2),
        ({"replicas": 2, "numOfHosts": 1}, 2),
        ({"replicas": 0, "minReplicas": 2}, 2),  # what the CRD makes of replicas that nobody wrote
        ({"replicas": 1, "minReplicas": 2, "numOfHosts": 3}, 6),
        ({"replicas": 3, "minReplicas": 1, "maxReplicas": 5}, 3),
        ({"replicas": 2, "suspend": True}, 2),
    ],
)
def test_a_group_has_as_many_pods_as_kuberay_may_make(fields: Object, count: int) -> None:
    assert sizes(cluster(group(**fields)))["w"] == count


def test_a_job_has_the_pods_of_its_cluster_and_one_that_submits_it() -> None:
    manifest = job(group(replicas=2), submitterPodTemplate=template("250m"))
    assert sizes(manifest) == {"head": 1, "w": 2, "submitter": 1}
    assert requests(manifest, "submitter") == {"cpu": 250}


def test_the_submitter_is_kuberays_own_where_none_is_described() -> None:
    last = RAY_JOB.pod_sets(job())[-1]
    (container,) = last["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("ray-job-submitter", "ray:2")
    assert requests(job(), "submitter") == {"cpu": 500, "memory": 200 * 2**20}


@pytest.mark.parametrize("mode", ["HTTPMode", "InteractiveMode"])
def test_a_job_that_others_submit_has_no_submitter(mode: str) -> None:
    assert sizes(job(mode=mode)) == {"head": 1}


def test_a_submitter_beside_the_head_is_part_of_its_pod() -> None:
    manifest = job(mode="SidecarMode")
    assert sizes(manifest) == {"head": 1}
    assert requests(manifest, "head") == {"cpu": 1500, "memory": 200 * 2**20}
    assert "ray-job-submitter" not in str(started(manifest))  # KubeRay adds it, and refuses a second


@pytest.mark.parametrize(
    ("resources", "cpu", "memory"),
    [
        ({}, 200, 256 * 2**20),
        ({"requests": {"cpu": "100m", "memory": "1Gi"}}, 200, 2**30),
        ({"limits": {"cpu": "2"}}, 2000, 256 * 2**20),
        ({"requests": {"cpu": 1}, "limits": {"cpu": 2}}, 1000, 256 * 2**20),
    ],
)
@pytest.mark.parametrize("how", ["options", "annotation"])
def test_the_head_of_a_cluster_that_survives_it_has_room_for_the_cleaning(
    how: str, resources: Object, cpu: int, memory: int
) -> None:
    head = template(resources=resources)
    manifest = (
        cluster(head=head, gcsFaultToleranceOptions={"redisAddress": "r"})
        if how == "options"
        else cluster(head=head, notes={"ray.io/ft-enabled": "True"})
    )
    assert requests(manifest, "head") == {"cpu": cpu, "memory": memory}


def test_the_autoscaler_runs_in_the_heads_pod() -> None:
    assert requests(cluster(enableInTreeAutoscaling=True), "head") == {"cpu": 1500, "memory": 512 * 2**20}
    options = {"resources": {"requests": {"cpu": "2"}}}
    assert requests(cluster(enableInTreeAutoscaling=True, autoscalerOptions=options), "head") == {"cpu": 3000}
    assert requests(cluster(enableInTreeAutoscaling=False), "head") == {"cpu": 1000}


# what cannot be queued


@pytest.mark.parametrize("value", ["$REPLICAS", 10**30, -1, 1.5, True, 2**31])
@pytest.mark.parametrize("field", ["replicas", "minReplicas", "numOfHosts"])
def test_a_number_that_kuberay_could_not_read_is_named(field: str, value: Any) -> None:
    seen = read(job(group(), group("v", **{field: value})))
    assert seen.problem.startswith(f"spec.rayClusterSpec.workerGroupSpecs[1].{field}: Invalid value: ")
    assert seen.problem.endswith(" to 2147483647")


def test_more_pods_than_a_workload_can_count_are_a_mistake() -> None:
    told = read(cluster(group(replicas=2**30, numOfHosts=2))).problem
    assert told.startswith("spec.workerGroupSpecs[0].replicas: Invalid value: 1073741824: with 2 hosts each")
    assert read(cluster(group(replicas=2**31 - 1))).problem == ""


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("",), "spec.rayClusterSpec.workerGroupSpecs[0].groupName: Required value"),
        (("a_b",), "spec.rayClusterSpec.workerGroupSpecs[0].groupName: Invalid value"),
        (("w", "W"), "spec.rayClusterSpec.workerGroupSpecs[1].groupName: Duplicate value"),
        (("HEAD",), "spec.rayClusterSpec.workerGroupSpecs[0].groupName: Duplicate value"),
        (("w", "submitter"), "spec.rayClusterSpec.workerGroupSpecs[1].groupName: Duplicate value"),
    ],
)
def test_groups_that_could_not_be_told_apart_are_named(names: tuple[str, ...], told: str) -> None:
    assert read(job(*map(group, names))).problem.startswith(told)


def test_pods_without_a_template_are_named() -> None:
    told = "spec.workerGroupSpecs[0].template.spec: Required value"
    assert read(cluster({"groupName": "w"})).problem.startswith(told)
    assert read(job(submitterPodTemplate={})).problem.startswith("spec.submitterPodTemplate.spec: Required value")
    assert read(of("RayJob", {})).problem.startswith("spec.rayClusterSpec: Required value")


# what the status says


@pytest.mark.parametrize(
    ("stage", "active", "on_hold"),
    [
        ("", False, False),
        ("Suspended", False, False),
        ("Initializing", True, False),
        ("Running", True, False),
        ("Waiting", True, False),
        ("Retrying", True, False),
        ("Suspending", True, False),
        ("ValidationFailed", True, True),
    ],
)
def test_a_job_has_pods_from_its_start_until_it_is_suspended(stage: str, active: bool, on_hold: bool) -> None:
    seen = read(job(status={"jobDeploymentStatus": stage, "jobStatus": "RUNNING"}))
    assert (seen.active, seen.on_hold, seen.end) == (active, on_hold, None)


@pytest.mark.parametrize(
    ("stage", "status", "succeeded"),
    [("Complete", "SUCCEEDED", True), ("Complete", "STOPPED", False), ("Failed", "FAILED", False)],
)
def test_a_job_ends_with_what_ray_says_of_it(stage: str, status: str, succeeded: bool) -> None:
    seen = read(job(status={"jobDeploymentStatus": stage, "jobStatus": status, "message": "bye"}))
    assert seen.end == JobEnd(succeeded, "bye")


def test_a_job_is_ready_when_its_cluster_is() -> None:
    running: Object = {"jobDeploymentStatus": "Running"}
    assert read(job(status={**running, "rayClusterStatus": {"state": "ready"}})).pods_ready
    assert not read(job(status=running)).pods_ready


def test_a_job_on_a_cluster_of_others_is_none_of_ours() -> None:
    selector = {"ray.io/cluster": "shared"}
    assert read(of("RayJob", {"clusterSelector": selector})).skipped
    assert not read(job()).skipped
    assert not read(job(clusterSelector={})).skipped


def test_a_cluster_has_pods_while_any_of_them_is_left() -> None:
    head = [condition("HeadPodReady", status="False", reason="ContainersNotReady")]
    none = [condition("HeadPodReady", status="False", reason="HeadPodNotFound")]
    assert read(cluster(status={"state": "ready", "conditions": none})).active
    assert read(cluster(status={"state": "suspended", "conditions": head})).active  # let go again, not ready yet
    assert read(cluster(status={"state": "suspended", "availableWorkerReplicas": 1})).active
    assert not read(cluster(status={"state": "suspended", "conditions": none})).active
    assert not read(cluster()).active
    assert read(cluster(status={"state": "ready"})).pods_ready
    assert read(cluster(status={"state": "failed", "reason": "x"})).end is None


# start and stop


@given(st.one_of(clusters(), jobs()))
def test_a_job_that_runs_fits_its_workload(sample: Sample) -> None:
    manifest = sample.manifest
    workload = workload_of(manifest)
    counts = [{"name": one.name, "count": one.count} for one in read(manifest).pod_sets]
    conditions = [condition("QuotaReserved"), condition("Admitted")]
    status = {"conditions": conditions, "admission": {"clusterQueue": "q", "podSetAssignments": counts}}
    assert equivalent(read(started(manifest)), read_workload({**workload, "status": status}))


def test_the_submitter_that_was_written_for_a_job_goes_with_the_stop_even_if_the_head_changed_meanwhile() -> None:
    manifest = job()
    workload, running = workload_of(manifest), started(manifest)
    assert running["spec"]["submitterPodTemplate"]["spec"]["nodeSelector"] == {"rack": "a"}
    changed = replaced(running, ("spec", "rayClusterSpec", "headGroupSpec", "template"), template(image="ray:3"))
    assert "submitterPodTemplate" not in stopped(changed, workload)["spec"]


def test_a_job_that_lost_its_workload_is_held_and_left_as_it_is() -> None:
    running = started(job())
    assert stopped(running, None) == merged(running, {"spec": {"suspend": True}})


def test_a_job_that_got_another_group_of_workers_is_held_and_left_as_it_is() -> None:
    workload, running = workload_of(job(group())), started(job(group(), group("v")))
    assert stopped(running, workload) == merged(running, {"spec": {"suspend": True}})


def test_an_admission_for_other_groups_cannot_start_a_job() -> None:
    for manifest in (job(), job(submitterPodTemplate=template()), cluster(group())):
        with pytest.raises(PermanentProblem, match="expecting"):
            JOB_KINDS[manifest["kind"]].start(manifest, infos(manifest)[:1])


def test_a_job_of_nothing_is_read() -> None:
    for kind, empty in (("RayJob", {}), ("RayCluster", {}), ("RayJob", {"spec": None}), ("RayCluster", {"spec": []})):
        assert JOB_KINDS[kind].read(empty).problem
