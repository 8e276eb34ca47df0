"""In which version the API server keeps our objects: those of an older one are written again as the present one.

Until then the older version cannot be taken away, and each read of such an object needs the webhooks to convert it.
"""

import base64
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from admission.api.crd import CONVERTED, LABEL, PRODUCT, SERVED, STORED, crd_name, definition
from admission.model.kinds import KINDS
from controller.kube.client import MERGE_PATCH, Client
from controller.kube.errors import ApiError, NotFound

PAGE = 500  # objects of a list: what kubectl asks for at a time
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"


async def rewrite(client: Client) -> list[str]:
    """Afterwards everything is stored as v1beta2, or a sentence says what is not and why. Raises ApiError."""
    told = []
    for kind in sorted(SERVED):
        crd = await _definition(client, kind)
        versions = ((crd or {}).get("status") or {}).get("storedVersions") or [STORED]
        if versions == [STORED]:
            continue
        try:
            count = await _written_again(client, kind)
            await _patch(client, f"{_CRDS}{crd_name(kind)}/status", {"status": {"storedVersions": [STORED]}})
            told.append(f"{kind}: {count} objects are stored as {STORED} now")
        except ApiError as error:
            older = ", ".join(version for version in versions if version != STORED)
            told.append(
                f"{kind}: some may still be stored as {older}; run `lockgate install` again once the webhooks answer "
                f"({error})"
            )
    return told


async def release(client: Client) -> list[str]:
    """Kinds that the webhooks converted are served as they are stored, so that they can be read without us; a sentence
    for each that could not be. Raises ApiError."""
    told = []
    for kind in CONVERTED:
        crd = await _definition(client, kind)
        if crd is None or crd["metadata"].get("labels", {}).get(LABEL) != PRODUCT:
            continue
        versions = (crd.get("status") or {}).get("storedVersions") or [STORED]
        if versions != [STORED]:
            told.append(
                f"{kind}: is left as it was: some may be stored as {versions[0]}, and only the webhooks read it"
            )
            continue
        alone = definition(kind)["spec"]["versions"]
        spec = {"conversion": {"strategy": "None", "webhook": None}, "versions": alone}
        await _patch(client, f"{_CRDS}{crd_name(kind)}", {"spec": spec})
    return told


async def make_way(client: Client, crd: dict[str, Any]) -> None:
    """Before this definition is applied: one that was installed by other means may name its webhook the other way, and
    both ways together are refused; or trust what is no certificate, and is not served until then. Raises ApiError."""
    wanted = ((crd["spec"].get("conversion") or {}).get("webhook") or {}).get("clientConfig") or {}
    found = await _read(client, f"{_CRDS}{crd['metadata']['name']}")
    held = (((found or {}).get("spec", {}).get("conversion") or {}).get("webhook") or {}).get("clientConfig") or {}
    other = {way: None for way in ("url", "service") if way in held and way not in wanted}
    if not _is_bundle(held.get("caBundle", "")):
        other["caBundle"] = None
    if wanted and other:
        new = {way: wanted[way] for way in ("url", "service") if way in wanted}
        patch = {"spec": {"conversion": {"webhook": {"clientConfig": {**other, **new}}}}}
        await _patch(client, f"{_CRDS}{crd['metadata']['name']}", patch)


def _is_bundle(text: str) -> bool:
    """Whether it is one at a glance, or none at all."""
    try:
        return not text or b"BEGIN CERTIFICATE" in base64.b64decode(text)
    except ValueError:
        return False


async def _written_again(client: Client, kind: str) -> int:
    """An update that changes nothing is written all the same where it changes the version that is stored."""
    count = 0
    async for metadata in _all(client, kind):
        try:
            await _patch(client, KINDS[kind].path(metadata.get("namespace", ""), metadata["name"]), {})
            count += 1
        except NotFound:
            continue  # deleted meanwhile
    return count


async def _all(client: Client, kind: str) -> AsyncIterator[dict[str, Any]]:
    further = ""
    while True:
        query: dict[str, str | int] = {"limit": PAGE, **({"continue": further} if further else {})}
        page = msgspec.json.decode(await client.call("GET", KINDS[kind].path(), query=query))
        for item in page["items"]:
            yield item["metadata"]
        further = page["metadata"].get("continue", "")
        if not further:
            return


async def _definition(client: Client, kind: str) -> dict[str, Any] | None:
    return await _read(client, f"{_CRDS}{crd_name(kind)}")


async def _read(client: Client, path: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = msgspec.json.decode(await client.call("GET", path))
    except NotFound:
        return None
    return found


async def _patch(client: Client, path: str, body: dict[str, Any]) -> None:
    await client.call("PATCH", path, body=msgspec.json.encode(body), content_type=MERGE_PATCH)
