"""Whatever somebody who can reach the port may send: reviews that are none, and connections that end badly.

Each attack is one request or connection, made from a seed; it returns what came back: a status and a body, or None
where nothing could come.
"""

import asyncio
import json
import random
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from admission.answers import HOOKS
from admission.api.crd import CONVERT_PATH
from tests.webhooks.serving import AUTHORITY, JSON, ApiServer, envelope, trusting
from tests.webhooks.test_reviews import JOB, SEEDS, mutilated

Reply = tuple[int, bytes] | None

PATHS = (*(hook.path for hook in HOOKS), CONVERT_PATH)
PATIENCE = 20.0  # seconds for one attack: the server gives a review 4, and a conversion 25 that none of these is worth
NINE_MEGABYTES = b'{"apiVersion": "' + b"x" * 9 * 2**20 + b'"}'


class Attacker:
    """Attacks one server. `api` keeps its connections; the raw attacks each open one of their own."""

    def __init__(self, api: ApiServer, seed: int) -> None:
        self._api = api
        self._chance = random.Random(seed)
        host, _, port = api.base.removeprefix("https://").rpartition(":")
        self._where = (host, int(port))
        self._tls = trusting(AUTHORITY.certificate)

    async def attack(self) -> tuple[str, Reply]:
        """One of them, at random: its name and what came back. Raises TimeoutError where the server hangs."""
        kind = self._chance.choices(list(ATTACKS), [weight for weight, _ in ATTACKS.values()])[0]
        async with asyncio.timeout(PATIENCE):
            return kind, await ATTACKS[kind][1](self)

    async def _post(self, body: bytes, headers: Mapping[str, str] = JSON) -> Reply:
        return await self._api.post(self._chance.choice(PATHS), body, headers)

    async def mutilated(self) -> Reply:
        return await self._post(mutilated(self._chance))

    async def truncated(self) -> Reply:
        whole = mutilated(self._chance)
        return await self._post(whole[: self._chance.randrange(len(whole))])

    async def garbage(self) -> Reply:
        return await self._post(self._chance.randbytes(self._chance.randrange(2_000)))

    async def huge(self) -> Reply:
        """Refused while it is still being sent, so the connection may end under it."""
        try:
            return await self._api.post(self._chance.choice(PATHS[:-1]), NINE_MEGABYTES)
        except OSError:
            return None

    async def deep(self) -> Reply:
        depth = self._chance.choice((100, 1_000, 10_000, 200_000))
        opened, closed = self._chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
        inside = opened * depth + b"1" + closed * depth
        return await self._post(envelope(JOB).replace(b'"parallelism": 1', b'"x": ' + inside))

    async def twins(self) -> Reply:
        """Keys given twice, in the envelope and inside."""
        body = json.dumps(self._chance.choice(SEEDS)).encode()
        twin = self._chance.choice((b'"spec": {', b'"metadata": {', b'"labels": {', b'"status": {'))
        body = body.replace(twin, twin.rstrip(b"{") + self._chance.choice((b"null, ", b"{}, ", b"[1], ")) + twin)
        whole = envelope("here").replace(b'"here"', body)
        return await self._post(
            whole.replace(b'"uid"', b'"uid": "v-2", "uid"') if self._chance.random() < 0.3 else whole
        )

    async def unknown_version(self) -> Reply:
        version = self._chance.choice((b"admission.k8s.io/v1beta1", b"v1", b"", b"apiextensions.k8s.io/v1"))
        return await self._post(envelope(JOB).replace(b"admission.k8s.io/v1", version))

    async def wrong_type(self) -> Reply:
        kind = self._chance.choice(("text/yaml", "application/x-www-form-urlencoded", "", "application/json;;; q=é"))
        return await self._post(envelope(JOB), {"Content-Type": kind})

    async def conversion(self) -> Reply:
        objects: list[Any] = [
            self._chance.choice((*SEEDS, None, 5, [], "x", {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Cohort"}))
        ]
        request: dict[str, Any] = {"uid": "u-1", "desiredAPIVersion": "kueue.x-k8s.io/v1beta1", "objects": objects * 3}
        for _ in range(self._chance.randrange(2)):
            request[self._chance.choice([*request])] = self._chance.choice((None, -1, [], {}, "x" * 300))
        body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
        return await self._api.post(CONVERT_PATH, json.dumps(body).encode())

    async def other_methods(self) -> Reply:
        method = self._chance.choice(("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"))
        path = self._chance.choice((*PATHS, "/", "/../../etc/passwd", "/mutate-nothing?a=%00"))
        async with self._api.session.request(method, self._api.base + path) as answer:
            return answer.status, await answer.read()

    # --- below HTTP

    async def _raw(self, sent: bytes, *, end: Callable[[asyncio.StreamWriter], None] | None = None) -> Reply:
        """Sends bytes over a connection of its own; `end` is done to it before the answer is awaited."""
        try:
            reader, writer = await asyncio.open_connection(*self._where, ssl=self._tls)
        except OSError:
            return None
        try:
            writer.write(sent)
            await writer.drain()
            if end is not None:
                end(writer)
            head = await reader.readline()
            if head.startswith(b"HTTP/1.1 100"):  # "go on": the answer proper comes after it
                await reader.readline()
                head = await reader.readline()
            return (int(head.split()[1]), b"") if head.startswith(b"HTTP/1.") else None
        except (OSError, ssl.SSLError):
            return None
        finally:
            writer.transport.abort()

    def _request(self, body: bytes, length: int | None = None, more: bytes = b"") -> bytes:
        size = len(body) if length is None else length
        path = self._chance.choice(PATHS).encode()
        head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n"
        return head % (path, more, size) + body

    async def half_closed(self) -> Reply:
        """A whole request, and nobody speaks any more on this side."""

        def shut(writer: asyncio.StreamWriter) -> None:
            writer.get_extra_info("socket").shutdown(1)

        return await self._raw(self._request(envelope(JOB)), end=shut)

    async def gone_early(self) -> Reply:
        """Less than was promised, and then nobody there."""
        body = envelope(JOB)
        request = self._request(body, length=len(body) + self._chance.randrange(1, 5_000))
        return await self._raw(request, end=lambda writer: writer.transport.abort())

    async def no_http(self) -> Reply:
        line = self._chance.choice(
            (b"\x16\x03\x01" * 50, b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"\r\n" * 500 + b"x y z\r\n\r\n")
        )
        return await self._raw(line)

    async def odd_heads(self) -> Reply:
        more = self._chance.choice(
            (
                b"X: " + b"a" * 100_000 + b"\r\n",
                b"".join(b"X-%d: y\r\n" % each for each in range(5_000)),
                b"Transfer-Encoding: chunked\r\n",
                b"Content-Length: 7\r\n",
                b"Content-Encoding: gzip\r\n",
                b"Expect: 100-continue\r\n",
                b"Bad Header: \x00\r\n",
            )
        )
        return await self._raw(self._request(envelope(JOB), more=more), end=lambda writer: writer.write(b"0\r\n\r\n"))


# Weight and method. What costs most comes least often.
ATTACKS: Mapping[str, tuple[float, Callable[[Attacker], Awaitable[Reply]]]] = {
    "mutilated": (45, Attacker.mutilated),
    "truncated": (10, Attacker.truncated),
    "garbage": (5, Attacker.garbage),
    "huge": (0.5, Attacker.huge),
    "deep": (3, Attacker.deep),
    "twins": (8, Attacker.twins),
    "unknown version": (4, Attacker.unknown_version),
    "wrong type": (4, Attacker.wrong_type),
    "conversion": (8, Attacker.conversion),
    "other methods": (3, Attacker.other_methods),
    "half closed": (2, Attacker.half_closed),
    "gone early": (2, Attacker.gone_early),
    "no HTTP": (2, Attacker.no_http),
    "odd heads": (2, Attacker.odd_heads),
}
