"""What a run of scenarios says to people and to machines: text, JSON, JUnit."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from admission.model.times import BadTime, seconds
from admission.world.clock import EPOCH
from admission.world.objects import Frozen, ref_of
from admission.world.scenario.paths import MISSING
from admission.world.scenario.runner import Failure, Result
from admission.world.scenario.source import spelled

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # control characters that no XML may contain


class FileResult(NamedTuple):
    """`file` is its name as the user gave it."""

    file: str
    result: Result


def count(results: Sequence[FileResult], outcome: str) -> int:
    return sum(one.result.outcome == outcome for one in results)


# for people


def text(results: Sequence[FileResult]) -> Iterator[str]:
    """Lines: the failed cases in full, the others in a line each, a sum at the end."""
    for one in results:
        yield f"{one.result.outcome:<11} {one.file}" + (
            f": needs {', '.join(one.result.missing)}" if one.result.missing else ""
        )
        for failure in one.result.failures:
            yield from _failure_lines(one, failure)
    yield (
        f"{count(results, 'passed')} passed, {count(results, 'failed')} failed, "
        f"{count(results, 'unsupported')} unsupported"
    )


def _failure_lines(one: FileResult, failure: Failure) -> Iterator[str]:
    where = f"  {one.file}:{_line(one.result, failure)}: {_place(failure)}"
    if failure.mismatch is None:
        yield f"{where}: {failure.message}"
        return
    mismatch = failure.mismatch
    yield f"{where}{_at(one.result, failure)}: {_subject(one.result, failure)}"
    yield f"    {spelled(mismatch.path)}"
    yield f"      expected: {_shown(mismatch.expected)}"
    yield f"      seen:     {_shown(mismatch.seen)}" + (f"   ({mismatch.note})" if mismatch.note else "")
    for manifest in mismatch.about:
        conditions = (manifest.get("status") or {}).get("conditions") or ()
        yield f"    {ref_of(manifest)}" + ("" if conditions else " has no conditions")
        for entry in conditions:
            yield f"      {_condition_line(entry)}"


def _condition_line(entry: Frozen) -> str:
    try:
        since = f"t={seconds(entry.get('lastTransitionTime', '')) - EPOCH:g}"
    except BadTime:
        since = "an unknown time"
    said = f"{entry.get('type')}={entry.get('status')} since {since}: {entry.get('reason')}"
    return f"{said}: {entry['message']}" if entry.get("message") else said


def _place(failure: Failure) -> str:
    return "objects" if failure.index < 0 else f"{failure.section}[{failure.index}]"


def _line(result: Result, failure: Failure) -> int:
    path = (failure.section, failure.index) if failure.index >= 0 else ("objects",)
    if failure.mismatch is not None:
        return result.case.source.line((*path, *failure.mismatch.path))
    return result.case.source.line(path)


def _at(result: Result, failure: Failure) -> str:
    at = getattr(result.case.form.expect[failure.index], "at", None)
    return "" if at is None else f" at t={at:g}"


def _subject(result: Result, failure: Failure) -> str:
    """What the expectation is about: its own words without what it expects."""
    said = result.case.form.expect[failure.index]
    for key in ("workload", "workloadOf", "object", "clusterQueue", "request", "count", "quiet", "gone", "about"):
        value = getattr(said, key, None)
        if value is not None:
            shown = value.model_dump(by_alias=True, exclude_unset=True) if hasattr(value, "model_dump") else value
            return f"{key} {_shown(shown)}"
    return ""


def _shown(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    return value if isinstance(value, str) else repr(value)


# for machines


def as_json(results: Sequence[FileResult]) -> dict[str, Any]:
    """Stable: version 1 only gains keys."""
    return {
        "version": 1,
        **{outcome: count(results, outcome) for outcome in ("passed", "failed", "unsupported")},
        "cases": [
            {
                "file": one.file,
                "id": one.result.case.id,
                "outcome": one.result.outcome,
                "missing": one.result.missing,
                "failures": [_failure_json(one.result, failure) for failure in one.result.failures],
            }
            for one in results
        ],
    }


def _failure_json(result: Result, failure: Failure) -> dict[str, Any]:
    place = {"section": failure.section, "index": failure.index, "line": _line(result, failure)}
    mismatch = failure.mismatch
    if mismatch is None:
        return {**place, "message": failure.message}
    return {
        **place,
        "at": getattr(result.case.form.expect[failure.index], "at", None),
        "path": spelled(mismatch.path),
        "expected": mismatch.expected,
        "seen": None if mismatch.seen is MISSING else mismatch.seen,
        "message": mismatch.note,
        "conditions": {
            str(ref_of(manifest)): (manifest.get("status") or {}).get("conditions") or [] for manifest in mismatch.about
        },
    }


def as_junit(results: Sequence[FileResult]) -> str:
    """One test case per file; unsupported ones are skipped."""
    suite = ElementTree.Element(
        "testsuite",
        name="lockgate",
        tests=str(len(results)),
        failures=str(count(results, "failed")),
        skipped=str(count(results, "unsupported")),
        errors="0",
    )
    for one in results:
        case = ElementTree.SubElement(suite, "testcase", name=one.result.case.id, classname=one.file, file=one.file)
        if one.result.missing:
            ElementTree.SubElement(case, "skipped", message="needs " + ", ".join(one.result.missing))
        for failure in one.result.failures:
            lines = list(_failure_lines(one, failure))
            ElementTree.SubElement(case, "failure", message=lines[0].strip()).text = "\n".join(lines)
    ElementTree.indent(suite)
    return _NOT_XML.sub("?", ElementTree.tostring(suite, encoding="unicode", xml_declaration=True))
