"""Kubernetes Events: for people, and therefore last.

They are off the critical path: one sender, a small rate, a bounded line. What happens again becomes a count on the
first Event; what exceeds rate and line is dropped and counted. Nothing waits for an Event, nothing fails with one.
"""

import asyncio
import itertools
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from admission.model.effects import EmitEvent
from admission.model.kinds import KINDS, kind_of
from admission.model.times import stamp
from controller.kit import metrics
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kit.rate import Bucket
from controller.kube.client import MERGE_PATCH, Client
from controller.kube.errors import ApiError

# 2.4 Events a workload were over a third of the peer's writes in its own benchmark. This rate keeps a storm of
# admissions below one Event in ten workloads, and a quiet cluster loses none.
RATE, BURST = 10.0, 200
LINE = 1000  # Events waiting to be sent; at RATE the last one would be 100 s late, older news is no news
AGAIN_SECONDS = 600.0  # within which the same thing is a count on the old Event, as in client-go
COUNT_SECONDS = 60.0  # between two updates of such a count
REMEMBERED = 4096  # Events whose repetitions are counted
LONGEST = 1024  # characters of a message: the API's limit
COMPONENT = "lockgate"

log = Log("kube.events")


class _Key(NamedTuple):
    uid: str
    reason: str
    message: str


@dataclass(slots=True)
class _Sent:
    path: str
    count: int
    first: float
    told: float  # when its count was last written


class Recorder:
    """`emit` never blocks; `run` sends."""

    def __init__(self, client: Client, *, clock: Clock = SYSTEM, rate: float = RATE, burst: int = BURST) -> None:
        self._client = client
        self._clock = clock
        self._bucket = Bucket(clock, rate, burst)
        self._line: asyncio.Queue[tuple[EmitEvent, float]] = asyncio.Queue(LINE)
        self._sent: OrderedDict[_Key, _Sent] = OrderedDict()
        self._numbers = itertools.count()

    def emit(self, event: EmitEvent) -> None:
        try:
            self._line.put_nowait((event, self._clock.now()))
        except asyncio.QueueFull:
            metrics.EVENTS_DROPPED.inc()

    async def run(self) -> None:
        """For ever."""
        while True:
            event, happened = await self._line.get()
            try:
                await self._record(event, happened)
            except ApiError as error:
                metrics.EVENTS_DROPPED.inc()
                log.debug("an Event was not taken", about=str(event.ref), why=str(error))

    async def _record(self, event: EmitEvent, happened: float) -> None:
        key = _Key(event.uid, event.reason, event.message)
        sent = self._sent.get(key)
        if sent is None or happened - sent.first > AGAIN_SECONDS:
            if not self._bucket.try_take():
                metrics.EVENTS_DROPPED.inc()
                return
            await self._create(key, event, happened)
            return
        sent.count += 1
        if happened - sent.told >= COUNT_SECONDS and self._bucket.try_take():
            sent.told = happened
            body = msgspec.json.encode({"count": sent.count, "lastTimestamp": stamp(happened)})
            await self._client.call("PATCH", sent.path, body=body, content_type=MERGE_PATCH)
            metrics.EVENTS_SENT.inc()

    async def _create(self, key: _Key, event: EmitEvent, happened: float) -> None:
        namespace = event.ref.namespace or "default"
        name = f"{event.ref.name[:200]}.{int(happened * 1e6):x}{next(self._numbers) % 0x1000:03x}"
        kind = kind_of(event.ref.kind)
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "namespace": event.ref.namespace,
                "name": event.ref.name,
                "uid": event.uid,
            },
            "type": event.type,
            "reason": event.reason,
            "message": event.message[:LONGEST],
            "count": 1,
            "firstTimestamp": stamp(happened),
            "lastTimestamp": stamp(happened),
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
        }
        self._sent[key] = _Sent(KINDS["Event"].path(namespace, name), 1, happened, happened)
        self._sent.move_to_end(key)
        if len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
        await self._client.call("POST", KINDS["Event"].path(namespace), body=msgspec.json.encode(body))
        metrics.EVENTS_SENT.inc()
