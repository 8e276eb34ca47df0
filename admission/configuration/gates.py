"""`featureGates`, and the flag of that name: which of Kueue's gates may be set how."""

from collections.abc import Mapping
from typing import Any

from admission.configuration.fields import Path, Report, nearest, shown
from admission.model.booleans import is_bool, is_true
from admission.model.gates import FIXED, KEPT, LACKING, NEEDS, NEUTRAL, Gates

_ALL = ("AllAlpha", "AllBeta")  # stand for gates by their stage, ours and those that we lack alike
_FIELD = "featureGates"


def read_gates(said: Mapping[str, Any] | None, flag: str, report: Report) -> Gates:
    """`flag`: the text of --feature-gates; "" where it is not given. `said`: the file's field, None where absent."""
    if flag and said is not None:
        remedy = "keep one of the two"
        report.wrong((_FIELD,), "stands in the file while --feature-gates is given", remedy)
    path: Path = ("--feature-gates",) if flag else (_FIELD,)
    wanted: dict[str, bool] = {}
    for name, value in (_parsed(flag, report) if flag else said or {}).items():
        if not isinstance(value, bool):
            report.wrong((*path, name), f"{shown(value)} is not a boolean", "write true or false")
        elif _settable(name, value, (*path, name), report):
            wanted[name] = value
    gates = Gates(wanted)
    for name, parents in NEEDS.items():
        for parent in parents:
            if wanted.get(name) and not gates[parent]:
                report.wrong((*path, name), f"needs {parent}, which is off", f"set {parent} to true, or remove {name}")
    return gates


def _parsed(flag: str, report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in flag.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name and not equals:
            continue
        if not is_bool(value):
            report.wrong(("--feature-gates",), f"{shown(part)} sets no gate", "write Name=true or Name=false")
        elif name in found:
            report.wrong(("--feature-gates", name), "is set twice", "keep one of the two")
        else:
            found[name] = is_true(value)
    return found


def _settable(name: str, value: bool, path: Path, report: Report) -> bool:
    """Whether it changes something; else what there is to say about it has been said."""
    if name in KEPT:
        return True
    if name in LACKING:
        if value:
            report.wrong(path, f"is about {LACKING[name]}, which this version does not have", "remove it")
    elif name in FIXED:
        if not value:
            report.wrong(path, f"can't be switched off: {FIXED[name]}", "remove it")
    elif name in NEUTRAL:
        report.note(path, f"has no effect here: {NEUTRAL[name]}")
    elif name in _ALL:
        if value:
            report.wrong(path, "would switch on gates that this version does not have", "name those that are meant")
    else:
        known = (*KEPT, *FIXED, *NEUTRAL, *LACKING)
        report.wrong(path, "is not a feature gate", nearest(name, known, "remove it"))
    return False
