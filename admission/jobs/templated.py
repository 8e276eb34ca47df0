"""Kinds that hold pod templates in their manifest: with where those lie and what the status means, all else follows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from admission.jobs.descriptor import Manifest, Stop
from admission.jobs.hold import Former, Hold
from admission.jobs.merge_patch import difference, joined
from admission.jobs.places import Path, replaced, value_at
from admission.jobs.reading import Facts, read_job
from admission.jobs.templates import PermanentProblem, restored, started, submitted
from admission.model.effects import PodSetInfo
from admission.model.job import Borrowed, Job
from admission.model.names import WORKLOAD_ANNOTATION
from admission.readers.metadata import read_metadata
from admission.readers.narrow import canonical_bytes, entries, integer, mapping
from admission.readers.pod_set import pod_set

_MARK: Path = ("metadata", "annotations", WORKLOAD_ANNOTATION)


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Equal pods of a job: one pod set of its Workload."""

    name: str
    count: int
    template: Mapping[str, Any]  # as the pods will be, with what the operator adds to them
    at: Path  # where in the manifest the template lies that starting merges into and stopping restores
    min_count: int | None = None
    count_at: Path | None = None  # where the number of pods lies, in kinds that may start with fewer
    # What lies at `at`: a pod's spec has no place for labels; where nothing does, starting can only let the job go.
    form: Literal["template", "spec", "nothing"] = "template"
    borrowed: Borrowed | None = None  # the template lies in another object


@dataclass(frozen=True, slots=True)
class Templated:
    """A descriptor. `groups` and `facts` are total: they raise for nothing that JSON can hold."""

    kind: str
    hold: Hold
    groups: Callable[[Manifest], list[PodGroup]]
    facts: Callable[[Manifest, Sequence[PodGroup]], Facts]
    stop: Stop = "Suspend"
    generated_labels: tuple[str, ...] = ()  # what the kind's own controller puts on templates
    former: tuple[Former, ...] = ()  # what held its jobs before their kind was described anew
    described_by: str = ""  # digest of what a JobKind says of pod sets

    def read(self, manifest: Manifest) -> Job:
        groups = self.groups(manifest)
        pod_sets = tuple(pod_set(one.name, one.template, one.count, one.min_count) for one in groups)
        suspended = self.hold.holds(manifest) or bool(self._left(manifest))
        job = read_job(self.kind, manifest, pod_sets, suspended, self.facts(manifest, groups))
        if self.described_by:
            job = replace(job, described_by=self.described_by)
        borrowed = tuple(one.borrowed for one in groups if one.borrowed is not None)
        return replace(job, borrowed=borrowed, manifest=_kept(manifest)) if borrowed else job

    def _left(self, manifest: Manifest) -> list[Hold]:
        if not self.former:
            return []
        created = read_metadata(manifest).created
        return [one.hold for one in self.former if one.holds(manifest, created)]

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        return [self._pod_set(one) for one in self.groups(manifest)]

    def _pod_set(self, group: PodGroup) -> dict[str, Any]:
        template = submitted(group.template, self.generated_labels)
        entry: dict[str, Any] = {"name": group.name, "count": group.count, "template": template}
        return entry if group.min_count is None else {**entry, "minCount": group.min_count}

    def start(self, manifest: Manifest, infos: Sequence[PodSetInfo]) -> dict[str, Any]:
        groups = self.groups(manifest)
        if len(infos) != len(groups):
            raise PermanentProblem(f"invalid podset infos: expecting {len(groups)} podsets, got {len(infos)}")
        wanted = self.hold.set(manifest, held=False)
        for group, info in zip(groups, infos, strict=True):
            _check_reach(group, info)
            wanted = _changed(wanted, group, partial(started, info=info))
            wanted = _sized(wanted, group, info.count)
        if infos and not _can_be_marked(groups):
            wanted = replaced(wanted, _MARK, infos[0].annotations.get(WORKLOAD_ANNOTATION))
        for hold in self._left(manifest):
            wanted = hold.set(wanted, held=False)
        return joined(difference(manifest, wanted), self.hold.patch(held=False))

    def suspend(self) -> dict[str, Any]:
        return self.hold.patch(held=True)

    def forget_start(self) -> dict[str, Any] | None:
        return None

    def restore(self, manifest: Manifest, workload: Manifest | None) -> dict[str, Any]:
        groups = self.groups(manifest)
        originals = entries(mapping(mapping(workload).get("spec")).get("podSets"))
        wanted = self.hold.set(manifest, held=True)
        # Else: not the Workload of this job as it is now, whose fields are its own.
        if [one.get("name") for one in originals] == [one.name for one in groups]:
            for group, original in zip(groups, originals, strict=True):
                before = mapping(original.get("template"))
                wanted = _changed(wanted, group, partial(restored, original=before, kept_labels=self.generated_labels))
                wanted = _sized(wanted, group, integer(original.get("count"), group.count))
        if value_at(wanted, _MARK) is not None and not _can_be_marked(groups):
            wanted = replaced(wanted, _MARK, None)
        return joined(difference(manifest, wanted), self.hold.patch(held=True))


def missing_template(groups: Sequence[PodGroup]) -> str:
    """Why no Workload can be made of a job with such groups, or ""."""
    for group in groups:
        if not isinstance(group.template.get("spec"), Mapping):
            return f"{shown(group.at)}.spec: Required value: pods of {group.name} have no template"
    return ""


def shown(path: Path) -> str:
    """As people write it: spec.workerGroupSpecs[0].template."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _can_be_marked(groups: Sequence[PodGroup]) -> bool:
    """Whether some template can say for which Workload the job was started; else the job itself has to."""
    return any(group.form == "template" for group in groups)


def _kept(manifest: Manifest) -> bytes:
    try:
        return canonical_bytes(manifest)
    except RecursionError:
        return b""


def _check_reach(group: PodGroup, info: PodSetInfo) -> None:
    """Such pods would run on whatever nodes there are, and take quota of others. Raises PermanentProblem."""
    if group.borrowed is not None and (info.node_selector or info.tolerations):
        raise PermanentProblem(
            f"the admission wants nodes with {dict(info.node_selector)} for the pods of {group.name}, but their "
            f"template lies in {group.borrowed.source.name}, where nothing can be put in: use a flavor without "
            "nodeLabels and tolerations"
        )


def _changed(manifest: Any, group: PodGroup, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
    """With the template changed where it lies, as far as there is a place for the change."""
    if group.form == "nothing":
        return manifest
    now = mapping(value_at(manifest, group.at))
    changed = change(now) if group.form == "template" else change({"spec": now})["spec"] or None
    return replaced(manifest, group.at, changed)


def _sized(manifest: Any, group: PodGroup, count: int) -> Any:
    if group.count_at is None or group.min_count is None:
        return manifest
    return replaced(manifest, group.count_at, count)
