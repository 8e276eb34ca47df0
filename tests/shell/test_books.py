"""What the API server tells reaches State: in order, once, and without manifests that nobody can read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from admission.model.job_kind import Place
from admission.model.kinds import COUNTED, Ref
from admission.model.template_source import TemplateSource
from admission.reconcile.view import Serving
from controller.books import Books
from controller.kit.clock import SYSTEM
from controller.kube.client import Client
from controller.kube.errors import Faulty, Forbidden
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import JOBS, until

NAMESPACES = "/api/v1/namespaces"
JOB = Ref("Job", "ns", "a")


class Memory:
    """Stands where State stands, and writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.job_kinds: dict[str, Any] = {}
        self.counted: tuple[str, ...] = ()
        self.template_places: dict[str, tuple[Place, ...]] = {}
        self.serving: dict[str, Serving] = {}

    def observe(self, kind: str, value: Any, *, read: bool = False) -> None:
        self.told.append(f"{kind} {value}" + " read" * read)

    def serves(self, kind: str, serving: Serving) -> None:
        self.serving[kind] = serving

    def lend(self, source: TemplateSource) -> None:
        self.told.append(f"{source.ref.kind} {source.ref.name} lends {len(source.templates)}")

    def lend_no_more(self, ref: Ref) -> None:
        self.told.append(f"{ref.kind} {ref.name} lends nothing")

    def gone(self, ref: Ref, resource_version: int | None = None, *, read: bool = False) -> None:
        self.told.append(f"{ref.kind} {ref.name} gone" + " read" * read)


def _name(manifest: dict[str, Any]) -> str:
    name: str = manifest["metadata"]["name"]
    if manifest.get("broken"):
        raise KeyError("spec")
    return name


class Desk:
    """Books at work."""

    def __init__(self, client: Client, *kinds: str) -> None:
        self.memory = Memory()
        self.changed = asyncio.Event()
        readers = dict.fromkeys(("Namespace", "Job", *kinds), _name)
        followed = tuple(kind for kind in kinds if kind not in COUNTED)
        self.books = Books(client, self.memory, readers, self.changed, kinds=("Namespace", *followed, "Job"))

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Desk"]:
        task = asyncio.create_task(self.books.run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
async def desk(server: ApiServer, client: Client) -> AsyncIterator[Desk]:
    await server.put(f"{JOBS}/a")
    await server.put(f"{NAMESPACES}/ns")
    async with Desk(client).open() as desk:
        await until(lambda: desk.books.synced)
        yield desk


async def test_first_lists_come_in_the_order_of_the_kinds(desk: Desk) -> None:
    assert desk.memory.told == ["Namespace ns", "Job a"]
    assert desk.changed.is_set()


async def test_news_and_ends_are_told(server: ApiServer, desk: Desk) -> None:
    await server.put(f"{JOBS}/b")
    await server.remove(f"{JOBS}/a")
    await until(lambda: desk.memory.told[2:] == ["Job b", "Job a gone"])


async def test_an_object_that_nobody_can_read_stops_nobody_else(server: ApiServer, desk: Desk) -> None:
    await server.put(f"{JOBS}/b", broken=True)
    await server.put(f"{JOBS}/c")
    await until(lambda: desk.memory.told[2:] == ["Job c"])


async def test_a_kind_that_is_missing_is_named_and_waited_for(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("controller.kube.reflector.MISSING_WAIT", 0.01)
    jobs = server.served.pop("batch/v1")
    async with Desk(client).open() as desk:
        await until(lambda: "does not serve" in caplog.text)
        assert desk.books.missing() == ["Job"]
        server.served["batch/v1"] = jobs
        await until(lambda: desk.books.synced)
    assert caplog.text.count("does not serve") == 1


async def test_nobody_waits_for_a_kind_that_a_cluster_need_not_serve(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.kube.reflector.OPTIONAL_WAIT", 0.01)
    async with Desk(client, "RayJob").open() as desk:
        await until(lambda: desk.books.synced)
        assert desk.memory.serving["RayJob"] == Serving(served=False)
        server.served["ray.io/v1"] = ["rayjobs"]
        await server.put("/apis/ray.io/v1/namespaces/ns/rayjobs/train")
        await until(lambda: "RayJob train" in desk.memory.told)
        assert desk.memory.serving["RayJob"] == Serving(served=True)


class Described:
    """A kind of jobs as a JobKind describes it, in so far as books care."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def read(self, manifest: dict[str, Any]) -> str:
        return f"{self.mark} {_name(manifest)}"


SWEEP = "Sweep.v1.experiments.example"


async def test_a_described_kind_is_followed_as_long_as_it_is_described_and_read_anew_when_that_changes(
    server: ApiServer, client: Client
) -> None:
    server.served |= {"lockgate.dev/v1alpha1": ["jobkinds"], "experiments.example/v1": ["sweeps"]}
    sweeps, described = (
        "/apis/experiments.example/v1/namespaces/ns/sweeps",
        "/apis/lockgate.dev/v1alpha1/jobkinds/sweep",
    )
    await server.put(f"{sweeps}/a")
    async with Desk(client, "JobKind").open() as desk:
        told = desk.memory.told
        desk.memory.job_kinds[SWEEP] = Described("as a sweep")
        await server.put(described)
        await until(lambda: f"{SWEEP} as a sweep a" in told)

        desk.memory.job_kinds[SWEEP] = Described("differently")
        await server.put(described, spec="other")
        await until(lambda: f"{SWEEP} differently a" in told)

        del desk.memory.job_kinds[SWEEP]
        await server.remove(described)
        await until(lambda: "JobKind sweep gone" in told)
        await server.put(f"{sweeps}/b")
        await server.put(f"{JOBS}/last")
        await until(lambda: "Job last" in told)
        assert not [line for line in told if line.endswith(" b")]


async def test_objects_with_templates_in_them_are_followed_as_long_as_jobs_are_made_from_them(
    server: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.kube.reflector.OPTIONAL_WAIT", 0.01)
    kind, place = "Runtime.v1.experiments.example", Place(("spec", "template"))
    runtimes = "/apis/experiments.example/v1/runtimes"
    described = "/apis/lockgate.dev/v1alpha1/jobkinds/sweep"
    server.served |= {"lockgate.dev/v1alpha1": ["jobkinds"]}
    async with Desk(client, "JobKind").open() as desk:
        told = desk.memory.told
        desk.memory.template_places[kind] = (place,)
        await server.put(described)
        await until(lambda: desk.memory.serving.get(kind) == Serving(served=False))
        server.served |= {"experiments.example/v1": ["runtimes"]}
        await server.put(f"{runtimes}/a", spec={"template": {"spec": {"containers": []}}})
        await until(lambda: f"{kind} a lends 1" in told)
        await until(lambda: desk.memory.serving[kind] == Serving(served=True))
        await server.remove(f"{runtimes}/a")
        await until(lambda: f"{kind} a lends nothing" in told)

        del desk.memory.template_places[kind]
        await server.remove(described)
        await until(lambda: "JobKind sweep gone" in told)
        await server.put(f"{runtimes}/b")
        await server.put(f"{JOBS}/last")
        await until(lambda: "Job last" in told)
        assert not [line for line in told if f"{kind} b" in line]


async def test_a_doubt_is_settled_by_a_read(server: ApiServer, desk: Desk) -> None:
    await desk.books.look(JOB)
    await server.remove(f"{JOBS}/a")
    await until(lambda: "Job a gone" in desk.memory.told)
    await desk.books.look(JOB)
    assert desk.memory.told[2:] == ["Job a read", "Job a gone", "Job a gone read"]
    server.faults.append(web.Response(status=503))
    with pytest.raises(Faulty):
        await desk.books.look(JOB)


async def test_what_we_were_never_allowed_to_see_is_nothing_to_wait_for(server: ApiServer, desk: Desk) -> None:
    """An owner of such a kind would else be asked for every second, and its job be left to wait."""
    server.faults.append(web.Response(status=403))
    await desk.books.look(Ref(SWEEP, "ns", "owner"))
    assert desk.memory.told[-1] == f"{SWEEP} owner gone read"
    server.faults.append(web.Response(status=403))
    with pytest.raises(Forbidden):  # of a kind that we know objects of it may be there
        await desk.books.look(JOB)


async def test_lists_older_than_the_office_are_asked_for_again(server: ApiServer, desk: Desk) -> None:
    lists = len([request for request in server.requests if "limit=" in request])
    await desk.books.fresh(since=float("-inf"))
    assert len([request for request in server.requests if "limit=" in request]) == lists
    await desk.books.fresh(since=SYSTEM.steady())
    assert len([request for request in server.requests if "limit=" in request]) == lists + 2
    assert desk.memory.told == ["Namespace ns", "Job a"]  # nothing had changed, so nothing is told again
    await server.put(f"{JOBS}/b")
    await until(lambda: desk.memory.told[2:] == ["Job b"])


async def test_pods_and_nodes_are_followed_as_long_as_there_are_elastic_quotas(
    server: ApiServer, client: Client
) -> None:
    server.served |= {"scheduling.sigs.k8s.io/v1alpha1": ["elasticquotas"]}
    server.served["v1"] = [*server.served["v1"], "pods", "nodes"]
    quota = "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/ns/elasticquotas/q"
    await server.put("/api/v1/nodes/n")
    async with Desk(client, "ElasticQuota", "Node", "Pod").open() as desk:
        told = desk.memory.told
        await server.put("/api/v1/namespaces/ns/pods/early")
        desk.memory.counted = ("Node", "Pod")
        await server.put(quota)
        await until(lambda: {"Node n", "Pod early"} <= set(told))
        await until(lambda: desk.memory.serving.keys() >= {"Node", "Pod"})

        desk.memory.counted = ()
        await server.remove(quota)
        await until(lambda: "ElasticQuota q gone" in told)
        await server.put("/api/v1/namespaces/ns/pods/late")
        await server.put(f"{JOBS}/last")
        await until(lambda: "Job last" in told)
        assert "Pod late" not in told
