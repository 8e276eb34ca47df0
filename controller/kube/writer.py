"""Requests of ours, sent; answers, sorted into what the core needs to know.

The line between "refused" and "unknown" is what keeps quota safe: only an answer that proves that nothing was written
counts as a failure. A request that was never sent, or that the server turned away for lack of time (429), is tried
again here; everything else goes back to the core, which plans anew from what it then knows.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from admission.model.effects import Result
from admission.model.kinds import kind_of
from admission.reconcile.requests import Request
from controller.kit.clock import SYSTEM, Clock
from controller.kit.logs import Log
from controller.kit.rate import Bucket
from controller.kube.client import CALL_SECONDS, JSON, MERGE_PATCH, Client
from controller.kube.errors import ApiError, Conflict, Faulty, NotFound, Refused, TooMany, Unreachable

RATE, BURST = 300.0, 500  # requests a second: what Kueue ships, so that a cluster sized for it is not surprised
FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0  # seconds between attempts of a request that was not taken

# A 500 in these words comes from admission, which stands before storage: nothing was written.
_BEFORE_STORING = "failed calling webhook"
WRITE_ANSWERED = "a write was answered"  # a line of the debug log, which live scenarios read

log = Log("kube.writer")


class Answer(NamedTuple):
    """As in `Outcome`: ok, conflict, refused, gone, unknown, or aborted when it was not sent."""

    result: Result
    resource_version: int | None = None
    message: str = ""


class Writer:
    """`may_send` is asked right before each attempt; False aborts."""

    def __init__(
        self,
        client: Client,
        *,
        may_send: Callable[[], bool] = lambda: True,
        rate: float = RATE,
        burst: int = BURST,
        clock: Clock = SYSTEM,
    ) -> None:
        self._client = client
        self._may_send = may_send
        self._bucket = Bucket(clock, rate, burst)
        self._clock = clock

    async def write(self, request: Request) -> Answer:
        """Send it once, or as often as the server proves not to have taken it. Never raises an ApiError."""
        method, path, content_type = _address(request)
        body = msgspec.json.encode(request.body)
        wait = FIRST_WAIT
        while True:
            await self._bucket.take()
            if not self._may_send():
                return Answer("aborted", message="not the leader")
            try:
                answer = await self._client.call(
                    method,
                    path,
                    query=None if request.verb == "delete" else {"fieldManager": request.manager},
                    body=body,
                    content_type=content_type,
                    within=CALL_SECONDS,
                    may_send=self._may_send,
                )
            except ApiError as error:
                if not isinstance(error, Unreachable) or error.sent:
                    _tell(request, error.status)
                if not _never_taken(error):
                    return judge(error)
                pause = wait if error.after is None else error.after
                log.warning("the API server does not take writes", seconds=pause, why=str(error))
                await self._clock.sleep(pause)
                wait = min(wait * 2, LONGEST_WAIT)
            else:
                _tell(request, 200)
                return Answer("ok", None if request.verb == "delete" else _version(answer))


def _tell(request: Request, code: int) -> None:
    """Every request that may have reached the API server, for who looks over our shoulder; code 0: no answer came."""
    log.debug(
        WRITE_ANSWERED,
        verb=request.verb,
        object=str(request.ref),
        subresource=request.subresource,
        code=code,
        body=request.body,
    )


def judge(error: ApiError) -> Answer:
    """What an error proves. Whatever proves nothing is unknown."""
    message = str(error)
    match error:
        case Conflict():
            return Answer("conflict", message=message)
        case NotFound():
            return Answer("gone", message=message)
        case Refused():
            return Answer("refused", message=message)
        case TooMany():
            return Answer("aborted", message=message)
        case Unreachable(sent=False):
            return Answer("aborted", message=message)
        case Faulty() if _BEFORE_STORING in message:
            return Answer("refused", message=message)
        case _:
            return Answer("unknown", message=message)


def _never_taken(error: ApiError) -> bool:
    return isinstance(error, TooMany) or (isinstance(error, Unreachable) and not error.sent)


def _address(request: Request) -> tuple[str, str, str]:
    kind, ref = kind_of(request.ref.kind), request.ref
    match request.verb:
        case "create":
            return "POST", kind.path(ref.namespace), JSON
        case "patch":
            return "PATCH", kind.path(ref.namespace, ref.name, request.subresource), MERGE_PATCH
        case "delete":
            return "DELETE", kind.path(ref.namespace, ref.name), JSON


class _Metadata(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815


class _Written(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_written = msgspec.json.Decoder(_Written)


def _version(body: bytes) -> int | None:
    version = _written.decode(body).metadata.resourceVersion
    return int(version) if version else None
