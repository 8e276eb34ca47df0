"""A product of the run's own: webhooks and controllers of this very installation, as processes on this machine.

They have the rights that `lockgate install` gives them, and no more; and they are ours, so that a scenario may
restart, kill and multiply them, take rights away and replace their certificate.
"""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from admission.answers import by_url, webhook_configurations
from admission.api.crd import CONVERTED, crd_name
from admission.model.configuration import Configuration
from admission.model.kinds import KINDS
from controller.cli import roles
from controller.cli.installing import Cluster, install
from controller.cli.live.replica import Replica, free_port
from controller.cli.live.requests import Requests
from controller.kit import certificates
from controller.kit.certificates import Pair
from controller.kit.clock import SYSTEM
from controller.kube.client import MERGE_PATCH, Client

START_SECONDS = 120.0  # for a process on a busy machine to lead or to stand by
SOON = 0.2  # seconds between looks at whether it does
TOKEN_SECONDS = 86400  # longer than any run
# API servers hear of a new caBundle within a second; only then may a certificate change that depends on it.
HEARD_SECONDS = 1.0
# Who was killed is followed after seconds, not half a minute.
QUICK_LEASE = (
    "--leader-elect",
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=500ms",
)
_HOST = "127.0.0.1"
_READING = frozenset({"get", "list", "watch"})

Found = TypeVar("Found")


class OwnProduct:
    """`flags` say the Configuration that `core` is. `folder`, which is made, is for logs, credentials, certificates
    and what `flags` want to leave there.

    `start` and `stop` belong to the event loop `loop`, everything else to the threads of cases.
    """

    def __init__(
        self, client: Client, core: Configuration, flags: Callable[[Path], list[str]], folder: Path, requests: Requests
    ) -> None:
        self.core = core
        self._client = client
        self._cluster = Cluster(client)
        self._loop = asyncio.get_running_loop()
        folder.mkdir()
        self._flags = [*flags(folder), f"--namespace={core.namespace}"]
        self._folder = folder
        self._requests = requests
        self._numbers = count(1)
        self._port = free_port()
        self._authority = certificates.make_authority(_now())
        self._webhooks: Replica | None = None
        self._controllers: list[Replica] = []
        self._paused = 0  # controllers that will be started again
        self._forbidden = False

    # --- the beginning and the end

    async def start(self) -> None:
        """Install, and return when webhooks answer and a controller leads. Raises ApiError, Complaint, Ended."""
        await install(self._client, self.core, self._url)
        self._serve(self._authority)
        await self._trust(self._authority.certificate)
        for name in (roles.CONTROLLER, roles.WEBHOOKS):
            self._credentials(name).write_text(json.dumps(self._client.kubeconfig_with(await self._token(name))))
        self._webhooks = self._answering()
        self._controllers = [self._controller()]
        await self._cluster.answered(START_SECONDS)
        await asyncio.to_thread(self.leader)

    async def stop(self) -> None:
        """End the processes; a controller gives its lease back."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        for replica in [*self._controllers, *([self._webhooks] if self._webhooks else [])]:
            replica.stop()

    # --- what a case may do to it

    @property
    def paused(self) -> bool:
        return bool(self._paused)

    def check(self) -> None:
        """Raises Ended when one of its processes ended by itself."""
        for replica in [*self._controllers, *([self._webhooks] if self._webhooks else [])]:
            replica.check()

    def leader(self) -> Replica:
        """The controller that leads, as soon as one does. Raises Ended, TimeoutError."""
        return self._soon(lambda: next((one for one in self._controllers if one.role() == "leading"), None), "leads")

    def scale(self, replicas: int) -> None:
        """So many controllers, one leads and the others know what it knows."""
        if len(self._controllers) > replicas:
            self._controllers.sort(key=lambda one: one.role() != "leading")  # the one that leads stays
        while len(self._controllers) > replicas:
            self._controllers.pop().stop()
        self._controllers += [self._controller() for _ in range(replicas - len(self._controllers))]
        self._soon(lambda: all(one.role() for one in self._controllers) or None, "is ready")
        self.leader()

    def kill_leader(self) -> None:
        """It is gone at once; another comes in its place, as its Deployment would bring it back."""
        leader = self.leader()
        leader.kill()
        self._controllers[self._controllers.index(leader)] = self._controller()

    def restart(self) -> None:
        """All controllers anew."""
        self.pause(True)
        self.pause(False)

    def pause(self, paused: bool) -> None:
        """No controllers for a while: nobody decides, and who comes after knows what the API server knows."""
        if paused:
            self._paused = self._paused or len(self._controllers)
            while self._controllers:
                self._controllers.pop().stop()
        elif self._paused:
            replicas, self._paused = self._paused, 0
            self.scale(replicas)

    def forbid(self, kinds: Sequence[str]) -> None:
        """Their reads are refused until the case is over. Raises ApiError."""
        plurals = {KINDS[kind].plural for kind in kinds if kind in KINDS}
        self._forbidden = True
        self.asked(self._grant(plurals))

    def rotate(self) -> "Future[None]":
        """Another authority and another certificate of it, while requests go on; done when they alone are in use."""
        return asyncio.run_coroutine_threadsafe(self._rotate(), self._loop)

    def restore(self) -> None:
        """As it was before the case, also after one in which a process broke. Raises Ended, ApiError, TimeoutError."""
        self._controllers = [controller for controller in self._controllers if controller.runs]
        if self._webhooks is not None and not self._webhooks.runs:
            self._webhooks = self._answering()
        self.pause(False)
        self.scale(1)
        if self._forbidden:
            self._forbidden = False
            self.asked(self._grant(set()))

    def asked(self, request: Coroutine[Any, Any, None]) -> None:
        """Done on the loop, from another thread."""
        asyncio.run_coroutine_threadsafe(request, self._loop).result()

    # --- processes

    def _answering(self) -> Replica:
        bind, folder = f"--webhook-bind={_HOST}:{self._port}", f"--webhook-cert-dir={self._certificates}"
        return self._started("webhooks", roles.WEBHOOKS, bind, folder)

    def _controller(self) -> Replica:
        return self._started("controller", roles.CONTROLLER, "--visibility-bind=0", "--log-level=debug", *QUICK_LEASE)

    def _started(self, part: str, account: str, *flags: str) -> Replica:
        log = self._folder / f"{part}-{next(self._numbers)}.log"
        replica = Replica(part, [f"--kubeconfig={self._credentials(account)}", *self._flags, *flags], log)
        self._requests.follow(log)
        return replica

    def _soon(self, look: Callable[[], Found | None], what: str) -> Found:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self.check()
            if (found := look()) is not None:
                return found
            time.sleep(SOON)
        raise TimeoutError(f"no controller of ours {what} after {START_SECONDS:g} s; its log is in {self._folder}")

    def _credentials(self, account: str) -> Path:
        return self._folder / f"{account}.kubeconfig"

    async def _token(self, account: str) -> str:
        path = f"/api/v1/namespaces/{self.core.namespace}/serviceaccounts/{account}/token"
        body = msgspec.json.encode({"spec": {"expirationSeconds": TOKEN_SECONDS}})
        return str(msgspec.json.decode(await self._client.call("POST", path, body=body))["status"]["token"])

    # --- rights

    async def _grant(self, without: set[str]) -> None:
        """What `install` grants, but no reading of these."""
        for manifest in roles.manifests(self.core.namespace):
            if "rules" in manifest:
                rules = [left for rule in manifest["rules"] for left in _without(rule, without)]
                await self._cluster.apply({**manifest, "rules": rules})

    # --- certificates

    @property
    def _url(self) -> str:
        return f"https://{_HOST}:{self._port}"

    @property
    def _certificates(self) -> Path:
        return self._folder / "certificates"

    async def _rotate(self) -> None:
        new = certificates.make_authority(_now())
        await self._trust(self._authority.certificate, new.certificate)
        await SYSTEM.sleep(HEARD_SECONDS)
        self._serve(new)
        async with asyncio.timeout(START_SECONDS):
            while not await self._serves(new):
                await SYSTEM.sleep(SOON)
        await self._trust(new.certificate)
        self._authority = new

    def _serve(self, authority: Pair) -> None:
        """A new certificate on disk, each file whole at every moment."""
        self._certificates.mkdir(exist_ok=True)
        leaf = certificates.make_leaf(authority, ["localhost", _HOST], _now())
        for name, content in (("tls.key", leaf.key), ("tls.crt", leaf.certificate)):
            half = self._certificates / f"{name}.new"
            half.touch(mode=0o600)
            half.write_bytes(content)
            half.replace(self._certificates / name)

    async def _serves(self, authority: Pair) -> bool:
        """Whether a certificate of this authority is what new connections get."""
        trusting = ssl.create_default_context(cadata=authority.certificate.decode())
        try:
            _, writer = await asyncio.open_connection(_HOST, self._port, ssl=trusting)
        except ssl.SSLError:
            return False
        writer.close()
        return True

    async def _trust(self, *authorities: bytes) -> None:
        """These and no others, for every webhook of ours and for the one that converts."""
        bundle = base64.b64encode(certificates.bundle(*authorities)).decode()
        for manifest in webhook_configurations(by_url(self._url, bundle), self.core):
            await self._cluster.apply(manifest)
        patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}}
        for kind in CONVERTED:
            path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd_name(kind)}"
            await self._client.call("PATCH", path, body=msgspec.json.encode(patch), content_type=MERGE_PATCH)


def _without(rule: dict[str, Any], plurals: set[str]) -> Iterator[dict[str, Any]]:
    """The rule, but for these no reading."""
    kept = [name for name in rule["resources"] if name.partition("/")[0] not in plurals]
    barred = [name for name in rule["resources"] if name not in kept]
    writing = [verb for verb in rule["verbs"] if verb not in _READING]
    if kept:
        yield {**rule, "resources": kept}
    if barred and writing:
        yield {**rule, "resources": barred, "verbs": writing}


def _now() -> datetime:
    return datetime.now(UTC)
