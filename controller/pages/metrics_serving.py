"""The page of metrics as Kueue serves it: over HTTPS, to whoever's token may get /metrics, as RBAC says."""

import asyncio

from aiohttp import web

from controller.kit import probes
from controller.kit.logs import Log
from controller.kit.serving import Serving
from controller.kube.callers import Callers, Unknown, Wish
from controller.kube.client import Client
from controller.kube.errors import ApiError
from controller.pages.metrics import Page
from controller.pages.names import METRICS_READER

log = Log("pages.metrics")


async def run(client: Client, page: Page, where: str, serving: Serving) -> None:
    """For ever, from when there is a certificate. Raises OSError when the address can't be served on."""
    await serving.loaded.wait()
    door = probes.Door(serving.context, refusals(Callers(client)))
    async with probes.served(where, {}, with_metrics=True, more=page.chunks, door=door):
        await asyncio.Event().wait()


def refusals(callers: Callers) -> probes.Refusal:
    """What callers who may not get the page are answered instead: 401, 403, or 503 while nobody can say."""

    async def refusal(request: web.Request) -> web.Response | None:
        try:
            user = await callers.by_token(request.headers)
            if await callers.may(user, Wish(path=request.path)):
                return None
        except Unknown:
            said = "Unauthorized: say who you are with a bearer token that the cluster knows\n"
            return web.Response(status=401, text=said, headers={"WWW-Authenticate": "Bearer"})
        except ApiError as error:
            log.warning("nobody can say who asks or what they may do", why=str(error))
            return web.Response(status=503, text=f"the API server does not say who may read this: {error}\n")
        said = f"Forbidden: {user.name} may not get {request.path}; the ClusterRole {METRICS_READER} allows it\n"
        return web.Response(status=403, text=said)

    return refusal
