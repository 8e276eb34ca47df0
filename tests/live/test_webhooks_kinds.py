"""Webhooks of other kinds of jobs, and of a described one, on a real API server with the CRDs of their operators."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from admission.jobs.registry import JOB_KINDS
from admission.model.effects import PodSetInfo
from admission.model.kinds import KINDS, kind_of
from admission.model.names import WORKLOAD_ANNOTATION
from hack.cluster import Api, Cluster, Refused
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.refusing import Server
from tests.live.webhook_process import Webhooks, lockgate, webhooks
from tests.refusals import JOB_ROWS, OWN_JOB_ROWS, Row
from tests.refusals.other_jobs import SPECS

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

Object = dict[str, Any]
QUEUE = "kueue.x-k8s.io/queue-name"
SWEEP = "Sweep.v1.experiments.example"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"

every_kind = pytest.mark.parametrize("kind", list(SPECS))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Webhooks]]:
    with Cluster.start() as cluster:
        install_job_crds(cluster, list(SPECS))
        cluster.api().apply(_sweeps())
        with webhooks(cluster, tmp_path_factory.mktemp("webhooks") / "log") as server:
            yield cluster, server


@pytest.fixture
def api(running: tuple[Cluster, Webhooks]) -> Api:
    return running[0].api()


def _job(kind: str, name: str, queue: str | None = "team", **metadata: Any) -> Object:
    one = kind_of(kind)
    labels = {} if queue is None else {QUEUE: queue}
    metadata = {"name": name, "namespace": "default", "labels": labels, **metadata}
    return {"apiVersion": one.api_version, "kind": one.kind, "metadata": metadata, "spec": SPECS.get(kind, {})}


def _path(kind: str, name: str = "") -> str:
    return kind_of(kind).path("default", name)


def _held(kind: str, manifest: Object) -> bool:
    return JOB_KINDS[kind].hold.holds(manifest)


@every_kind
def test_a_job_of_any_kind_is_created_held_and_stays_so_however_it_is_applied(api: Api, kind: str) -> None:
    name = f"held-{kind.lower()}"
    assert _held(kind, api.create(_path(kind), _job(kind, name)))
    released = JOB_KINDS[kind].hold.patch(held=False)
    assert _held(kind, api.merge(_path(kind, name), released))
    assert _held(kind, api.apply(_job(kind, name)))
    assert _held(kind, api.apply(_job(kind, name) | {"spec": {**SPECS[kind], **released["spec"]}}))


@every_kind
def test_a_job_without_a_queue_is_left_alone(api: Api, kind: str) -> None:
    assert not _held(kind, api.create(f"{_path(kind)}?dryRun=All", _job(kind, "free", None)))


@every_kind
def test_the_product_itself_starts_a_job_and_stops_it_again(api: Api, kind: str) -> None:
    name, descriptor = f"started-{kind.lower()}", JOB_KINDS[kind]
    waiting = api.create(_path(kind), _job(kind, name))
    mark = {WORKLOAD_ANNOTATION: "w"}
    infos = [PodSetInfo(one.name, one.count, {"pool": "a"}, (), {}, mark) for one in descriptor.read(waiting).pod_sets]
    running = api.merge(_path(kind, name), descriptor.start(waiting, infos))
    assert not _held(kind, running)
    with pytest.raises(Refused, match=r"queue-name.*field is immutable"):
        api.merge(_path(kind, name), {"metadata": {"labels": {QUEUE: None}}})
    assert _held(kind, api.merge(_path(kind, name), descriptor.suspend()))


def test_a_cluster_of_a_queued_ray_job_is_let_through(api: Api) -> None:
    owner = api.create(_path("RayJob"), _job("RayJob", "owner"))
    reference = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "owner", "uid": owner["metadata"]["uid"]}
    child = _job("RayCluster", "child", ownerReferences=[{**reference, "controller": True}])
    assert not _held("RayCluster", api.create(_path("RayCluster"), child))
    child["metadata"] |= {"name": "stray", "ownerReferences": [{**reference, "controller": True, "uid": "forged"}]}
    assert _held("RayCluster", api.create(_path("RayCluster"), child))


@pytest.fixture(scope="module")
def server(running: tuple[Cluster, Webhooks]) -> Iterator[Server]:
    with closing(Server(running[0].api())) as asked:
        yield asked


@pytest.mark.parametrize("row", [*JOB_ROWS, *OWN_JOB_ROWS], ids=str)
def test_what_keeps_a_rule_is_accepted_and_what_breaks_it_refused_for_nothing_else(server: Server, row: Row) -> None:
    assert server.answer(row, row.accepted) is None
    refusal = server.answer(row, row.refused)
    assert refusal is not None
    assert refusal.by == row.by, refusal
    assert refusal.tells(row), refusal


def test_a_described_kind_is_held_from_when_its_job_kind_is_there_until_it_is_gone(
    running: tuple[Cluster, Webhooks], api: Api
) -> None:
    assert not _sweep_is_held(api)
    api.apply(_job_kind())
    until(lambda: _sweep_is_held(api), 30, "the described kind is held")
    made = api.create(_path(SWEEP), _job(SWEEP, "a"))
    assert made["spec"]["state"] == "Pending"
    assert api.merge(_path(SWEEP, "a"), {"spec": {"state": None}})["spec"]["state"] == "Pending"
    entries = _described(api)
    assert {name for name, _ in entries} == {
        f"{name}.experiments.example.lockgate.dev" for name in ("msweep", "unqueued.msweep", "vsweep")
    }
    assert all(config["caBundle"] and "sweep" in config["url"] for _, config in entries)
    cluster, server = running
    assert lockgate(cluster, "install", f"--webhook-url={server.url}").returncode == 0
    assert _described(api) == entries
    wrong = _job(SWEEP, "b")
    wrong["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = "w"
    with pytest.raises(Refused, match="prebuilt-workload-name"):
        api.create(_path(SWEEP), wrong)
    api.delete(_path("JobKind", "sweep").replace("/namespaces/default", ""))
    until(lambda: _described(api) == [], 30, "its webhooks are gone with it")
    assert not _sweep_is_held(api)


def test_while_the_webhooks_are_away_only_jobs_that_name_a_queue_wait(running: tuple[Cluster, Webhooks]) -> None:
    cluster, server = running
    api = cluster.api()
    server.kill()
    try:
        for kind in SPECS:
            api.create(f"{_path(kind)}?dryRun=All", _job(kind, "meanwhile", None))
            with pytest.raises(Refused, match="failed calling webhook"):
                api.create(f"{_path(kind)}?dryRun=All", _job(kind, "stopped"))
    finally:
        server.start()


def _sweep_is_held(api: Api) -> bool:
    try:
        return "state" in api.create(f"{_path(SWEEP)}?dryRun=All", _job(SWEEP, "probe")).get("spec", {})
    except Refused:
        return False


def _described(api: Api) -> list[tuple[str, Object]]:
    kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    found = [each for kind in kinds for each in api.get(f"{CONFIGURATIONS}/{kind}/lockgate-job-kinds")["webhooks"]]
    return [(each["name"], each["clientConfig"]) for each in found if each["name"].endswith(".lockgate.dev")]


def _job_kind() -> Object:
    spec = {
        "kind": SWEEP,
        "suspend": {"path": "spec.state", "held": "Pending", "released": None},
        "podSets": [{"name": "main", "template": "spec.template"}],
    }
    described = KINDS["JobKind"]
    return {"apiVersion": described.api_version, "kind": "JobKind", "metadata": {"name": "sweep"}, "spec": spec}


def _sweeps() -> Object:
    """A CRD that takes anything: of a kind of jobs that no operator has."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Sweep", "plural": "sweeps", "singular": "sweep", "listKind": "SweepList"}
    spec = {"group": "experiments.example", "scope": "Namespaced", "names": names, "versions": [version]}
    metadata = {"name": "sweeps.experiments.example"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    }
