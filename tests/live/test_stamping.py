"""Stamping on a real API server: whoever applies a job without one of the platform's words finds them on the job and on
its pod templates, once and for good. What a QueuePolicy allows one user is never exceeded, whatever comes at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from admission.jobs.places import value_at
from admission.model.kinds import KINDS, kind_of
from admission.model.qos import BATCH_CPU
from admission.world.objects import holds
from hack.cluster import Refused, etcd
from tests.live.job_manifests import SAMPLES, Object, a_job
from tests.live.site import NAMESPACE, QUEUE, Site, holds_quota_of, installed, namespace, soon

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

STAMPED = ["TFJob", "PyTorchJob", "SparkApplication", "RayJob", "RayCluster", "Job", "JobSet", "MPIJob"]
QOS, PRIORITY = "koordinator.sh/qosClass", "kueue.x-k8s.io/priority-class"
OWN = "lockgate.dev/v1alpha1"
PROFILE = {
    "apiVersion": OWN,
    "kind": "JobProfile",
    "metadata": {"name": "everybody"},
    "spec": {
        "match": {"namespaceSelector": {"matchLabels": {"tenant": "lab"}}},
        "stamp": {
            "queue": {"name": "given", "create": {"fromTemplate": "given-default"}},
            "workloadPriorityClass": "batch-low",
            "priorityClassName": "koord-batch",
            "qosClass": "BE",
            "labels": {"cost-center": "42"},
        },
    },
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with installed(tmp_path_factory.mktemp("stamping"), STAMPED) as site:
        site.queue("main", stopPolicy="Hold")  # a job that waits is all its author's and the platform's
        site.api.apply(namespace(NAMESPACE, tenant="lab"))
        site.api.apply(_class("scheduling.k8s.io/v1", "PriorityClass", "koord-batch", 5500))
        site.api.apply(_class("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "batch-low", 10))
        site.api.apply(_local_queue("given-default", "kueue-system", "main"))
        site.api.apply(PROFILE)
        soon(lambda: _draft(site)["metadata"]["labels"].get("cost-center") == "42", "the profile at work")
        yield site


@pytest.mark.parametrize("kind", STAMPED)
def test_a_job_without_a_word_is_stamped_once_and_for_good(site: Site, kind: str) -> None:
    bare = a_job(kind, f"bare-{kind.lower()}", queue=None)
    job = site.apply(bare)
    stamped = job.now()
    _says_all(stamped["metadata"]["labels"])
    for pods in SAMPLES[kind].pods:
        if value_at(stamped, pods.metadata) is not None:
            assert value_at(stamped, pods.metadata)["labels"][QOS] == "BE"
    assert job.held
    soon(lambda: bool(job.workloads()), "the job has a Workload")
    assert job.workload()["spec"]["queueName"] == "given"
    assert job.workload()["spec"]["priority"] == 10
    soon(lambda: site.api.answers(KINDS["LocalQueue"].path(NAMESPACE, "given")), "a LocalQueue made from its template")
    before = _what_matters(job.now())
    site.apply(bare)
    assert _what_matters(job.now()) == before, "a second apply changes nothing"
    site.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=bare)
    assert _what_matters(job.now()) == before, "nor does one by the server"
    site.api.merge(job.path, {"metadata": {"annotations": {"seen-by": "a controller"}}})
    after = _what_matters(job.now())
    assert after["annotations"].pop("seen-by") == "a controller"
    assert after == before, "nor does a controller's update"


@pytest.mark.parametrize("kind", ["Job", "PyTorchJob", "RayJob"])
def test_resources_stay_translated_when_a_manifest_is_applied_again(site: Site, kind: str) -> None:
    match = {"objectSelector": {"matchLabels": {"stage": "trial"}}}
    stamp = {"resources": "TranslateToClass"}
    site.api.apply({**PROFILE, "metadata": {"name": "trials"}, "spec": {"order": 100, "match": match, "stamp": stamp}})
    bare = a_job(kind, f"trial-{kind.lower()}", queue=None)
    bare["metadata"].setdefault("labels", {})["stage"] = "trial"
    asked = f"{KINDS[kind].path(NAMESPACE)}?dryRun=All"
    soon(lambda: BATCH_CPU in str(site.api.create(asked, bare)["spec"]), "the profile at work")
    job = site.apply(bare)
    before = job.now()["spec"]
    assert "'cpu'" not in str(before)
    site.apply(bare)
    assert job.now()["spec"] == before
    site.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=bare)
    assert job.now()["spec"] == before


def test_a_pod_is_stamped_and_what_contradicts_the_classes_is_refused(site: Site) -> None:
    match = {"kinds": ["Pod"], "namespaceSelector": {"matchLabels": {"tenant": "lab"}}}
    stamp = {"priorityClassName": "koord-batch", "qosClass": "BE"}
    site.api.apply({**PROFILE, "metadata": {"name": "pods"}, "spec": {"match": match, "stamp": stamp}})
    pods = KINDS["Pod"].path(NAMESPACE)
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}

    def pod(name: str, **labels: str) -> Object:
        metadata = {"name": name, "namespace": NAMESPACE, **({"labels": labels} if labels else {})}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}

    draft = pod("draft")
    soon(lambda: "labels" in site.api.create(f"{pods}?dryRun=All", draft)["metadata"], "the profile at work")
    made = site.api.create(pods, pod("plain"))
    assert made["metadata"]["labels"][QOS] == "BE"
    assert (made["spec"]["priorityClassName"], made["spec"]["priority"]) == ("koord-batch", 5500)
    with pytest.raises(Refused) as refused:
        site.api.create(pods, pod("odd", **{QOS: "LSR"}))
    assert "cannot be used in combination" in str(refused.value)


def test_two_hundred_jobs_of_one_user_at_once_never_hold_more_than_its_limit(site: Site) -> None:
    site.queue("crowded", resourceGroups=_plenty())
    policy = {"target": {"kind": "ClusterQueue", "name": "crowded"}, "limits": [{"users": ["*"], "running": 20}]}
    site.api.apply({"apiVersion": OWN, "kind": "QueuePolicy", "metadata": {"name": "crowded"}, "spec": policy})
    path = KINDS["QueuePolicy"].path(name="crowded")
    soon(lambda: holds(site.api.get(path), "Active"), "the policy known")
    start = etcd.revision(site.cluster.etcd_endpoint) + 1
    jobs = [a_job("Job", f"crowd-{number}", queue="crowded") for number in range(200)]
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda job: site.api.create(KINDS["Job"].path(NAMESPACE), job), jobs))

    soon(lambda: site.reserved("crowded") == 20, "twenty hold quota")
    soon(lambda: len(_waiting(site)) == 180, "everybody has a Workload")
    soon(lambda: sum("20" in why and "crowded" in why for why in _waiting(site)) >= 20, "the surplus is explained")
    left = {job["metadata"]["name"] for job in jobs}
    while left:
        started = [job for job in _jobs(site) if job["metadata"]["name"] in left and not job["spec"]["suspend"]]
        for job in started:
            site.api.text(
                "DELETE",
                KINDS["Job"].path(NAMESPACE, job["metadata"]["name"]),
                {"propagationPolicy": "Background"},
            )
            left.remove(job["metadata"]["name"])
        soon(lambda: not left or site.reserved("crowded") == min(20, len(left)), "others take their places")
        soon(lambda: not left or any(not job["spec"]["suspend"] for job in _jobs(site)), "the next ones start")
    assert _most_at_once(site, start) == 20


def _draft(site: Site) -> Object:
    path = f"{KINDS['Job'].path(NAMESPACE)}?dryRun=All"
    return site.api.create(path, a_job("Job", "draft", queue=None))


def _says_all(labels: Object) -> None:
    wanted = {QUEUE: "given", PRIORITY: "batch-low", QOS: "BE", "cost-center": "42"}
    assert {key: labels.get(key) for key in wanted} == wanted


def _what_matters(job: Object) -> Object:
    annotations = dict(job["metadata"].get("annotations", {}))
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return {"labels": job["metadata"]["labels"], "annotations": annotations, "spec": job["spec"]}


def _waiting(site: Site) -> list[str]:
    """What the Workloads that hold nothing are told."""
    found = [one for one in site.api.get(KINDS["Workload"].path(NAMESPACE))["items"] if _crowded(one)]
    without = [one for one in found if not holds(one, "QuotaReserved")]
    said = [each for one in without for each in one.get("status", {}).get("conditions", [{}])[:1]]
    return [each.get("message", "") for each in said] + [""] * (len(without) - len(said))


def _crowded(workload: Object) -> bool:
    return bool(workload["spec"].get("queueName") == "crowded")


def _jobs(site: Site) -> list[Object]:
    found = site.api.get(KINDS["Job"].path(NAMESPACE))["items"]
    return [one for one in found if one["metadata"]["labels"].get(QUEUE) == "crowded"]


def _most_at_once(site: Site, start: int) -> int:
    """Of Workloads that hold quota, at any revision: as etcd tells it."""
    holding: set[str] = set()
    most = 0
    for event in etcd.history(site.cluster.etcd_endpoint, "/registry/kueue.x-k8s.io/workloads/", start):
        holding.discard(event.key)
        if not event.deleted and holds_quota_of(event.json, "crowded"):
            holding.add(event.key)
        most = max(most, len(holding))
    return most


def _plenty() -> list[Any]:
    quotas = [{"name": "cpu", "nominalQuota": "10000"}, {"name": "memory", "nominalQuota": "10Ti"}]
    return [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "std", "resources": quotas}]}]


def _class(version: str, kind: str, name: str, value: int) -> Object:
    assert kind_of(kind).api_version == version
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "value": value}


def _local_queue(name: str, inside: str, queue: str) -> Object:
    metadata = {"name": name, "namespace": inside}
    spec = {"clusterQueue": queue}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": metadata, "spec": spec}
