"""From paths on the command line to a simulation that is ready to run; `simulate` and `explain` share it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import TypeVar

from admission.configuration import Reading
from admission.configuration.koordinator import BadKoordinator, read_koordinator
from admission.model.configuration import DEFAULTS
from admission.model.durations import BadDuration, duration
from admission.model.kinds import JOBS, WATCHED
from admission.model.names import ARRIVAL, QUEUE_NAME, RUNTIME
from admission.model.qos import Koordinator
from admission.readers.elastic_quota import read_elastic_quota
from admission.reconcile.ancestors import DEEPEST
from admission.rules.elastic_quotas import Family
from admission.world.simulation import Simulation
from admission.world.stories import Arrival, Refusal
from controller.cli.complaint import Complaint
from controller.cli.manifests import BadManifests, Manifest, Problem, load
from controller.cli.refusals import problems_of
from controller.cli.trace import priority_class, rows_of
from controller.kit.configuration import BadConfiguration, read_file

Thing = TypeVar("Thing")

_FIRST = tuple(kind for kind in WATCHED if kind != "Workload" and kind not in JOBS)


def prepared(
    paths: Sequence[FilePath],
    config: FilePath | None = None,
    feature_gates: str | None = None,
    koordinator: Koordinator = DEFAULTS.koordinator,
) -> tuple[Simulation, list[str]]:
    """The simulation with everything that the paths hold, and notes on what was left out or added.

    Raises BadManifests for every object that a cluster would refuse, Complaint when there is nothing to play.
    """
    bundle = load(paths)
    rows = list(rows_of(bundle.traces))
    settings = configured(config, feature_gates)
    simulation = Simulation(replace(settings.core, koordinator=koordinator))
    problems: list[Problem] = []
    notes = [*map(str, settings.notes), *bundle.notes]
    objects = sorted((one for one in bundle.manifests if not one.arrives), key=_place)
    objects = _parents_first(objects)
    arriving = [one for one in bundle.manifests if one.arrives]
    parts = list(_parts(arriving, settings.core.manage_jobs_without_queue_name))
    notes += [f"skipped {one}, which {whose} makes ({one.file})" for one, whose in parts]
    left_out = {id(one) for one, _ in parts}
    arriving = [one for one in arriving if id(one) not in left_out]
    if not bundle.manifests and not rows:
        raise Complaint("there is nothing to play in what was named; add queues, Jobs, Workloads or traces")
    for one in objects:
        if one.kind == "Namespace":
            _try(simulation.create, one.content, one, problems)
    made = {one.namespace for one in (*objects, *arriving)} | {row.manifest["metadata"]["namespace"] for row in rows}
    for name in sorted(made - {""}):
        if not simulation.has_namespace(name):
            simulation.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            notes.append(f"made the Namespace {name}, which no manifest holds")
    for one in objects:
        if one.kind != "Namespace":
            _try(simulation.create, one.content, one, problems)
    for value in sorted({row.priority for row in rows} - {0}):
        simulation.create(priority_class(value))
    for arrival, source in _arrivals(arriving):
        _try(simulation.expect, arrival, source, problems)
    for row in rows:
        simulation.expect(Arrival(row.arrival, row.runtime, row.manifest))
    if problems:
        raise BadManifests(problems)
    if any(one.kind == "AdmissionCheck" for one in objects):
        notes.append("AdmissionChecks pass at once: the controllers that answer them do not run here")
    return simulation, notes


def _place(one: Manifest) -> int:
    """Whom others need comes first; what lends templates to jobs is needed by those alone."""
    return _FIRST.index(one.kind) if one.kind in _FIRST else len(_FIRST)


def _parents_first(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Elastic quotas in the order in which they are let in; all others stay where they are."""
    at = [number for number, one in enumerate(manifests) if one.kind == "ElasticQuota"]
    quotas = [read_elastic_quota(manifests[number].content) for number in at]
    rank = {name: number for number, name in enumerate(Family({one.name: one for one in quotas}).downwards)}
    order = sorted(range(len(at)), key=lambda number: rank.get(quotas[number].name, 0))
    moved = dict(zip(at, [manifests[at[number]] for number in order], strict=True))
    return [moved.get(number, one) for number, one in enumerate(manifests)]


def moment(option: str, text: str | None) -> float | None:
    """A duration given as an option. Raises Complaint."""
    if text is None:
        return None
    try:
        return duration(text)
    except BadDuration as error:
        raise Complaint(f"{option}: {error}") from error


def configured(config: FilePath | None, feature_gates: str | None) -> Reading:
    """What the options of these names say. Raises Complaint."""
    try:
        return read_file(config, feature_gates=feature_gates or "")
    except BadConfiguration as error:
        raise Complaint(str(error)) from error


def koordinator_of(preset: str | None, bands: str | None) -> Koordinator:
    """Likewise."""
    try:
        return read_koordinator(preset, bands)
    except BadKoordinator as error:
        raise Complaint(str(error)) from error


def _parts(jobs: Sequence[Manifest], manage_all: bool) -> Iterator[tuple[Manifest, Manifest]]:
    """Jobs that another one of them makes and is queued for, with the topmost such one: dumps of clusters have both."""
    by_uid = {uid: one for one in jobs if (uid := one.content["metadata"].get("uid"))}
    for one in jobs:
        owner, topmost, hops = _owner(one, by_uid), None, 0
        while owner is not None and hops < DEEPEST:
            if manage_all or QUEUE_NAME in (owner.content["metadata"].get("labels") or {}):
                topmost = owner
            owner, hops = _owner(owner, by_uid), hops + 1
        if topmost is not None and topmost is not one:
            yield one, topmost


def _owner(one: Manifest, by_uid: Mapping[str, Manifest]) -> Manifest | None:
    owners = one.content["metadata"].get("ownerReferences") or ()
    return next((by_uid.get(owner.get("uid", "")) for owner in owners if owner.get("controller")), None)


def _arrivals(manifests: Sequence[Manifest]) -> Iterator[tuple[Arrival, Manifest]]:
    for one in manifests:
        marks = one.content["metadata"].get("annotations") or {}
        runtime = marks.get(RUNTIME)
        yield Arrival(duration(marks.get(ARRIVAL) or "0s"), duration(runtime) if runtime else None, one.content), one


def _try(act: Callable[[Thing], None], value: Thing, source: Manifest, problems: list[Problem]) -> None:
    try:
        act(value)
    except Refusal as refusal:
        problems += problems_of(str(refusal), source)
