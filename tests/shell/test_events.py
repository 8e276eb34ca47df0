"""Kubernetes Events tell people what happened, and never get in the way."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from admission.model.effects import EmitEvent
from admission.model.kinds import Ref
from controller.kube.client import Client
from controller.kube.events import LINE, Recorder
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import StillClock, until


def _event(message: str = "it may run", uid: str = "u", name: str = "a", namespace: str = "ns") -> EmitEvent:
    return EmitEvent(Ref("Workload", namespace, name), uid, "Normal", "Admitted", message)


@pytest.fixture
async def recorder(client: Client, clock: StillClock) -> AsyncIterator[Recorder]:
    recorder = Recorder(client, clock=clock, rate=1, burst=3)
    task = asyncio.create_task(recorder.run())
    yield recorder
    task.cancel()
    await asyncio.wait([task])


def _told(server: ApiServer) -> list[dict[str, Any]]:
    return list(server.objects.values())


async def test_an_event_names_its_object(server: ApiServer, recorder: Recorder) -> None:
    recorder.emit(_event())
    await until(lambda: len(_told(server)) == 1)
    (event,) = _told(server)
    assert event["involvedObject"] == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "namespace": "ns",
        "name": "a",
        "uid": "u",
    }
    assert (event["type"], event["reason"], event["message"], event["count"]) == ("Normal", "Admitted", "it may run", 1)
    assert event["firstTimestamp"] == "2023-11-14T22:30:00Z"


async def test_an_event_about_a_cluster_wide_object_lives_in_the_default_namespace(
    server: ApiServer, recorder: Recorder
) -> None:
    recorder.emit(EmitEvent(Ref("ClusterQueue", "", "q"), "u", "Warning", "Stopped", "on hold"))
    await until(lambda: len(_told(server)) == 1)
    assert next(iter(server.objects)).startswith("/api/v1/namespaces/default/events/q.")


async def test_what_happens_again_is_counted_on_the_first(
    server: ApiServer, recorder: Recorder, clock: StillClock
) -> None:
    for _ in range(5):
        recorder.emit(_event())
    await until(lambda: len(_told(server)) == 1)
    await clock.pass_by(61)
    recorder.emit(_event())
    await until(lambda: _told(server)[0]["count"] == 6)
    assert len(_told(server)) == 1
    assert len(server.requests) == 2


async def test_after_a_while_it_is_news_again(server: ApiServer, recorder: Recorder, clock: StillClock) -> None:
    recorder.emit(_event())
    await until(lambda: len(_told(server)) == 1)
    await clock.pass_by(601)
    recorder.emit(_event())
    await until(lambda: len(_told(server)) == 2)


async def test_too_many_are_dropped(server: ApiServer, recorder: Recorder, clock: StillClock) -> None:
    for number in range(10):
        recorder.emit(_event(uid=str(number)))
    await clock.pass_by(0)
    assert len(_told(server)) == 3
    await clock.pass_by(1)
    recorder.emit(_event(uid="later"))
    await until(lambda: len(_told(server)) == 4)


async def test_emitting_never_blocks_nor_grows_without_bound(client: Client) -> None:
    recorder = Recorder(client)
    for number in range(LINE + 100):
        recorder.emit(_event(uid=str(number)))
    assert recorder._line.qsize() == LINE


async def test_a_refused_event_fails_nothing(server: ApiServer, recorder: Recorder) -> None:
    server.faults.append(web.Response(status=403))
    recorder.emit(_event())
    recorder.emit(_event("another"))
    await until(lambda: len(_told(server)) == 1)
