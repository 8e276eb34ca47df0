"""What `lockgate install` does: apply, in order, and wait for what must be there before the next step.

Everything is applied by the server under a field manager of its own, so that what others set (the authorities in the
caBundles, say) stays. Webhook configurations come last: until the webhooks answer, they stop writes.
"""

import asyncio
from typing import Any

import msgspec

from admission.answers import by_service, by_url, webhook_configurations
from admission.answers.configurations import SECRET, SERVICE
from admission.api.crd import CONVERT_PATH, definitions
from admission.model.configuration import Configuration
from controller.cli import aggregation, roles, scraping, stored
from controller.cli.complaint import Complaint
from controller.kube.client import Client
from controller.kube.errors import ApiError, NotFound, TryAgain

MANAGER = "lockgate-install"
POLL_SECONDS = 0.5  # while waiting; each look is one small request
ESTABLISHED_SECONDS = 60.0  # for the API server to serve our kinds; takes about one
BUNDLE = "ca.crt"  # in the Secret of the webhooks


async def install(
    client: Client, core: Configuration, webhook_url: str | None, visibility_url: str | None = None
) -> None:
    """Also brings an older installation up to date. Raises ApiError, Complaint."""
    cluster = Cluster(client)
    await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": core.namespace}})
    bundle = await cluster.ca_bundle(core.namespace)
    reached = by_url(webhook_url, bundle) if webhook_url else by_service(core.namespace, bundle)
    crds = list(definitions(reached(CONVERT_PATH)))
    for crd in crds:
        await stored.make_way(client, crd)
        await cluster.apply(crd)
    for crd in crds:
        await cluster.established(crd["metadata"]["name"])
    for manifest in [
        *roles.manifests(core.namespace),
        *aggregation.rights(core.namespace),
        scraping.reader(),
    ]:
        await cluster.apply(manifest)
    if webhook_url is None:
        await cluster.apply(_service(core.namespace))
        await cluster.apply(scraping.service(core.namespace))
    # An APIService that leads nowhere disturbs everybody's discovery, and no namespace can be deleted beside it.
    if core.gates["VisibilityOnDemand"] and (webhook_url is None or visibility_url is not None):
        for manifest in aggregation.manifests(core.namespace, visibility_url):
            await cluster.apply(manifest)
    else:
        for manifest in reversed(aggregation.manifests(core.namespace, None)):
            await cluster.withdraw(manifest)
    for manifest in webhook_configurations(reached, core):
        await cluster.apply(manifest)


async def uninstall(client: Client, core: Configuration) -> list[str]:
    """Webhook configurations first, since they stop writes; CRDs and what people made of them stay, and can be read
    without the webhooks. Sentences for people about what could not be done. Raises ApiError."""
    cluster = Cluster(client)
    for manifest in webhook_configurations(by_service(core.namespace), core):
        await cluster.delete(manifest)
    told = [*await stored.rewrite(client), *await stored.release(client)]
    scraped = (scraping.reader(), scraping.service(core.namespace))
    for manifest in [*roles.manifests(core.namespace), _service(core.namespace), *scraped]:
        await cluster.delete(manifest)
    for manifest in [*reversed(aggregation.manifests(core.namespace, None)), *aggregation.rights(core.namespace)]:
        await cluster.delete(manifest)
    return told


class Cluster:
    """The few things that installing asks of an API server. All raise ApiError or Complaint."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def apply(self, manifest: dict[str, Any]) -> None:
        """Create it, or bring our fields up to date."""
        query = {"fieldManager": MANAGER, "force": "true"}
        body, kind = msgspec.json.encode(manifest), "application/apply-patch+yaml"
        try:
            await self._client.call("PATCH", path_of(manifest), query=query, body=body, content_type=kind)
        except ApiError as error:
            name = f"{manifest['kind']} {manifest['metadata']['name']}"
            raise Complaint(f"{name} could not be applied: {error}", exit_code=1) from error

    async def established(self, name: str) -> None:
        """Wait until the API server serves the kind."""
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        conditions: list[dict[str, str]] = []
        try:
            async with asyncio.timeout(ESTABLISHED_SECONDS):
                while True:
                    found = msgspec.json.decode(await self._client.call("GET", path))
                    conditions = found.get("status", {}).get("conditions") or []
                    if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
                        return
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            told = "; ".join(each.get("message", "") for each in conditions) or "no conditions"
            raise Complaint(f"{name} is not served after {ESTABLISHED_SECONDS:g} s: {told}", exit_code=1) from None

    async def ca_bundle(self, namespace: str) -> str:
        """What the webhooks' Secret says is to be trusted, in base64; empty where they have not started yet."""
        try:
            secret = await self._client.call("GET", f"/api/v1/namespaces/{namespace}/secrets/{SECRET}")
        except NotFound:
            return ""
        return str((msgspec.json.decode(secret).get("data") or {}).get(BUNDLE, ""))

    async def answered(self, seconds: float) -> None:
        """Wait until a dry run of a write passes all our webhooks."""
        path = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
        probe = b'{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"lockgate-probe"}}'
        last: ApiError | None = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        await self._client.call("POST", path, query={"dryRun": "All"}, body=probe)
                        return
                    except TryAgain as error:  # a webhook that can't be reached is a 500 of the API server
                        last = error
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            why = f"the webhooks do not answer after {seconds:g} s: {last}; is `lockgate webhooks` running?"
            raise Complaint(why, exit_code=1) from None

    async def withdraw(self, manifest: dict[str, Any]) -> None:
        """Delete what an earlier installation of ours applied under this name; somebody else's stays."""
        try:
            found = msgspec.json.decode(await self._client.call("GET", path_of(manifest)))
        except NotFound:
            return
        wanted = manifest["metadata"]["labels"]["app.kubernetes.io/name"]
        if (found["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == wanted:
            await self.delete(manifest)

    async def delete(self, manifest: dict[str, Any]) -> None:
        """Delete it if it is there."""
        try:
            await self._client.call("DELETE", path_of(manifest))
        except NotFound:
            return


# Plurals of what is applied here; the product's own table of kinds holds what it watches.
_PLURALS = {
    "Namespace": "namespaces",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "CustomResourceDefinition": "customresourcedefinitions",
    "APIService": "apiservices",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


def path_of(manifest: dict[str, Any]) -> str:
    """The URL path of an object of one of the kinds that are installed."""
    version, metadata = manifest["apiVersion"], manifest["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    inside = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{inside}/{_PLURALS[manifest['kind']]}/{metadata['name']}"


def _service(namespace: str) -> dict[str, Any]:
    selector = {"app.kubernetes.io/name": "lockgate", "app.kubernetes.io/component": "webhooks"}
    spec = {"selector": selector, "ports": [{"name": "webhooks", "port": 443, "targetPort": 9443}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": roles.labelled(SERVICE, namespace), "spec": spec}
