"""A cluster that is lent to the run: nobody's product may be there before, and nothing of ours after."""

from collections.abc import Callable

import msgspec

from admission.answers.configurations import QUEUE_KINDS
from admission.model.configuration import Configuration
from admission.model.kinds import KINDS, Ref
from admission.model.times import BadTime, seconds
from controller.cli.complaint import Complaint
from controller.kit.clock import SYSTEM
from controller.kube.client import Client
from controller.kube.errors import NotFound
from controller.kube.lease import NAME

LOOK_SECONDS = 0.5
GONE_SECONDS = 60.0  # for the product to let go of what the cases made
_CONFIGURATION = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{QUEUE_KINDS}"
_HELD = ("Workload", "ClusterQueue", "ResourceFlavor")  # by finalizers that only the product takes away


async def check(client: Client, core: Configuration) -> None:
    """Raises Complaint when a product is installed or leads here, ApiError."""
    holder = await _leader(client, core.namespace)
    if holder:
        raise Complaint(
            f"--own-product: a controller leads on this cluster ({holder} holds the Lease {core.namespace}/{NAME}); "
            f"stop it, or leave the flag away and run on it"
        )
    try:
        await client.call("GET", _CONFIGURATION)
    except NotFound:
        return
    raise Complaint(
        "--own-product: Lockgate is installed on this cluster, and this run would put its own webhooks in the place of "
        "those; run `lockgate uninstall` first, or take another cluster"
    )


async def _leader(client: Client, namespace: str) -> str:
    """Who holds the Lease and has renewed it in time; "" when nobody does."""
    try:
        lease = msgspec.json.decode(await client.call("GET", KINDS["Lease"].path(namespace, NAME)))
    except NotFound:
        return ""
    spec = lease.get("spec") or {}
    holder, renewed = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime") or "")
    try:
        fresh = SYSTEM.now() - seconds(renewed) < float(spec.get("leaseDurationSeconds") or 0)
    except BadTime:
        return ""
    return holder if fresh else ""


async def emptied(client: Client, mine: Callable[[Ref], bool]) -> None:
    """Wait until what the cases made has gone, as only a running product lets go of it. Raises ApiError."""
    deadline = SYSTEM.steady() + GONE_SECONDS
    while await _any(client, mine) and SYSTEM.steady() < deadline:
        await SYSTEM.sleep(LOOK_SECONDS)


async def _any(client: Client, mine: Callable[[Ref], bool]) -> bool:
    for kind in _HELD:
        for item in msgspec.json.decode(await client.call("GET", KINDS[kind].path())).get("items") or ():
            if mine(Ref(kind, item["metadata"].get("namespace", ""), item["metadata"]["name"])):
                return True
    return False
