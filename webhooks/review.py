"""AdmissionReview bytes <-> Request and Answer: the only file that knows the envelope.

The object inside stays bytes until a rule asks for the few fields it needs. Whatever cannot be read is refused with
an HTTP status, since without a uid there is no review to answer.
"""

import base64
from typing import NamedTuple

import msgspec

from admission.answers import Answer, Operation, Request

API_VERSION = "admission.k8s.io/v1"
_REASONS = {400: "BadRequest", 403: "Forbidden", 404: "NotFound", 500: "InternalError", 503: "ServiceUnavailable"}
_OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_LONGEST_UID = 128  # characters; the API server sends 36


class BadReview(Exception):
    """Not a review that can be answered; the message says why. Worth a 400."""


class Question(NamedTuple):
    uid: str
    request: Request


class _UserInfo(msgspec.Struct):
    username: str = ""
    groups: tuple[str, ...] | None = None


class _Request(msgspec.Struct, rename="camel"):
    uid: str
    operation: str
    namespace: str = ""
    name: str = ""
    dry_run: bool | None = None
    sub_resource: str = ""
    user_info: _UserInfo = msgspec.field(default_factory=_UserInfo)
    object: msgspec.Raw = msgspec.Raw(b"null")
    old_object: msgspec.Raw = msgspec.Raw(b"null")


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: _Request


class _Status(msgspec.Struct):
    code: int
    message: str
    reason: str
    status: str = "Failure"


class _Response(msgspec.Struct, rename="camel", omit_defaults=True):
    uid: str
    allowed: bool
    status: _Status | None = None
    patch_type: str | None = None
    patch: str | None = None
    warnings: tuple[str, ...] | None = None


class _Answered(msgspec.Struct, rename="camel"):
    response: _Response
    api_version: str = API_VERSION
    kind: str = "AdmissionReview"


_envelopes = msgspec.json.Decoder(_Envelope)
_encoder = msgspec.json.Encoder()


def read(body: bytes) -> Question:
    """Raises BadReview."""
    try:
        envelope = _envelopes.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is not an AdmissionReview: {error}") from error
    except RecursionError as error:
        raise BadReview("the body is not an AdmissionReview: it is nested too deeply") from error
    if (envelope.api_version, envelope.kind) != (API_VERSION, "AdmissionReview"):
        told = f"{envelope.api_version[:80]} {envelope.kind[:80]}"
        raise BadReview(f"the body is a {told}; {API_VERSION} AdmissionReview is served")
    asked = envelope.request
    if asked.operation not in _OPERATIONS:
        raise BadReview(f"request.operation {asked.operation[:80]!r} is none of {', '.join(_OPERATIONS)}")
    if not 0 < len(asked.uid) <= _LONGEST_UID:
        raise BadReview(f"request.uid must have 1 to {_LONGEST_UID} characters")
    operation: Operation = asked.operation  # type: ignore[assignment]  # checked above
    request = Request(
        operation=operation,
        namespace=asked.namespace,
        object=_present(asked.object),
        old_object=_present(asked.old_object),
        subresource=asked.sub_resource,
        username=asked.user_info.username,
        groups=asked.user_info.groups or (),
        uid=asked.uid,
        name=asked.name,
        dry_run=asked.dry_run is True,
    )
    return Question(asked.uid, request)


def write(uid: str, answer: Answer) -> bytes:
    """The review that carries the answer."""
    response = _Response(uid, answer.allowed, warnings=answer.warnings or None)
    if not answer.allowed:
        response.status = _Status(answer.code, answer.message, _REASONS.get(answer.code, "Forbidden"))
    if answer.patch:
        response.patch_type = "JSONPatch"
        response.patch = base64.b64encode(_encoder.encode(answer.patch)).decode()
    return _encoder.encode(_Answered(response))


def _present(raw: msgspec.Raw) -> msgspec.Raw | None:
    return None if bytes(raw) == b"null" else raw
