"""The options that say how Koordinator's words are taken, the same for every command that has them."""

from typing import Annotated

import typer

Preset = Annotated[
    str | None,
    typer.Option(
        "--koordinator-preset",
        metavar="compatible|strict",
        help="Koordinator's QoS classes and profiles as it takes them itself, or as its documentation has them. "
        "[default: compatible]",
    ),
]
Bands = Annotated[
    str | None,
    typer.Option(
        "--koordinator-bands",
        metavar="NAME=LOW-HIGH,…",
        help="Priorities of Koordinator's classes that are not its own, as Prod=9000-9999.",
    ),
]
