"""A loopback API server that keeps the rules a reflector and a writer live by, and misbehaves when told to.

Versions are one counter; lists come in pages from a snapshot, watches replay history, send bookmarks on demand, and
answer 410 for what was compacted. Not a fake of anything else: no schemas, no admission, no selectors.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Manifest = dict[str, Any]


def status(code: int, reason: str, message: str = "", **details: Any) -> Manifest:
    return {"kind": "Status", "code": code, "reason": reason, "message": message or reason, "details": details}


class ApiServer:
    """Objects live under their URL path. `faults` are answers given instead of the next ones, in order."""

    def __init__(self) -> None:
        self.version = 100
        self.oldest = 0  # watches from before this version get 410
        self.objects: dict[str, Manifest] = {}
        self.history: list[tuple[int, str, str, Manifest]] = []  # version, type, path, object
        self.news = asyncio.Condition()
        self.requests: list[str] = []
        self.bodies: list[Any] = []
        self.faults: deque[web.Response] = deque()
        self.deaf = asyncio.Event()  # while not set, requests are taken and never answered
        self.deaf.set()
        self.lose_replies = False  # act, then cut the connection
        self.streams: set[web.StreamResponse] = set()
        self.served = {"batch/v1": ["jobs"], "v1": ["namespaces"], "coordination.k8s.io/v1": ["leases"]}
        self.port = 0
        self._runner: web.AppRunner

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ApiServer"]:
        await self.open()
        try:
            yield self
        finally:
            await self.close()

    async def open(self) -> None:
        """Listen; on the same port as before, if there was one."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Refuse connections from now on."""
        self.deaf.set()
        await self.drop_streams()
        await self._runner.cleanup()

    # --- what a test does behind the client's back

    async def put(self, path: str, **content: Any) -> Manifest:
        """Create or replace an object, as somebody else would."""
        known = path in self.objects
        self.version += 1
        namespace, name = _names(path)
        metadata = {"name": name, "uid": content.pop("uid", f"uid-{path}"), "resourceVersion": str(self.version)}
        if namespace:
            metadata["namespace"] = namespace
        await self._happened("MODIFIED" if known else "ADDED", path, {"metadata": metadata, **content})
        return self.objects[path]

    async def remove(self, path: str) -> None:
        self.version += 1
        last = json.loads(json.dumps(self.objects[path]))
        last["metadata"]["resourceVersion"] = str(self.version)
        await self._happened("DELETED", path, last)

    async def bookmark(self) -> None:
        """Tell every watch that time has passed."""
        self.version += 1
        async with self.news:
            self.history.append((self.version, "BOOKMARK", "", _bare(self.version)))
            self.news.notify_all()

    async def drop_streams(self) -> None:
        """Cut every watch in the middle."""
        for stream in list(self.streams):
            transport = stream._req.transport if stream._req is not None else None
            if transport is not None:
                transport.abort()
        self.streams.clear()

    def compact(self) -> None:
        self.oldest = self.version

    async def _happened(self, type: str, path: str, manifest: Manifest) -> None:
        async with self.news:
            if type == "DELETED":
                del self.objects[path]
            else:
                self.objects[path] = manifest
            self.history.append((self.version, type, path, manifest))
            self.news.notify_all()

    # --- what a client sees

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        self.requests.append(f"{request.method} {request.path_qs}")
        self.bodies.append(json.loads(body) if body else None)
        await self.deaf.wait()
        if self.faults:
            return self.faults.popleft()
        answer = await self._act(request, json.loads(body) if body else None)
        if self.lose_replies and request.method != "GET" and request.transport is not None:
            request.transport.abort()
        return answer

    async def _act(self, request: web.Request, body: Any) -> web.StreamResponse:
        path = request.path
        if path.removeprefix("/apis/").removeprefix("/api/") in self.served:
            resources = self.served[path.removeprefix("/apis/").removeprefix("/api/")]
            return web.json_response({"resources": [{"name": name} for name in resources]})
        if "watch" in request.query:
            return await self._watch(request)
        match request.method:
            case "GET" if path.rpartition("/")[2] in {name for names in self.served.values() for name in names}:
                return self._list(request)
            case "GET" if path in self.objects:
                return web.json_response(self.objects[path])
            case "POST":
                return await self._create(f"{path}/{body['metadata']['name']}", body)
            case "PATCH" | "PUT" | "DELETE" if path in self.objects:
                return await self._change(request.method, path, body)
        return _refuse(404, "NotFound")

    async def _create(self, path: str, body: Manifest) -> web.Response:
        if path in self.objects:
            return _refuse(409, "AlreadyExists")
        body.get("metadata", {}).pop("resourceVersion", None)
        return web.json_response(await self.put(path, **{k: v for k, v in body.items() if k != "metadata"}), status=201)

    async def _change(self, method: str, path: str, body: Manifest) -> web.Response:
        wanted = ((body or {}).get("metadata") or {}).get("resourceVersion")
        if wanted is not None and wanted != self.objects[path]["metadata"]["resourceVersion"]:
            return _refuse(409, "Conflict")
        if method == "DELETE":
            await self.remove(path)
            return web.json_response(status(200, "Deleted"))
        content = {k: v for k, v in body.items() if k != "metadata"}
        if method == "PATCH":
            old = {k: v for k, v in self.objects[path].items() if k != "metadata"}
            content = {**old, **content}
        return web.json_response(await self.put(path, **content))

    def _list(self, request: web.Request) -> web.Response:
        mine = sorted(path for path in self.objects if _collection(path, request.path))
        start, version = 0, self.version
        if token := request.query.get("continue"):
            start, version = map(int, token.split("@"))
            if version < self.oldest:
                return _refuse(410, "Expired")
        limit = int(request.query.get("limit", "0")) or len(mine)
        rest = f"{start + limit}@{version}" if start + limit < len(mine) else ""
        items = [self.objects[path] for path in mine[start : start + limit]]
        return web.json_response({"metadata": {"resourceVersion": str(version), "continue": rest}, "items": items})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        at = int(request.query["resourceVersion"])
        if at < self.oldest:
            return _refuse(410, "Expired")
        stream = web.StreamResponse()
        await stream.prepare(request)
        self.streams.add(stream)
        try:
            while stream in self.streams:
                scanned = self.version
                for version, what, path, manifest in list(self.history):
                    if version > at and (what == "BOOKMARK" or _collection(path, request.path)):
                        at = version
                        await stream.write(json.dumps({"type": what, "object": manifest}).encode() + b"\n")
                async with self.news:
                    if self.version == scanned:
                        await self.news.wait()
        except ConnectionError:
            pass
        return stream


def _refuse(code: int, reason: str) -> web.Response:
    return web.json_response(status(code, reason), status=code)


def _bare(version: int) -> Manifest:
    return {"metadata": {"resourceVersion": str(version)}}


def _names(path: str) -> tuple[str, str]:
    parts = path.strip("/").split("/")
    return (parts[parts.index("namespaces") + 1] if parts[-4:-3] == ["namespaces"] else ""), parts[-1]


def _collection(path: str, collection: str) -> bool:
    """Whether the object at `path` is listed by `collection`, which may span all namespaces."""
    above = path.rpartition("/")[0]
    parts = above.split("/")
    everywhere = "/".join(parts[:-3] + parts[-1:]) if "namespaces" in parts[:-1] else above
    return collection in (above, everywhere)
