"""The life of a job of every kind on a real API server with its operator's own CRD: applied, held and queued, started
with all that its admission brings, stopped as it was written, started again, over."""

from collections.abc import Iterator

import pytest

from admission.jobs import JOB_KINDS
from admission.jobs.places import value_at
from tests.live.job_manifests import (
    OWN_ANNOTATIONS,
    OWN_LABELS,
    OWN_SELECTOR,
    OWN_TOLERATION,
    SAMPLES,
    Object,
    Pods,
    a_job,
)
from tests.live.site import TOLERATION, WORKLOADS, Site, installed, soon

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with installed(tmp_path_factory.mktemp("kinds"), list(JOB_KINDS)) as site:
        yield site


def test_no_kind_is_left_out() -> None:
    assert SAMPLES.keys() == JOB_KINDS.keys()


@pytest.mark.parametrize("kind", JOB_KINDS)
def test_a_job_waits_runs_yields_runs_again_and_ends(site: Site, kind: str) -> None:
    queue = kind.lower()
    site.queue(queue)
    first = _occupied(site, queue)
    job = site.apply(a_job(kind))
    assert job.held
    submitted = job.as_written()
    soon(lambda: bool(job.workloads()), "the job has a Workload")
    waits = job.workload()
    assert not job.has("QuotaReserved")
    counted = {pods.name: pods.number for pods in SAMPLES[kind].pods}
    assert {one["name"]: one["count"] for one in waits["spec"]["podSets"]} == counted
    assert job.as_written() == submitted

    _gone(site, first)
    job.soon(held=False)
    started = job.now()
    for pods in SAMPLES[kind].pods:
        _has_what_its_admission_brings(started, pods, queue, waits["metadata"]["name"])
    soon(lambda: job.has("Admitted"), "the Workload admitted")
    job.runs()
    soon(lambda: job.has("PodsReady"), "the Workload knows that its pods are ready")

    second = site.occupy(queue)
    job.soon(held=True)
    if kind != "Job":  # its pods go by themselves
        assert site.reserved(queue) == 1
        assert job.has("QuotaReserved")  # as long as there are pods
        assert not _reserves(site, second)
    job.pods_are_gone()
    soon(lambda: _reserves(site, second), "what is more important gets the quota")
    soon(lambda: job.as_written() == submitted, f"stopped as it was written: {submitted}, now {job.as_written()}")
    assert job.has("Evicted")

    _gone(site, second)
    job.soon(held=False)
    assert job.now()["spec"] == started["spec"]
    job.runs()
    soon(lambda: job.has("PodsReady"), "the Workload knows that its pods are ready again")
    assert job.workload()["metadata"]["uid"] == waits["metadata"]["uid"]

    if job.comes_to_its_end():
        soon(lambda: job.has("Finished"), "the Workload finished")
    else:
        soon(lambda: not job.workloads(), "the Workload gone with its job")
    soon(lambda: site.reserved(queue) == 0, "its quota is free")


def _occupied(site: Site, queue: str) -> Object:
    made = site.occupy(queue)
    soon(lambda: _reserves(site, made), "the queue is full")
    return made


def _reserves(site: Site, workload: Object) -> bool:
    conditions = site.now(workload).get("status", {}).get("conditions", [])
    return any(one["type"] == "QuotaReserved" and one["status"] == "True" for one in conditions)


def _gone(site: Site, workload: Object) -> None:
    path = f"{WORKLOADS}/{workload['metadata']['name']}"
    site.api.delete(path)
    soon(lambda: not site.api.answers(path), f"{path} gone")


def _has_what_its_admission_brings(job: Object, pods: Pods, queue: str, workload: str) -> None:
    metadata, spec = value_at(job, pods.metadata), value_at(job, pods.spec)
    assert spec["nodeSelector"] == {**OWN_SELECTOR, "pool": "std"}
    assert spec["tolerations"] == [OWN_TOLERATION, TOLERATION]
    ours = {"podset": pods.name, "local-queue-name": queue, "cluster-queue-name": queue}
    expected = {**OWN_LABELS, **{f"kueue.x-k8s.io/{name}": value for name, value in ours.items()}}
    assert expected.items() <= metadata["labels"].items()
    assert metadata["annotations"] == {**OWN_ANNOTATIONS, "kueue.x-k8s.io/workload": workload}
