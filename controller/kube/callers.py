"""Who calls one of our servers, and whether they may: asked of the API server, as every aggregated server does.

A caller is who the API server's own front proxy says (a client certificate of the authority that it publishes, and
headers), or whoever a bearer token belongs to (TokenReview). What they may do is for RBAC to say (SubjectAccessReview).
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kit.serving import BadPair
from controller.kube.client import Client
from controller.kube.errors import ApiError

CONFIGURATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
# As long as Kubernetes' own aggregated servers remember an answer: whose rights are taken away keeps them so long.
REMEMBER_SECONDS = 10.0
MOST_REMEMBERED = 4096
LOOK_SECONDS = 60.0  # between looks at the front proxy's authority, which changes once in years
WITHOUT_LIMITS = "system:masters"  # whoever says so could grant itself everything
EVERYBODY = "system:authenticated"
ANONYMOUS = "system:anonymous"

log = Log("kube.callers")


class Unknown(Exception):
    """Nobody we know: 401."""


class User(NamedTuple):
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Wish(NamedTuple):
    """What a request is about: an object of ours, or else a path."""

    path: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """What kube-system/extension-apiserver-authentication says. No authority: nobody is believed."""

    authority: str = ""
    names: tuple[str, ...] = ()  # of the certificate; none: any
    user_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Remembered:
    answers: dict[Any, tuple[float, Any]] = field(default_factory=dict)

    def get(self, key: Any, now: float) -> Any:
        until, answer = self.answers.get(key, (now, None))
        return answer if until > now else None

    def put(self, key: Any, now: float, answer: Any) -> None:
        if len(self.answers) >= MOST_REMEMBERED:
            self.answers = {each: kept for each, kept in self.answers.items() if kept[0] > now}
        if len(self.answers) < MOST_REMEMBERED:
            self.answers[key] = (now + REMEMBER_SECONDS, answer)


class Callers:
    """`trust` is told of each authority of front proxies, so that TLS handshakes let its certificates in; it may raise
    BadPair."""

    def __init__(self, client: Client, trust: Callable[[str], None] = lambda _: None, clock: Clock = SYSTEM) -> None:
        self._client = client
        self._trust = trust
        self._clock = clock
        self._proxy = FrontProxy()
        self._users, self._rights = _Remembered(), _Remembered()
        self.ready = asyncio.Event()

    async def run(self) -> None:
        """Keep the front proxy's authority in step, for ever; failures are logged and tried again."""
        while True:
            try:
                await self.look()
            except ApiError as error:
                log.warning("the front proxy's authority can't be read, will try again", why=str(error))
            await self._clock.sleep(LOOK_SECONDS if self.ready.is_set() else 1.0)

    async def look(self) -> None:
        """Raises ApiError."""
        data = msgspec.json.decode(await self._client.call("GET", CONFIGURATION)).get("data") or {}
        proxy = front_proxy(data)
        if proxy.authority and proxy.authority != self._proxy.authority:
            try:
                self._trust(proxy.authority)
            except BadPair as error:
                log.warning("the front proxy is not believed, only tokens are", why=str(error))
                proxy = FrontProxy()
        self._proxy = proxy
        self.ready.set()

    async def who(self, certificate: Mapping[str, Any] | None, headers: Mapping[str, str], values: "Values") -> User:
        """`certificate`: as `ssl` shows one that it has verified against an authority we trust. `values`: of a header
        that may come several times. Raises Unknown, ApiError."""
        proxied = self._proxied(certificate, values)
        return await self.by_token(headers) if proxied is None else proxied

    async def by_token(self, headers: Mapping[str, str]) -> User:
        """Where no front proxy leads to. Raises Unknown, ApiError."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unknown
        return await self._owner_of(token.strip())

    def _proxied(self, certificate: Mapping[str, Any] | None, values: "Values") -> User | None:
        proxy = self._proxy
        if not certificate or not proxy.authority:
            return None
        if proxy.names and _common_name(certificate) not in proxy.names:
            return None
        named = [value for header in proxy.user_headers for value in values(header)]
        if not named or not named[0]:
            return None
        groups = tuple(value for header in proxy.group_headers for value in values(header))
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in proxy.extra_prefixes:
            for header in values(""):
                if header.lower().startswith(prefix.lower()):
                    extra[unquote(header[len(prefix) :]).lower()] = tuple(values(header))
        if named[0] != ANONYMOUS and EVERYBODY not in groups:
            groups = (*groups, EVERYBODY)  # as Kubernetes' own servers do: the aggregator names itself without groups
        return User(named[0], groups, extra=tuple(extra.items()))

    async def _owner_of(self, token: str) -> User:
        key, now = hashlib.sha256(token.encode()).digest(), self._clock.steady()
        user = self._users.get(key, now)
        if user is None:
            review = await self._review(TOKEN_REVIEWS, "authentication.k8s.io/v1", "TokenReview", {"token": token})
            told = review.get("user") or {}
            if not review.get("authenticated") or not told.get("username"):
                raise Unknown
            extra = tuple((each, tuple(held)) for each, held in (told.get("extra") or {}).items())
            user = User(told["username"], tuple(told.get("groups") or ()), told.get("uid", ""), extra)
            self._users.put(key, now, user)
        assert isinstance(user, User)
        return user

    async def may(self, user: User, wish: Wish) -> bool:
        """Whether they may get it. Raises ApiError."""
        if WITHOUT_LIMITS in user.groups:
            return True
        now = self._clock.steady()
        allowed = self._rights.get((user, wish), now)
        if allowed is None:
            spec: dict[str, Any] = {
                "user": user.name,
                "groups": user.groups,
                "uid": user.uid,
                "extra": dict(user.extra),
            }
            if wish.resource:
                named = {name: value for name, value in wish._asdict().items() if value and name != "path"}
                spec["resourceAttributes"] = {"verb": "get", **named}
            else:
                spec["nonResourceAttributes"] = {"verb": "get", "path": wish.path}
            review = await self._review(ACCESS_REVIEWS, "authorization.k8s.io/v1", "SubjectAccessReview", spec)
            allowed = bool(review.get("allowed")) and not review.get("denied")
            self._rights.put((user, wish), now, allowed)
        return bool(allowed)

    async def _review(self, path: str, version: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        body = msgspec.json.encode({"apiVersion": version, "kind": kind, "spec": spec})
        answer = msgspec.json.decode(await self._client.call("POST", path, body=body))
        status: dict[str, Any] = answer.get("status") or {}
        return status


Values = Callable[[str], Sequence[str]]  # of a header by name; "" asks for the names of all headers


def front_proxy(data: Mapping[str, str]) -> FrontProxy:
    """Of the ConfigMap's data. What is missing or unreadable trusts nobody."""
    user_headers = _names(data, "requestheader-username-headers")
    return FrontProxy(
        authority=data.get("requestheader-client-ca-file", "") if user_headers else "",
        names=_names(data, "requestheader-allowed-names"),
        user_headers=user_headers,
        group_headers=_names(data, "requestheader-group-headers"),
        extra_prefixes=_names(data, "requestheader-extra-headers-prefix"),
    )


def _names(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    try:
        return tuple(msgspec.json.decode(data.get(key) or "[]", type=list[str]))
    except msgspec.MsgspecError:
        return ()


def _common_name(certificate: Mapping[str, Any]) -> str:
    for part in certificate.get("subject", ()):
        for name, value in part:
            if name == "commonName":
                return str(value)
    return ""
