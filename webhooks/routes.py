"""HTTP requests to answers: one POST route per webhook path, limits on size and time, and never a 500.

A fault of ours is answered too: as a refusal that says so, because the API server turns silence into the same
refusal, only later and without a word.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from aiohttp import web

from admission.answers import HOOKS, Answer, Request, View, answer, hook_at
from controller.kit import metrics
from controller.kit.logs import Log
from controller.kube.errors import ApiError
from webhooks import conversion, review
from webhooks.body import body_of
from webhooks.view import OwnerUnknown

LARGEST_BODY = 8 * 2**20  # bytes: an object of 1.5 MiB twice, escaped at worst, and the envelope
SECONDS = 4.0  # for the whole request: one less than the API server waits, so that it hears why

log = Log("webhooks")


class FetchingView(View, Protocol):
    """A view whose `owner` may raise OwnerUnknown."""

    async def fetch(self, missing: OwnerUnknown) -> None:
        """Afterwards the view knows it. Raises ApiError."""
        ...


def application(view: FetchingView) -> web.Application:
    """Everything the API server may ask for."""
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=[_refused_lightly])
    for hook in HOOKS:
        app.router.add_post(hook.path, _Handler(hook.path, view).post)
    conversion.add_to(app)
    app.router.add_post("/{path}", _Described(view).post)
    return app


@web.middleware
async def _refused_lightly(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refusals as plain responses. aiohttp keeps the last response of a connection until the next request, and an
    exception would keep the frames that it came through, with the whole body in them."""
    try:
        return await handler(request)
    except web.RequestPayloadError as error:
        # Not packed as its head says.
        status, text = 400, f"the body can't be unpacked: {error}\n"
    except web.HTTPException as refusal:
        status, text = refusal.status, refusal.text or ""
    response = web.Response(status=status, text=text)
    if status == 413:
        response.force_close()  # what is still to come is not worth reading
    return response


class _Handler:
    """One path."""

    def __init__(self, path: str, view: FetchingView) -> None:
        self._path = path
        self._view = view
        self._allowed = metrics.REVIEWS.labels(path, "allowed")
        self._refused = metrics.REVIEWS.labels(path, "refused")
        self._unreadable = metrics.REVIEWS.labels(path, "unreadable")

    async def post(self, http: web.Request) -> web.Response:
        if http.content_type != "application/json":
            self._unreadable.inc()
            raise web.HTTPUnsupportedMediaType(text="send the AdmissionReview as application/json\n")
        try:
            async with asyncio.timeout(SECONDS):
                return await self._answered(http)
        except TimeoutError:
            self._unreadable.inc()
            raise web.HTTPRequestTimeout(text=f"the review took longer than {SECONDS:g} s\n") from None

    async def _answered(self, http: web.Request) -> web.Response:
        try:
            question = review.read(await body_of(http, LARGEST_BODY))
        except review.BadReview as error:
            self._unreadable.inc()
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        except ConnectionResetError:
            # Nobody reads this; unanswered, aiohttp would log it as a fault of ours.
            self._unreadable.inc()
            raise web.HTTPBadRequest(text="the body has no end\n") from None
        said = await self._ask(question.request)
        (self._allowed if said.allowed else self._refused).inc()
        return web.Response(body=review.write(question.uid, said), content_type="application/json")

    async def _ask(self, request: Request) -> Answer:
        try:
            return await ask(self._path, request, self._view)
        except ApiError as error:
            return Answer(False, f"an owner of the object could not be looked up, try again: {error}", code=503)
        except Exception:
            log.exception("no answer found", path=self._path, operation=request.operation)
            return Answer(False, "the webhook failed on this object; its log says why", code=500)


class _Described:
    """The paths of described kinds, which come and go."""

    def __init__(self, view: FetchingView) -> None:
        self._view = view
        self._handlers: dict[str, _Handler] = {}

    async def post(self, http: web.Request) -> web.Response:
        path = http.path
        if hook_at(path, self._view.job_kinds) is None:
            raise web.HTTPNotFound(text=f"no webhook is served at {path[:200]}\n")
        if path not in self._handlers:
            self._handlers[path] = _Handler(path, self._view)
        return await self._handlers[path].post(http)


async def ask(path: str, request: Request, view: FetchingView) -> Answer:
    """The answer, after fetching what it turned out to need. Raises ApiError."""
    while True:
        try:
            return answer(path, request, view)
        except OwnerUnknown as missing:
            await view.fetch(missing)
