"""What the product asks of the API server, refused writes too: read from the debug logs of controllers that are ours.

A watch shows only what changed; that a write was refused, or how often one was tried, only the writer knows.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from admission.model.kinds import Ref
from controller.kube.writer import WRITE_ANSWERED

LOOK_SECONDS = 0.05  # between looks at logs that grow


class Asked(NamedTuple):
    """A write request and its answer; names are the cluster's. `real`: seconds since 1970; code 0: no answer came."""

    real: float
    ref: Ref
    verb: str
    subresource: str | None
    code: int
    body: Any


class Requests:
    """`tell` hears each of them, in the order in which each process wrote it."""

    def __init__(self, tell: Callable[[Asked], None]) -> None:
        self._tell = tell
        self._read: dict[Path, int] = {}  # bytes of each log

    def follow(self, log: Path) -> None:
        self._read.setdefault(log, 0)

    async def run(self) -> None:
        """For ever."""
        while True:
            self.look()
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Tell what has come since."""
        for log, start in list(self._read.items()):
            with log.open("rb") as file:
                file.seek(start)
                new = file.read()
            whole = new.rpartition(b"\n")[0]  # the last line may be half written
            if whole:
                self._read[log] = start + len(whole) + 1
                for asked in asked_in(whole):
                    self._tell(asked)


def asked_in(log: bytes) -> Iterator[Asked]:
    """The write requests among the lines of a log."""
    mark = WRITE_ANSWERED.encode()
    for line in log.splitlines():
        if mark not in line:
            continue
        said = json.loads(line)
        kind, _, rest = said["object"].partition("/")
        namespace, _, name = rest.rpartition("/")
        real = datetime.fromisoformat(said["time"]).timestamp()
        yield Asked(real, Ref(kind, namespace, name), said["verb"], said["subresource"], said["code"], said["body"])
