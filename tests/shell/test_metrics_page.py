"""The page of metrics: what Prometheus reads of it, and that nobody waits for it."""

import asyncio
import time
from dataclasses import replace

import aiohttp
import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from admission.model.configuration import Configuration, Metrics
from admission.model.gates import Gates
from admission.model.kinds import Ref
from admission.model.queues import ClusterQueue, LocalQueue
from admission.model.selectors import EVERYTHING, LabelRule, Selector
from admission.state import State
from controller.kit import probes
from controller.kit.exposition import Form, number
from controller.pages.metrics import Page
from tests.core.lab import group
from tests.core.test_state import Desk


def page_of(state: State, role: str = "leader") -> Page:
    page = Page(state, role=lambda: role, version="1.2.3")
    page.recorder.counting = True
    return page


async def text(page: Page) -> str:
    return b"".join([chunk async for chunk in page.chunks()]).decode()


async def read(page: Page) -> dict[str, Metric]:
    return {full_name(family): family for family in text_string_to_metric_families(await text(page))}


def full_name(family: Metric) -> str:
    """The parser cuts the end off the names of counters."""
    return f"{family.name}_total" if family.type == "counter" else family.name


def values(family: Metric, **labels: str) -> list[float]:
    return [one.value for one in family.samples if labels.items() <= one.labels.items()]


async def test_prometheus_reads_every_family() -> None:
    desk = Desk()
    page = page_of(desk.state)
    desk.submit("a", 2)
    for planned in desk.plan(30.0):
        desk.answer(planned, "ok")
    families = await read(page)
    assert len(families) == (await text(page)).count("# TYPE")
    assert families["kueue_build_info"].samples[0].labels["git_version"] == "v1.2.3"
    assert values(families["kueue_admitted_workloads_total"], cluster_queue="cq", replica_role="leader") == [1.0]
    waited = families["kueue_admission_wait_time_seconds"]
    assert values(waited, le="20") == [0.0]
    assert values(waited, le="40") == values(waited, le="+Inf") == [1.0]
    assert [one.value for one in waited.samples if one.name.endswith("_sum")] == [30.0]
    assert families["multikueue_workloads_dispatched_total"].samples == []


async def test_the_role_is_on_every_series_and_what_is_counted_is_a_leaders() -> None:
    desk = Desk()
    page = page_of(desk.state, role="follower")
    desk.submit("a", 2)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    families = await read(page)
    roles = {
        (family.type == "gauge", one.labels["replica_role"])
        for family in families.values()
        for one in family.samples
        if family.name != "kueue_build_info"
    }
    assert roles == {(True, "follower"), (False, "leader")}


async def test_series_go_with_their_queue() -> None:
    desk = Desk()
    page = page_of(desk.state)
    desk.submit("a", 2)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    assert 'cluster_queue="cq"' in await text(page)
    desk.state.gone(Ref("LocalQueue", "lab", "lq"))
    desk.state.gone(Ref("ClusterQueue", "", "cq"))
    shown = await text(page)
    assert '"cq"' not in shown
    assert '"lq"' not in shown


@pytest.mark.parametrize(
    ("configuration", "there"),
    [
        (Configuration(), {"lq", "marked"}),
        (Configuration(metrics=Metrics(local_queues=None)), set()),
        (Configuration(gates=Gates({"LocalQueueMetrics": False})), set()),
        (Configuration(metrics=Metrics(local_queues=Selector((LabelRule("team", "Exists", ()),)))), {"marked"}),
    ],
)
async def test_local_queues_are_chosen(configuration: Configuration, there: set[str]) -> None:
    desk = Desk(state=State(configuration))
    marked = LocalQueue("lab", "marked", "cq", resource_version=1, labels={"team": "a"})
    desk.state.observe("LocalQueue", marked)
    page = page_of(desk.state)
    for name in ("lq", "marked"):
        desk.version += 1
        workload = replace(desk.submit(name, 1), queue_name=name, resource_version=desk.version)
        desk.state.observe("Workload", workload)
    for planned in desk.plan():
        desk.answer(planned, "ok")
    families = await read(page)
    for family in ("kueue_local_queue_pending_workloads", "kueue_local_queue_admitted_workloads_total"):
        found = {one.labels["name"] for one in families[family].samples} if family in families else set()
        assert found == there, family


async def test_a_page_of_many_queues_lets_others_work() -> None:
    state, offers = State(), (group({"std": {"cpu": "4"}}),)
    for index in range(300):
        queue = ClusterQueue(f"q{index}", resource_version=1, groups=offers, namespace_selector=EVERYTHING)
        state.observe("ClusterQueue", queue)
        state.observe("LocalQueue", LocalQueue("lab", f"l{index}", f"q{index}", resource_version=1))
    page = page_of(state)
    longest, done = 0.0, False

    async def others() -> None:
        nonlocal longest
        last = time.thread_time()
        while not done:
            await asyncio.sleep(0)
            longest, last = max(longest, time.thread_time() - last), time.thread_time()

    watching = asyncio.create_task(others())
    await text(page)
    done = True
    await watching
    assert longest < 0.05, f"others waited for {longest} s of CPU"


async def test_the_page_is_served_beside_the_products_own_metrics(unused_tcp_port: int) -> None:
    where, page = f"127.0.0.1:{unused_tcp_port}", page_of(Desk().state)
    async with (
        probes.served(where, {}, with_metrics=True, more=page.chunks),
        aiohttp.ClientSession(f"http://{where}") as session,
        session.get("/metrics") as answer,
    ):
        shown = await answer.text()
        assert answer.content_type == "text/plain"
    names = [full_name(family) for family in text_string_to_metric_families(shown)]
    assert len(names) == len(set(names))
    assert {"lockgate_writes_total", "kueue_pending_workloads"} <= set(names)


def test_hostile_label_values_stay_within_their_quotes() -> None:
    line = Form("m", ("reason",), (("role", 'a"%'),)).sample(('x"} 7\nm{\\',), 1)
    (family,) = text_string_to_metric_families(line)
    assert family.samples[0].labels == {"reason": 'x"} 7\nm{\\', "role": 'a"%'}


@pytest.mark.parametrize(
    ("value", "written"),
    [(3, "3"), (0.5, "0.5"), (2.0, "2"), (float("inf"), "+Inf"), (float("nan"), "NaN"), (2.0**60, repr(2.0**60))],
)
def test_numbers_are_written_as_go_writes_them(value: float, written: str) -> None:
    assert number(value) == written
