"""One watch per kind for all cases that run side by side: what changes goes to the case whose names it bears."""

import asyncio
import queue
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from admission.model.kinds import Ref
from controller.cli.live.requests import Asked
from controller.kit.tasks import together
from controller.kube.client import Client
from controller.kube.reflector import Changed, Gone, Missing, Reflector, Synced

# What the product writes, or acts upon; a case is at rest when none of its objects of these kinds changes.
KINDS = ("ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass", "Workload", "Job")


class Item(NamedTuple):
    """As on the cluster. No manifest: it is gone."""

    ref: Ref
    manifest: Mapping[str, Any] | None
    version: int


@dataclass
class NotInstalled(Exception):
    """The API server does not serve a kind of ours."""

    kind: str


class News:
    """`jobs`: kinds of jobs besides Kubernetes' own, all of them served."""

    def __init__(self, client: Client, jobs: Sequence[str]) -> None:
        self._client = client
        self._kinds = (*KINDS, *jobs)
        self._readers: dict[str, queue.SimpleQueue[Item | Asked]] = {}
        self._synced = {kind: asyncio.Event() for kind in self._kinds}

    def read(self, token: str) -> "queue.SimpleQueue[Item | Asked]":
        """What happens to objects with this ending from now on; may be read in another thread."""
        return self._readers.setdefault(token, queue.SimpleQueue())

    def known(self, ref: Ref) -> bool:
        """Whether an object on the cluster is of a case that has been read for."""
        return (ref.namespace or ref.name).rpartition("-")[2] in self._readers

    async def all_synced(self) -> None:
        """Return when every watch is up."""
        for event in self._synced.values():
            await event.wait()

    async def run(self) -> None:
        """For ever. Raises NotInstalled."""
        await together({f"news of {kind}": self._follow(kind) for kind in self._kinds})

    async def _follow(self, kind: str) -> None:
        async for delta in Reflector(self._client, kind).deltas():
            match delta:
                case Changed(ref, manifest, version):
                    self.tell(Item(ref, manifest, version))
                case Gone(ref, version):
                    self.tell(Item(ref, None, version))
                case Synced():
                    self._synced[kind].set()
                case Missing():
                    raise NotInstalled(kind)

    def tell(self, item: Item | Asked) -> None:
        """To the case whose names it bears."""
        token = (item.ref.namespace or item.ref.name).rpartition("-")[2]
        reader = self._readers.get(token)
        if reader is not None:
            reader.put(item)
