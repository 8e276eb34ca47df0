"""What people do to jobs of operators' kinds besides creating them: scale, edit, apply again, delete, name alike.

Jobs without a queue are managed here as well, so that what a job makes for itself is let through in spite of that.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from subprocess import CalledProcessError
from typing import Any

import pytest

from hack.job_crds import install_job_crds
from tests.live.job_manifests import Object, a_job
from tests.live.site import NAMESPACE, QUEUE, Job, Site, installed, soon

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

LEFT_OUT, LATER = "XGBoostJob", "JAXJob"
KINDS = ("JobSet", "PyTorchJob", "RayJob", "RayCluster", "SparkApplication", "Workflow")
CONFIGURATION = f"""
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
manageJobsWithoutQueueName: true
integrations:
  frameworks:
  - batch/job
  - jobset.x-k8s.io/jobset
  - kubeflow.org/pytorchjob
  - kubeflow.org/{LATER.lower()}
  - ray.io/rayjob
  - ray.io/raycluster
  - sparkoperator.k8s.io/sparkapplication
  - argoproj.io/workflow
"""
LONGEST = "kueue.x-k8s.io/max-exec-time-seconds"
SHUT, OPEN = "shut", "open"  # nothing starts in the one


def every(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", kinds)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    served = (*KINDS, LEFT_OUT)
    with installed(tmp_path_factory.mktemp("odd"), served, CONFIGURATION) as site:
        site.queue(SHUT, stopPolicy="Hold")
        site.queue(OPEN)
        yield site


def waiting(site: Site, kind: str, name: str) -> Job:
    job = site.apply(a_job(kind, name, SHUT))
    soon(lambda: bool(job.workloads()), "the job has a Workload")
    return job


def running(site: Site, kind: str, name: str) -> Job:
    job = site.apply(a_job(kind, name, OPEN))
    job.soon(held=False)
    job.runs()
    soon(lambda: job.has("PodsReady"), "the job runs")
    return job


def delete(site: Site, job: Job) -> None:
    """As people do, and nothing of it is left."""
    site.kubectl("delete", job.kind, job.name, "-n", NAMESPACE, "--wait=false")
    soon(lambda: not job.exists(), "the job is gone")
    soon(lambda: not job.workloads(), "and its Workload")
    soon(lambda: site.reserved(OPEN) == 0, "and what it held")


# Where each kind says how many pods of its last pod set it wants, and what that makes when it is 1, and 3.
SIZES: dict[str, tuple[tuple[str | int, ...], int, int]] = {
    "JobSet": (("replicatedJobs", 1, "replicas"), 2, 6),
    "PyTorchJob": (("pytorchReplicaSpecs", "Worker", "replicas"), 1, 3),
    "RayCluster": (("workerGroupSpecs", 1, "replicas"), 2, 6),
    "SparkApplication": (("executor", "instances"), 1, 3),
}


def scaled(spec: Object, kind: str, to: int) -> Object:
    spec = deepcopy(spec)
    part: Any = spec
    *way, last = SIZES[kind][0]
    for step in way:
        part = part[step]
    part[last] = to
    return spec


def last_count(job: Job) -> int:
    """Of its only Workload; 0: it has none."""
    found = job.workloads()
    return int(found[0]["spec"]["podSets"][-1]["count"]) if len(found) == 1 else 0


@every(*SIZES)
def test_the_workload_of_one_that_waits_follows_its_size(site: Site, kind: str) -> None:
    _, small, large = SIZES[kind]
    job = waiting(site, kind, f"grows-{kind.lower()}")
    before = job.workload()
    for number, count in ((1, small), (3, large)):
        wanted = a_job(kind, job.name, SHUT)
        site.kubectl("apply", "-f", "-", given={**wanted, "spec": scaled(wanted["spec"], kind, number)})
        soon(lambda count=count: last_count(job) == count, "the Workload follows")  # type: ignore[misc]
    assert job.workload()["metadata"]["uid"] == before["metadata"]["uid"]
    assert job.held


@every(*SIZES)
def test_one_that_is_resized_while_it_runs_is_stopped_and_queued_anew(site: Site, kind: str) -> None:
    job = running(site, kind, f"resized-{kind.lower()}")
    before = job.workload()["metadata"]["uid"]
    site.api.merge(job.path, {"spec": scaled(job.now()["spec"], kind, 3)})
    soon(lambda: all(one["metadata"]["uid"] != before for one in job.workloads()), "the old Workload is gone")
    assert job.held
    job.pods_are_gone()
    job.soon(held=False)
    soon(lambda: job.has("Admitted"), "its new Workload is admitted")
    assert last_count(job) == SIZES[kind][2]
    delete(site, job)


@every(*KINDS)
def test_one_that_runs_stays_in_its_queue_and_gives_back_what_it_held_when_deleted(site: Site, kind: str) -> None:
    job = running(site, kind, f"stays-{kind.lower()}")
    with pytest.raises(CalledProcessError) as refused:
        site.kubectl("label", "--overwrite", job.kind, job.name, "-n", NAMESPACE, f"{QUEUE}={SHUT}")
    assert f"metadata.labels[{QUEUE}]" in refused.value.stderr
    assert "immutable" in refused.value.stderr
    delete(site, job)


@every(*KINDS)
def test_whoever_applies_a_manifest_again_does_not_start_it(site: Site, kind: str) -> None:
    job = waiting(site, kind, f"again-{kind.lower()}")
    before = job.as_written()["spec"]
    eager = a_job(kind, job.name, SHUT)
    policy = eager["spec"]["runPolicy"] if kind == "PyTorchJob" else eager["spec"]
    policy["suspend"] = False
    for manifest in (a_job(kind, job.name, SHUT), eager):
        site.kubectl("apply", "-f", "-", given=manifest)
        assert job.as_written()["spec"] == before


@every("PyTorchJob", "RayJob", "SparkApplication", "Workflow")
def test_one_that_runs_goes_on_when_it_is_applied_again(site: Site, kind: str) -> None:
    """Lists are their author's as a whole, so tolerations of the admission may be gone from what no pod is made of."""
    job = running(site, kind, f"on-{kind.lower()}")
    submitted, before = a_job(kind, job.name, OPEN), job.workload()
    site.kubectl("apply", "-f", "-", given=submitted)
    site.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=gitops", "-f", "-", given=submitted)
    site.api.merge(job.path, {"metadata": {"annotations": {"touched": "yes"}}})
    other = site.apply(a_job("Workflow", f"after-{kind.lower()}", OPEN))
    other.soon(held=False)  # by now all of that has been seen
    assert not job.held
    now = job.workload()
    assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
    site.api.delete(other.path)
    delete(site, job)


@every("RayCluster", "Workflow")
def test_another_manager_may_apply_it_from_the_start(site: Site, kind: str) -> None:
    submitted = a_job(kind, f"managed-{kind.lower()}", OPEN)
    flags = ("--server-side", "--field-manager=gitops", "-f", "-")
    site.kubectl("apply", *flags, given=submitted)
    job = site.job(submitted)
    job.soon(held=False)
    started = job.now()["spec"]
    with pytest.raises(CalledProcessError) as refused:
        site.kubectl("apply", *flags, given=submitted)
    assert "conflict" in refused.value.stderr  # what the admission wrote is not taken away unasked
    assert job.now()["spec"] == started
    delete(site, job)


@pytest.mark.parametrize(("kind", "longest"), [("PyTorchJob", 63), ("Workflow", 253)])
def test_names_that_differ_in_the_end_only_have_workloads_of_their_own(site: Site, kind: str, longest: int) -> None:
    shared = "n" * (longest - 3)
    first, second = (waiting(site, kind, f"{shared}{end}") for end in ("-aa", "-bb"))
    assert first.workload()["metadata"]["name"] != second.workload()["metadata"]["name"]


@every("JobSet", "RayJob")
def test_one_that_is_made_anew_under_its_name_has_a_new_workload(site: Site, kind: str) -> None:
    old = waiting(site, kind, f"anew-{kind.lower()}")
    before = old.workload()
    site.kubectl("replace", "--force", "-f", "-", given=a_job(kind, old.name, SHUT))
    new = site.job(a_job(kind, old.name, SHUT))
    assert new.uid != old.uid
    soon(lambda: bool(new.workloads()), "the new job has a Workload")
    assert new.workload()["metadata"]["name"] != before["metadata"]["name"]
    soon(lambda: not old.workloads(), "the Workload of the old one is gone")


@every(*KINDS)
def test_a_name_may_be_generated(site: Site, kind: str) -> None:
    manifest = a_job(kind, "", SHUT, generateName=f"{'long-' * 11}{kind.lower()[:4]}-")
    del manifest["metadata"]["name"]
    made = json.loads(site.kubectl("create", "-o", "json", "-f", "-", given=manifest))
    job = site.job(made)
    assert job.held
    soon(lambda: bool(job.workloads()), "it has a Workload")
    assert job.name in job.workload()["metadata"]["name"]


def test_a_kind_that_is_left_out_of_the_frameworks_is_left_alone(site: Site) -> None:
    job = site.apply(a_job(LEFT_OUT, "left-out", SHUT))
    assert not job.held
    waiting(site, "Workflow", "after-left-out")  # by now it would have been seen
    assert not job.held
    assert not job.workloads()


def test_a_kind_that_is_served_later_is_queued_without_a_restart(site: Site) -> None:
    install_job_crds(site.cluster, [LATER])
    delete(site, running(site, LATER, "late"))


def test_what_a_waiting_job_says_no_more_goes_from_its_workload(site: Site) -> None:
    """Jobs without a queue are managed, too: the Workload stays, and names none."""
    manifest = a_job("PyTorchJob", "forgetful", SHUT)
    manifest["metadata"]["labels"][LONGEST] = "60"
    job = site.apply(manifest)
    soon(lambda: bool(job.workloads()), "the job has a Workload")
    before = job.workload()
    assert (before["spec"]["queueName"], before["spec"]["maximumExecutionTimeSeconds"]) == (SHUT, 60)
    site.kubectl("label", job.kind, job.name, "-n", NAMESPACE, f"{LONGEST}-", f"{QUEUE}-")
    soon(lambda: not {"queueName", "maximumExecutionTimeSeconds"} & job.workload()["spec"].keys(), "both are gone")
    assert job.workload()["metadata"]["uid"] == before["metadata"]["uid"]
