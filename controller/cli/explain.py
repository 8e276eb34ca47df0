"""`lockgate explain`: one job's wait, in numbers, in a sentence, and how long it should last."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from controller.cli import koordinator


class Output(StrEnum):
    text = "text"
    json = "json"


def command(
    what: Annotated[str, typer.Argument(help="The job, as Kind/namespace/name: Job/lab/train or Workload/lab/w.")],
    paths: Annotated[list[Path], typer.Argument(help="Folders and files: manifests (YAML, JSON) and traces (CSV).")],
    at: Annotated[
        str | None, typer.Option(help="At which virtual time, like 10m; else when all that can end has ended.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
    output: Annotated[Output, typer.Option(help="What to print.")] = Output.text,
) -> None:
    """Why one job waits, in numbers, and when it should start.

    Plays the manifests until the given moment, explains, then plays on to see when the job starts.
    """
    from admission.explain import Explanation, explain
    from admission.model.durations import spoken
    from admission.model.kinds import JOBS, KINDS
    from admission.model.names import WorkloadKey
    from controller.cli import rendering
    from controller.cli.complaint import Complaint
    from controller.cli.playing import koordinator_of, moment, prepared

    kind, *name = what.split("/")
    if len(name) != 2 or (kind in KINDS and kind not in (*JOBS, "Workload")):
        raise Complaint(f"{what!r} names no job: write Kind/namespace/name, like Job/lab/train or Workload/lab/w")
    end = moment("--at", at)
    simulation, notes = prepared(paths, config, feature_gates, koordinator_of(koordinator_preset, koordinator_bands))
    ref = simulation.ref_of(kind, *name)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    simulation.run(end)
    story = simulation.find(ref)
    if story is None and ref not in simulation.unmanaged:
        seen = f"has not arrived by {spoken(simulation.now)}" if simulation.awaits(ref) else "is in none of the paths"
        raise Complaint(f"{what} {seen}; see who is there with: lockgate simulate … --output timeline")
    if story is None:
        why = f"It {simulation.why_unmanaged(ref)}: it runs at once and takes no quota."
        explanation = Explanation(WorkloadKey(""), "unmanaged", "", "", "", why)
    elif story.problem:
        explanation = Explanation(story.key, "pending", "", "", "Misconfigured", f"{story.problem}.", never=True)
    else:
        now = simulation.now
        explanation = explain(simulation.state, story.key, simulation.start + now, simulation.called)
        if explanation.state in ("pending", "inadmissible"):
            before = story.admitted
            simulation.run(enough=lambda: story.admitted != before)
            started = story.admitted - now if story.admitted is not None and story.admitted != before else None
            explanation = explanation.starting(started)
    if output is Output.json:
        print(json.dumps({"version": 1, **explanation.as_json()}, indent=2))
    else:
        rendering.explanation(what, explanation, simulation.called, rendering.console())
