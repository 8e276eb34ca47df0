"""Just enough of an API server for certificates and webhooks: Secrets with versions, webhook configurations with JSON
Patch and server-side apply."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web


class Stored:
    """Objects by URL path. Writes with an old resourceVersion conflict, as does creating twice."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.down = False
        self._version = 0
        self._managed: dict[tuple[str, str], frozenset[str]] = {}  # path, field manager -> names of its webhooks

    def put(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        self.objects[path] = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        return self.objects[path]

    async def answer(self, http: web.Request) -> web.Response:
        if self.down:
            return web.json_response({"message": "down"}, status=503)
        path, held = http.path, self.objects.get(http.path)
        if http.method == "GET":
            return web.json_response(held or {"message": "not found"}, status=200 if held else 404)
        body = json.loads(await http.read())
        if http.method == "POST":
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                return web.json_response({"reason": "AlreadyExists"}, status=409)
            return web.json_response(self.put(path, body), status=201)
        assert held is not None
        if http.method == "PUT":
            if body["metadata"]["resourceVersion"] != held["metadata"]["resourceVersion"]:
                return web.json_response({"reason": "Conflict"}, status=409)
            return web.json_response(self.put(path, body))
        if http.content_type == "application/apply-patch+yaml":
            if body["metadata"]["resourceVersion"] != held["metadata"]["resourceVersion"]:
                return web.json_response({"reason": "Conflict"}, status=409)
            return web.json_response(self._applied(path, held, body, http.query["fieldManager"]))
        assert http.content_type == "application/json-patch+json"
        return web.json_response(self.put(path, _patched(held, body)))

    def _applied(self, path: str, held: dict[str, Any], body: dict[str, Any], manager: str) -> dict[str, Any]:
        """Server-side apply of webhooks, by name: the manager's own are what it says, the others stay."""
        said = {webhook["name"]: webhook for webhook in body["webhooks"]}
        before = self._managed.get((path, manager), frozenset())
        self._managed[path, manager] = frozenset(said)
        kept = [each for each in held["webhooks"] if each["name"] not in before | said.keys()]
        webhooks = [*kept, *said.values()]
        return held if webhooks == held["webhooks"] else self.put(path, {**held, "webhooks": webhooks})


def _patched(obj: dict[str, Any], operations: list[dict[str, Any]]) -> dict[str, Any]:
    obj = json.loads(json.dumps(obj))
    for operation in operations:
        *parents, last = operation["path"].split("/")[1:]
        target: Any = obj
        for step in parents:
            target = target[int(step) if isinstance(target, list) else step]
        if operation["op"] == "test":
            assert target[last] == operation["value"]
        else:
            assert operation["op"] == "add"
            target[last] = operation["value"]
    return obj


@asynccontextmanager
async def loopback() -> AsyncIterator[tuple[Stored, str]]:
    """The store and the URL under which it is served."""
    stored = Stored()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stored.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0]
        yield stored, f"http://{host}:{port}"
    finally:
        await runner.cleanup()
