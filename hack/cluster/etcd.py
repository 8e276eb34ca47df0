"""Reads etcd's own ordered story of a cluster, so that an auditor need not trust what watches of the API show.

Each write to the cluster is one event here, in the order it took effect. Built-in kinds are stored as protobuf
unless the API server runs with --storage-media-type=application/json; custom kinds are always JSON.
The API server forgets what is older than five minutes unless it runs with --etcd-compaction-interval=0.
"""

import base64
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hack.cluster.errors import HackError

KEEP_ALL = ("--etcd-compaction-interval=0", "--storage-media-type=application/json")  # arguments for an audited run
EVERYTHING = base64.b64encode(b"\0").decode()  # as key and as end: every key there is
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """One key written or deleted. `value` is what was stored; of a deletion it is empty."""

    revision: int
    key: str
    value: bytes
    created: bool
    deleted: bool

    @property
    def json(self) -> dict[str, Any]:
        """The stored object, when it was stored as JSON."""
        parsed: dict[str, Any] = json.loads(self.value)
        return parsed


def revision(endpoint: str) -> int:
    """The number of the newest write."""
    answer = _post(endpoint, "/v3/kv/range", {"key": EVERYTHING, "limit": 1, "count_only": True})
    with answer:
        return int(json.load(answer)["header"]["revision"])


def history(endpoint: str, prefix: str = "/registry/", start: int = 1) -> Iterator[Event]:
    """Everything written below `prefix` from revision `start` until now, in order; then it ends."""
    last = revision(endpoint)
    for event in follow(endpoint, start) if start <= last else ():
        if event.revision > last:
            return
        if event.key.startswith(prefix):
            yield event
        if event.revision == last:
            return


def follow(endpoint: str, start: int = 1, seconds: float = SECONDS) -> Iterator[Event]:
    """Every write from revision `start` on, for ever; TimeoutError when nothing is written for so long."""
    wish = {"key": EVERYTHING, "range_end": EVERYTHING, "start_revision": str(start)}
    with _post(endpoint, "/v3/watch", {"create_request": wish}, seconds) as stream:
        for line in stream:
            told = json.loads(line)["result"]
            if told.get("canceled"):
                since = told.get("compact_revision", "?")
                raise HackError(
                    f"etcd has forgotten what came before revision {since}: {told.get('cancel_reason', '')}\n"
                    f"  start the API server with {KEEP_ALL[0]}, or read from there on"
                )
            yield from map(_event, told.get("events", ()))


def _event(told: dict[str, Any]) -> Event:
    pair = told["kv"]
    return Event(
        revision=int(pair["mod_revision"]),
        key=base64.b64decode(pair["key"]).decode(),
        value=base64.b64decode(pair.get("value", "")),
        created=pair.get("create_revision") == pair["mod_revision"],
        deleted=told.get("type") == "DELETE",
    )


def _post(endpoint: str, path: str, body: dict[str, Any], seconds: float = SECONDS) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=seconds)
    # Closed by the server after the answer: the answer then owns the socket and closing it closes all.
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Connection": "close"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise HackError(f"etcd refused {path}: {answer.status} {answer.read().decode()}")
    return answer
