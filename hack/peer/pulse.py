"""How quick the product is at this moment, felt by a queue of our own.

One workload holds all of the queue and one waits behind it. The first is deleted, the second is admitted, the next
comes: a beat. It takes the product from a watch event through waking who is parked, a cycle and a write.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from admission.model.kinds import KINDS, Ref
from admission.world.objects import holds
from controller.kube.client import Client
from controller.kube.errors import NotFound

SPACE = "pulse"
PAUSE = 0.4  # seconds between two beats, so that a quick product is not kept busy by them
PATIENCE = 120.0  # seconds for an answer of the API server
KEPT = 200  # beats; nobody asks for longer ago


class Pulse:
    """`run` for ever; the others may be asked meanwhile."""

    def __init__(self, client: Client) -> None:
        self.beats = 0
        self._client = client
        self._began: list[float] = []
        self._admitted: set[str] = set()
        self._news = asyncio.Event()

    def beats_since(self, moment: float) -> int:
        """How many began after that moment (`time.monotonic`) and have ended."""
        return sum(began > moment for began in self._began)

    def hear(self, ref: Ref, manifest: Mapping[str, Any] | None) -> None:
        """Anything that is nobody else's."""
        if ref.kind == "Workload" and ref.namespace == SPACE and manifest is not None and holds(manifest, "Admitted"):
            self._admitted.add(ref.name)
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

    async def run(self) -> None:
        """Beat."""
        number = 0
        while True:
            began = time.monotonic()
            path = KINDS["Workload"].path(SPACE, f"beat-{number}")
            try:
                await self._client.call("DELETE", path, within=PATIENCE)
            except NotFound:
                pass
            number += 1
            await self._is_admitted(number)
            await self._workload(number + 1)
            self._began = [*self._began[-KEPT:], began]
            self.beats += 1
            await asyncio.sleep(PAUSE)

    async def _is_admitted(self, number: int) -> None:
        while f"beat-{number}" not in self._admitted:
            self._news.clear()
            await self._news.wait()
        self._admitted.discard(f"beat-{number}")

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
