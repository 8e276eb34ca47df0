"""Small HTTP pages for machines: is it alive, is it ready, what does it count."""

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from controller.kit import metrics
from controller.kit.exposition import CONTENT_TYPE
from controller.kit.logs import Log

log = Log("kit.probes")

OFF = "0"  # as an address: don't serve; controller-runtime's spelling
PLAIN = "http://"  # before the address of the controller's metrics: without TLS, to whoever asks


class BadAddress(ValueError):
    """Not a HOST:PORT; the message says what is."""


def address(text: str) -> tuple[str, int]:
    """`:8081`, `127.0.0.1:8081`, `[::1]:8081`. Raises BadAddress."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535 or "/" in host:
        raise BadAddress(f"{text!r} is not an address: write HOST:PORT or :PORT, or 0 for none")
    return host.strip("[]") or "0.0.0.0", int(port)


def is_secured(where: str) -> bool:
    """Whether this address of metrics takes TLS and the caller's name."""
    return where != OFF and not where.startswith(PLAIN)


Page = Callable[[], tuple[bool, str]]
More = Callable[[], AsyncIterable[bytes]]
Refusal = Callable[[web.Request], Awaitable[web.Response | None]]


@dataclass(frozen=True, slots=True)
class Door:
    """Served over TLS, to those for whom `refusal` finds no answer of its own."""

    context: ssl.SSLContext
    refusal: Refusal


@asynccontextmanager
async def served(
    where: str,
    pages: Mapping[str, Page],
    *,
    with_metrics: bool = False,
    more: More | None = None,
    door: Door | None = None,
) -> AsyncIterator[None]:
    """Serve while inside. A page answers 200 or 503 with its text; /metrics ends with what `more` brings."""
    if where == OFF:
        yield
        return
    app = web.Application(middlewares=[_only_through(door)] if door else [])
    for path, page in pages.items():
        app.router.add_get(path, _handler(page))
    if with_metrics:
        app.router.add_get("/metrics", _metrics(more))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        host, port = address(where)
        await web.TCPSite(runner, host, port, ssl_context=door.context if door else None).start()
        log.info("serving", address=str(runner.addresses[0]), pages=[*pages, *(["/metrics"] if with_metrics else [])])
        yield
    finally:
        await runner.cleanup()


def _only_through(door: Door) -> Middleware:
    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = await door.refusal(request)
        return await handler(request) if refused is None else refused

    return answer


def _handler(page: Page) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(_: web.Request) -> web.Response:
        good, text = page()
        return web.Response(status=200 if good else 503, text=text + "\n")

    return answer


def _metrics(more: More | None) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": CONTENT_TYPE})
        await response.prepare(request)
        await response.write(metrics.page())
        if more is not None:
            async for chunk in more():
                await response.write(chunk)
        await response.write_eof()
        return response

    return answer
