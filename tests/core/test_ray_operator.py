"""What KubeRay's part in a world says of Ray's jobs is understood as it is meant, and makes what KubeRay would make."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from admission.jobs.registry import JOB_KINDS
from admission.model.job import Job, JobEnd
from admission.world import ray_operator as kuberay
from tests.core.manifests.pods import Sample
from tests.core.manifests.ray import clusters, jobs
from tests.core.test_jobs import merged
from tests.core.test_ray_jobs import Object, group, job, template

NOW, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"


def released(manifest: Object) -> Object:
    result: Object = merged(manifest, {"spec": {"suspend": False}})
    return result


def told(manifest: Object, status: Object | None) -> Object:
    result: Object = merged(manifest, {"status": status})
    return result


def read(manifest: Object) -> Job:
    return JOB_KINDS[manifest["kind"]].read(manifest)


def runs(*workers: Object, **fields: Any) -> Object:
    manifest = released(job(*workers, **fields))
    return told(manifest, kuberay.running(manifest, NOW))


@given(st.one_of(clusters(), jobs()))
def test_who_runs_has_pods_that_are_ready_and_who_is_suspended_has_none(sample: Sample) -> None:
    running = told(released(sample.manifest), kuberay.running(released(sample.manifest), NOW))
    assert (read(running).active, read(running).pods_ready) == (True, True)
    suspended = told(sample.manifest, kuberay.stopped(running, LATER))
    assert (read(suspended).active, read(suspended).pods_ready, read(suspended).end) == (False, False, None)
    assert kuberay.children(suspended) == []


def test_a_job_ends_and_a_cluster_does_not() -> None:
    manifest = runs()
    assert read(told(manifest, kuberay.finished(manifest, LATER))).end == JobEnd(True, "Job finished successfully.")
    assert read(told(manifest, kuberay.failed(manifest, LATER, "no"))).end == JobEnd(False, "no")
    (cluster, _) = kuberay.children(manifest)
    assert kuberay.finished(cluster, NOW) is kuberay.failed(cluster, NOW, "no") is None


def test_a_job_owns_its_cluster_and_the_job_that_submits_it() -> None:
    manifest = runs(group(replicas=2), submitterPodTemplate=template("250m"))
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    cluster, submitter = kuberay.children(manifest)
    assert (cluster["kind"], submitter["kind"]) == ("RayCluster", "Job")
    for child in (cluster, submitter):
        (owner,) = child["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("RayJob", "u-1", True)
    assert cluster["metadata"]["name"] == manifest["status"]["rayClusterName"] != "train"
    assert cluster["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "main"  # KubeRay copies all of them
    assert cluster["spec"] == manifest["spec"]["rayClusterSpec"]
    assert submitter["metadata"]["name"] == "train"
    assert "kueue.x-k8s.io/queue-name" not in submitter["metadata"]["labels"]
    assert submitter["spec"] == {"backoffLimit": 2, "template": template("250m")}


def test_together_they_ask_for_what_the_job_was_admitted_with() -> None:
    for mode in ("K8sJobMode", "SidecarMode", "HTTPMode"):
        manifest = runs(group(replicas=2), mode=mode)
        made = [one for child in kuberay.children(manifest) for one in read(child).pod_sets]
        asked = [(one.count, one.requests) for one in read(manifest).pod_sets]
        assert [(one.count, one.requests) for one in made] == asked, mode


def test_a_job_that_starts_again_gets_another_cluster() -> None:
    first = runs()
    suspended = told(first, kuberay.stopped(first, LATER))
    second = told(suspended, kuberay.running(suspended, LATER))
    names = [kuberay.children(one)[0]["metadata"]["name"] for one in (first, second)]
    assert names[0] != names[1]
    assert told(second, kuberay.running(second, NOW))["status"]["rayClusterName"] == names[1]


def test_a_cluster_goes_when_its_job_has_ended() -> None:
    for shut_down, left in ((True, ["Job"]), (False, ["RayCluster", "Job"])):
        manifest = runs(shutdownAfterJobFinishes=shut_down)
        ended = told(manifest, kuberay.finished(manifest, LATER))
        assert [one["kind"] for one in kuberay.children(ended)] == left


def test_a_job_on_a_cluster_of_others_makes_none() -> None:
    manifest = runs(clusterSelector={"ray.io/cluster": "shared"})
    assert manifest["status"]["rayClusterName"] == "shared"
    assert [one["kind"] for one in kuberay.children(manifest)] == ["Job"]


def test_who_submits_by_hand_is_waited_for() -> None:
    assert runs(mode="InteractiveMode")["status"]["jobDeploymentStatus"] == "Waiting"
    assert runs(mode="InteractiveMode", jobId="mine")["status"]["jobId"] == "mine"


def test_a_suspended_group_of_workers_has_no_pods() -> None:
    (cluster, _) = kuberay.children(runs(group("a", replicas=2, suspend=True), group("b", replicas=3)))
    assert kuberay.running(cluster, NOW)["readyWorkerReplicas"] == 3
