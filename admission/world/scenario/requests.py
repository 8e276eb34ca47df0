"""Expectations on the answer to a request: allowed or refused, and what the webhooks made of the object."""

from collections.abc import Iterator, Sequence
from typing import Any

from admission.world.scenario.expectation_forms import RequestIs
from admission.world.scenario.facts import Asked
from admission.world.scenario.paths import MISSING, absent, at, equal_at
from admission.world.scenario.source import Path

Found = tuple[Path, Any, Any, str]  # path in the expectation, expected, seen, note


def judge_request(a: RequestIs, asked: Sequence[Asked]) -> list[Found]:
    """What does not hold of the answers to this request (several, if the event repeats)."""
    if not asked:
        return [(("request",), a.request, MISSING, "the request was never sent")]
    return [found for one in asked for found in _judged(a, one)]


def _judged(a: RequestIs, one: Asked) -> Iterator[Found]:
    answer = one.answer
    if answer.ok != a.allowed:
        yield (("allowed",), a.allowed, answer.ok, f"answered {answer.code} {answer.message}".rstrip())
        return
    if a.errorContains is not None and a.errorContains not in answer.message:
        yield (("errorContains",), a.errorContains, answer.message, "")
    if answer.body is None:
        return
    body = answer.body
    for path, value in (a.mutated or {}).items():
        seen = at(body, path)
        if not equal_at(path, value, seen):
            yield (("mutated", path), value, seen, "")
    for index, path in enumerate(a.unset or ()):
        if not absent(at(body, path)):
            yield (("unset", index), path, MISSING, f"{path} is {at(body, path)!r}")
    for path, value in (a.unsetOr or {}).items():
        seen = at(body, path)
        if not absent(seen) and not equal_at(path, value, seen):
            yield (("unsetOr", path), value, seen, "")
    operations = [operation for call in answer.hooks for operation in call.patch]
    if a.unchanged and operations:
        yield (("unchanged",), True, MISSING, f"the webhooks answered with {operations}")
    removals = [operation for operation in operations if operation["op"] in ("remove", "move")]
    if a.patchHasNoRemove and removals:
        yield (("patchHasNoRemove",), True, MISSING, f"the webhooks remove {[op['path'] for op in removals]}")
