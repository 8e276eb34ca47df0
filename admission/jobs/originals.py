"""What starting overwrites, noted on the job itself so that stopping puts it back exactly.

For kinds whose pods are described by many fields of their own: which of those said what before cannot be told from the
pod templates of their Workload.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from admission.jobs.places import Path, replaced, value_at
from admission.jobs.templates import PermanentProblem
from admission.readers.narrow import items, mapping, text

ANNOTATION = "lockgate.dev/before-start"
_LONGEST = 200 * 1024  # bytes; Kubernetes takes 256 KiB for all annotations of an object
_NOTE: Path = ("metadata", "annotations", ANNOTATION)


# All that starting overwrites: people could write a note as well, and nothing else shall change by it behind a queue.
_FIELDS = frozenset(("nodeSelector", "tolerations", "labels", "annotations", "podMetadata"))


class Original(NamedTuple):
    path: Path
    value: Any  # None: nothing was there


def with_note(manifest: Mapping[str, Any], paths: Iterable[Path]) -> Mapping[str, Any]:
    """The manifest with an annotation that says what lies at these places now. Raises PermanentProblem."""
    said = [[list(path), value_at(manifest, path)] for path in paths]
    note = json.dumps(said, separators=(",", ":"), sort_keys=True)
    if len(note) > _LONGEST:
        raise PermanentProblem(
            f"its selectors and tolerations take {len(note)} bytes, more than fits into an annotation: say them "
            "once, for the whole job"
        )
    noted: Mapping[str, Any] = replaced(manifest, _NOTE, note)
    return noted


def put_back(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The manifest as the note says that it was, without the note; None where there is none that can be read."""
    originals = _read(manifest)
    if originals is None:
        return None
    for original in originals:
        if _leads_somewhere(manifest, original.path):
            manifest = replaced(manifest, original.path, original.value)
    return _without_note(manifest)


def _without_note(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    left = {key: value for key, value in mapping(value_at(manifest, _NOTE[:-1])).items() if key != ANNOTATION}
    bare: Mapping[str, Any] = replaced(manifest, _NOTE[:-1], left or None)
    return bare


def _read(manifest: Mapping[str, Any]) -> list[Original] | None:
    stated = text(value_at(manifest, _NOTE))
    try:
        said = json.loads(stated) if stated else None
        msgspec.json.encode(said)  # as it will be sent: half a character, say, could not be
    except (ValueError, OverflowError, RecursionError):
        return None
    if not isinstance(said, list):
        return None
    found = [items(entry) for entry in said]
    return [Original(tuple(items(entry[0])), entry[1]) for entry in found if len(entry) == 2 and _path(entry[0])]


def _path(stated: object) -> bool:
    parts = items(stated)
    known = len(parts) > 1 and all(type(part) in (str, int) for part in parts)
    return known and parts[0] == "spec" and parts[-1] in _FIELDS


def _leads_somewhere(manifest: Mapping[str, Any], path: Path) -> bool:
    """Lists on the way must still have the entry: their author may have made them shorter since."""
    return all(
        value_at(manifest, path[: at + 1]) is not None for at, part in enumerate(path) if isinstance(part, int)
    ) and (value_at(manifest, path) is not None or isinstance(value_at(manifest, path[:-1]), Mapping))
