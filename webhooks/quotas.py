"""Elastic quotas as the webhooks know them: by watching for the pods that name them, listed anew for each quota that
somebody writes, because a parent may be a moment older than its child."""

from collections.abc import Callable

import msgspec

from admission.model.elastic_quota import QUOTA_NAME, Bindings, ElasticQuota
from admission.model.kinds import Ref, kind_of
from admission.readers.elastic_quota import read_elastic_quota
from controller.kit.clock import Clock
from controller.kube.client import Client
from controller.kube.errors import Forbidden, NotFound
from controller.kube.reflector import Changed, Gone, Missing, Reflector, Synced
from controller.kube.store import Store

# For so long is a list taken for what is: about as long as a review takes, and a watch may be late.
FRESH_SECONDS = 0.2
ALL = Ref("ElasticQuota", "", "")


class Quotas:
    """A cluster that does not serve the kind, or does not let us see it, has none."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self.bindings = Bindings(())
        self._client = client
        self._clock = clock
        self._store: Store[ElasticQuota] = Store()
        self._listed = float("-inf")
        self._pods: dict[str, tuple[float, bool]] = {}  # of quotas whose pods were asked for: when, whether any

    @property
    def synced(self) -> bool:
        return self._store.synced

    @property
    def fresh(self) -> bool:
        """Whether all of them were listed just now."""
        return self._clock.steady() - self._listed <= FRESH_SECONDS

    def has_pods(self, quota: str) -> bool | None:
        """None: to be fetched."""
        when, any_of_it = self._pods.get(quota, (float("-inf"), False))
        return any_of_it if self._clock.steady() - when <= FRESH_SECONDS else None

    async def fetch(self, missing: Ref, within: float) -> None:
        """All quotas, or whether there are pods of one. Raises ApiError."""
        if missing == ALL:
            await self._list(within)
            return
        query: dict[str, str | int] = {"labelSelector": f"{QUOTA_NAME}={missing.name}", "limit": 1}
        body = await self._client.call("GET", kind_of("Pod").path(), query=query, within=within)
        self._pods = {missing.name: (self._clock.steady(), bool(msgspec.json.decode(body).get("items")))}

    async def _list(self, within: float) -> None:
        try:
            body = msgspec.json.decode(await self._client.call("GET", kind_of(ALL.kind).path(), within=within))
        except (NotFound, Forbidden):
            body = {}
        listed: dict[Ref, None] = {}
        for manifest in body.get("items") or ():
            quota = read_elastic_quota(manifest)
            ref = Ref(ALL.kind, quota.namespace, quota.name)
            listed[ref] = None
            self._store.put(ref, quota, quota.resource_version)
        version = int((body.get("metadata") or {}).get("resourceVersion") or 0)
        for quota in list(self._store.values()):
            ref = Ref(ALL.kind, quota.namespace, quota.name)
            if ref not in listed and quota.resource_version <= version:
                self._store.drop(ref)
        self._listed = self._clock.steady()
        self._put_together()

    async def watch(self, note_synced: Callable[[], None], note_changed: Callable[[], None] = lambda: None) -> None:
        """For ever."""
        async for delta in Reflector(self._client, ALL.kind, optional=True, clock=self._clock).deltas():
            match delta:
                case Changed(ref, manifest, version):
                    before, quota = self._store.get(ref), read_elastic_quota(manifest)
                    self._store.put(ref, quota, version)
                    if before is not None and before.as_written == quota.as_written:
                        continue  # figures are published all the time
                case Gone(ref, version):
                    self._store.drop(ref, version)
                case Synced() | Missing():
                    self._store.synced = True
                    note_synced()
            if self._store.synced:
                self._put_together()
                note_changed()

    def _put_together(self) -> None:
        self.bindings = Bindings(self._store.values())
