"""What can go wrong when talking to the API server.

ApiError
├── Refused            the request is wrong: never retried
│   ├── NotFound
│   ├── Invalid
│   └── Forbidden
└── TryAgain           the same request may succeed later
    ├── Conflict       read again first
    ├── Expired        (410) list again
    ├── TooMany        wait `.after` seconds
    ├── Faulty         the server failed (5xx); whether it acted is not known
    └── Unreachable    connection, TLS, time-out; `.sent` says whether it may have been acted on
"""

from collections.abc import Mapping

import msgspec


class ApiError(Exception):
    """`status` is the HTTP code (0: no answer came), `reason` Kubernetes' one-word reason."""

    def __init__(self, message: str, *, status: int = 0, reason: str = "", after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.after = after  # seconds after which the server wants to be asked again


class Refused(ApiError):
    """The request is wrong or not allowed."""


class NotFound(Refused):
    """No such object, or the kind is not served."""


class Invalid(Refused):
    """A field is wrong (422)."""


class Forbidden(Refused):
    """Our account may not (401, 403), or a webhook or quota said no."""


class TryAgain(ApiError):
    """May succeed later."""


class Conflict(TryAgain):
    """The object moved on, or exists already (reason AlreadyExists)."""


class Expired(TryAgain):
    """The resourceVersion or continue token is too old."""


class TooMany(TryAgain):
    """The server sheds load."""


class Faulty(TryAgain):
    """The server answered 5xx."""


class Unreachable(TryAgain):
    """No answer."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class _Details(msgspec.Struct):
    retryAfterSeconds: int | None = None  # noqa: N815


class _Status(msgspec.Struct):
    """The parts of a metav1.Status that we act on."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: TooMany,
}
_LONGEST = 2048  # characters of a message: an error page of a proxy must not fill the log


def error_of(status: int, body: bytes, retry_after: str | None = None) -> ApiError:
    """The error for an answer with this status (400 or above)."""
    try:
        told = msgspec.json.decode(body, type=_Status)
    except msgspec.DecodeError:
        told = _Status(message=body.decode("utf-8", "replace"))
    after = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    if after is None and told.details is not None and told.details.retryAfterSeconds is not None:
        after = float(told.details.retryAfterSeconds)
    kind = _BY_STATUS.get(status, Faulty if status >= 500 else Refused)
    return kind(told.message[:_LONGEST] or f"HTTP {status}", status=status, reason=told.reason, after=after)
