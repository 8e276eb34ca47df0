"""What the in-memory API server answers: a code, an object or a reason why not, as a client would see it."""

from dataclasses import dataclass
from typing import Any

from admission.model.kinds import Ref
from admission.world.objects import Frozen, Object, copied, resource_of


@dataclass(frozen=True, slots=True)
class HookCall:
    """One webhook that was asked: its path, whether it allowed, the JSON Patch it answered with."""

    path: str
    allowed: bool
    code: int = 200
    message: str = ""
    patch: tuple[dict[str, Any], ...] = ()


Calls = list[HookCall]


@dataclass(frozen=True, slots=True)
class Answer:
    """`code` is HTTP's; `body` the object after the write, `reason` and `message` Kubernetes' own when refused."""

    code: int
    body: Object | None = None
    reason: str = ""
    message: str = ""
    hooks: tuple[HookCall, ...] = ()

    @property
    def ok(self) -> bool:
        return self.code < 300

    @property
    def version(self) -> int | None:
        """The resource version of the body."""
        return int(self.body["metadata"]["resourceVersion"]) if self.body is not None else None


class Refused(Exception):
    """A request that ends here with this answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.message)
        self.answer = answer


def not_found(ref: Ref) -> Refused:
    return Refused(Answer(404, reason="NotFound", message=f'{resource_of(ref)} "{ref.name}" not found'))


def already_exists(ref: Ref) -> Refused:
    return Refused(Answer(409, reason="AlreadyExists", message=f'{resource_of(ref)} "{ref.name}" already exists'))


def conflict(ref: Ref, why: str = "") -> Refused:
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {resource_of(ref)} "{ref.name}": {why}'
    return Refused(Answer(409, reason="Conflict", message=message))


def invalid(ref: Ref, errors: list[str]) -> Refused:
    errors = [*dict.fromkeys(errors)]  # as the API server does
    listed = errors[0] if len(errors) == 1 else "[" + ", ".join(errors) + "]"
    message = f'{ref.kind} "{ref.name}" is invalid: {listed}'
    return Refused(Answer(422, reason="Invalid", message=message))


def bad_request(message: str) -> Refused:
    return Refused(Answer(400, reason="BadRequest", message=message))


def forbidden(ref: Ref, why: str) -> Refused:
    message = f'{resource_of(ref)} "{ref.name}" is forbidden: {why}'
    return Refused(Answer(403, reason="Forbidden", message=message))


def denied(call: HookCall, name: str) -> Refused:
    """A webhook said no: the message as the API server wraps it."""
    message = f'admission webhook "{name}" denied the request: {call.message}'
    return Refused(Answer(call.code if call.code >= 400 else 403, reason="Forbidden", message=message))


def success(body: Frozen, code: int, hooks: tuple[HookCall, ...] = ()) -> Answer:
    return Answer(code, copied(body), hooks=hooks)
