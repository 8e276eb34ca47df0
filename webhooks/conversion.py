"""ConversionReviews: objects of our kinds in the words of the version that a client speaks.

The API server asks for a whole list at once, so a review can be large and take seconds; admission reviews are answered
in between. However many come at once, their bodies take no more memory than there is room for; the others wait unread.
"""

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from admission.api.crd import CONVERT_PATH
from admission.conversion import Unconvertible, convert
from admission.model.kinds import KUEUE
from controller.kit import metrics
from controller.kit.logs import Log
from webhooks.body import body_of, check_size
from webhooks.room import Room

API_VERSION = "apiextensions.k8s.io/v1"
LARGEST_BODY = 128 * 2**20  # bytes: a list of some 30,000 Workloads; kubectl asks for 500 at a time
SMALL_BODY = 2**20  # bytes: an object or a page of some; these have room of their own, and do not wait for the large
ROOM, SMALL_ROOM = LARGEST_BODY, 16 * SMALL_BODY  # bytes of all bodies at once; a converted list takes as much again
SECONDS = 25.0  # for the whole review: the API server waits for 30
TURN_SECONDS = 0.005  # at work before others get their turn: an admission review takes less than a millisecond

log = Log("webhooks")


class BadReview(Exception):
    """Not a review that can be answered; the message says why. Worth a 400."""


class Failed(Exception):
    """An object could not be converted; the message names it and says why."""


class _Request(msgspec.Struct):
    uid: str
    wanted: str = msgspec.field(name="desiredAPIVersion")
    objects: list[msgspec.Raw] = []


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: _Request


class _Result(msgspec.Struct, omit_defaults=True):
    status: str
    message: str = ""


class _Response(msgspec.Struct, rename="camel"):
    uid: str
    converted_objects: list[msgspec.Raw]
    result: _Result


class _Answered(msgspec.Struct, rename="camel"):
    response: _Response
    api_version: str = API_VERSION
    kind: str = "ConversionReview"


_envelopes = msgspec.json.Decoder(_Envelope)


def add_to(app: web.Application) -> None:
    """Answers conversions besides what the application does."""
    app.router.add_post(CONVERT_PATH, _Handler().post)


class _Handler:
    def __init__(self) -> None:
        self._large, self._small = Room(ROOM), Room(SMALL_ROOM)

    async def post(self, http: web.Request) -> web.Response:
        if http.content_type != "application/json":
            _count("unreadable")
            raise web.HTTPUnsupportedMediaType(text="send the ConversionReview as application/json\n")
        # Who does not say how large the body is may send the largest.
        size = LARGEST_BODY if http.content_length is None else http.content_length
        check_size(size, LARGEST_BODY)
        room, read = self._small if size <= SMALL_BODY else self._large, False
        try:
            async with asyncio.timeout(SECONDS), room.held(size):
                read = True
                return await _answered(await body_of(http, size))
        except ConnectionResetError:
            _count("unreadable")
            raise web.HTTPBadRequest(text="the body has no end\n") from None
        except TimeoutError:
            _count("unreadable")
            if read:
                raise web.HTTPRequestTimeout(
                    text=f"the review took longer than {SECONDS:g} s: ask for fewer\n"
                ) from None
            why = f"too many large reviews at once: no room for {size} bytes within {SECONDS:g} s; try again\n"
            raise web.HTTPServiceUnavailable(text=why) from None


async def _answered(body: bytes) -> web.Response:
    try:
        asked = _read(body)
    except BadReview as error:
        _count("unreadable")
        raise web.HTTPBadRequest(text=f"{error}\n") from None
    try:
        response = _Response(asked.uid, await _converted(asked), _Result("Success"))
        _count("allowed")
    except Failed as error:
        response = _Response(asked.uid, [], _Result("Failed", str(error)))
        _count("refused")
    return web.Response(body=msgspec.json.encode(_Answered(response)), content_type="application/json")


def _read(body: bytes) -> _Request:
    try:
        envelope = _envelopes.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is not a ConversionReview: {error}") from error
    except RecursionError as error:
        raise BadReview("the body is not a ConversionReview: it is nested too deeply") from error
    if (envelope.api_version, envelope.kind) != (API_VERSION, "ConversionReview"):
        told = f"{envelope.api_version[:80]} {envelope.kind[:80]}"
        raise BadReview(f"the body is a {told}; {API_VERSION} ConversionReview is served")
    return envelope.request


async def _converted(asked: _Request) -> list[msgspec.Raw]:
    group, _, version = asked.wanted.rpartition("/")
    if group != KUEUE:
        raise Failed(f"desiredAPIVersion {asked.wanted[:80]!r} is not of {KUEUE}")
    done, loop = [], asyncio.get_running_loop()
    since = loop.time()
    for position, raw in enumerate(asked.objects):
        done.append(_one(raw, version, position))
        if loop.time() - since > TURN_SECONDS:
            await asyncio.sleep(0)
            since = loop.time()
    return done


def _one(raw: msgspec.Raw, version: str, position: int) -> msgspec.Raw:
    found: Any = None
    try:
        found = msgspec.json.decode(raw)
        if not isinstance(found, dict):
            raise Unconvertible("", "it is not an object")
        return msgspec.Raw(msgspec.json.encode(convert(found, version)))
    except Unconvertible as error:
        why = str(error)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = f"it can't be read: {error}"
    except Exception:
        log.exception("an object could not be converted", object=_named(found, position), version=version)
        why = "the webhook failed on it; its log says why"
    raise Failed(f"{_named(found, position)} can't be converted to {version[:80]}: {why}")


def _named(found: Any, position: int) -> str:
    """As people know it; by its place in the review where it has no name."""
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not metadata.get("name"):
        return f"objects[{position}]"
    parts = (found.get("kind"), metadata.get("namespace"), metadata["name"])
    return "/".join(str(part)[:253] for part in parts if part)


def _count(result: str) -> None:
    metrics.REVIEWS.labels(CONVERT_PATH, result).inc()
