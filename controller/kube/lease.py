"""Who of several replicas may write: an elector that would rather have no leader than two.

Its rules are pure functions. Only silence that we measured ourselves lets us take a lease, on a clock that counts
suspended time. A leader stops sending `deadline` seconds after its last proven renewal, counted from *before* that
request. A new leader waits until, besides, the last request of the old one must have timed out. The office is given
back only after the work has stopped and every request of ours was answered. A crash of the work is a crash of the
leader.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from admission.model.kinds import KINDS
from admission.model.times import micro_stamp
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kube.client import CALL_SECONDS, Client
from controller.kube.errors import ApiError, Conflict, NotFound

NAME = "c1f6bfd2.kueue.x-k8s.io"  # Kueue's own: while one replaces the other, only one of the two leads

log = Log("kube.lease")


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds. The defaults are Kubernetes' own."""

    lease: float = 15.0  # silence after which others may take it
    deadline: float = 10.0  # a leader that could not renew for so long stops
    retry: float = 2.0  # between attempts
    request: float = CALL_SECONDS  # the longest that a write of a leader can be under way

    def __post_init__(self) -> None:
        if not self.deadline + self.retry < self.lease:
            raise ValueError(
                f"lease duration {self.lease:g}s must be longer than renew deadline {self.deadline:g}s plus "
                f"retry period {self.retry:g}s, else two replicas could lead at once"
            )


class Record(NamedTuple):
    """What the Lease object says. `holder` is empty when it was given back."""

    holder: str
    seconds: float
    acquired: str
    transitions: int
    version: str


class Seen(NamedTuple):
    """The record, and since when (steady clock) we have seen it unchanged; None: there is no such object."""

    record: Record | None
    since: float


def may_take(seen: Seen, me: str, now: float, lease: float) -> bool:
    """Nobody holds it, or its holder has been silent for as long as the longer of both sides' durations."""
    record = seen.record
    if record is None or record.holder in ("", me):
        return True
    return now - seen.since > max(lease, record.seconds)


def safe_from(seen: Seen, taken: float, request: float) -> float:
    """When the one who took the lease may begin to write: a holder that went silent may have a request under way."""
    vacant = seen.record is None or not seen.record.holder
    return taken if vacant else taken + request


class Elector:
    """One candidate. `run` campaigns, works while in office, and campaigns again."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        me: str,
        *,
        name: str = NAME,
        timings: Timings = Timings(),
        clock: Clock = SYSTEM,
        settled: Callable[[], bool] = lambda: True,
    ) -> None:
        """`settled` says whether every request of ours was answered, so that the office may be given back at once."""
        self.me = me
        self._client = client
        self._where = KINDS["Lease"].path(namespace, name)
        self._collection = KINDS["Lease"].path(namespace)
        self._namespace, self._name = namespace, name
        self._timings = timings
        self._clock = clock
        self._settled = settled
        self._seen = Seen(None, clock.steady())
        self._from = self._until = 0.0
        self.looked = asyncio.Event()  # the first attempt is over, won or not

    @property
    def epoch(self) -> int:
        """How often the office has changed hands."""
        return self._seen.record.transitions if self._seen.record else 0

    @property
    def safe_since(self) -> float:
        """Since when (steady clock) no other replica can write."""
        return self._from

    @property
    def leads(self) -> bool:
        """In office, whether or not it is safe to write yet."""
        return self._clock.steady() < self._until

    def may_send(self) -> bool:
        """Asked right before each write."""
        return self._from <= self._clock.steady() < self._until

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """For ever. `work` is begun when in office and safe, and cancelled and awaited when the office is lost.

        Raises what `work` raises. When cancelled, stops the work, then gives the office back.
        """
        while True:
            await self._campaign()
            log.info("took the lease", me=self.me, epoch=self.epoch)
            await self._reign(work)
            log.warning("lost the lease", me=self.me)

    async def _campaign(self) -> None:
        while True:
            try:
                if await self._attempt():
                    return
            except NotFound:
                log.warning("cannot make the lease: its namespace does not exist", namespace=self._namespace)
            except ApiError as error:
                log.warning("cannot reach the lease", why=str(error))
            finally:
                self.looked.set()
            await self._clock.sleep(self._timings.retry)

    async def _attempt(self) -> bool:
        before = await self._look()
        asked = self._clock.steady()
        if not may_take(before, self.me, asked, self._timings.lease):
            return False
        old = before.record
        try:
            await self._write(
                Record(
                    holder=self.me,
                    seconds=self._timings.lease,
                    acquired=micro_stamp(self._clock.now()),
                    transitions=0 if old is None else old.transitions + (old.holder != self.me),
                    version="" if old is None else old.version,
                )
            )
        except Conflict:
            return False  # somebody was quicker
        self._until = asked + self._timings.deadline
        self._from = safe_from(before, self._clock.steady(), self._timings.request)
        return True

    async def _reign(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        busy: asyncio.Task[None] | None = None
        renew_at = self._clock.steady() + self._timings.retry
        try:
            while self.leads:
                if busy is None and self.may_send():
                    busy = asyncio.create_task(work(), name="work of the leader")
                await self._wait(busy, renew_at if busy else min(renew_at, self._from))
                if busy is not None and busy.done():
                    busy.result()
                    raise RuntimeError("the work of the leader ended although nobody stopped it")
                if self.leads and self._clock.steady() >= renew_at:
                    renew_at = self._clock.steady() + self._timings.retry
                    if not await self._renew():
                        break
        except asyncio.CancelledError:
            await _stop(busy)
            await self._give_back()
            raise
        finally:
            self._until = 0.0
            await _stop(busy)

    async def _wait(self, busy: asyncio.Task[None] | None, until: float) -> None:
        alarm = asyncio.ensure_future(self._clock.sleep(max(0.0, min(until, self._until) - self._clock.steady())))
        try:
            await asyncio.wait([alarm, *([busy] if busy else [])], return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()

    async def _renew(self) -> bool:
        """False: somebody else holds it, or it is gone. Failing to ask is no answer, the deadline decides then."""
        record = self._seen.record
        assert record is not None, "in office without a record"
        asked = self._clock.steady()
        try:
            await self._write(record)
            self._until = asked + self._timings.deadline
        except NotFound:
            return False
        except Conflict:
            return await self._still_mine()
        except ApiError as error:
            log.warning("could not renew the lease", why=str(error), left=round(self._until - asked, 1))
        return True

    async def _still_mine(self) -> bool:
        try:
            record = (await self._look()).record
        except ApiError:
            return True
        return record is not None and record.holder == self.me

    async def _give_back(self) -> None:
        record = self._seen.record
        if record is None or not self.leads or not self._settled():
            return
        try:
            await self._write(record._replace(holder=""))
            log.info("gave the lease back", me=self.me)
        except ApiError as error:
            log.warning("could not give the lease back; it will run out", why=str(error))

    async def _look(self) -> Seen:
        try:
            record = _read(await self._client.call("GET", self._where, within=self._patience()))
        except NotFound:
            record = None
        self._see(record)
        return self._seen

    async def _write(self, record: Record) -> None:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": {
                "holderIdentity": record.holder,
                # Whole seconds, at least 1, are all the API can say.
                "leaseDurationSeconds": max(1, round(record.seconds)) if record.holder else 1,
                "acquireTime": record.acquired,
                "renewTime": micro_stamp(self._clock.now()),
                "leaseTransitions": record.transitions,
            },
        }
        method, path = "POST", self._collection
        if record.version:
            body["metadata"]["resourceVersion"] = record.version  # type: ignore[index]
            method, path = "PUT", self._where
        answer = await self._client.call(method, path, body=msgspec.json.encode(body), within=self._patience())
        self._see(_read(answer))

    def _see(self, record: Record | None) -> None:
        if record is None or self._seen.record is None or record.version != self._seen.record.version:
            self._seen = Seen(record, self._clock.steady())

    def _patience(self) -> float:
        """Never longer than we may stay in office, so that a hanging server cannot keep us there."""
        left = self._until - self._clock.steady()
        return min(self._timings.request, left) if left > 0 else self._timings.request


def _read(body: bytes) -> Record:
    manifest = msgspec.json.decode(body)
    spec = manifest.get("spec") or {}
    return Record(
        holder=spec.get("holderIdentity") or "",
        seconds=float(spec.get("leaseDurationSeconds") or 0),
        acquired=spec.get("acquireTime") or "",
        transitions=int(spec.get("leaseTransitions") or 0),
        version=manifest["metadata"]["resourceVersion"],
    )


async def _stop(task: asyncio.Task[None] | None) -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task])
