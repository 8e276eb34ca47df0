"""The visibility API: who waits in a queue and at which place, served by every replica behind the API server.

    /apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/CQ/pendingworkloads?offset=0&limit=1000
    /apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/NS/localqueues/LQ/pendingworkloads

The API server passes requests on and says who asks; nothing is kept here, and nothing can be changed.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

import msgspec
from aiohttp import web

from admission.published.pending import DEFAULT_LIMIT, GROUP, MOST, VERSIONS, in_cluster_queue, in_local_queue
from admission.state import State
from controller.kit.logs import Log
from controller.kit.serving import Serving
from controller.kit.tasks import together
from controller.kube.callers import Callers, Unknown, User, Wish
from controller.kube.client import Client
from controller.kube.errors import ApiError
from controller.pages import visibility_documents as documents
from controller.pages.visibility_documents import Document

IDLE_SECONDS = 120.0  # above the API server's 90: it closes idle connections, never we under a request
CHUNK = 500  # entries written between two turns of the event loop: about two milliseconds
_BEYOND = 2**32  # an offset behind every queue's last entry, small enough to add to
_INT64 = re.compile(r"[+-]?[0-9]{1,19}")

_PENDING = re.compile(
    rf"/apis/{re.escape(GROUP)}/(?P<version>{'|'.join(VERSIONS)})"
    r"(?:/namespaces/(?P<namespace>[^/]+)/(?P<local>localqueues)|/(?P<cluster>clusterqueues))"
    r"/(?P<name>[^/]+)/pendingworkloads"
)
_ALIVE = ("/healthz", "/livez", "/readyz")  # for whoever asks, as on every API server

log = Log("pages.visibility")


async def run(
    client: Client, state: State, where: tuple[str, int], known: Callable[[], Awaitable[None]], serving: Serving
) -> None:
    """For ever, from when State is complete (`known` waits for that), the certificate is there and the front proxy can
    be told from others. `serving` asks for certificates of clients. Raises OSError when the address can't be served
    on."""
    callers = Callers(client, serving.trust)

    async def front() -> None:
        await known()
        await serving.loaded.wait()
        await callers.ready.wait()
        async with Visibility(state, callers).served(*where, serving):
            await asyncio.Event().wait()

    await together({"callers": callers.run(), "visibility": front()})


class Visibility:
    def __init__(self, state: State, callers: Callers) -> None:
        self._state = state
        self._callers = callers

    @asynccontextmanager
    async def served(self, host: str, port: int, serving: Serving) -> AsyncIterator[tuple[str, int]]:
        """Serve while inside; gives host and port. Raises OSError."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app, access_log=None, keepalive_timeout=IDLE_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port, ssl_context=serving.context).start()
            where: Any = runner.addresses[0]
            log.info("serving the visibility API", address=f"{where[0]}:{where[1]}")
            yield where[0], where[1]
        finally:
            await runner.cleanup()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request. Never raises: a fault of the API server is told as one."""
        if request.path in _ALIVE:
            return web.Response(text="ok")
        if request.method != "GET":
            refusal = "the server does not allow this method on the requested resource"
            return _json(documents.status(405, "MethodNotAllowed", refusal))
        wish = _wish(request.path)
        try:
            user = await self._callers.who(_certificate(request), request.headers, _Values(request))
            if not await self._callers.may(user, wish):
                return _json(documents.forbidden(user, wish))
        except Unknown:
            return _json(documents.unknown())
        except ApiError as error:
            log.warning("nobody can say who asks or what they may do", why=str(error))
            return _json(documents.status(503, "ServiceUnavailable", f"the API server does not answer: {error}"))
        if wish.resource:
            return await self._pending(request, user, wish)
        if request.path == "/apis" and documents.EVERYTHING in request.headers.get("Accept", "").replace(" ", ""):
            body = msgspec.json.encode(documents.everything())
            return web.Response(body=body, headers={"Content-Type": documents.EVERYTHING})
        return _json(_document(request.path))

    async def _pending(self, request: web.Request, user: User, wish: Wish) -> web.StreamResponse:
        try:
            offset = min(max(0, _number(request.query, "offset", 0)), _BEYOND)
            # Like Kueue: a limit of 0 is none given.
            limit = min(max(0, _number(request.query, "limit", 0) or DEFAULT_LIMIT), MOST)
        except ValueError as error:
            return _json(documents.status(400, "BadRequest", str(error)))
        try:
            if wish.resource == "localqueues":
                found = in_local_queue(self._state, wish.namespace, wish.name, offset, limit)
            else:
                found = in_cluster_queue(self._state, wish.name, offset, limit)
        except KeyError:
            return _json(documents.no_queue(wish.resource, wish.name))
        return await _summary(request, wish.version, found)


class _Values:
    """All values of a header, or all names of headers."""

    def __init__(self, request: web.Request) -> None:
        self._headers = request.headers

    def __call__(self, name: str) -> list[str]:
        return list(self._headers.getall(name, [])) if name else list(dict.fromkeys(self._headers))


async def _summary(request: web.Request, version: str, items: Iterator[Document]) -> web.StreamResponse:
    """Written piece by piece: a hundred thousand entries must not keep the event loop."""
    head = {"kind": documents.SUMMARY, "apiVersion": f"{GROUP}/{version}", "metadata": {}}
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    written = msgspec.json.encode(head)[:-1] + b',"items":['
    separator = b""
    while chunk := [*islice(items, CHUNK)]:
        written += separator + msgspec.json.encode(chunk)[1:-1]
        separator = b","
        await response.write(written)
        written = b""
        await asyncio.sleep(0)
    await response.write(written + b"]}\n")
    await response.write_eof()
    return response


def _wish(path: str) -> Wish:
    match = _PENDING.fullmatch(path)
    if match is None:
        return Wish(path=path)
    return Wish(
        group=GROUP,
        version=match["version"],
        resource=match["local"] or match["cluster"],
        subresource="pendingworkloads",
        namespace=match["namespace"] or "",
        name=match["name"],
    )


def _document(path: str) -> Document:
    match path.rstrip("/").split("/")[1:]:
        case ["apis"]:
            return documents.groups()
        case ["apis", group] if group == GROUP:
            return documents.group()
        case ["apis", group, version] if group == GROUP and version in VERSIONS:
            return documents.resources(version)
        case ["openapi", "v2"]:
            return documents.openapi_v2()
        case ["openapi", "v3"]:
            return documents.openapi_index()
        case ["openapi", "v3", "apis", group, version] if group == GROUP and version in VERSIONS:
            return documents.openapi_v3(version)
    return documents.no_path()


def _json(document: Document) -> web.Response:
    code = document["code"] if document.get("kind") == "Status" else 200
    return web.Response(status=code, body=msgspec.json.encode(document) + b"\n", content_type="application/json")


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not _INT64.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{name}: {text[:80]!r} is not a whole number that fits 64 bits; write one like {name}=100")
    return int(text)


def _certificate(request: web.Request) -> Mapping[str, Any] | None:
    """Of the client, verified in the handshake."""
    found: Mapping[str, Any] | None = request.transport.get_extra_info("peercert") if request.transport else None
    return found
