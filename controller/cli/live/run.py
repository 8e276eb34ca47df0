"""Cases side by side on one cluster: each in a thread of its own, with names of its own, cleaned up after."""

import asyncio
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from admission.model.configuration import Configuration
from admission.model.kinds import KINDS, Ref
from admission.world.clock import EPOCH
from admission.world.scenario.case import Case
from admission.world.scenario.expectation_forms import IsQuiet
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.naming import by_name
from admission.world.scenario.runner import Failure, Result, play
from controller.cli.complaint import Complaint
from controller.cli.live.names import Names
from controller.cli.live.needs import jobs_of_ours, lacking_live
from controller.cli.live.news import News, NotInstalled
from controller.cli.live.pace import Pace
from controller.cli.live.stage import LiveStage
from controller.cli.live.wire import Wire
from controller.kit.clock import SYSTEM
from controller.kube.client import Client, NoCredentials
from controller.kube.errors import ApiError

AT_ONCE = 32  # cases; each is a thread that mostly waits
LONGEST_WATCH = 10.0  # seconds of real time for which quiet is watched
_TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789"
# What a case leaves behind that its namespaces don't take with them, in the order in which it is let go.
_CLUSTER_SCOPED = ("ClusterQueue", "Cohort", "ResourceFlavor", "WorkloadPriorityClass", "PriorityClass")


def run_live(cases: Sequence[Case], kubeconfig: str | None, config: Configuration) -> list[Result]:
    """The result of each; `config` is what the product runs with. Raises Complaint when the cluster can't be used."""
    results = [Result(case, lacking_live(case.form, config)) for case in cases]
    try:
        asyncio.run(_run_all([result for result in results if not result.missing], kubeconfig))
    except NoCredentials as error:
        raise Complaint(str(error)) from error
    except NotInstalled as missing:
        raise Complaint(f"the API server does not serve {missing.kind}: run `lockgate install` first") from missing
    except ApiError as error:
        raise Complaint(f"the API server can't be used: {error}") from error
    return results


async def _run_all(results: Sequence[Result], kubeconfig: str | None) -> None:
    async with await Client.connect(kubeconfig) as client:
        await client.call("GET", "/version")  # an API server that is not there is told at once, not waited for
        news = News(client)
        watching = asyncio.create_task(news.run())
        synced = asyncio.create_task(news.all_synced())
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            try:
                await asyncio.wait([watching, synced], return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                running = [loop.run_in_executor(threads, _run_one, result, client, loop, news) for result in results]
                await asyncio.gather(*running)
            finally:
                synced.cancel()
                watching.cancel()
                await asyncio.wait([watching, synced])


def _run_one(result: Result, client: Client, loop: asyncio.AbstractEventLoop, news: News) -> None:
    form = result.case.form
    token = "".join(random.SystemRandom().choices(_TOKEN, k=6))
    names, pace = Names(token), Pace(EPOCH, SYSTEM.now)
    wire = Wire(client, loop, names, pace)
    stage = LiveStage(wire, names, pace, news.read(token), ours=_ours(form), watches=_watches(form))
    try:
        if any(manifest["metadata"].get("namespace") == "default" for manifest in form.objects):
            stage.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
        play(result, stage, stage.insist)
    except ApiError as error:
        result.failures.append(Failure("events", 0, f"the API server can't be used: {error}"))
    finally:
        _clean_up(wire, names)


def _ours(form: ScenarioFile) -> frozenset[Ref]:
    manifests = by_name(form.objects)
    return frozenset(
        Ref("Job", manifests[name]["metadata"].get("namespace", ""), name.rpartition("/")[2])
        for name in jobs_of_ours(form)
    )


def _watches(form: ScenarioFile) -> dict[float, float]:
    """Moments at which it is to have been quiet, and for how long that is watched."""
    return {a.at: min(a.quiet.for_, LONGEST_WATCH) for a in form.expect if isinstance(a, IsQuiet)}


def _clean_up(wire: Wire, names: Names) -> None:
    """Best effort: what holds on to its finalizers goes when the product lets go of it."""
    for kind in ("Namespace", *_CLUSTER_SCOPED):
        try:
            found = wire.call("GET", KINDS[kind].path()).get("items") or ()
        except ApiError:
            continue
        for item in found:
            name = item["metadata"]["name"]
            if names.mine(Ref(kind, "", name)):
                try:
                    wire.call("DELETE", KINDS[kind].path("", name))
                except ApiError:
                    continue
