"""The driver's connection to the API server: as few calls and as little work as can be, since both share the machine.

Answers are not parsed but for what the driver asks about; watch events only as far as conditions.
"""

import ssl
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from hack.cluster import Cluster, Refused

JSON, MERGE_PATCH = "application/json", "application/merge-patch+json"
LONGEST_LINE = 2**20  # bytes of a watch event; ours have some three thousand
SECONDS = 60.0  # an API server that is out of breath answers late, and a lost request would spoil the run


class Condition(msgspec.Struct):
    """As in a Workload's status."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    lastTransitionTime: str = ""  # noqa: N815
    observedGeneration: int | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


class Metadata(msgspec.Struct):
    """What the driver needs to know of it."""

    name: str = ""
    namespace: str = ""
    resourceVersion: str = ""  # noqa: N815
    creationTimestamp: str = ""  # noqa: N815


class Status(msgspec.Struct):
    """A Workload's, without its admission."""

    conditions: list[Condition] = []


class Seen(msgspec.Struct):
    """A Workload as a watch event tells it."""

    metadata: Metadata
    status: Status = msgspec.field(default_factory=Status)


class Event(msgspec.Struct):
    """One line of a watch; `object` is read later, if it is a Workload's."""

    type: str
    object: msgspec.Raw


_event = msgspec.json.Decoder(Event)
_seen = msgspec.json.Decoder(Seen)


class Wire:
    """Calls as the cluster's administrator, whom the API server's fairness rules exempt: it never waits in line."""

    def __init__(self, cluster: Cluster) -> None:
        self._base = cluster.server
        self._headers = {"Authorization": f"Bearer {cluster.token}"}
        self._tls = ssl.create_default_context(cafile=str(cluster.ca_file))
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls, limit=0),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=SECONDS),
            read_bufsize=LONGEST_LINE,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._session is not None
        await self._session.close()

    async def send(self, method: str, path: str, body: Any, content_type: str = JSON) -> None:
        """A write. Refused with its status."""
        assert self._session is not None
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        headers = {"Content-Type": content_type}
        async with self._session.request(method, self._base + path, data=data, headers=headers) as answer:
            read = await answer.read()
            if answer.status >= 400:
                raise Refused(method, path, answer.status, read.decode())

    async def watch(self, path: str) -> AsyncIterator[Seen]:
        """Every change from now on, for ever, also when streams end: an update of its CRD ends those of a kind.

        RuntimeError when changes were missed: the run is void then.
        """
        version = "0"
        while True:
            async for line in self._stream(f"{path}?watch=1&timeoutSeconds=3600&resourceVersion={version}"):
                event = _event.decode(line)
                if event.type == "ERROR":
                    raise RuntimeError(f"the watch failed: {bytes(event.object).decode()}")
                seen = _seen.decode(event.object)
                version = seen.metadata.resourceVersion
                yield seen

    async def _stream(self, path: str) -> AsyncIterator[bytes]:
        assert self._session is not None
        endless = aiohttp.ClientTimeout(total=None)
        async with self._session.get(self._base + path, timeout=endless) as answer:
            if answer.status != 200:
                raise RuntimeError(f"the watch was refused: {answer.status} {await answer.text()}")
            async for line in answer.content:
                yield line
