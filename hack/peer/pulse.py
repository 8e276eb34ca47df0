"""How quick the product is at this moment, felt by a queue of our own.

One workload holds all of the queue and one waits behind it. The first is deleted, the second is admitted and both kinds
of queue say so; the next comes, and both say that it waits: a beat. It takes the product from a watch event through
waking who is parked, a cycle, a write, and through all that lies before us in line for its queue statuses.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from admission.model.kinds import KINDS, Ref
from admission.world.objects import holds
from controller.kube.client import Client
from controller.kube.errors import NotFound

SPACE = "pulse"
QUICK = 3.2  # seconds; an idle Kueue takes some 2.2, for it wakes and tells a second later each
PAUSE = 0.2  # seconds between two beats
PATIENCE = 120.0  # seconds for an answer of the API server
KEPT = 200  # beats; nobody asks for longer ago


class Pulse:
    """`run` for ever; the others may be asked meanwhile."""

    def __init__(self, client: Client) -> None:
        self.beats = 0
        self._client = client
        self._began: list[float] = []
        self._took = 0.0
        self._admitted: set[str] = set()
        self._pending: dict[str, int] = {}  # as the queues say, by kind
        self._news = asyncio.Event()

    @property
    def quick(self) -> bool:
        """Whether the last beat took hardly longer than the pauses that the product makes by itself."""
        return 0.0 < self._took < QUICK

    def beats_since(self, moment: float) -> int:
        """How many began after that moment (`time.monotonic`) and have ended."""
        return sum(began > moment for began in self._began)

    def hear(self, ref: Ref, manifest: Mapping[str, Any] | None) -> None:
        """Anything that is nobody else's."""
        if manifest is None or SPACE not in (ref.namespace, ref.name):
            return
        if ref.kind == "Workload" and holds(manifest, "Admitted"):
            self._admitted.add(ref.name)
        elif ref.kind in ("ClusterQueue", "LocalQueue"):
            self._pending[ref.kind] = (manifest.get("status") or {}).get("pendingWorkloads") or 0
        self._news.set()

    async def prepare(self) -> None:
        """The queue, and the first workload in it."""
        quota = {"name": SPACE, "resources": [{"name": "cpu", "nominalQuota": "1"}]}
        queue = {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}],
        }
        await self._create("Namespace", None)
        await self._create("ResourceFlavor", {})
        await self._create("ClusterQueue", queue)
        await self._create("LocalQueue", {"clusterQueue": SPACE})
        await self._workload(0)
        await self._is_admitted(0)
        await self._workload(1)
        await self._told(1)

    async def run(self) -> None:
        """Beat."""
        number = 0
        while True:
            began = time.monotonic()
            path = KINDS["Workload"].path(SPACE, f"beat-{number}")
            with suppress(NotFound):
                await self._client.call("DELETE", path, within=PATIENCE)
            number += 1
            await self._is_admitted(number)
            await self._told(0)
            await self._workload(number + 1)
            await self._told(1)
            self._began = [*self._began[-KEPT:], began]
            self._took = time.monotonic() - began
            self.beats += 1
            await asyncio.sleep(PAUSE)

    async def _is_admitted(self, number: int) -> None:
        while f"beat-{number}" not in self._admitted:
            self._news.clear()
            await self._news.wait()
        self._admitted.discard(f"beat-{number}")

    async def _told(self, pending: int) -> None:
        while not (len(self._pending) == 2 and set(self._pending.values()) == {pending}):
            self._news.clear()
            await self._news.wait()

    async def _workload(self, number: int) -> None:
        requests = {"resources": {"requests": {"cpu": "1"}}}
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", **requests}]}
        spec = {"queueName": SPACE, "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}]}
        await self._create("Workload", spec, f"beat-{number}")

    async def _create(self, kind: str, spec: Mapping[str, Any] | None, name: str = SPACE) -> None:
        known = KINDS[kind]
        meta = {"name": name, **({"namespace": SPACE} if known.namespaced else {})}
        body = {"apiVersion": known.api_version, "kind": kind, "metadata": meta}
        if spec is not None:
            body["spec"] = dict(spec)
        path = known.path(SPACE if known.namespaced else "")
        await self._client.call("POST", path, body=msgspec.json.encode(body), within=PATIENCE)
