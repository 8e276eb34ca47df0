"""A start of the controller's core on a cluster that is full of Workloads: `python -m tests.budgets.start 50000`.

A process of its own, because what it takes in memory is to be that of the controller and nobody else's. Reflectors and
books are the real ones; pages come from a file instead of from an API server. Prints one line of JSON.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

from admission.jobs import READERS
from admission.model.decisions import Hold
from admission.model.kinds import KINDS, WATCHED
from admission.state.state import BUDGET, State
from controller.books import Books
from controller.kube.client import Client, Query
from controller.kube.reflector import PAGE
from tests.budgets import manifests

NOW = 1_767_600_100.0  # a little after the manifests' own times
KIBIBYTE = 1024  # the unit of /proc


class Pages:
    """Stands where the client stands: lists come page by page, and watches tell nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def call(self, method: str, path: str, *, query: Query, within: float) -> bytes:
        del method, within
        return self._file(path, int(query.get("continue", 0))).read_bytes()

    @asynccontextmanager
    async def lines(self, path: str, query: Query, *, quiet: float) -> AsyncIterator[AsyncIterator[bytes]]:
        del path, query, quiet
        yield _silence()

    def write(self, kind: str, objects: list[dict[str, Any]], number: int, last: bool) -> None:
        following = {} if last else {"continue": str(number + 1)}
        page = {"metadata": {"resourceVersion": "1000000", **following}, "items": objects}
        self._file(KINDS[kind].path(), number).write_bytes(msgspec.json.encode(page))

    def _file(self, path: str, number: int) -> Path:
        return self._folder / f"{path.rpartition('/')[2]}-{number}.json"


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def write(pages: Pages, count: int) -> None:
    others = manifests.configuration(count)
    for kind in WATCHED:
        if kind != "Workload":
            pages.write(kind, others.get(kind, []), 0, last=True)
    for number, first in enumerate(range(0, count, PAGE)):
        batch = [manifests.workload(each) for each in range(first, min(first + PAGE, count))]
        pages.write("Workload", batch, number, last=first + PAGE >= count)


async def learn(pages: Pages, state: State) -> None:
    """Until the books are in step."""
    books = Books(cast(Client, pages), state, READERS, asyncio.Event())
    keeping = asyncio.create_task(books.run())
    await books.fresh(since=float("-inf"))
    keeping.cancel()
    await asyncio.wait([keeping])


def decide(state: State) -> None:
    """Plans until there is nothing more to do."""
    while state.plan(NOW, BUDGET).more:
        pass


def measure(count: int) -> dict[str, float]:
    """CPU seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(Path(folder))
        write(pages, count)
        state = State()
        before, began = resident(), time.process_time()
        asyncio.run(learn(pages, state))
        read = time.process_time()
        decide(state)
        decided = time.process_time()
        held = sum(state.loads.cluster_queue(f"queue-{each}").admitted for each in range(manifests.QUEUES))
        told = sum(isinstance(state.scheduler.last(key), Hold) for key in state.workloads)
        return {
            "admitted": held,
            "told": told,
            "read_seconds": read - began,
            "decide_seconds": decided - read,
            "grown_bytes": resident() - before,
            "peak_bytes": peak(),
        }


def resident() -> int:
    """Bytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def peak() -> int:
    """The most that it ever had. Not from getrusage: that counts what this process was forked from, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (kibibytes,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kibibytes) * KIBIBYTE


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1])), sys.stdout)
    sys.stdout.write("\n")
