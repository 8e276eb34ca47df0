"""Keeps the Secret, the certificate being served and every caBundle in step."""

from collections.abc import Sequence

import msgspec

from admission.answers.configurations import JOB_KINDS, QUEUE_KINDS, SECRET
from admission.api.crd import CONVERTED, LABEL, PRODUCT, crd_name
from controller.kit.clock import SYSTEM, Clock
from controller.kit.keyring import Keyring
from controller.kit.logs import Log
from controller.kit.serving import Serving
from controller.kube.authority import Authority
from controller.kube.client import Client
from controller.kube.errors import NotFound

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/"
_PLURALS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

log = Log("webhooks.rotation")


class _ClientConfig(msgspec.Struct, rename="camel"):
    ca_bundle: str = ""


class _Webhook(msgspec.Struct, rename="camel"):
    client_config: _ClientConfig


class _Conversion(msgspec.Struct):
    webhook: _Webhook | None = None


class _Spec(msgspec.Struct):
    conversion: _Conversion = msgspec.field(default_factory=_Conversion)


class _Metadata(msgspec.Struct):
    labels: dict[str, str] = {}


class _Definition(msgspec.Struct):
    """Of a CRD what matters here; its schemas are passed over unread."""

    metadata: _Metadata
    spec: _Spec


_definitions = msgspec.json.Decoder(_Definition)


class OwnAuthority(Authority):
    """Certificates of our own making, shared by all replicas through one Secret."""

    def __init__(
        self, client: Client, namespace: str, names: Sequence[str], serving: Serving, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(client, namespace, SECRET, names, serving.load, clock)
        self._warned = False

    async def publish(self, ring: Keyring) -> bool:
        """Afterwards every webhook of ours trusts the whole ring; those that don't exist yet can't be wrong."""
        found = 0
        for plural in _PLURALS:
            for name in (QUEUE_KINDS, JOB_KINDS):
                found += await self._publish_to(f"{_CONFIGURATIONS}{plural}/{name}", ring)
        for kind in CONVERTED:
            await self._publish_to_definition(f"{_DEFINITIONS}{crd_name(kind)}", ring)
        if not found and not self._warned:
            log.warning("no webhook configuration of ours exists yet: run `lockgate install`")
        self._warned = not found
        return True

    async def _publish_to(self, path: str, ring: Keyring) -> bool:
        try:
            webhooks = msgspec.json.decode(await self._client.call("GET", path)).get("webhooks") or []
        except NotFound:
            return False
        patch = []
        for at, webhook in enumerate(webhooks):
            held = webhook["clientConfig"].get("caBundle", "")
            wanted = self._added(held, ring)
            if held != wanted:
                patch.append({"op": "test", "path": f"/webhooks/{at}/name", "value": webhook["name"]})
                patch.append({"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": wanted})
        if patch:
            body = msgspec.json.encode(patch)
            await self._client.call("PATCH", path, body=body, content_type="application/json-patch+json")
            log.info("published the authorities", configuration=path.rpartition("/")[2], webhooks=len(patch) // 2)
        return True

    async def _publish_to_definition(self, path: str, ring: Keyring) -> None:
        """The same for the webhook that converts a kind. CRDs that bear another's name are not ours to change."""
        try:
            found = _definitions.decode(await self._client.call("GET", path))
        except NotFound:
            return
        webhook = found.spec.conversion.webhook
        if webhook is None or found.metadata.labels.get(LABEL) != PRODUCT:
            return
        wanted = self._added(webhook.client_config.ca_bundle, ring)
        if webhook.client_config.ca_bundle == wanted:
            return
        patch = [{"op": "add", "path": "/spec/conversion/webhook/clientConfig/caBundle", "value": wanted}]
        body = msgspec.json.encode(patch)
        await self._client.call("PATCH", path, body=body, content_type="application/json-patch+json")
        log.info("published the authorities", definition=path.rpartition("/")[2])
