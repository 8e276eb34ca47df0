"""A certificate authority of our own, shared by all replicas through one Secret, and trusted where it must be.

What comes next is the keyring's word; here it is stored, served and published again and again.
"""

import base64
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from controller.kit.certificates import Pair, bundle, ends, split
from controller.kit.clock import SYSTEM, Clock
from controller.kit.keyring import Keyring, first, from_secret, next_step, to_secret
from controller.kit.logs import Log
from controller.kube.client import Client
from controller.kube.errors import ApiError, Conflict, NotFound

LOOK_SECONDS = 10.0  # between looks at the Secret and at where it is published: nine GETs at most

log = Log("kube.authority")


class Authority:
    """`serve` is handed the leaf, and says whether it was new. Who inherits says where the authority is published."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        secret: str,
        names: Sequence[str],
        serve: Callable[[Pair], bool],
        clock: Clock = SYSTEM,
    ) -> None:
        self._client = client
        self._collection = f"/api/v1/namespaces/{namespace}/secrets"
        self._namespace = namespace
        self._name = secret
        self._names = tuple(names)
        self._serve = serve
        self._clock = clock
        self._ring: Keyring | None = None

    async def publish(self, ring: Keyring) -> bool:
        """Afterwards everybody who calls us trusts the whole ring; whether that is so. Raises ApiError."""
        raise NotImplementedError

    async def run(self) -> None:
        """For ever; failures are logged and tried again."""
        while True:
            try:
                await self.step()
            except ApiError as error:
                log.warning("certificates can't be kept in step, will try again", why=str(error))
            await self._clock.sleep(LOOK_SECONDS)

    async def step(self) -> Keyring:
        """One look: store what comes next, serve it, publish it. Raises ApiError."""
        now = self._moment()
        secret = await self._secret()
        ring = from_secret(secret.get("data") or {}) if secret else None
        if ring is None:  # lost or damaged: what was served until now is still trusted
            ring = await self._store(self._ring or first(self._names, now), secret)
        everywhere = await self.publish(ring)
        following = next_step(ring, self._names, now, everywhere)
        if following is not ring:
            ring = await self._store(following, await self._secret() if secret is None else secret)
            await self.publish(ring)
        self._ring = ring
        if self._serve(ring.leaf):
            log.info("serving a new certificate", secret=f"{self._namespace}/{self._name}")
        return ring

    def _added(self, held: str, ring: Keyring) -> str:
        """The caBundle with the ring added. What is there stays until it ends: a replica that is behind removes
        nothing."""
        now = self._moment()
        try:
            others = [each for each in split(base64.b64decode(held)) if ends(each) > now]
        except ValueError:
            others = []
        return base64.b64encode(bundle(*others, *ring.trusted)).decode()

    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)

    async def _secret(self) -> dict[str, Any] | None:
        try:
            answer = await self._client.call("GET", f"{self._collection}/{self._name}")
        except NotFound:
            return None
        found: dict[str, Any] = msgspec.json.decode(answer)
        return found

    async def _store(self, ring: Keyring, before: dict[str, Any] | None) -> Keyring:
        """What ends up stored: ours, or another replica's that was faster."""
        metadata = {"name": self._name, "namespace": self._namespace}
        if before is not None:
            metadata = before["metadata"]
        body = {**(before or {}), "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": to_secret(ring)}
        encoded = msgspec.json.encode(body)
        try:
            if before is None:
                await self._client.call("POST", self._collection, body=encoded)
            else:
                await self._client.call("PUT", f"{self._collection}/{self._name}", body=encoded)
        except Conflict:
            theirs = await self._secret()
            found = from_secret((theirs or {}).get("data") or {})
            if found is None:
                raise
            return found
        log.info("stored certificates", secret=f"{self._namespace}/{self._name}")
        return ring
