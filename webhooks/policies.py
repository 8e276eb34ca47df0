"""QueuePolicies as the webhooks know them, and what is above each queue: followed only once there is a policy."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any

from admission.model.kinds import Ref
from admission.model.queue_policy import Target
from admission.readers.narrow import mapping, text
from admission.readers.queue_policy import read_queue_policy
from admission.rules.effective_policy import Policies, path_of
from controller.kit.clock import Clock
from controller.kube.client import Client
from controller.kube.reflector import Changed, Gone, Missing, Reflector, Synced

_PARENT = {"ClusterQueue": "cohortName", "Cohort": "parentName"}  # the field of its spec that names what is above


class KnownPolicies:
    """`synced`: all policies are known. What is above a queue may not be yet; then only policies below it count."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self.policies = Policies()
        self.synced = False
        self._client, self._clock = client, clock
        self._needed = asyncio.Event()
        self._parents: dict[Ref, str] = {}

    def watches(self, note: Callable[[], None]) -> dict[str, Coroutine[Any, Any, None]]:
        """The loops that keep it in step, by name; `note` is called when `synced` turns true."""
        return {
            "watch queue policies": self._watch_policies(note),
            "watch cluster queues": self._watch_parents("ClusterQueue"),
            "watch cohorts": self._watch_parents("Cohort"),
        }

    def path(self, namespace: str, local_queue: str, cluster_queue: str) -> Iterator[Target]:
        return path_of(
            namespace, local_queue, cluster_queue, lambda kind, name: self._parents.get(Ref(kind, "", name), "")
        )

    async def _watch_policies(self, note: Callable[[], None]) -> None:
        async for delta in Reflector(self._client, "QueuePolicy", optional=True, clock=self._clock).deltas():
            match delta:
                case Changed(_, manifest, _):
                    self.policies.put(read_queue_policy(manifest))
                    self._needed.set()
                case Gone(ref, _):
                    self.policies.drop(ref.name)
                case Synced() | Missing():
                    self.synced = True
                    note()

    async def _watch_parents(self, kind: str) -> None:
        await self._needed.wait()
        async for delta in Reflector(self._client, kind, clock=self._clock).deltas():
            match delta:
                case Changed(ref, manifest, _):
                    self._parents[ref] = _parent(kind, manifest)
                case Gone(ref, _):
                    self._parents.pop(ref, None)


def _parent(kind: str, manifest: Mapping[str, Any]) -> str:
    return text(mapping(manifest.get("spec")).get(_PARENT[kind]))
