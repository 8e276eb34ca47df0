"""`lockgate diff`: the same jobs under two sets of queues.

Exit codes are those of diff: 0 nothing differs, 1 something does, 2 it could not be found out.
"""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from controller.cli.complaint import Complaint
from controller.cli.telling import deafen, tell


class Output(StrEnum):
    table = "table"
    json = "json"


def command(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The queues as they are: a file or folder.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The queues as they are to be.")],
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="The jobs, and all else: manifests, traces (CSV).")
    ],
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file, of both sides.")] = None,
    config_before: Annotated[Path | None, typer.Option(help="Of the one side.")] = None,
    config_after: Annotated[Path | None, typer.Option(help="Of the other.")] = None,
    until: Annotated[
        str | None, typer.Option(help="Stop after this much virtual time, like 2h; else when all that can end has.")
    ] = None,
    output: Annotated[Output, typer.Option(help="What to print.")] = Output.table,
) -> None:
    """The same jobs under two sets of queues: who starts earlier, later or never, what queues hold."""
    from admission.world.comparison import compare
    from controller.cli import diff_rendering, rendering
    from controller.cli.playing import moment, prepared
    from controller.cli.simulate import no_collector

    if config is not None and (config_before or config_after):
        raise Complaint("--config is for both sides: leave it away beside --config-before and --config-after")
    end = moment("--until", until)
    for path in (before, after):
        _only_queues(path)
    with no_collector():
        was, notes_before = prepared([before, *paths], config_before or config)
        is_, notes_after = prepared([after, *paths], config_after or config)
        for side, notes in (("before", notes_before), ("after", notes_after)):
            for note in notes:
                print(f"note: {side}: {note}", file=sys.stderr)
        found = compare(was, is_, end)
    if output is Output.json:
        tell(json.dumps(diff_rendering.as_json(found), indent=2))
    else:
        try:
            diff_rendering.tables(found, rendering.console())
        except BrokenPipeError:
            deafen()
    if found.different:
        raise typer.Exit(1)


def _only_queues(path: Path) -> None:
    """Jobs must be the same on both sides, so neither side may bring its own."""
    from controller.cli.manifests import load

    bundle = load([path])
    jobs: Sequence[object] = [one for one in bundle.manifests if one.arrives]
    jobs = [*jobs, *(file for file, _ in bundle.traces)]
    if jobs:
        raise Complaint(
            f"{path} holds {jobs[0]}: jobs must be the same on both sides; name them after the two, as PATH"
        )
