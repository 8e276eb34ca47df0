"""JobProfiles applied to an object: each field is settled once, among what its author said and all profiles that match.

`Never` gives way to everybody. `IfUnset` gives way to the author, and replaces what an earlier profile gave. `Always`
replaces both. What an annotation says that a profile gave is not taken for the author's word, so that stamping again
changes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from admission.api.field_errors import key
from admission.jobs.places import Path, value_at
from admission.jobs.templated import shown
from admission.model.job_profile import JobProfile
from admission.model.names import PRIORITY_CLASS, QUEUE_NAME, STAMPED
from admission.model.qos import QOS_CLASS, SUB_PRIORITY
from admission.readers.stamps import Stamps, read_stamps, written
from admission.stamping.lines import Line

RESOURCES = "resources"  # in the account of what was stamped: cpu and memory were translated

_LABELS: Path = ("metadata", "labels")
_ANNOTATIONS: Path = ("metadata", "annotations")
# The API server writes it into every template that names nobody, before anybody else looks.
_NOBODY_SAID: dict[Path, str] = {("spec", "schedulerName"): "default-scheduler"}


class Setting(NamedTuple):
    """One value that a profile gives. `name`: in the account; `field`: what `overwrite` calls it."""

    name: str
    field: str
    path: Path
    value: str


@dataclass(slots=True)
class Settled:
    """What became of an object: lines, warnings about profiles that disagree, and the account."""

    lines: list[Line] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    stamps: Stamps = field(default_factory=dict)


def of_the_job(profile: JobProfile) -> Iterator[Setting]:
    """What the job object gets."""
    stamp = profile.stamp
    if stamp.queue:
        yield Setting("queue", "queue", (*_LABELS, QUEUE_NAME), stamp.queue)
    if stamp.workload_priority_class:
        path = (*_LABELS, PRIORITY_CLASS)
        yield Setting("workloadPriorityClass", "workloadPriorityClass", path, stamp.workload_priority_class)
    yield from _of_both(profile)


def of_the_pods(profile: JobProfile) -> Iterator[Setting]:
    """What pods and pod templates get."""
    stamp = profile.stamp
    if stamp.priority_class_name:
        path = ("spec", "priorityClassName")
        yield Setting("priorityClassName", "priorityClassName", path, stamp.priority_class_name)
    if stamp.scheduler_name:
        yield Setting("schedulerName", "schedulerName", ("spec", "schedulerName"), stamp.scheduler_name)
    yield from _of_both(profile)


def _of_both(profile: JobProfile) -> Iterator[Setting]:
    stamp = profile.stamp
    if stamp.qos_class:
        yield Setting("qosClass", "qosClass", (*_LABELS, QOS_CLASS), stamp.qos_class)
    if stamp.koordinator_priority is not None:
        value = str(stamp.koordinator_priority)
        yield Setting("koordinatorPriority", "koordinatorPriority", (*_LABELS, SUB_PRIORITY), value)
    for name, value in stamp.labels.items():
        yield Setting(key("labels", name), "labels", (*_LABELS, name), value)
    for name, value in stamp.annotations.items():
        yield Setting(key("annotations", name), "annotations", (*_ANNOTATIONS, name), value)


def settle(
    target: dict[str, Any],
    profiles: Sequence[JobProfile],
    settings: Callable[[JobProfile], Iterator[Setting]],
    where: str | None = None,
) -> Settled:
    """In place. `profiles`: those that match, in order. `where`: of the target in the whole object, for people; None:
    nobody wants lines."""
    known = read_stamps(value_at(target, _ANNOTATIONS))
    wishes: dict[Path, list[tuple[JobProfile, Setting]]] = {}
    for profile in profiles:
        for setting in settings(profile):
            wishes.setdefault(setting.path, []).append((profile, setting))
    settled = Settled()
    for one in profiles if known else ():
        if carried := _carried(known, one):
            settled.stamps[one.name] = carried
    for path, asked in wishes.items():
        _settle(target, path, asked, known, where, settled)
    return settled


def keep_account(target: dict[str, Any], stamps: Stamps) -> None:
    """In place: the annotation that says what came from where, or none where nothing did."""
    put(target, (*_ANNOTATIONS, STAMPED), written(stamps) if stamps else None)


def put(target: dict[str, Any], path: Path, value: str | None) -> None:
    """In place; None takes away what is there. Mappings on the way are made where they are missing."""
    if value is None:
        holder = value_at(target, path[:-1])
        if isinstance(holder, dict):
            holder.pop(path[-1], None)
        return
    here = target
    for part in path[:-1]:
        if not isinstance(here.get(str(part)), dict):
            here[str(part)] = {}
        here = here[str(part)]
    here[str(path[-1])] = value


def shown_field(where: str, path: Path) -> str:
    """A field for people: spec.template.metadata.labels[koordinator.sh/qosClass]."""
    *above, last = path
    quoted = path[0] == "metadata" or (isinstance(last, str) and ("/" in last or "." in last))
    named = key(shown(tuple(above)), str(last)) if quoted else shown(path)
    return f"{where}.{named}" if where else named


def _carried(known: Stamps, profile: JobProfile) -> dict[str, str | None]:
    """Translated resources cannot be told from what an author writes."""
    stated = known.get(profile.name, {})
    return {RESOURCES: stated[RESOURCES]} if profile.stamp.translate and RESOURCES in stated else {}


def _settle(
    target: dict[str, Any],
    path: Path,
    asked: list[tuple[JobProfile, Setting]],
    known: Stamps,
    where: str | None,
    settled: Settled,
) -> None:
    now = value_at(target, path)
    if now is not None and not isinstance(now, str):
        return  # the API server refuses it, and says so
    author, before, giver = _author(now, asked, known)
    value, by, others = author, None, list[tuple[JobProfile, Setting]]()
    for profile, setting in asked:
        if not _may(profile.overwrites(setting.field), path, author, value):
            continue
        if by is not None and setting.value != value:
            others.append(by)
        value, by = setting.value, (profile, setting)
    settled.warnings += [_disagreement(one, by) for one in others if by is not None]
    if value != now:
        put(target, path, value)
        if where is not None:
            rule = f"JobProfile {by[0].name}" if by is not None else "JobProfiles"
            settled.lines.append(Line(rule, shown_field(where, path), now, value))
    if by is not None and value != author:
        settled.stamps.setdefault(by[0].name, {})[by[1].name] = before
    elif giver is not None:
        settled.stamps.setdefault(giver, {})[asked[0][1].name] = before


def _author(
    now: str | None, asked: list[tuple[JobProfile, Setting]], known: Stamps
) -> tuple[str | None, str | None, str | None]:
    """What the author says; what stood there before any profile; and which profile gave what somebody has changed
    since."""
    for profile, setting in asked:
        stated = known.get(profile.name, {})
        if setting.name in stated:
            before = stated[setting.name]
            return (before, before, None) if now == setting.value else (now, before, profile.name)
    return now, now, None


def _may(overwrite: str, path: Path, author: str | None, value: str | None) -> bool:
    if overwrite == "Always":
        return True
    return _unset(path, author if overwrite == "IfUnset" else value)


def _unset(path: Path, value: str | None) -> bool:
    return not value or value == _NOBODY_SAID.get(path)


def _disagreement(earlier: tuple[JobProfile, Setting], later: tuple[JobProfile, Setting]) -> str:
    return (
        f"{later[1].name}: JobProfile {earlier[0].name} gives {earlier[1].value}, {later[0].name} gives "
        f"{later[1].value}: the latter counts, as it comes later"
    )
