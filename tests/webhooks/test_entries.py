"""Webhooks that come and go: of described kinds, entered when their JobKind is there, taken out when it is gone, served
in between; of Pods as long as something is about them."""

import asyncio
from typing import Any

import pytest

from admission.answers import by_service, by_url, webhook_configurations
from admission.answers.pods import verbs
from admission.jobs.described import described
from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import DEFAULTS
from admission.model.job_profile import JobProfile, Match
from admission.readers.job_kind import read_job_kind
from controller.kit.tasks import together
from controller.kube.client import Client
from controller.kube.errors import Conflict
from tests.core.test_job_kinds_in_state import job_kind, sweep
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import StillClock, until
from tests.webhooks.loopback import Stored, loopback
from tests.webhooks.serving import StandingView, webhook_server
from webhooks.entries import Entries
from webhooks.view import ClusterView

GROUP = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{GROUP}/mutatingwebhookconfigurations/lockgate-job-kinds"
VALIDATING = f"{GROUP}/validatingwebhookconfigurations/lockgate-job-kinds"
JOB_KINDS = "/apis/lockgate.dev/v1alpha1/jobkinds"
NAMES = ["msweep.experiments.example.lockgate.dev", "unqueued.msweep.experiments.example.lockgate.dev"]


def installed(stored: Stored, reached: Any = None) -> None:
    for manifest in webhook_configurations(reached or by_url("https://127.0.0.1:1", "Q0E="), DEFAULTS):
        stored.put(f"{GROUP}/{manifest['kind'].lower()}s/{manifest['metadata']['name']}", manifest)


def entered(stored: Stored, path: str = MUTATING) -> list[dict[str, Any]]:
    return [each for each in stored.objects[path]["webhooks"] if each["name"].endswith(".lockgate.dev")]


def describe(kinds: JobKinds, **fields: Any) -> None:
    found = read_job_kind(job_kind(**fields))
    assert found.rules is not None
    kinds.describe(found.name, found.kind, described(found.kind, found.rules))


async def test_a_described_kind_is_entered_and_taken_out_beside_all_the_others() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        installed(stored)
        before = dict(stored.objects)
        view = ClusterView(client, DEFAULTS)
        kinds = Entries(client, view)
        await kinds.step()
        assert stored.objects == before  # nothing to say, nothing said
        describe(view.job_kinds)
        await kinds.step()
        assert [each["name"] for each in entered(stored)] == NAMES
        (validating,) = entered(stored, VALIDATING)
        rule = {"apiGroups": ["experiments.example"], "apiVersions": ["v1"], "resources": ["sweeps"]}
        assert rule.items() <= validating["rules"][0].items()
        after = dict(stored.objects)
        await kinds.step()
        assert stored.objects == after
        view.job_kinds.forget("sweep")
        await kinds.step()
        assert all(stored.objects[path]["webhooks"] == before[path]["webhooks"] for path in (MUTATING, VALIDATING))


async def test_it_is_reached_and_trusted_like_the_kinds_that_are_built_in() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        view = ClusterView(client, DEFAULTS)
        describe(view.job_kinds)
        path = "/validate-experiments.example-v1-sweep"
        for reached in (by_url("https://gate.example:9443", "Q0E="), by_service("kueue-system", "Q0E=", 8443)):
            installed(stored, reached)
            await Entries(client, view).step()
            assert entered(stored, VALIDATING)[0]["clientConfig"] == reached(path)


async def test_an_authority_that_was_published_meanwhile_is_not_set_back() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        installed(stored)
        view = ClusterView(client, DEFAULTS)
        describe(view.job_kinds)
        call = client.call

        async def slow(method: str, path: str, **more: Any) -> bytes:
            answer = await call(method, path, **more)
            if method == "GET":
                stored.put(path, stored.objects[path])
            return answer

        client.call = slow  # type: ignore[method-assign]
        with pytest.raises(Conflict):
            await Entries(client, view).step()


async def test_without_an_installation_there_is_nothing_to_do() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        view = ClusterView(client, DEFAULTS)
        describe(view.job_kinds)
        await Entries(client, view).step()
        assert stored.objects == {}


async def test_entries_stay_until_all_job_kinds_are_known() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        installed(stored)
        first = ClusterView(client, DEFAULTS)
        describe(first.job_kinds)
        await Entries(client, first).step()
        view = ClusterView(client, DEFAULTS)
        running = asyncio.create_task(Entries(client, view).run())
        await asyncio.sleep(0)
        assert entered(stored)
        view.entries_due.set()
        await until(lambda: not entered(stored))
        describe(view.job_kinds)
        view.entries_due.set()
        await until(lambda: bool(entered(stored)))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_job_kinds_are_followed() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        server.served["lockgate.dev/v1alpha1"] = ["jobkinds"]
        await server.put(f"{JOB_KINDS}/sweep", spec=job_kind()["spec"])
        view = ClusterView(client, DEFAULTS, StillClock())
        watching = asyncio.create_task(together(view.watches()))
        await view.entries_due.wait()
        assert view.job_kinds.named("experiments.example", "Sweep") == "Sweep.v1.experiments.example"
        view.entries_due.clear()
        await server.put(f"{JOB_KINDS}/sweep", spec={**job_kind()["spec"], "podSets": []})
        await view.entries_due.wait()
        assert view.job_kinds.named("experiments.example", "Sweep") is None
        view.entries_due.clear()
        await server.put(f"{JOB_KINDS}/sweep", spec=job_kind()["spec"])
        await view.entries_due.wait()
        view.entries_due.clear()
        await server.remove(f"{JOB_KINDS}/sweep")
        await view.entries_due.wait()
        assert view.job_kinds.named("experiments.example", "Sweep") is None
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_cluster_without_job_kinds_has_none() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        view = ClusterView(client, DEFAULTS, StillClock())
        watching = asyncio.create_task(together(view.watches()))
        await view.entries_due.wait()
        assert list(view.job_kinds) == list(JobKinds())
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_reviews_of_a_described_kind_are_answered_while_it_is_described() -> None:
    view = StandingView()
    view.job_kinds = JobKinds()
    path, made = "/mutate-experiments.example-v1-sweep", sweep()
    made["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    made["spec"]["suspend"] = False
    async with webhook_server(view) as api:
        assert (await api.post(path, b"{}"))[0] == 404
        describe(view.job_kinds)
        assert (await api.review(path, made))["patchType"] == "JSONPatch"
        view.job_kinds.forget("sweep")
        status, body = await api.post(path, b"{}")
        assert (status, body) == (404, f"no webhook is served at {path}\n".encode())


def about_pods(stored: Stored) -> list[str]:
    found = [each for path in (MUTATING, VALIDATING) for each in stored.objects[path]["webhooks"]]
    return [each["name"] for each in found if each["rules"][0]["resources"] == ["pods"]]


async def test_pods_are_asked_about_as_long_as_something_is_about_them() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        installed(stored)
        before = dict(stored.objects)
        view = ClusterView(client, DEFAULTS)
        entries = Entries(client, view)
        await entries.step()
        assert stored.objects == before
        view.colocation_profiles = (ColocationProfile("p"),)
        await entries.step()
        assert about_pods(stored) == ["mpod.kb.io", "vpod.kb.io"]
        (mutating,) = (one for one in stored.objects[MUTATING]["webhooks"] if one["name"] == "mpod.kb.io")
        (outside,) = mutating["namespaceSelector"]["matchExpressions"]
        assert {"kube-system", DEFAULTS.namespace} <= set(outside["values"])
        assert mutating["rules"][0]["operations"] == ["CREATE"]
        view.colocation_profiles = ()
        await entries.step()
        assert about_pods(stored) == []


async def test_job_profiles_are_about_pods_where_they_name_them() -> None:
    async with loopback() as (stored, url), Client(host=url) as client:
        installed(stored)
        view = ClusterView(client, DEFAULTS)
        for kinds, asked in (
            (("Job.batch",), []),
            (("Job.batch", "Pod"), ["mpod.kb.io", "vpod.kb.io"]),
            ((), []),  # a profile that names no kinds means jobs
        ):
            view.job_profiles = (JobProfile("p", match=Match(kinds=kinds)),)
            await Entries(client, view).step()
            assert about_pods(stored) == asked


async def test_who_has_koordinators_priority_classes_is_told_of_mistakes_and_nothing_is_changed() -> None:
    async with ApiServer().running() as server, Client(server.url) as client:
        server.served["scheduling.k8s.io/v1"] = ["priorityclasses"]
        view = ClusterView(client, DEFAULTS, StillClock())
        watching = asyncio.create_task(together(view.watches()))
        await view.entries_due.wait()
        assert verbs(view) == ()
        view.entries_due.clear()
        await server.put("/apis/scheduling.k8s.io/v1/priorityclasses/koord-batch", value=5000)
        await view.entries_due.wait()
        assert verbs(view) == ("validate",)
        view.entries_due.clear()
        await server.remove("/apis/scheduling.k8s.io/v1/priorityclasses/koord-batch")
        await view.entries_due.wait()
        assert verbs(view) == ()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
