"""`status.groups[*].ready` -> Place: how a JobKind says where things lie in a manifest.

A field, `[0]` an entry of a list, `["a.b/c"]` a name that is no plain word, `[*]` every entry, `[name=worker]` the
entries that say so, `[name=@name]` those of the pod set at hand. A leading `$.` counts from the manifest again where
other places count from an entry of `forEach`.
"""

import re

from admission.model.job_kind import Every, Place, Step, Where

LONGEST = 512  # characters of a path; the longest in the kinds that were looked at has 70
_STEP = re.compile(
    r"""\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)
    | \[(?P<index>[0-9]{1,4})\]
    | \[(?P<every>\*)\]
    | \["(?P<double>[^"\]]+)"\]
    | \['(?P<single>[^'\]]+)'\]
    | \[(?P<field>[A-Za-z_][A-Za-z0-9_-]*)=(?:(?P<own>@name)|"(?P<quoted>[^"\]]*)"|(?P<plain>[A-Za-z0-9_.-]+))\]
    """,
    re.VERBOSE,
)
_EXAMPLES = 'as in spec.suspend, status.groups[*].ready or metadata.annotations["example.com/a.b"]'


class BadPlace(ValueError):
    """Not a path; the message says from where on, and how one is written."""


def read_place(stated: str, in_entry: bool = False) -> Place:
    """`in_entry`: paths count from an entry, unless they begin with `$.`. Raises BadPlace."""
    if len(stated) > LONGEST:
        raise BadPlace(f"has {len(stated)} characters, more than {LONGEST}: name a field that lies less deep")
    from_root = stated.startswith(("$.", "$["))
    rest = stated[1:] if from_root else f".{stated}" if stated and not stated.startswith("[") else stated
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            break
        steps.append(_step(found))
        at = found.end()
    if not steps or at < len(rest):
        raise BadPlace(f"is not a path from {rest[at:] or stated!r} on: write one {_EXAMPLES}")
    return Place(tuple(steps), in_entry and not from_root)


def _step(found: re.Match[str]) -> Step:
    parts = found.groupdict()
    if parts["index"] is not None:
        return int(parts["index"])
    if parts["every"] is not None:
        return Every.EVERY
    if parts["field"] is not None:
        stated = parts["quoted"] if parts["quoted"] is not None else parts["plain"]
        return Where(parts["field"], None if parts["own"] else stated)
    return next(parts[name] for name in ("name", "double", "single") if parts[name] is not None)


def is_plain(place: Place, *, entries: bool = False) -> bool:
    """Whether it leads to one place: through names alone or, with `entries`, numbered entries, too."""
    return all(isinstance(step, str) or (entries and isinstance(step, int)) for step in place.steps)
