"""The controllers' certificate, of an authority of our own: for metrics and the visibility API.

The APIService objects are told to trust it; who scrapes metrics finds it in the Secret, as `ca.crt`.
"""

from collections.abc import Sequence

import msgspec

from admission.published.pending import GROUP, VERSIONS
from controller.kit.certificates import Pair
from controller.kit.clock import SYSTEM, Clock
from controller.kit.keyring import Keyring
from controller.kit.logs import Log
from controller.kit.serving import Serving
from controller.kube.authority import Authority
from controller.kube.client import Client
from controller.kube.errors import NotFound
from controller.pages.names import METRICS_SERVICE, SECRET, VISIBILITY_SERVICE

_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices/"

log = Log("pages.certificate")


class ControllerAuthority(Authority):
    def __init__(
        self, client: Client, namespace: str, servings: Sequence[Serving], *, aggregated: bool, clock: Clock = SYSTEM
    ) -> None:
        """`servings` get every certificate. `aggregated`: the API server calls us, APIServices say whom it trusts."""

        def serve(pair: Pair) -> bool:
            news = [serving.load(pair) for serving in servings]
            return any(news)

        super().__init__(client, namespace, SECRET, names(namespace), serve, clock)
        self._aggregated = aggregated
        self._told = False

    async def publish(self, ring: Keyring) -> bool:
        """What is not installed yet can't be wrong."""
        if not self._aggregated:
            return True
        found = [await self._publish_to(f"{_SERVICES}{version}.{GROUP}", ring) for version in VERSIONS]
        if not any(found) and not self._told:
            # With --webhook-url alone `lockgate install` makes none: no fault, and nothing to do about.
            log.info("no APIService leads to the visibility API; `lockgate install` says how one does")
        self._told = not any(found)
        return True

    async def _publish_to(self, path: str, ring: Keyring) -> bool:
        try:
            spec = msgspec.json.decode(await self._client.call("GET", path)).get("spec") or {}
        except NotFound:
            return False
        if spec.get("insecureSkipTLSVerify"):
            return True  # Kueue's own object: it trusts anybody, and may not name an authority besides
        held = spec.get("caBundle") or ""
        wanted = self._added(held, ring)
        if held != wanted:
            body = msgspec.json.encode({"spec": {"caBundle": wanted}})
            await self._client.call("PATCH", path, body=body, content_type="application/merge-patch+json")
            log.info("published the authorities", api_service=path.rpartition("/")[2])
        return True


def names(namespace: str) -> Sequence[str]:
    """Under which we are called: a Service's name in the handshake, wherever it leads, or this machine."""
    inside = [f"{service}.{namespace}.svc" for service in (VISIBILITY_SERVICE, METRICS_SERVICE)]
    return [*inside, *(f"{name}.cluster.local" for name in inside), "localhost", "127.0.0.1"]
