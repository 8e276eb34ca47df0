"""JobSet: a pod set for each of its replicated Jobs.

Its own webhook lets labels, annotations, node selectors, tolerations and scheduling gates of the pod templates change
where the old or the new JobSet is suspended, and nothing else of them ever: so one patch starts or stops it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from admission.api.field_errors import duplicate, required
from admission.jobs.descriptor import Manifest
from admission.jobs.hold import SUSPEND
from admission.jobs.reading import Facts
from admission.jobs.templated import PodGroup, Templated, missing_template
from admission.model.job import JobEnd
from admission.readers.metadata import read_conditions
from admission.readers.narrow import entries, integer, items, mapping, text

_MOST = 2**31 - 1  # counts of pod sets are int32
_TEMPLATE = ("template", "spec", "template")


def _groups(manifest: Manifest) -> list[PodGroup]:
    return [_group(index, one) for index, one in _replicated(manifest)]


def _facts(manifest: Manifest, groups: Sequence[PodGroup]) -> Facts:
    status = mapping(manifest.get("status"))
    told = {text(one.get("name")): one for one in entries(status.get("replicatedJobsStatus"))}
    replicated = [one for _, one in _replicated(manifest)]
    done = [integer(one.get("ready")) + integer(one.get("succeeded")) for one in told.values()]
    return Facts(
        active=any(integer(one.get("active")) > 0 for one in told.values()),
        end=_end(status),
        pods_ready=sum(map(_replicas, replicated)) == sum(done),
        reclaimable=_reclaimable(replicated, told),
        problem=_problem(groups),
    )


JOB_SET = Templated("JobSet", SUSPEND, _groups, _facts)


def _replicated(manifest: Manifest) -> list[tuple[int, Mapping[str, Any]]]:
    stated = items(mapping(manifest.get("spec")).get("replicatedJobs"))
    return [(index, one) for index, one in enumerate(stated) if isinstance(one, Mapping)]


def _group(index: int, one: Mapping[str, Any]) -> PodGroup:
    template: Any = one
    for member in _TEMPLATE:
        template = mapping(mapping(template).get(member))
    count = min(_replicas(one) * _pods_of_each(one), _MOST)
    return PodGroup(_name(one), count, template, ("spec", "replicatedJobs", index, *_TEMPLATE))


def _name(one: Mapping[str, Any]) -> str:
    return text(one.get("name")).lower()


def _replicas(one: Mapping[str, Any]) -> int:
    return max(integer(one.get("replicas"), 1), 0)


def _pods_of_each(one: Mapping[str, Any]) -> int:
    """Pods that one of the Jobs has at a time."""
    spec = mapping(mapping(one.get("template")).get("spec"))
    parallelism = integer(spec.get("parallelism"), 1)
    return max(min(parallelism, integer(spec.get("completions"), parallelism)), 0)


def _end(status: Mapping[str, Any]) -> JobEnd | None:
    conditions = read_conditions(status.get("conditions"))
    for kind in ("Completed", "Failed"):
        if kind in conditions and conditions[kind].true:
            return JobEnd(kind == "Completed", conditions[kind].message)
    return None


def _reclaimable(replicated: Sequence[Mapping[str, Any]], told: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Pods of Jobs that succeeded."""
    found = {}
    for one in replicated:
        done = integer(told.get(text(one.get("name")), {}).get("succeeded"))
        if 0 < done <= _replicas(one):
            found[_name(one)] = min(done * _pods_of_each(one), _MOST)
    return found


def _problem(groups: Sequence[PodGroup]) -> str:
    if not groups:
        return str(required("spec.replicatedJobs", "a JobSet without Jobs has no pods to wait for"))
    names = Counter(group.name for group in groups)
    for group in groups:
        if not group.name or names[group.name] > 1:
            path = f"spec.replicatedJobs[{group.at[2]}].name"
            return str(duplicate(path, group.name) if group.name else required(path, "name each of them"))
    return missing_template(groups)
