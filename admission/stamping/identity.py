"""Whose job it is: who created it, in annotations that nobody else may write, so that limits per user can be kept.

A name that people could write themselves, or a token of which they could have many, would limit nobody.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from admission.api.field_errors import FieldError, forbidden, key
from admission.model.queue_policy import EVERYBODY, GROUPS, USER, Identity
from admission.readers.identity import MOST_GROUPS, read_groups
from admission.stamping.patches import PatchOperation, remove, set_entry

TRUSTED = "system:masters"  # whoever is in this group may do anything, so also say for whom a job is
_WHERE = ("metadata", "annotations")
_LONGEST = 1024  # characters of a name; no honest one is longer, and annotations are kept with every copy of a job
Annotations = Mapping[str, str] | None


def creator(user: str, groups: Sequence[str], spoken_of: Mapping[str, None]) -> Identity:
    """`spoken_of`: groups that some policy names; those that the API server gives to everybody only by their name."""
    named = [
        group
        for group in sorted(set(groups))
        if group in spoken_of or (EVERYBODY in spoken_of and not group.startswith("system:"))
    ]
    return Identity(user[:_LONGEST], tuple([group for group in named if len(group) <= _LONGEST][:MOST_GROUPS]))


def stated(annotations: Annotations) -> Identity:
    """Whose the annotations say it is."""
    found = annotations or {}
    return Identity(found.get(USER, ""), read_groups(found.get(GROUPS, "")))


def speaks(annotations: Annotations) -> bool:
    return annotations is not None and (USER in annotations or GROUPS in annotations)


def written(annotations: Annotations, who: Identity) -> tuple[tuple[PatchOperation, ...], tuple[str, ...]]:
    """What makes the annotations say whose it is, and warnings about what they said before."""
    patch: list[PatchOperation] = []
    warnings = []
    for name, value in _values(who).items():
        before = (annotations or {}).get(name)
        if before == value:
            continue
        if before is not None:
            warnings.append(
                f"{key('.'.join(_WHERE), name)}: is written by Lockgate alone: {before!r} is not taken over"
            )
        if value is None:
            patch.append(remove((*_WHERE, name)))
        else:
            patch.append(set_entry(_WHERE, annotations, name, value))
            annotations = {**(annotations or {}), name: value}
    return tuple(patch), tuple(warnings)


def kept(annotations: Annotations, before: Annotations) -> tuple[PatchOperation, ...]:
    """A manifest without them, applied again, takes nothing away."""
    patch = []
    for name in (USER, GROUPS):
        if before is not None and name in before and name not in (annotations or {}):
            patch.append(set_entry(_WHERE, annotations, name, before[name]))
            annotations = {**(annotations or {}), name: before[name]}
    return tuple(patch)


def changed(annotations: Annotations, before: Annotations) -> Iterator[FieldError]:
    """Nobody becomes somebody else."""
    for name in (USER, GROUPS):
        if (annotations or {}).get(name) != (before or {}).get(name):
            yield forbidden(
                key(".".join(_WHERE), name),
                "is written by Lockgate alone, when the object is created: leave it as it is",
            )


def _values(who: Identity) -> dict[str, str | None]:
    return {USER: who.user or None, GROUPS: json.dumps(list(who.groups)) if who.groups else None}
