"""`lockgate simulate`: what would happen, played on a virtual clock."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from controller.cli import koordinator


class Output(StrEnum):
    table = "table"
    timeline = "timeline"
    json = "json"


def command(
    paths: Annotated[list[Path], typer.Argument(help="Folders and files: manifests (YAML, JSON) and traces (CSV).")],
    config: Annotated[Path | None, typer.Option(help="A Kueue Configuration file.")] = None,
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Stop after this much virtual time, like 2h; else when all that can end has.")
    ] = None,
    koordinator_preset: koordinator.Preset = None,
    koordinator_bands: koordinator.Bands = None,
    output: Annotated[Output, typer.Option(help="What to print.")] = Output.table,
) -> None:
    """Play manifests and traces on a virtual clock: who starts when, who waits and why.

    Jobs arrive at their annotation lockgate.dev/arrival and run for lockgate.dev/runtime (for ever without it).
    """
    from controller.cli import rendering
    from controller.cli.playing import koordinator_of, moment, prepared
    from controller.cli.results import result

    end = moment("--until", until)
    with no_collector():
        simulation, notes = prepared(
            paths, config, feature_gates, koordinator_of(koordinator_preset, koordinator_bands)
        )
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        with progress(lambda: simulation.done, lambda: simulation.expected) as step:
            simulation.run(end, progress=step)
        if output is Output.json:
            print(msgspec.json.format(msgspec.json.encode(result(simulation)), indent=2).decode())
        elif output is Output.timeline:
            rendering.timeline(simulation, rendering.console())
        else:
            rendering.tables(simulation, rendering.console())


@contextmanager
def no_collector() -> Iterator[None]:
    """Nothing in here makes cycles, and the collector would walk all jobs again and again: a tenth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def progress(done: Callable[[], int], expected: Callable[[], int]) -> Iterator[Callable[[], None] | None]:
    """A bar for a person who waits; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("jobs", total=expected())
        calls = 0

        def step() -> None:
            nonlocal calls
            calls += 1
            if calls % 50 == 0:  # the bar itself must not cost what it shows
                bar.update(task, completed=done())

        yield step
