"""Bytes to the API server and back: credentials, TLS, time-outs, and an error for every status that is one.

The only file that knows kubernetes_asyncio, and it takes nothing of it but the credentials (kubeconfig, in-cluster
token, exec plugins). Requests go through a session of our own: the library's asks netrc and proxy settings in a
thread for each request, has no time-outs, and hands 4xx answers out as success.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml
from aiohttp.connector import AddrInfoType
from kubernetes_asyncio import config as credentials
from kubernetes_asyncio.client import Configuration
from yarl import URL

from admission.model.kinds import Ref, kind_of
from controller.kube.errors import Unreachable, error_of

CALL_SECONDS = 10.0  # a write that took longer has failed its purpose; client-go's leader election uses the same
CONNECT_SECONDS = 5.0
REFRESH_SECONDS = 60.0  # how often the library looks whether a token is about to expire
CONNECTIONS = 128  # above the writers' 64 and one watch per kind
LARGEST_LINE = 2**21  # bytes; an object may have 1.5 MiB, and comes as one line of a watch
JSON, MERGE_PATCH = "application/json", "application/merge-patch+json"

# What the library lets escape when a kubeconfig is missing, is no YAML, or lacks a part.
_UNUSABLE = (
    credentials.ConfigException,
    yaml.YAMLError,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    KeyError,
)

Query = Mapping[str, str | int]


_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def pod_namespace() -> str:
    """The namespace of the pod that this process runs in; "" outside of a cluster."""
    try:
        return _POD_NAMESPACE.read_text().strip()
    except OSError:
        return ""


class NoCredentials(Exception):
    """Neither a usable kubeconfig nor a service account; the message says what was tried."""


_may_send: ContextVar[Callable[[], bool] | None] = ContextVar("may_send", default=None)


class _Guarded(aiohttp.ClientRequest):
    """Asks for leave when the connection stands and only the write is left: a process may sleep anywhere before."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        guard = _may_send.get()
        if guard is not None and not guard():
            raise Unreachable(f"{self.method} {self.url}: no leave to send any more", sent=False)
        return await super().send(conn)


class Client:
    """One API server and one account. Close it, or use it as an async context manager."""

    def __init__(self, host: str = "", configuration: Configuration | None = None, loader: Any = None) -> None:
        self._configuration = configuration or Configuration(host=host)
        self._host = str(self._configuration.host).rstrip("/")
        self._loader = loader  # of a kubeconfig with an exec plugin: runs it again when the token nears its end
        self._refresh_at = 0.0
        self._refreshing = asyncio.Lock()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=CONNECTIONS,
                limit_per_host=0,
                ssl=_tls(self._configuration) if self._host.startswith("https") else False,
                socket_factory=_watchful_socket,
            ),
            request_class=_Guarded,
            trust_env=False,
            auto_decompress=True,
            headers={"User-Agent": "lockgate", "Accept": JSON, "Accept-Encoding": "identity"},
            skip_auto_headers=("Content-Type",),
        )
        self._extra: dict[str, Any] = {}
        if self._configuration.proxy:
            self._extra["proxy"] = self._configuration.proxy
        if self._configuration.tls_server_name:
            self._extra["server_hostname"] = self._configuration.tls_server_name

    @classmethod
    async def connect(cls, kubeconfig: str | None = None, context: str | None = None) -> "Client":
        """Credentials from the kubeconfig, else $KUBECONFIG or ~/.kube/config, else the pod's service account.

        Raises NoCredentials.
        """
        configuration = Configuration()
        path = kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube/config")
        try:
            if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ and "KUBECONFIG" not in os.environ:
                credentials.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
                return cls(configuration=configuration)
            loader = await credentials.load_kube_config(path, context, configuration, persist_config=False)
        except _UNUSABLE as error:
            raise NoCredentials(f"no usable credentials in {path}: {error}; name a file with --kubeconfig") from error
        return cls(configuration=configuration, loader=loader)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._session.close()

    def kubeconfig_with(self, token: str) -> dict[str, Any]:
        """A kubeconfig for the same API server and somebody else's token."""
        known = self._configuration
        cluster = {
            "server": self._host,
            "certificate-authority": known.ssl_ca_cert,
            "insecure-skip-tls-verify": None if known.verify_ssl else True,
            "tls-server-name": known.tls_server_name,
            "proxy-url": known.proxy,
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {key: value for key, value in cluster.items() if value}}],
            "users": [{"name": "me", "user": {"token": token}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
        within: float = CALL_SECONDS,
        user: str = "",
        may_send: Callable[[], bool] | None = None,
    ) -> bytes:
        """The body of a successful answer; the whole call takes at most `within` seconds. Raises ApiError.

        `user`: act as this user with every right, which takes the right to impersonate. `may_send` is asked at the
        last moment; when it says no, Unreachable is raised and nothing was sent.
        """
        _may_send.set(may_send)
        limits = aiohttp.ClientTimeout(total=within, sock_connect=min(CONNECT_SECONDS, within))
        async with self._request(method, path, query, body, content_type, limits, user) as answer:
            return await answer.read()

    async def get(self, ref: Ref, *, within: float = CALL_SECONDS) -> dict[str, Any]:
        """The manifest of one object, from the store that all agree on (quorum). Raises ApiError."""
        path = kind_of(ref.kind).path(ref.namespace, ref.name)
        manifest: dict[str, Any] = msgspec.json.decode(await self.call("GET", path, within=within))
        return manifest

    @asynccontextmanager
    async def lines(self, path: str, query: Query, *, quiet: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """A streamed answer line by line; silence for `quiet` seconds is an error. Raises ApiError, also midway."""
        _may_send.set(None)
        limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=quiet)
        async with self._request("GET", path, query, None, JSON, limits, read_bufsize=LARGEST_LINE) as answer:
            yield aiter(answer.content)

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: bytes | None,
        content_type: str,
        limits: aiohttp.ClientTimeout,
        user: str = "",
        **options: Any,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = URL(self._host + path, encoded=True)
        headers = await self._authorization()
        if body is not None:
            headers["Content-Type"] = content_type
        if user:
            headers |= {"Impersonate-User": user, "Impersonate-Group": "system:masters"}
        try:
            async with self._session.request(
                method,
                url.with_query(query) if query else url,
                data=body,
                headers=headers,
                timeout=limits,
                allow_redirects=False,
                **self._extra,
                **options,
            ) as answer:
                if answer.status >= 300:
                    raise error_of(answer.status, await answer.read(), answer.headers.get("Retry-After"))
                yield answer
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unreachable(f"{method} {self._host}{path}: {error}", sent=False) from error
        except TimeoutError as error:
            raise Unreachable(f"{method} {self._host}{path}: no answer in time", sent=True) from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(f"{method} {self._host}{path}: {error!r}", sent=True) from error

    async def _authorization(self) -> dict[str, str]:
        if self._loader is not None and hasattr(self._loader, "exec_plugin_expiry"):
            await self._renew_exec_token()
        token = await self._configuration.get_api_key_with_prefix("BearerToken")
        return {"Authorization": token} if token else {}

    async def _renew_exec_token(self) -> None:
        """Ask the plugin again when its token nears its end; one caller asks for all."""
        now = asyncio.get_running_loop().time()
        if now < self._refresh_at:
            return
        async with self._refreshing:
            if now < self._refresh_at:
                return
            try:
                await self._loader.load_from_exec_plugin()
            except Exception as error:  # the plugin is anybody's program, and may fail in any way
                raise Unreachable(f"the credential plugin of the kubeconfig failed: {error}", sent=False) from error
            self._configuration.api_key["BearerToken"] = self._loader.token
            self._refresh_at = now + REFRESH_SECONDS


def _tls(configuration: Configuration) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _watchful_socket(address: AddrInfoType) -> socket.socket:
    """A socket whose kernel notices in about 30 s that the other side is gone; a quiet watch would not for minutes."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):  # macOS names the first one otherwise
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
