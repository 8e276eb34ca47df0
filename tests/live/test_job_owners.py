"""Jobs that other things make, on a real API server whose garbage collector and CronJob controller are at work.

Jobs without a queue are managed here as well, so that what a job makes for itself is let through in spite of that.
"""

from collections.abc import Iterator

import pytest

from admission.model.kinds import KINDS
from admission.world import ray_operator as kuberay
from tests.live.job_manifests import Object, a_job
from tests.live.site import API, NAMESPACE, QUEUE, Job, Site, installed, namespace, soon

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

SERVED = ("RayJob", "RayCluster", "SparkApplication", "ScheduledSparkApplication")
CONFIGURATION = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
manageJobsWithoutQueueName: true
"""
CRON_JOBS = KINDS["CronJob"].path(NAMESPACE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with installed(tmp_path_factory.mktemp("owners"), SERVED, CONFIGURATION) as site:
        site.queue("open")
        site.queue("timed")  # so that whenever its minute comes, nobody else's quota is counted
        site.api.create(CRON_JOBS, _cron_job())  # first, as it takes up to a minute till it makes something
        yield site


def _cron_job() -> Object:
    job = a_job("Job", "unused", "timed")
    labelled = {"metadata": {"labels": {QUEUE: "timed"}}, "spec": job["spec"]}
    spec = {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": labelled}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "minutely"}, "spec": spec}


def ray_job_with_children(site: Site, name: str, **metadata: object) -> tuple[Job, list[Job]]:
    """It runs, and KubeRay has made what it makes: a cluster with its own marks, and the Job that submits."""
    job = site.apply(a_job("RayJob", name, "open", **metadata))
    job.soon(held=False)
    job.runs()
    children = [site.create(child) for child in kuberay.children(job.now())]
    assert [child.kind for child in children] == ["RayCluster", "Job"]
    return job, children


def test_what_a_queued_job_makes_is_let_through_and_counts_once(site: Site) -> None:
    job, (cluster, submitter) = ray_job_with_children(site, "parent")
    assert not cluster.held
    assert not submitter.held
    cluster.runs()
    submitter.runs()  # the Job controller has made its pod
    soon(lambda: job.has("PodsReady"), "the job runs")
    assert not cluster.workloads()
    assert not submitter.workloads()
    assert not cluster.held

    site.kubectl("delete", "RayJob", job.name, "-n", NAMESPACE, "--wait=false")
    for one in (cluster, submitter):
        soon(lambda one=one: not one.exists(), "what the job made is collected")  # type: ignore[misc]
    soon(lambda: site.reserved("open") == 0, "its quota is free")


def test_what_a_job_makes_is_held_until_that_is_admitted(site: Site) -> None:
    site.queue("shut", stopPolicy="Hold")
    job = site.apply(a_job("RayJob", "early", "shut"))
    soon(lambda: bool(job.workloads()), "the job waits")
    child = site.create(_below(job, a_job("RayCluster", "of-early", None)))
    child.soon(held=True)
    site.kubectl("patch", "RayCluster", child.name, "-n", NAMESPACE, "--type=merge", "-p", '{"spec":{"suspend":false}}')
    child.soon(held=True)
    assert not child.workloads()
    site.api.delete(job.path)


def test_what_is_left_of_a_job_is_queued_for_itself(site: Site) -> None:
    """A cluster carries the labels of its RayJob, the queue's among them; what submits has none and may not run."""
    job, (cluster, submitter) = ray_job_with_children(site, "leaves")
    site.kubectl("delete", "RayJob", job.name, "-n", NAMESPACE, "--cascade=orphan")
    soon(lambda: not job.exists(), "the job is gone, alone")
    soon(lambda: cluster.has("Admitted"), "its cluster has a Workload of its own")
    cluster.soon(held=False)
    submitter.soon(held=True)
    soon(lambda: bool(submitter.workloads()), "what submitted has a Workload that names no queue")
    assert "queueName" not in submitter.workload()["spec"]
    for one in (cluster, submitter):
        site.api.delete(f"{one.path}?propagationPolicy=Background")
    soon(lambda: site.reserved("open") == 0, "its quota is free")


def test_an_application_that_a_schedule_made_is_queued_for_itself(site: Site) -> None:
    """Its owner is of a kind that nobody queues, and does not even control it."""
    made = a_job("SparkApplication", "nightly-1", "open")
    spec = {"schedule": "@daily", "template": made["spec"]}
    scheduled = {"apiVersion": made["apiVersion"], "kind": "ScheduledSparkApplication"}
    metadata = {"name": "nightly", "namespace": NAMESPACE}
    path = KINDS["SparkApplication"].path(NAMESPACE).replace("sparkapp", "scheduledsparkapp")
    owner = site.api.create(path, {**scheduled, "metadata": metadata, "spec": spec})
    reference = {**scheduled, "name": "nightly", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    made["metadata"]["ownerReferences"] = [reference]
    job = site.create(made)
    assert job.held
    job.soon(held=False)
    site.api.delete(f"{path}/nightly")
    soon(lambda: not job.exists(), "it is collected with its schedule")
    soon(lambda: site.reserved("open") == 0, "its quota is free")


def test_a_namespace_that_is_deleted_is_soon_gone_with_all_its_jobs(site: Site) -> None:
    """Owners first, while a child waits for its finalizer: whoever takes that away is not asked for the owner."""
    site.api.apply(namespace("doomed"))
    queue = {"metadata": {"name": "open", "namespace": "doomed"}, "spec": {"clusterQueue": "open"}}
    site.api.apply({"apiVersion": API, "kind": "LocalQueue", **queue})
    job, (cluster, submitter) = ray_job_with_children(site, "torn", namespace="doomed")
    for child in (cluster, submitter):
        site.api.merge(child.path, {"metadata": {"finalizers": ["acme.example/hold"]}})
    site.kubectl("delete", "namespace", "doomed", "--wait=false")
    soon(lambda: not job.exists(), "the owner is gone")
    for child in (cluster, submitter):
        soon(lambda child=child: "deletionTimestamp" in child.now()["metadata"], "its child is told")  # type: ignore[misc]
        site.api.merge(child.path, {"metadata": {"finalizers": None}})
    soon(lambda: not site.api.answers("/api/v1/namespaces/doomed"), "the namespace is gone")
    soon(lambda: site.reserved("open") == 0, "its quota is free")


def test_what_a_cron_job_makes_is_queued_for_itself(site: Site) -> None:
    def made() -> list[Object]:
        jobs = site.api.get(KINDS["Job"].path(NAMESPACE))["items"]
        return [one for one in jobs if one["metadata"]["name"].startswith("minutely-")]

    soon(lambda: bool(made()), "the CronJob controller has made a Job")
    job = site.job({"apiVersion": "batch/v1", "kind": "Job", **made()[0]})
    job.soon(held=False)
    soon(lambda: job.has("Admitted"), "its Workload admitted")
    job.runs()
    assert job.comes_to_its_end()
    soon(lambda: job.has("Finished"), "its Workload finished")


def _below(owner: Job, made: Object) -> Object:
    """As the owner's operator makes it."""
    found = owner.now()
    reference = {"apiVersion": found["apiVersion"], "kind": found["kind"], "name": owner.name, "uid": owner.uid}
    made["metadata"]["ownerReferences"] = [{**reference, "controller": True, "blockOwnerDeletion": True}]
    return made
