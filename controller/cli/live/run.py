"""Cases side by side on one cluster: each in a thread of its own, with names of its own, cleaned up after."""

import asyncio
import random
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from admission.model.configuration import Configuration
from admission.model.kinds import KINDS, Ref
from admission.world.clock import EPOCH
from admission.world.scenario.case import Case
from admission.world.scenario.expectation_forms import IsQuiet
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.naming import by_name
from admission.world.scenario.runner import Failure, Result, play
from controller.cli.complaint import Complaint
from controller.cli.installing import uninstall
from controller.cli.live import guest
from controller.cli.live.names import Names
from controller.cli.live.needs import jobs_of_ours, lacking_live
from controller.cli.live.news import News, NotInstalled
from controller.cli.live.pace import Pace
from controller.cli.live.product import OwnProduct
from controller.cli.live.replica import Ended
from controller.cli.live.requests import Requests
from controller.cli.live.served import job_kinds, note_missing
from controller.cli.live.stage import LiveStage
from controller.cli.live.turns import Turn, turns
from controller.cli.live.wire import Wire
from controller.kit import logs
from controller.kit.clock import SYSTEM
from controller.kit.tasks import together
from controller.kube.client import Client, NoCredentials
from controller.kube.errors import ApiError

AT_ONCE = 32  # cases; each is a thread that mostly waits
LONGEST_WATCH = 10.0  # seconds of real time for which quiet is watched
_TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789"
# What a case leaves behind that its namespaces don't take with them, in the order in which it is let go.
_CLUSTER_SCOPED = (
    "ClusterQueue",
    "Cohort",
    "ResourceFlavor",
    "AdmissionCheck",
    "WorkloadPriorityClass",
    "PriorityClass",
    "RuntimeClass",
)


def run_live(
    cases: Sequence[Case], kubeconfig: str | None, config: Configuration, own: Sequence[str] | None = None
) -> list[Result]:
    """The result of each; `config` is what the product runs with. `own`: the flags that say so to a product which this
    run starts and ends. Raises Complaint when the cluster can't be used."""
    logs.start("ERROR")  # that a watch broke and is up again is nothing to people who run scenarios
    results = [Result(case, lacking_live(case.form, config, own=own is not None)) for case in cases]

    def shared(playable: Sequence[Result]) -> Sequence[Turn] | None:
        return None if own is None else turns(playable, config, own)

    try:
        asyncio.run(_run_all(results, kubeconfig, config, shared))
    except NoCredentials as error:
        raise Complaint(str(error)) from error
    except NotInstalled as missing:
        raise Complaint(f"the API server does not serve {missing.kind}: run `lockgate install` first") from missing
    except ApiError as error:
        raise Complaint(f"the API server can't be used: {error}") from error
    except asyncio.CancelledError as error:
        raise Complaint("told to stop before all cases were through", exit_code=1) from error
    except (Ended, TimeoutError) as error:
        raise Complaint(f"--own-product: {error}", exit_code=1) from error
    return results


async def _run_all(
    results: Sequence[Result],
    kubeconfig: str | None,
    config: Configuration,
    shared: Callable[[Sequence[Result]], Sequence[Turn] | None],
) -> None:
    """`shared`: the turns of products of our own; None: one is there, and runs with `config`."""
    async with await Client.connect(kubeconfig) as client:
        await client.call("GET", "/version")  # an API server that is not there is told at once, not waited for
        await note_missing(client, results)
        playable = [result for result in results if not result.missing]
        own, threads = shared(playable), ThreadPoolExecutor(AT_ONCE)
        try:
            if own is None:
                news = News(client, job_kinds(result.case.form for result in playable))
                async with _watching(news):
                    await _side_by_side(playable, _Ground(client, news, threads, config))
            elif own:
                await _on_our_own(own, client, threads)
        finally:
            # In a thread: those of the cases need the loop until they have ended.
            await asyncio.to_thread(threads.shutdown, cancel_futures=True)


async def _on_our_own(own: Sequence[Turn], client: Client, threads: ThreadPoolExecutor) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # else the processes would outlive us
    await guest.check(client, own[0].core)
    with tempfile.TemporaryDirectory(prefix="lockgate-test-") as folder:
        try:
            for number, turn in enumerate(own):
                await _take_turn(turn, client, threads, Path(folder, str(number)))
        finally:
            await uninstall(client, own[0].core)


async def _take_turn(turn: Turn, client: Client, threads: ThreadPoolExecutor, folder: Path) -> None:
    news = News(client, job_kinds(result.case.form for result in (*turn.harmless, *turn.disturbing)))
    requests = Requests(news.tell)
    product = OwnProduct(client, turn.core, turn.flags, folder, requests)
    ground = _Ground(client, news, threads, turn.core, product)
    try:
        await product.start()
        async with _watching(news, requests):
            for results in (turn.harmless, *([result] for result in turn.disturbing)):
                await _side_by_side(results, ground)
                await asyncio.to_thread(product.restore)
            await guest.emptied(client, news.known)
    finally:
        await product.stop()


@asynccontextmanager
async def _watching(news: News, requests: Requests | None = None) -> AsyncIterator[None]:
    """News come while inside. Raises NotInstalled."""
    loops = {"news": news.run(), **({"requests": requests.run()} if requests is not None else {})}
    watching = asyncio.create_task(together(loops))
    synced = asyncio.create_task(news.all_synced())
    try:
        await asyncio.wait([watching, synced], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
        yield
    finally:
        synced.cancel()
        watching.cancel()
        await asyncio.wait([watching, synced])


@dataclass(frozen=True, slots=True)
class _Ground:
    """What all cases of a turn share."""

    client: Client
    news: News
    threads: ThreadPoolExecutor
    core: Configuration  # of the product
    product: OwnProduct | None = None


async def _side_by_side(results: Sequence[Result], ground: _Ground) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(ground.threads, _run_one, one, ground, loop) for one in results))


def _run_one(result: Result, ground: _Ground, loop: asyncio.AbstractEventLoop) -> None:
    form = result.case.form
    token = "".join(random.SystemRandom().choices(_TOKEN, k=6))
    names, pace = Names(token), Pace(EPOCH, SYSTEM.now)
    wire = Wire(ground.client, loop, names, pace)
    stage = LiveStage(
        wire,
        names,
        pace,
        ground.news.read(token),
        ours=_ours(form),
        watches=_watches(form),
        waits=ground.core.wait_for_pods_ready,
        product=ground.product,
    )
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
