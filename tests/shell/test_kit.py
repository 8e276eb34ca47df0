"""The small things that the shell is made of."""

import asyncio
import io
import json
import logging
import sys
from pathlib import Path

import aiohttp
import pytest

from admission.model.kinds import Ref
from controller.cli.all import together as processes_together
from controller.kit import logs, metrics, probes
from controller.kit.tasks import LoopEnded, together
from controller.kube.store import Store
from tests.shell.conftest import until

# --- tasks


async def test_the_crash_of_one_loop_ends_all() -> None:
    ended = []

    async def steady() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("steady")

    async def breaks() -> None:
        await asyncio.sleep(0)
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        await together({"steady": steady(), "breaks": breaks()})
    assert ended == ["steady"]


async def test_a_loop_that_ends_by_itself_is_a_fault() -> None:
    async def short() -> None:
        return

    with pytest.raises(LoopEnded, match="books"):
        await together({"books": short()})


# --- logs


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def _lines(stream: io.StringIO, terminal: bool) -> list[str]:
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    try:
        logs.start("INFO", stream)
        logs.Log("part").info("it happened", name="x", count=3)
        try:
            raise ValueError("why")
        except ValueError:
            logs.Log("part").exception("it broke")
    finally:
        root.handlers[:] = kept
        root.setLevel(level)
    return stream.getvalue().splitlines()


def test_machines_read_one_json_line_each(stream: io.StringIO) -> None:
    first, second = map(json.loads, _lines(stream, terminal=False))
    assert first["message"] == "it happened"
    assert (first["level"], first["logger"], first["name"], first["count"]) == ("info", "part", "x", 3)
    assert "ValueError: why" in second["error"]


def test_people_read_words(stream: io.StringIO) -> None:
    lines = _lines(stream, terminal=True)
    assert lines[0].endswith("INFO    part: it happened  name=x  count=3")
    assert lines[-1] == "ValueError: why"


# --- probes


@pytest.mark.parametrize(
    ("text", "read"),
    [(":8081", ("0.0.0.0", 8081)), ("127.0.0.1:1", ("127.0.0.1", 1)), ("[::1]:65535", ("::1", 65535))],
)
def test_addresses(text: str, read: tuple[str, int]) -> None:
    assert probes.address(text) == read


@pytest.mark.parametrize("text", ["", "8081", "host:", "host:http", ":70000", "http://:8081", "https://host:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(probes.BadAddress):
        probes.address(text)


async def test_pages_say_whether_all_is_well(unused_tcp_port: int) -> None:
    where = f"127.0.0.1:{unused_tcp_port}"
    pages = {"/healthz": lambda: (True, "ok"), "/readyz": lambda: (False, "waiting")}
    async with probes.served(where, pages, with_metrics=True), aiohttp.ClientSession(f"http://{where}") as session:
        for path, status, text in (("/healthz", 200, "ok"), ("/readyz", 503, "waiting")):
            async with session.get(path) as answer:
                assert (answer.status, await answer.text()) == (status, f"{text}\n")
        async with session.get("/metrics") as answer:
            assert "lockgate_writes_total" in await answer.text()


def test_every_metric_says_what_it_counts() -> None:
    families = list(metrics.REGISTRY.collect())
    assert families
    assert all(family.documentation.endswith(".") for family in families)


# --- store


def test_a_store_finds_by_index_and_forgets() -> None:
    store: Store[tuple[str, ...]] = Store(colour=lambda value: value)
    apple, pear = Ref("Job", "ns", "apple"), Ref("Job", "ns", "pear")
    store.put(apple, ("red", "green"), 1)
    store.put(pear, ("green",), 2)
    assert store.by("colour", "green") == [("red", "green"), ("green",)]
    store.put(apple, ("red",), 3)
    assert store.by("colour", "green") == [("green",)]
    store.drop(pear)
    assert store.by("colour", "green") == []
    assert (len(store), apple in store, pear in store, store.get(apple)) == (1, True, False, ("red",))


def test_late_news_change_nothing() -> None:
    store: Store[str] = Store()
    ref = Ref("Job", "ns", "a")
    assert store.put(ref, "new", 5)
    assert not store.put(ref, "old", 4)
    assert not store.drop(ref, 4)
    assert store.get(ref) == "new"
    assert store.drop(ref, 6)


# --- two processes


def _child(born: Path, then: str, first: str = "") -> list[str]:
    """A process that does `first`, says that it is there, and then goes on."""
    return [sys.executable, "-c", f"import pathlib, sys, time; {first}pathlib.Path({str(born)!r}).touch(); {then}"]


async def test_when_one_process_dies_the_other_is_ended(tmp_path: Path) -> None:
    lasting = _child(tmp_path / "lasting", "time.sleep(60)")
    async with asyncio.timeout(20):
        assert await processes_together([lasting, _child(tmp_path / "short", "sys.exit(3)")]) == 3


async def test_told_to_stop_both_are_ended_in_peace(tmp_path: Path) -> None:
    quiet = "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); "
    commands = [_child(tmp_path / name, "time.sleep(60)", quiet) for name in ("a", "b")]
    code = f"""
import asyncio, sys
from controller.cli.all import together
sys.exit(asyncio.run(together({commands!r})))
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    await until(lambda: all((tmp_path / name).exists() for name in ("a", "b")), 20)
    parent.terminate()
    assert await parent.wait() == 0
