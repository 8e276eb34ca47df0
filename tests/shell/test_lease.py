"""Rather no leader than two."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from controller.kit.clock import SYSTEM, Clock
from controller.kube.client import Client
from controller.kube.lease import Elector, Record, Seen, Timings, may_take, safe_from
from tests.shell.apiserver import ApiServer
from tests.shell.conftest import StillClock, until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/here/leases/office"


class Candidate:
    """An elector and the work it does when it may."""

    def __init__(self, client: Client, name: str, clock: Clock, timings: Timings | None = None) -> None:
        self.elector = Elector(
            client, "here", name, name="office", timings=timings or Timings(), clock=clock, settled=self._settled
        )
        self.begun = 0
        self.working = False
        self.breaks = asyncio.Event()
        self.in_doubt = False
        self.task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def standing(self) -> AsyncIterator["Candidate"]:
        self.task = asyncio.create_task(self.elector.run(self._work))
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait([self.task])

    def _settled(self) -> bool:
        return not self.in_doubt

    async def _work(self) -> None:
        self.begun += 1
        self.working = True
        try:
            await self.breaks.wait()
            raise OSError("the work broke")
        finally:
            self.working = False


def _holder(server: ApiServer) -> str:
    holder: str = server.objects[LEASE]["spec"]["holderIdentity"]
    return holder


# --- the rules


def _record(holder: str, seconds: float = 15) -> Record:
    return Record(holder, seconds, "", 0, "1")


def test_only_silence_that_we_measured_counts() -> None:
    seen = Seen(_record("a"), since=100)
    assert not may_take(seen, "b", 115, lease=15)
    assert may_take(seen, "b", 115.1, lease=15)


def test_the_longer_of_both_durations_counts() -> None:
    assert not may_take(Seen(_record("a", seconds=60), 100), "b", 150, lease=15)
    assert not may_take(Seen(_record("a", seconds=1), 100), "b", 110, lease=15)


def test_a_vacant_office_is_taken_at_once() -> None:
    for record in (None, _record("")):
        assert may_take(Seen(record, 100), "b", 100, lease=15)
        assert safe_from(Seen(record, 100), taken=100, request=10) == 100


def test_after_a_silent_holder_a_request_of_his_may_still_be_under_way() -> None:
    assert safe_from(Seen(_record("a"), 100), taken=116, request=10) == 126


def test_timings_that_allow_two_leaders_are_refused() -> None:
    with pytest.raises(ValueError, match="must be longer"):
        Timings(lease=15, deadline=14, retry=2)


def test_the_clock_counts_suspended_time() -> None:
    assert SYSTEM.steady() == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME), abs=1)


# --- electors


async def test_one_of_two_leads(server: ApiServer, client: Client, clock: StillClock) -> None:
    first, second = Candidate(client, "a", clock), Candidate(client, "b", clock)
    async with first.standing():
        await until(lambda: first.working)
        async with second.standing():
            await clock.pass_by(100)
            assert first.working
            assert second.begun == 0
            assert first.begun == 1


async def test_who_stops_gives_the_office_back_and_the_next_begins_at_once(
    server: ApiServer, client: Client, clock: StillClock
) -> None:
    first, second = Candidate(client, "a", clock), Candidate(client, "b", clock)
    async with first.standing(), second.standing():
        await until(lambda: first.working)
        await first.stop()
        assert _holder(server) == ""
        await clock.pass_by(2)
        await until(lambda: second.working)
        assert second.elector.epoch == first.elector.epoch + 1


async def test_with_a_request_in_doubt_the_office_is_not_given_back(
    server: ApiServer, client: Client, clock: StillClock
) -> None:
    first = Candidate(client, "a", clock)
    async with first.standing():
        await until(lambda: first.working)
        first.in_doubt = True
    assert _holder(server) == "a"


async def test_after_a_crash_the_next_waits_for_lease_and_request_time_out(
    server: ApiServer, client: Client, clock: StillClock
) -> None:
    first, second = Candidate(client, "a", clock), Candidate(client, "b", clock)
    async with first.standing():
        await until(lambda: first.working)
        first.in_doubt = True
    async with second.standing():
        await clock.pass_by(15)
        assert not second.elector.leads
        await clock.pass_by(3)
        assert second.elector.leads
        assert not second.elector.may_send()
        await clock.pass_by(6)
        assert not second.working
        await clock.pass_by(4)
        assert second.working
        assert second.elector.may_send()


async def test_when_the_work_crashes_the_elector_crashes(client: Client, clock: StillClock) -> None:
    candidate = Candidate(client, "a", clock)
    async with candidate.standing():
        await until(lambda: candidate.working)
        candidate.breaks.set()
        assert candidate.task is not None
        with pytest.raises(OSError, match="the work broke"):
            await candidate.task


async def test_who_slept_through_his_term_may_not_send_on_waking(client: Client, clock: StillClock) -> None:
    candidate = Candidate(client, "a", clock)
    async with candidate.standing():
        await until(lambda: candidate.working)
        clock.jump(11)
        assert not candidate.elector.may_send()
        await until(lambda: not candidate.working)


async def test_who_finds_another_in_office_stops(server: ApiServer, client: Client, clock: StillClock) -> None:
    candidate = Candidate(client, "a", clock)
    async with candidate.standing():
        await until(lambda: candidate.working)
        await server.put(LEASE, spec={"holderIdentity": "b", "leaseDurationSeconds": 15})
        await clock.pass_by(2)
        await until(lambda: not candidate.working)
        assert _holder(server) == "b"


async def test_who_finds_the_office_abolished_begins_anew(server: ApiServer, client: Client, clock: StillClock) -> None:
    candidate = Candidate(client, "a", clock)
    async with candidate.standing():
        await until(lambda: candidate.working)
        await server.remove(LEASE)
        await clock.pass_by(2)
        await until(lambda: candidate.begun == 2)  # and founded it anew


async def test_somebody_who_edits_the_lease_does_not_end_the_term(
    server: ApiServer, client: Client, clock: StillClock
) -> None:
    candidate = Candidate(client, "a", clock)
    async with candidate.standing():
        await until(lambda: candidate.working)
        await server.put(LEASE, spec=server.objects[LEASE]["spec"])
        await clock.pass_by(60)
        assert candidate.begun == 1
        assert candidate.elector.may_send()


SHORT = Timings(lease=1.0, deadline=0.5, retry=0.1, request=0.2)


async def test_a_hanging_server_ends_the_term_in_time(server: ApiServer, client: Client) -> None:
    candidate = Candidate(client, "a", SYSTEM, SHORT)
    async with candidate.standing():
        await until(lambda: candidate.working)
        server.deaf.clear()
        began = SYSTEM.steady()
        await until(lambda: not candidate.working)
        assert SYSTEM.steady() - began < SHORT.lease
        server.deaf.set()
        await until(lambda: candidate.begun == 2)


async def test_a_refused_connection_ends_the_term_and_a_new_one_follows() -> None:
    server = ApiServer()
    async with server.running(), Client(server.url) as client:
        candidate = Candidate(client, "a", SYSTEM, SHORT)
        async with candidate.standing():
            await until(lambda: candidate.working)
            await server.close()
            await until(lambda: not candidate.working)
            await server.open()
            await until(lambda: candidate.begun == 2)


async def test_times_on_the_lease_are_utc(
    server: ApiServer, client: Client, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "TZ", "America/New_York")
    time.tzset()
    try:
        candidate = Candidate(client, "a", clock)
        async with candidate.standing():
            await until(lambda: candidate.working)
        assert server.objects[LEASE]["spec"]["renewTime"] == "2023-11-14T22:30:00.000000Z"
    finally:
        monkeypatch.undo()
        time.tzset()
