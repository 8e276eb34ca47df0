"""One kind of object, kept in step with: list, then watch, for ever, told as a stream of deltas.

Deltas are complete: what was deleted while the watch was away is told after the next list, and an object that was
deleted and made anew is told as gone first. An interrupted stream resumes from the last version heard; an expired
one (410) lists again and tells only what differs. Nothing is cached here but the versions.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import msgspec

from admission.model.kinds import Ref, kind_of
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kube.client import Client, Query
from controller.kube.errors import ApiError, Expired, Forbidden, NotFound, error_of

PAGE = 500  # objects a page: client-go's default, some 2 MiB of pods
BREATH = 100  # objects of a page told in one go: some 20 ms for whoever reads them
LIST_SECONDS = 60.0  # the API server itself gives up after a minute
WATCH_SECONDS = (240, 300)  # drawn anew for each watch, so that they don't all end together
SLACK_SECONDS = 15.0  # by how much the server may be late in ending a watch before we call it dead
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds between attempts: doubles, with jitter
MISSING_WAIT = 5.0  # seconds until we look again for a kind that is not served, but should be
OPTIONAL_WAIT = 30.0  # the same for a kind that need not be: whoever installs it hardly waits longer for its first job

log = Log("kube.reflector")


class Changed(NamedTuple):
    """It exists, like this. `manifest` has apiVersion and kind filled in."""

    ref: Ref
    manifest: dict[str, Any]
    resource_version: int


class Gone(NamedTuple):
    """It exists no more. `resource_version` is that of its end, or of the list that lacked it."""

    ref: Ref
    resource_version: int


class Synced(NamedTuple):
    """All that a list held has been told."""

    kind: str


class Missing(NamedTuple):
    """The API server does not serve the kind (its CRD is not there), or, of one that need not be, not to us."""

    kind: str
    forbidden: str = ""  # the API server's words


Delta = Changed | Gone | Synced | Missing


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    items: list[dict[str, Any]] | None = None
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class _Event(msgspec.Struct):
    type: str
    object: dict[str, Any]


_pages = msgspec.json.Decoder(_Page)
_events = msgspec.json.Decoder(_Event)


class Reflector:
    """Iterate `deltas()`; abandoning the iteration and starting another lists anew and tells what changed since."""

    def __init__(
        self,
        client: Client,
        kind: str,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        optional: bool = False,
        clock: Clock = SYSTEM,
    ) -> None:
        self.kind = kind
        self._optional = optional
        self._client = client
        self._meta = kind_of(kind)
        self._path = self._meta.path(namespace)
        selectors = {"labelSelector": labels, "fieldSelector": fields}
        self._filter: dict[str, str | int] = {name: chosen for name, chosen in selectors.items() if chosen}
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[int, str]] = {}  # namespace, name -> version, uid
        self._at = 0  # the version up to which everything was told
        self._wait = FIRST_WAIT
        self.listed_from = float("-inf")  # when (steady clock) the last complete list was asked for

    def again(self) -> None:
        """The next iteration tells of every object, not only of those that changed."""
        self._known = {key: (0, uid) for key, (_, uid) in self._known.items()}

    def heard_of(self, manifest: dict[str, Any]) -> bool:
        """A read told of this object, perhaps before we do: should it be missing in the next list, its end is told.
        False: it is no news, as we have told of its end since."""
        key, metadata = _key(manifest), manifest["metadata"]
        if key not in self._known:
            if int(metadata["resourceVersion"]) <= self._at:
                return False
            self._known[key] = (0, metadata.get("uid", ""))
        return True

    async def deltas(self) -> AsyncIterator[Delta]:
        """For ever; failures are logged and waited out."""
        listed = False
        while True:
            try:
                if not listed:
                    began = self._clock.steady()
                    async for delta in self._list():
                        yield delta
                    listed, self.listed_from = True, began
                    self._wait = FIRST_WAIT
                    yield Synced(self.kind)
                async for delta in self._watch():
                    yield delta
            except Expired:
                listed = False
                log.info("the watch fell too far behind; listing again", kind=self.kind)
            except NotFound:
                listed = False
                if await self._served():
                    await self._pause("the list was not found although its kind is served")
                    continue
                for delta in self._forget_all():
                    yield delta
                yield Missing(self.kind)
                await self._clock.sleep(OPTIONAL_WAIT if self._optional else MISSING_WAIT)
            except Forbidden as error:
                if not self._optional:
                    await self._pause(str(error))
                    continue
                listed = False
                yield Missing(self.kind, str(error))
                await self._clock.sleep(OPTIONAL_WAIT)
            except (ApiError, msgspec.DecodeError) as error:
                await self._pause(str(error))

    async def _list(self) -> AsyncIterator[Delta]:
        seen: set[tuple[str, str]] = set()
        query: dict[str, str | int] = {"limit": PAGE, **self._filter}
        while True:
            try:
                page = _pages.decode(await self._client.call("GET", self._path, query=query, within=LIST_SECONDS))
            except Expired:
                if "continue" not in query:
                    raise
                del query["continue"]  # the list took too long for its snapshot: once more from the start
                continue
            for number, manifest in enumerate(page.items or ()):
                if number % BREATH == BREATH - 1:
                    await asyncio.sleep(0)
                seen.add(_key(manifest))
                for delta in self._news(manifest):
                    yield delta
            if not page.metadata.continue_:
                break
            query["continue"] = page.metadata.continue_
        self._at = int(page.metadata.resourceVersion)
        for key in [key for key in self._known if key not in seen]:
            del self._known[key]
            yield Gone(Ref(self.kind, *key), self._at)

    async def _watch(self) -> AsyncIterator[Delta]:
        lasts = random.randint(*WATCH_SECONDS)
        query: Query = {
            "watch": "1",
            "resourceVersion": self._at,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": lasts,
            **self._filter,
        }
        began = self._clock.steady()
        async with self._client.lines(self._path, query, quiet=lasts + SLACK_SECONDS) as lines:
            async for line in lines:
                event = _events.decode(line)
                if event.type == "ERROR":
                    status = event.object
                    raise error_of(int(status.get("code") or 500), msgspec.json.encode(status))
                self._wait = FIRST_WAIT
                version = int(event.object["metadata"]["resourceVersion"])
                if event.type == "DELETED":
                    key = _key(event.object)
                    if self._known.pop(key, None) is not None:
                        yield Gone(Ref(self.kind, *key), version)
                elif event.type != "BOOKMARK":
                    for delta in self._news(event.object):
                        yield delta
                self._at = version
        if self._clock.steady() - began < 1:  # a server that ends every watch at once must not be asked in a circle
            await self._pause("the watch ended at once")

    def _news(self, manifest: dict[str, Any]) -> Iterator[Delta]:
        key, metadata = _key(manifest), manifest["metadata"]
        version, uid = int(metadata["resourceVersion"]), metadata.get("uid", "")
        known = self._known.get(key)
        if known is not None and known[0] == version:
            return
        self._known[key] = (version, uid)
        ref = Ref(self.kind, *key)
        if known is not None and known[1] != uid:
            yield Gone(ref, known[0])
        manifest.setdefault("apiVersion", self._meta.api_version)
        manifest.setdefault("kind", self._meta.kind)
        yield Changed(ref, manifest, version)

    def _forget_all(self) -> Iterator[Delta]:
        forgotten, self._known = self._known, {}
        for key, (version, _) in forgotten.items():
            yield Gone(Ref(self.kind, *key), max(version, self._at))

    async def _served(self) -> bool:
        """Whether discovery knows the kind. Telling everything gone because of one stray 404 could free quota."""
        group = f"/apis/{self._meta.group}" if self._meta.group else "/api"
        try:
            body = await self._client.call("GET", f"{group}/{self._meta.version}")
        except NotFound:
            return False
        except ApiError:
            return True
        resources = msgspec.json.decode(body).get("resources") or ()
        return any(resource.get("name") == self._meta.plural for resource in resources)

    async def _pause(self, why: str) -> None:
        seconds = self._wait * random.uniform(0.5, 1.0)
        log.warning("will try again", kind=self.kind, seconds=round(seconds, 1), why=why)
        self._wait = min(self._wait * 2, LONGEST_WAIT)
        await self._clock.sleep(seconds)


def _key(manifest: dict[str, Any]) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
