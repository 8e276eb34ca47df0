"""`lockgate check-config`: whether a Configuration file is good, and what it sets.

Exit codes: 0 it is good; 2 it is not, and everything that is wrong with it is told.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from controller.cli.telling import tell

if TYPE_CHECKING:
    from controller.kit.configuration import BadConfiguration
    from controller.kube.configuration import Settings


class Output(StrEnum):
    text = "text"
    json = "json"


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Kueue Configuration, v1beta2 or v1beta1.")],
    feature_gates: Annotated[
        str | None, typer.Option(help="Kueue's gates, as Name=true,…; not beside featureGates in the file.")
    ] = None,
    output: Annotated[Output, typer.Option(help="What to print.")] = Output.text,
) -> None:
    """Check a Configuration file: everything that is wrong with it, or what it sets and what has no effect here."""
    # Imported here: they cost half a second that `--help` need not wait for.
    from controller.kit.configuration import BadConfiguration
    from controller.kube.configuration import read_settings

    try:
        settings = read_settings(file, feature_gates=feature_gates or "")
    except BadConfiguration as bad:
        if output is Output.json:
            tell(json.dumps(_bad(file, bad), indent=2))
        else:
            tell(str(bad))
            tell(f"{file} is no good: {len(bad.faults)} fault{'s' if len(bad.faults) > 1 else ''}")
        raise typer.Exit(2) from None
    if output is Output.json:
        tell(json.dumps(_good(file, settings), indent=2))
    else:
        tell("\n".join(_text(file, settings)))


def _good(file: Path, settings: "Settings") -> dict[str, Any]:
    from admission.configuration import dotted
    from controller.cli.effective import effective

    return {
        "version": 1,
        "file": str(file),
        "valid": True,
        "changed": [{"field": field, "value": value, "default": usual} for field, value, usual in _changed(settings)],
        "notes": [{"field": dotted(note.path), "note": note.text} for note in settings.notes],
        "settings": effective(settings),
    }


def _bad(file: Path, bad: "BadConfiguration") -> dict[str, Any]:
    from admission.configuration import dotted

    problems = [
        {
            "field": dotted(fault.problem.path) if fault.problem else "",
            "line": fault.line,
            "problem": fault.problem.problem if fault.problem else fault.said,
            "remedy": fault.problem.remedy if fault.problem else "",
        }
        for fault in bad.faults
    ]
    return {"version": 1, "file": str(file), "valid": False, "problems": problems}


def _changed(settings: "Settings") -> list[tuple[str, Any, Any]]:
    """Field, value and default of everything that is not as without a file; a section that is off counts as one."""
    from controller.cli.effective import effective, flat
    from controller.kube.configuration import read_settings

    # What our own namespace implies is no choice of its own.
    usual = effective(read_settings(None, namespace=settings.core.namespace))
    usual["namespace"] = read_settings(None).core.namespace
    found = flat(effective(settings)).items()
    return [(field, value, _at(field, usual)) for field, value in found if value != _at(field, usual)]


def _at(field: str, content: Any) -> Any:
    """The value of a dotted path; null below what is off."""
    for part in field.split("."):
        content = None if content is None else content.get(part)
    return content


def _text(file: Path, settings: "Settings") -> list[str]:
    from controller.cli.effective import effective, flat

    changed = _changed(settings)
    lines = [f"{file} is a good Configuration."]
    lines += ["", "Other than by default:" if changed else "All of it is as by default."]
    width = max((len(field) for field, _, _ in changed), default=0)
    lines += [f"  {field:<{width}}  {_said(value)}  (default {_said(usual)})" for field, value, usual in changed]
    if settings.notes:
        lines += ["", "To be known:", *(f"  {note}" for note in settings.notes)]
    lines += ["", "All settings:"]
    return lines + [f"  {field}: {_said(value)}" for field, value in flat(effective(settings)).items()]


def _said(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
